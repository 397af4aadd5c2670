//! Finding the policy, and what is said of one that can't be used.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{assert_refused, failed, printed};
use crate::support::lesser::Lack;
use crate::support::{Ended, HEAD, World, allow, ended};

/// Writes a policy whose one rule, for `true`, has this id.
fn write(path: &Path, id: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{HEAD}{}", allow("true").replace("id = \"true\"", &format!("id = \"{id}\"")))).unwrap();
}

/// The id of the rule by which `true` may run, as `check` tells it.
fn rule(command: &mut std::process::Command) -> String {
    let Ended { code, stdout, stderr } = ended(command);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    serde_json::from_str::<serde_json::Value>(&stdout).unwrap()["allowed"]["rules"][0].as_str().unwrap().to_owned()
}

const CHECK: [&str; 3] = ["check", "--json", "true"];

#[test]
fn the_option_comes_before_the_variable_the_workspace_and_the_users_own() {
    let world = World::new("");
    let config = world.home().join(".config/portcullis/policy.toml");
    let in_workspace = world.workspace().join("portcullis.toml");
    let (by_variable, by_option) = (world.path().join("variable.toml"), world.path().join("option.toml"));

    let none = format!(
        "there is no policy, so nothing may run: neither --policy, nor $PORTCULLIS_POLICY, nor portcullis.toml, nor {}; \
         write one with `portcullis init` [shell.policy.missing]",
        config.display()
    );
    assert_eq!(ended(&mut world.bare(CHECK)), failed(125, &none));
    write(&config, "from-config");
    assert_eq!(rule(&mut world.bare(CHECK)), "from-config");
    write(&in_workspace, "from-workspace");
    assert_refused(&ended(&mut world.bare(CHECK)), 125, "shell.policy.untrusted");
    assert_eq!(ended(&mut world.bare(["policy", "trust"])).code, Some(0));
    assert_eq!(rule(&mut world.bare(CHECK)), "from-workspace");
    write(&by_variable, "from-variable");
    assert_eq!(rule(world.bare(CHECK).env("PORTCULLIS_POLICY", &by_variable)), "from-variable");
    assert_eq!(rule(world.bare(CHECK).env("PORTCULLIS_POLICY", "")), "from-workspace");
    write(&by_option, "from-option");
    let option = ["check", "--policy", by_option.to_str().unwrap(), "--json", "true"];
    assert_eq!(rule(world.bare(option).env("PORTCULLIS_POLICY", &by_variable)), "from-option");
    // A person named it: one that can't be read is never passed over for another.
    let missing = world.path().join("missing.toml");
    let message =
        format!("there is no policy {}; write one with `portcullis init` [shell.policy.unreadable]", missing.display());
    assert_eq!(ended(world.bare(CHECK).env("PORTCULLIS_POLICY", &missing)), failed(125, &message));
}

#[test]
fn the_configuration_is_where_xdg_config_home_says_if_that_is_absolute() {
    let world = World::new("");
    write(&world.home().join(".config/portcullis/policy.toml"), "in-home");
    write(&world.path().join("xdg/portcullis/policy.toml"), "in-xdg");
    write(&world.workspace().join("relative/portcullis/policy.toml"), "planted");
    assert_eq!(rule(world.bare(CHECK).env("XDG_CONFIG_HOME", world.path().join("xdg"))), "in-xdg");
    for ignored in ["relative", "./relative", ""] {
        assert_eq!(rule(world.bare(CHECK).env("XDG_CONFIG_HOME", ignored)), "in-home");
    }
}

#[test]
fn files_that_are_no_policy_are_told_apart() {
    let world = World::new("");
    let file = world.path().join("broken.toml");
    let said = || ended(world.bare(["exec", "true"]).env("PORTCULLIS_POLICY", &file));
    let path = file.display();

    fs::create_dir(&file).unwrap();
    let message = format!("the policy {path} is not a file; put one in its place [shell.policy.unreadable]");
    assert_eq!(said(), failed(125, &message));
    fs::remove_dir(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(said(), failed(125, &message));
    fs::remove_file(&file).unwrap();
    symlink("nowhere", &file).unwrap();
    let message =
        format!("the policy {path} is a link that leads nowhere; mend or remove it [shell.policy.unreadable]");
    assert_eq!(said(), failed(125, &message));
    fs::remove_file(&file).unwrap();

    fs::write(&file, vec![b'#'; 5 << 20]).unwrap();
    let message = format!("the policy {path} has 5242880 bytes; at most 4194304 are read [shell.policy.invalid]");
    assert_eq!(said(), failed(125, &message));
    fs::write(&file, b"version = 1\n# caf\xe9\n").unwrap();
    let message = format!("the policy {path} is not UTF-8 text (line 2); save it as such [shell.policy.invalid]");
    assert_eq!(said(), failed(125, &message));
    assert!(!world.state().exists(), "nothing was begun");
}

#[test]
fn a_wrong_policy_is_shown_with_its_line_and_a_caret() {
    let world = World::new("");
    for (text, place, line) in [
        ("version = 1\n[limits]\nwall = \"30q\"\n", ":3:8", "3 | wall = \"30q\"\n  |        ^^^^^"),
        ("version = 1\nverdict = 1\n", ":2:1", "2 | verdict = 1\n  | ^^^^^^^"),
        ("version = \n", ":1:11", "1 | version = "),
        ("", ":1:1", "^"),
    ] {
        fs::write(world.policy(), text).unwrap();
        let Ended { code, stdout, stderr } = world.exec(&["true"]);
        assert_eq!((code, stdout.as_str()), (Some(125), ""));
        assert!(stderr.starts_with("portcullis: the policy is wrong\nerror: "), "{stderr}");
        assert!(stderr.contains(&format!(" --> {}{place}\n", world.policy().display())), "{stderr}");
        assert!(stderr.contains(line), "{stderr}");
        assert!(stderr.ends_with("\n[shell.policy.invalid]\n"), "{stderr}");
        assert!(!stderr.contains('\u{1b}'), "no colours in a file: {stderr}");
    }
}

/// `tests/limits/levels.rs` has what each machine lacks; here is what `check` and `exec` do about it.
#[test]
fn a_policy_that_demands_more_confinement_than_there_is_is_refused() {
    let world = World::new("");
    let write = |line: &str| fs::write(world.policy(), format!("version = 1\n{line}{}", allow("true"))).unwrap();
    let lesser = |args: &[&str]| Lack::UserNamespaces.of(&world.command(args)).map(|mut command| ended(&mut command));
    for line in ["", "confinement.level = \"full\"\n"] {
        write(line);
        for args in [&["exec", "true"][..], &["check", "true"]] {
            let Some(refused) = lesser(args) else { return };
            assert_refused(&refused, 125, "shell.confinement.level");
            assert!(refused.stderr.contains("it can't make user, PID, mount and UTS namespaces: "), "{refused:?}");
        }
    }
    // The line that the message names is all that it takes.
    let message = lesser(&["exec", "true"]).unwrap().stderr;
    let (_, rest) = message.split_once("to accept less, write `").unwrap();
    let (line, _) = rest.split_once("` in ").unwrap();
    write(&format!("{line}\n"));
    assert_eq!(lesser(&["exec", "true"]), Some(printed("")));
    let checked = lesser(&["check", "--json", "true"]).unwrap();
    let reached = serde_json::from_str::<serde_json::Value>(&checked.stdout).unwrap()["confinement"].clone();
    assert!(line.ends_with(&format!("\"{}\"", reached.as_str().unwrap())), "{line}: {reached}");
}

#[test]
fn an_unreadable_policy_is_refused() {
    let world = World::new("");
    fs::set_permissions(world.policy(), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(world.policy()).is_ok() {
        // Root reads everything; the run as nobody tests this.
        return crate::support::skip("an unreadable policy: root reads everything");
    }
    let message = format!(
        "can't read the policy {}: Permission denied (os error 13) [shell.policy.unreadable]",
        world.policy().display()
    );
    assert_eq!(world.exec(&["true"]), failed(125, &message));
}

#[test]
fn no_home_is_no_obstacle_where_every_directory_is_named() {
    let world = World::allowing(&["true"]);
    let mut command = world.command(["exec", "true"]);
    let xdg = |name: &str| world.path().join("xdg").join(name);
    command.env_remove("HOME").env("XDG_STATE_HOME", xdg("state"));
    command.env("XDG_CACHE_HOME", xdg("cache")).env("XDG_CONFIG_HOME", xdg("config"));
    assert_eq!(ended(&mut command), printed(""));
    assert!(xdg("state/portcullis/journal").exists() && !world.state().exists());
    let message = "there is no home directory; set HOME, or XDG_STATE_HOME to an absolute path [shell.state.unsafe]";
    assert_eq!(ended(world.command(["exec", "true"]).env("HOME", "relative")), failed(125, message));
}
