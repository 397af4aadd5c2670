//! `run` keeps what it compiled, where commands can't put code in its place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{Ended, World, component, skip};

/// A world whose policy demands this level.
fn world(level: &str) -> World {
    let world = World::new("");
    fs::write(world.policy(), format!("version = 1\nconfinement.level = \"{level}\"\n")).unwrap();
    world
}

/// A world whose policy keeps commands from the cache; none where this host can't.
fn confined() -> Option<World> {
    let world = world("landlock");
    let ended = world.exec(&["true"]);
    if ended.stderr.contains("shell.confinement.level") {
        skip("compiled components are kept at level `landlock`, which this host can't hold commands to");
        return None;
    }
    Some(world)
}

fn cache(world: &World) -> PathBuf {
    world.home().join(".cache/portcullis/components")
}

fn entries(world: &World) -> Vec<PathBuf> {
    fs::read_dir(cache(world)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Runs the component `hello`, and returns what is said of the cache.
#[track_caller]
fn hello(world: &World) -> String {
    let Ended { code, stdout, stderr } = world.run(["-v".as_ref(), "run".as_ref(), component("hello").as_os_str()]);
    assert_eq!((code, stdout.as_str()), (Some(0), "hello\n"), "{stderr}");
    stderr.lines().filter(|line| line.contains("cache")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn below_level_landlock_there_is_no_cache_and_verbose_says_why() {
    for level in ["none", "limits"] {
        let world = world(level);
        let said = hello(&world);
        let expected = format!(
            "portcullis: no cache: compiled components are kept only where the policy demands confinement level \
             `landlock` or `full`; at `{level}` a command could put code of its own there\n\
             portcullis: component {}: compiled; there is no cache\n",
            component("hello").display()
        );
        assert_eq!(said, expected);
        assert!(!world.home().join(".cache").exists(), "and nothing was made");
    }
}

#[test]
fn what_one_run_compiled_the_next_one_loads() {
    let Some(world) = confined() else { return };
    let head = format!("portcullis: cache {}\n", cache(&world).display());
    let name = component("hello").display().to_string();
    assert_eq!(hello(&world), format!("{head}portcullis: component {name}: compiled, and kept in the cache\n"));
    assert_eq!(hello(&world), format!("{head}portcullis: component {name}: loaded from the cache\n"));
    assert_eq!(fs::metadata(cache(&world)).unwrap().permissions().mode() & 0o7777, 0o700);
    assert_eq!(entries(&world).len(), 1);
}

#[test]
fn a_damaged_entry_is_compiled_again() {
    let Some(world) = confined() else { return };
    hello(&world);
    let entry = entries(&world).remove(0);
    let whole = fs::read(&entry).unwrap();
    fs::write(&entry, &whole[..whole.len() / 2]).unwrap();
    let said = hello(&world);
    assert!(
        said.contains("compiled, and kept in the cache; what was there does not count: it is no entry, or cut short"),
        "{said}"
    );
    assert!(hello(&world).contains("loaded from the cache"));
}

#[test]
fn a_cache_that_others_can_enter_is_not_used_and_nothing_fails() {
    let Some(world) = confined() else { return };
    hello(&world);
    fs::set_permissions(cache(&world), PermissionsExt::from_mode(0o770)).unwrap();
    let said = hello(&world);
    let expected = format!("portcullis: no cache: can't keep compiled components in {}", cache(&world).display());
    assert!(said.starts_with(&expected) && said.contains("mode 770"), "{said}");
}
