//! Workspaces that contain what commands must never change are refused.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{assert_refused, printed};
use crate::support::{World, ended};

fn assert_forbidden(world: &World, workspace: &Path) {
    let mut command = world.command([OsStr::new("exec"), "--workspace".as_ref(), workspace.as_ref(), "true".as_ref()]);
    let ended = ended(&mut command);
    assert_refused(&ended, 125, "shell.workspace.forbidden");
    assert!(!world.journal().exists(), "nothing was begun");
}

#[test]
fn a_workspace_around_home_root_state_cache_or_configuration_is_refused() {
    let world = World::allowing(&["true"]);
    let home = world.home();
    for below in [".local/state/portcullis", ".cache/portcullis", ".config/portcullis"] {
        fs::create_dir_all(home.join(below)).unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(world.state(), mode).unwrap();
    for workspace in [
        "/".as_ref(),
        world.path(),
        &home,
        &home.join(".local"),
        &world.state(),
        &home.join(".cache"),
        &home.join(".cache/portcullis"),
        &home.join(".config"),
    ] {
        assert_forbidden(&world, workspace);
        let link = world.path().join("link");
        symlink(workspace, &link).unwrap();
        assert_forbidden(&world, &link);
        fs::remove_file(link).unwrap();
    }
    let below = home.join("projects");
    fs::create_dir(&below).unwrap();
    assert_eq!(world.exec(&["--workspace", below.to_str().unwrap(), "true"]), printed(""));
}

#[test]
fn a_workspace_around_a_directory_that_is_not_there_yet_is_refused() {
    let world = World::allowing(&["true"]);
    let config = world.path().join("config");
    fs::create_dir(&config).unwrap();
    let mut command = world.command([OsStr::new("exec"), "--workspace".as_ref(), config.as_ref(), "true".as_ref()]);
    command.env("XDG_CONFIG_HOME", config.join("not/yet"));
    assert_refused(&ended(&mut command), 125, "shell.workspace.forbidden");
}

#[test]
fn a_journal_in_the_workspace_is_refused() {
    let world = World::allowing(&["true"]);
    let inside = world.workspace().join("journal");
    let deep = world.workspace().join("not/yet/there");
    let around = world.path().join("none/../workspace/journal");
    for journal in [inside.as_path(), &deep, &around, "relative".as_ref(), "./not/yet".as_ref(), ".".as_ref()] {
        for command in ["exec", "check"] {
            let named = [command, "--journal", journal.to_str().unwrap(), "true"];
            assert_refused(&world.run(named), 125, "shell.workspace.forbidden");
        }
        assert_eq!(fs::read_dir(world.workspace()).unwrap().count(), 0, "{} left something behind", journal.display());
    }
    assert!(!world.path().join("none").exists());
    let link = world.path().join("link");
    symlink(world.workspace(), &link).unwrap();
    let mut command = world.command(["exec", "true"]);
    assert_refused(&ended(command.env("PORTCULLIS_JOURNAL", link.join("journal"))), 125, "shell.workspace.forbidden");
    assert_eq!(fs::read_dir(world.workspace()).unwrap().count(), 0);
}

#[test]
fn a_workspace_in_the_journal_state_cache_or_configuration_is_refused() {
    let world = World::allowing(&["true"]);
    let journal = world.path().join("journal");
    assert_eq!(world.run(["--journal", journal.to_str().unwrap(), "exec", "true"]), printed(""));
    let home = world.home();
    let link = world.path().join("link");
    for (place, named) in [
        (journal.join("below"), journal),
        (home.join(".local/state/portcullis/journal/a/b"), world.journal()),
        (home.join(".local/state/portcullis/project"), world.journal()),
        (home.join(".cache/portcullis/project"), world.journal()),
        (home.join(".config/portcullis/project"), world.journal()),
    ] {
        fs::create_dir_all(&place).unwrap();
        symlink(&place, &link).unwrap();
        for workspace in [&place, &link] {
            let words = ["--workspace", workspace.to_str().unwrap(), "--journal", named.to_str().unwrap(), "true"];
            let ended = world.run([&["exec"], &words[..]].concat());
            assert_refused(&ended, 125, "shell.workspace.forbidden");
            assert!(ended.stderr.contains(" lies in "), "{}", ended.stderr);
        }
        fs::remove_file(&link).unwrap();
    }
    // A neighbour with a longer name is another place.
    let beside = home.join(".cache/portcullis-2");
    fs::create_dir(&beside).unwrap();
    let words = ["--workspace", beside.to_str().unwrap(), "--journal", world.path().join("journal").to_str().unwrap()]
        .map(str::to_owned);
    assert_eq!(world.run([&["exec".to_owned()], &words[..], &["true".to_owned()]].concat()), printed(""));
}

#[test]
fn a_workspace_that_is_not_there_or_is_a_file_is_told() {
    let world = World::allowing(&["true"]);
    for workspace in [world.path().join("nowhere"), world.policy()] {
        let ended = world.exec(&["--workspace", workspace.to_str().unwrap(), "true"]);
        assert_refused(&ended, 125, "shell.workspace.missing");
        assert!(ended.stderr.contains(workspace.to_str().unwrap()), "{}", ended.stderr);
    }
}
