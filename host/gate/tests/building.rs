//! What a gate refuses to be built on, and what a broken journal does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use portcullis_audit::{Journal, Options};
use portcullis_gate::{Broken, BuildError, ExecError, Gate, Request, check_workspace};
use portcullis_policy::Policy;
use portcullis_runner::{Level, available_level, confinement_problem};
use support::{World, allow, open, skip};

/// Why no gate can be built with this workspace.
fn refused(world: &World, workspace: &std::path::Path) -> BuildError {
    world.builder("").workspace(workspace).build().unwrap_err()
}

/// On a machine without user namespaces, which this test makes for itself: there it is started a second time.
#[test]
fn a_policy_that_demands_more_confinement_than_there_is_builds_no_gate() {
    const THERE: &str = "PORTCULLIS_TEST_WITHOUT_USER_NAMESPACES";
    const SWITCH_OFF: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    if std::env::var_os(THERE).is_some() {
        return demands_more_than_there_is();
    }
    let unshare = |command: &[&OsStr]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", SWITCH_OFF, "sh"]).args(command).env(THERE, "");
        unshare.output()
    };
    if !unshare(&["true".as_ref()]).is_ok_and(|output| output.status.success()) {
        return skip("a host without user namespaces: `unshare --user` is refused here");
    }
    let this = std::env::current_exe().unwrap();
    let name = "a_policy_that_demands_more_confinement_than_there_is_builds_no_gate";
    let there = unshare(&[this.as_os_str(), "--exact".as_ref(), name.as_ref(), "--nocapture".as_ref()]).unwrap();
    let told = String::from_utf8_lossy(&there.stdout);
    assert!(there.status.success() && told.contains(" 1 passed;"), "{told}{}", String::from_utf8_lossy(&there.stderr));
}

fn demands_more_than_there_is() {
    let available = available_level();
    assert!(available < Level::Full, "user namespaces are there");
    let world = World::new();
    for (line, wanted) in [("", Level::Full), ("confinement.level = \"landlock\"\n", Level::Landlock)] {
        let built = world.builder_of(&format!("version = 1\n{line}")).build();
        if wanted <= available {
            built.unwrap();
            continue;
        }
        let error = built.unwrap_err();
        assert_eq!(error.code().as_str(), "shell.confinement.level");
        let expected = format!(
            "the policy demands confinement level `{wanted}` and this host reaches `{available}`: it {}; `portcullis doctor` \
             says how to get more; to accept less, write `confinement.level = \"{available}\"` in policy.toml",
            confinement_problem().unwrap()
        );
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(world.kinds(), ["segment"], "nothing was begun");
}

#[test]
fn a_workspace_that_is_or_contains_what_commands_must_not_write_is_refused() {
    let world = World::new();
    let link = world.path().join("link");
    symlink("/", &link).unwrap();
    let to_parent = world.workspace().join("parent");
    symlink("..", &to_parent).unwrap();
    let home = std::env::home_dir().unwrap();
    let parent = fs::canonicalize(world.path()).unwrap();
    let journal = parent.join("journal");
    for (workspace, what, inside) in [
        ("/".as_ref(), "the root directory", "/".as_ref()),
        (link.as_path(), "the root directory", "/".as_ref()),
        (home.as_path(), "the home directory", home.as_path()),
        (world.path(), "the journal", journal.as_path()),
        (to_parent.as_path(), "the journal", journal.as_path()),
        (journal.as_path(), "the journal", journal.as_path()),
    ] {
        let error = refused(&world, workspace);
        assert_eq!(error.code().as_str(), "shell.workspace.forbidden", "{error}");
        let resolved = fs::canonicalize(workspace).unwrap();
        let expected = format!(
            "the workspace `{}` is or contains {what} (`{}`), which commands must never be able to change; use a \
             directory further down",
            resolved.display(),
            inside.display()
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_workspace_that_lies_in_what_commands_must_not_write_is_refused() {
    let world = World::new();
    drop(world.builder(""));
    let journal = fs::canonicalize(world.journal_directory()).unwrap();
    let below = journal.join("a/b");
    fs::create_dir_all(&below).unwrap();
    let link = world.path().join("link");
    symlink(&below, &link).unwrap();
    // The journal is judged by what it is, not by how it is called.
    let policy = || Policy::parse("policy.toml", "version = 1\nconfinement.level = \"none\"").unwrap();
    for workspace in [&below, &link] {
        let opened = Journal::open(&world.path().join("workspace/../journal"), Options::default()).unwrap();
        let error = Gate::builder(policy(), opened).workspace(workspace).build().unwrap_err();
        assert_eq!(error.code().as_str(), "shell.workspace.forbidden", "{error}");
        let expected = format!(
            "the workspace `{}` lies in the journal (`{}`), which commands must never be able to change; use a directory \
             elsewhere",
            below.display(),
            journal.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(check_workspace(workspace, [("the journal", journal.clone())]).unwrap_err().to_string(), expected);
    }
    let error = world.builder("").protect("the state", world.path()).build().unwrap_err();
    assert!(error.to_string().contains("lies in the state"), "{error}");
}

#[test]
fn what_the_host_protects_is_refused_too_even_before_it_exists() {
    let world = World::new();
    let state = world.workspace().join("not/yet/there");
    let error = world.builder("").protect("the state", &state).build().unwrap_err();
    assert!(error.to_string().contains("is or contains the state"), "{error}");
    // Beside it is fine.
    world.builder("").protect("the state", &world.path().join("workspace-2")).build().unwrap();
}

/// Symbolic links are followed, and what does not exist yet is judged by where it would be.
#[test]
fn a_policy_that_lets_commands_write_what_they_must_not_is_refused() {
    let world = World::new();
    let root = fs::canonicalize(world.path()).unwrap();
    let home = std::env::home_dir().unwrap();
    let link = root.join("link");
    symlink(&root, &link).unwrap();
    let builder = |path: &std::path::Path| {
        let text = format!("version = 1\nconfinement = {{ level = \"limits\", write = [\".\", {path:?}] }}\n");
        world.builder_of(&text)
    };
    for (path, what, inside) in [
        (&home, "the home directory", &home),
        (&root, "the journal", &root.join("journal")),
        (&root.join("journal"), "the journal", &root.join("journal")),
        (&link, "the journal", &root.join("journal")),
    ] {
        let error = builder(path).build().unwrap_err();
        assert_eq!(error.code().as_str(), "shell.workspace.forbidden", "{error}");
        let expected = format!(
            "the policy lets commands write `{}`, which is, contains or lies in {what} (`{}`), which commands must never be able \
             to change; name another directory under `confinement.write` in policy.toml",
            path.display(),
            inside.display()
        );
        assert_eq!(error.to_string(), expected);
    }
    let state = root.join("state/deep");
    let error = builder(&link.join("state")).protect("the state", &state).build().unwrap_err();
    assert!(error.to_string().contains("is, contains or lies in the state"), "{error}");
    builder(&root.join("elsewhere")).protect("the state", &state).build().unwrap();
}

#[test]
fn a_workspace_that_is_no_directory_is_refused() {
    let world = World::new();
    let file = world.path().join("file");
    fs::write(&file, "").unwrap();
    for workspace in [file, world.path().join("missing")] {
        let error = refused(&world, &workspace);
        assert_eq!(error.code().as_str(), "shell.workspace.missing", "{error}");
    }
}

/// Puts a file that others can write where the journal's segment was: no append goes there.
fn spoil(world: &World) {
    let segment = world.journal_directory().join("00000000000000000000.jsonl");
    fs::remove_file(&segment).unwrap();
}

#[tokio::test]
async fn nothing_runs_that_can_not_be_recorded() {
    let world = World::new();
    let gate = world.gate(&allow("touch"));
    let session = open(&gate);
    session.exec(Request::new("touch").args(["before"])).await.unwrap();
    assert!(world.workspace().join("before").exists());
    spoil(&world);
    let error = session.exec(Request::new("touch").args(["after"])).await.unwrap_err();
    let ExecError::Broken(broken @ Broken::Journal(_)) = &error else { panic!("{error:?}") };
    assert_eq!(broken.code().as_str(), "shell.journal.unwritable");
    assert_eq!(broken.to_string(), "the journal can't be written, so nothing may run");
    assert!(!world.workspace().join("after").exists());
    // Refusals and checks and further sessions need it as well.
    assert!(matches!(session.exec(Request::new("unlisted")).await, Err(ExecError::Broken(_))));
    assert!(session.check(&Request::new("touch")).is_err());
    assert!(gate.session(portcullis_gate::Caller::host("test")).is_err());
    assert!(session.close(portcullis_audit::EndReason::Closed).is_err());
}

#[tokio::test]
async fn a_command_whose_outcome_can_not_be_recorded_is_an_error_and_not_a_success() {
    let world = World::new();
    let gate = world.gate(&allow("rm"));
    let session = open(&gate);
    // At level `none` commands can reach the journal, if they are given its path.
    let segment = world.journal_directory().join("00000000000000000000.jsonl");
    let request = Request::new("rm").args([segment.to_str().unwrap()]);
    assert!(matches!(session.exec(request).await, Err(ExecError::Broken(Broken::Journal(_)))));
}

#[test]
fn two_gates_may_share_a_journal() {
    let world = World::new();
    let (one, two) = (world.gate(""), world.gate(""));
    drop(open(&one));
    drop(open(&two));
    let directory = one.journal().dir().to_owned();
    drop((one, two));
    assert_eq!(world.kinds(), ["segment", "session-start", "session-end", "session-start", "session-end"]);
    assert!(Journal::open(&directory, Options::default()).is_ok());
}
