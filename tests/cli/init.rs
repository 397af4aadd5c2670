//! From nothing to a first command: `init`, `policy trust`, `exec`.

use std::fs;
use std::process::Command;

use super::{failed, printed};
use crate::support::lesser::{Lack, reaches_full};
use crate::support::{Ended, World, ended};

fn repository(world: &World) {
    let git =
        Command::new("git").args(["init", "-q"]).env("HOME", world.home()).current_dir(world.workspace()).status();
    assert!(git.unwrap().success());
}

#[test]
fn init_trust_exec_is_all_it_takes() {
    if !reaches_full() {
        return;
    }
    let world = World::new("");
    repository(&world);
    let told = "wrote portcullis.toml\n\
                Read it, make it yours, then:\n  \
                portcullis policy trust\n  \
                portcullis exec git status\n";
    assert_eq!(ended(&mut world.bare(["init"])), printed(told));
    assert_eq!(ended(&mut world.bare(["policy", "trust"])).code, Some(0));
    let Ended { code, stdout, stderr } = ended(&mut world.bare(["exec", "git", "status"]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("portcullis.toml") && stdout.contains("No commits yet"), "{stdout}");
    let denied = ended(&mut world.bare(["exec", "git", "-c", "alias.status=!id", "status"]));
    assert_eq!(denied.code, Some(126), "{}", denied.stderr);
}

/// What the policy denies unless it says otherwise has to be there to be masked, and is gone afterwards.
#[test]
fn a_workspace_that_is_no_repository_stays_as_it_was() {
    if !reaches_full() {
        return;
    }
    let world = World::new("");
    ended(&mut world.bare(["init"]));
    ended(&mut world.bare(["policy", "trust"]));
    let Ended { code, stderr, .. } = ended(&mut world.bare(["exec", "git", "status"]));
    assert_eq!(code, Some(128), "{stderr}");
    assert!(stderr.starts_with("fatal: not a git repository"), "{stderr}");
    let left: Vec<_> = fs::read_dir(world.workspace()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["portcullis.toml"]);
}

#[test]
fn the_written_policy_works_on_a_lesser_machine_after_the_one_change_that_its_refusal_names() {
    let world = World::new("");
    repository(&world);
    ended(&mut world.bare(["init"]));
    ended(&mut world.bare(["policy", "trust"]));
    let status = || Lack::UserNamespaces.of(&world.bare(["exec", "git", "status"])).map(|mut git| ended(&mut git));
    let Some(refused) = status() else { return };
    assert_eq!(refused.code, Some(125));
    let (_, line) = refused.stderr.split_once("write `confinement.level = \"").unwrap();
    let (level, _) = line.split_once("\"` in portcullis.toml").unwrap();
    let path = world.workspace().join("portcullis.toml");
    let policy = fs::read_to_string(&path).unwrap();
    fs::write(&path, policy.replace("\nlevel = \"full\" ", &format!("\nlevel = \"{level}\" "))).unwrap();
    ended(&mut world.bare(["policy", "trust"]));
    let there = status().unwrap();
    assert_eq!((there.code, there.stderr.as_str()), (Some(0), ""));
    assert!(there.stdout.contains("No commits yet"), "{}", there.stdout);
}

#[test]
fn init_overwrites_nothing() {
    let world = World::new("");
    let path = world.workspace().join("portcullis.toml");
    fs::write(&path, "mine").unwrap();
    let message = "portcullis.toml is there already, and is left as it is; move it away for a fresh one [shell.usage]";
    assert_eq!(ended(&mut world.bare(["init"])), failed(125, message));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(world.path().join("elsewhere"), &path).unwrap();
    assert_eq!(ended(&mut world.bare(["init"])), failed(125, message));
    assert!(!world.path().join("elsewhere").exists(), "a link is not followed");
}

#[test]
fn init_elsewhere_names_the_workspace_in_what_comes_next() {
    let world = World::new("");
    let other = world.path().join("other place");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    let told = format!(
        "wrote {other}/portcullis.toml\n\
         Read it, make it yours, then:\n  \
         portcullis policy trust '{other}'\n  \
         portcullis exec --workspace '{other}' git status\n"
    );
    assert_eq!(ended(&mut world.bare(["init", "--workspace", other])), printed(told));
    let nowhere = world.path().join("nowhere");
    let message = format!(
        "can't write {}/portcullis.toml: No such file or directory (os error 2) [shell.internal]",
        nowhere.display()
    );
    assert_eq!(ended(&mut world.bare(["init", "--workspace", nowhere.to_str().unwrap()])), failed(125, &message));
}
