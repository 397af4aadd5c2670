//! A repository can't authorise itself: trust in a workspace's own policy.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{assert_refused, failed, printed};
use crate::support::{Ended, HEAD, World, allow, binary, ended};

/// A world with no policy but that of its workspace.
fn untrusted() -> World {
    let world = World::new("");
    fs::write(own(&world), format!("{HEAD}{}", allow("true"))).unwrap();
    world
}

fn own(world: &World) -> PathBuf {
    world.workspace().join("portcullis.toml")
}

fn exec(world: &World) -> Ended {
    ended(&mut world.bare(["exec", "true"]))
}

/// `portcullis policy trust` in the workspace.
fn trust(world: &World) -> Ended {
    ended(&mut world.bare(["policy", "trust"]))
}

fn real(path: &Path) -> String {
    fs::canonicalize(path).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn an_untrusted_policy_runs_nothing_and_the_message_says_how_to_trust_it() {
    let world = untrusted();
    let path = real(&own(&world));
    let message = format!(
        "the workspace's own policy does not count: nobody has trusted it yet, and a repository can't authorise \
         itself; read {path}, then run `portcullis policy trust {path}` [shell.policy.untrusted]"
    );
    assert_eq!(exec(&world), failed(125, &message));
    assert_eq!(ended(&mut world.bare(["check", "true"])), failed(125, &message));
    assert!(!world.state().exists(), "nothing was begun");
}

#[test]
fn the_command_in_the_message_works_as_it_stands() {
    let world = World::new("");
    let workspace = world.path().join("it's a \"$HOME\"\\ `dir`;");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("portcullis.toml"), format!("{HEAD}{}", allow("true"))).unwrap();
    let run = || ended(world.bare(["exec", "true"]).current_dir(&workspace));
    let Ended { code, stderr, .. } = run();
    assert_eq!(code, Some(125));
    let (_, rest) = stderr.rsplit_once("then run `portcullis ").unwrap();
    let (words, _) = rest.rsplit_once("` [shell.policy.untrusted]").unwrap();
    let mut shell = world.bare([""; 0]);
    shell = {
        let mut sh = Command::new("sh");
        sh.env_clear().envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
        sh.args(["-c", &format!("\"$0\" {words}")]).arg(binary());
        sh
    };
    assert_eq!(ended(&mut shell).code, Some(0), "{words}");
    assert_eq!(run(), printed(""));
}

#[test]
fn trusting_shows_what_is_trusted() {
    let world = untrusted();
    fs::write(own(&world), format!("{HEAD}{}{}", allow("true"), allow("sort"))).unwrap();
    let Ended { code, stdout, stderr } = trust(&world);
    let digest = Command::new("sha256sum").arg(own(&world)).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap()[..64].to_owned();
    let details = format!(
        "{}\n  programs     sort, true\n  confinement  none: commands can do what you can, even where they could be \
         confined\n  SHA-256      {digest}\n\
         A change of the file ends the trust.\n",
        real(&own(&world))
    );
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, format!("trusted: {details}"));
    assert_eq!(trust(&world), printed(format!("trusted already: {details}")));
    let by_path = ended(&mut world.bare(["policy", "trust", own(&world).to_str().unwrap()]));
    assert_eq!(by_path, printed(format!("trusted already: {details}")));
    assert_eq!(exec(&world), printed(""));
}

#[test]
fn trusting_names_the_programs_that_run_code_of_the_workspace() {
    let world = untrusted();
    let marked = |name: &str| allow(name).replace("[[program.rule]]", "runs-workspace-code = true\n[[program.rule]]");
    fs::write(own(&world), format!("{HEAD}{}{}{}", marked("true"), allow("cat"), marked("sort"))).unwrap();
    let Ended { code, stdout, stderr } = trust(&world);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let row = "\n  own code     sort, true: what lies in the workspace runs, by the policy's word\n";
    assert!(stdout.contains(row), "{stdout}");
}

#[test]
fn only_a_level_above_none_is_a_least_one() {
    let world = untrusted();
    for (level, told) in [
        ("none", "none: commands can do what you can, even where they could be confined"),
        ("limits", "limits: commands reach what you can, even where they could be confined"),
        ("landlock", "landlock or better"),
        ("full", "full"),
    ] {
        fs::write(own(&world), format!("version = 1\nconfinement.level = \"{level}\"\n")).unwrap();
        let Ended { stdout, .. } = trust(&world);
        assert!(stdout.contains(&format!("\n  confinement  {told}\n")), "{stdout}");
    }
}

#[test]
fn a_change_ends_the_trust_and_changing_it_back_restores_it() {
    let world = untrusted();
    let before = fs::read_to_string(own(&world)).unwrap();
    assert_eq!(trust(&world).code, Some(0));
    assert_eq!(exec(&world), printed(""));
    fs::write(own(&world), format!("{before}{}", allow("rm"))).unwrap();
    let path = real(&own(&world));
    let message = format!(
        "the workspace's own policy does not count: it has changed since it was trusted; read {path}, then run \
         `portcullis policy trust {path}` [shell.policy.untrusted]"
    );
    assert_eq!(exec(&world), failed(125, &message));
    fs::write(own(&world), before).unwrap();
    assert_eq!(exec(&world), printed(""));
}

#[test]
fn a_copy_of_a_trusted_policy_elsewhere_is_not_trusted() {
    let world = untrusted();
    assert_eq!(trust(&world).code, Some(0));
    let other = world.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(own(&world), other.join("portcullis.toml")).unwrap();
    assert_refused(&ended(world.bare(["exec", "true"]).current_dir(&other)), 125, "shell.policy.untrusted");
}

#[test]
fn a_link_to_a_policy_that_was_trusted_for_another_workspace_is_not_trusted() {
    let world = untrusted();
    assert_eq!(trust(&world).code, Some(0));
    let hostile = world.path().join("hostile");
    fs::create_dir(&hostile).unwrap();
    symlink(own(&world), hostile.join("portcullis.toml")).unwrap();
    let exec = || ended(world.bare(["exec", "true"]).current_dir(&hostile));
    assert_refused(&exec(), 125, "shell.policy.untrusted");
    // A person may trust it there too.
    assert_eq!(ended(world.bare(["policy", "trust"]).current_dir(&hostile)).code, Some(0));
    assert_eq!(exec(), printed(""));
    fs::write(own(&world), HEAD).unwrap();
    assert_refused(&exec(), 125, "shell.policy.untrusted");
}

#[test]
fn a_workspace_reached_by_a_link_is_the_same_workspace() {
    let world = untrusted();
    assert_eq!(trust(&world).code, Some(0));
    let link = world.path().join("link");
    symlink(world.workspace(), &link).unwrap();
    assert_eq!(ended(&mut world.bare(["exec", "--workspace", link.to_str().unwrap(), "true"])), printed(""));
}

#[test]
fn a_policy_in_the_workspace_that_can_not_be_read_is_never_passed_over() {
    let world = World::new("");
    let config = world.home().join(".config/portcullis/policy.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, format!("{HEAD}{}", allow("true"))).unwrap();
    assert_eq!(exec(&world), printed(""));

    symlink("nowhere", own(&world)).unwrap();
    let message =
        "the policy portcullis.toml is a link that leads nowhere; mend or remove it [shell.policy.unreadable]";
    assert_eq!((exec(&world), trust(&world)), (failed(125, message), failed(125, message)));
    fs::remove_file(own(&world)).unwrap();
    fs::create_dir(own(&world)).unwrap();
    let message = "the policy portcullis.toml is not a file; put one in its place [shell.policy.unreadable]";
    assert_eq!((exec(&world), trust(&world)), (failed(125, message), failed(125, message)));
    fs::remove_dir(own(&world)).unwrap();
    fs::write(own(&world), "").unwrap();
    assert_refused(&exec(&world), 125, "shell.policy.untrusted");
}

#[test]
fn only_a_policy_that_could_count_can_be_trusted() {
    let world = World::new("");
    let message = "there is no policy portcullis.toml; write one with `portcullis init` [shell.policy.unreadable]";
    assert_eq!(trust(&world), failed(125, message));
    let message = format!(
        "only the portcullis.toml of a workspace needs trust, and {0} is another file; name it with --policy instead \
         [shell.usage]",
        world.policy().display()
    );
    let other = ended(&mut world.bare(["policy", "trust", world.policy().to_str().unwrap()]));
    assert_eq!(other, failed(125, &message));
    fs::write(own(&world), "version = 2\n").unwrap();
    let Ended { code, stderr, .. } = trust(&world);
    assert_eq!(code, Some(125));
    assert!(stderr.ends_with("\n[shell.policy.invalid]\n"), "{stderr}");
    assert!(!world.state().exists(), "nothing was trusted");
}

#[test]
fn a_broken_store_of_trust_is_refused_with_the_next_step() {
    let world = untrusted();
    assert_eq!(trust(&world).code, Some(0));
    let store = world.state().join("trust.json");
    for (text, why) in [
        ("{", "EOF while parsing an object at line 1 column 1"),
        (r#"{"version": 2, "policies": {}}"#, "it is of version 2"),
        (r#"{"version": 1, "policies": {}, "more": 1}"#, "unknown field `more`"),
    ] {
        fs::write(&store, text).unwrap();
        for ended in [exec(&world), trust(&world)] {
            assert_refused(&ended, 125, "[shell.state.unsafe");
            assert!(ended.stderr.contains(&format!("trust.json is broken ({why}")), "{}", ended.stderr);
            assert!(ended.stderr.contains("; move it away and trust your policies again ["), "{}", ended.stderr);
        }
    }
    fs::remove_file(&store).unwrap();
    assert_refused(&exec(&world), 125, "shell.policy.untrusted");
}

#[test]
fn twenty_workspaces_trusted_at_once_are_all_trusted() {
    let world = World::new("");
    let workspaces: Vec<PathBuf> = (0..20).map(|number| world.path().join(format!("workspace-{number}"))).collect();
    for workspace in &workspaces {
        fs::create_dir(workspace).unwrap();
        fs::write(workspace.join("portcullis.toml"), format!("{HEAD}{}", allow("true"))).unwrap();
    }
    let all_at_once = |args: &[&str]| {
        let start = |workspace| world.bare(args).current_dir(workspace).stdout(Stdio::null()).spawn().unwrap();
        let children: Vec<_> = workspaces.iter().map(start).collect();
        assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()), "{args:?}");
    };
    all_at_once(&["policy", "trust"]);
    all_at_once(&["exec", "true"]);
    let names: Vec<_> = fs::read_dir(world.state()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "the journal, the store and its lock, and nothing left over: {names:?}");
}

#[test]
fn the_state_is_for_nobody_elses_eyes() {
    let world = untrusted();
    assert_eq!(trust(&world).code, Some(0));
    assert_eq!(exec(&world), printed(""));
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    let modes = [("", 0o700), ("trust.json", 0o600), ("trust.lock", 0o600), ("journal", 0o700)];
    for (name, expected) in modes {
        assert_eq!(mode(&world.state().join(name)), expected, "{name}");
    }
    assert_eq!(mode(&world.journal().join("00000000000000000000.jsonl")), 0o600);

    for mode in [0o755, 0o770, 0o701] {
        fs::set_permissions(world.state(), fs::Permissions::from_mode(mode)).unwrap();
        let message = format!(
            "{0} can't be trusted: others can enter it (mode {mode:o}); see that nobody changed what is in it, then run \
             `chmod 700 {0}` [shell.state.unsafe]",
            world.state().display()
        );
        assert_eq!((exec(&world), trust(&world)), (failed(125, &message), failed(125, &message)));
    }
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(exec(&world), printed(""));
}

#[test]
fn a_state_directory_that_is_a_link_is_refused() {
    let world = untrusted();
    fs::create_dir_all(world.state().parent().unwrap()).unwrap();
    fs::create_dir(world.path().join("real")).unwrap();
    symlink(world.path().join("real"), world.state()).unwrap();
    let message = format!(
        "{} can't be trusted: it is a symbolic link; set XDG_STATE_HOME to a directory of your own [shell.state.unsafe]",
        world.state().display()
    );
    assert_eq!((exec(&world), trust(&world)), (failed(125, &message), failed(125, &message)));
}
