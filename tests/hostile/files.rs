//! What a component can reach without asking for a command.

use std::fs;
use std::os::unix::fs::symlink;

use crate::says;
use crate::support::World;

const DENIED: &str = "error PermissionDenied: Operation not permitted (os error 63)\n";
const REFUSED: &str = "error PermissionDenied: Permission denied (os error 2)\n";
const MISSING: &str = "error NotFound: No such file or directory (os error 44)\n";

/// A workspace with a file, links out of it, and a file beside it.
fn world(files: &str) -> World {
    let world = World::new(&format!("workspace.guest-files = \"{files}\"\n"));
    fs::write(world.workspace().join("file"), "inside").unwrap();
    fs::write(world.path().join("secret"), "outside").unwrap();
    symlink("../secret", world.workspace().join("relative")).unwrap();
    symlink(world.path().join("secret"), world.workspace().join("absolute")).unwrap();
    symlink("file", world.workspace().join("link")).unwrap();
    // What the attacks want is there, and the links lead to it.
    for link in ["relative", "absolute"] {
        assert_eq!(fs::read_to_string(world.workspace().join(link)).unwrap(), "outside");
    }
    world
}

/// A name below the workspace by its absolute path.
fn absolute(world: &World, name: &str) -> String {
    format!("{}/{name}", fs::canonicalize(world.workspace()).unwrap().display())
}

fn reads(world: &World, path: &str) -> String {
    says(world, &["read", path])
}

fn writes(world: &World, path: &str) -> String {
    says(world, &["write", path])
}

#[test]
fn a_component_reads_the_workspace_by_both_of_its_names_and_writes_nothing() {
    let world = world("read");
    for path in ["link", &absolute(&world, "file")] {
        assert_eq!(reads(&world, path), "ok 6 \"inside\"\n", "{path}");
    }
    for path in ["file", &absolute(&world, "new")] {
        assert_eq!(writes(&world, path), DENIED, "{path}");
    }
    assert_eq!(fs::read_to_string(world.workspace().join("file")).unwrap(), "inside");
    assert!(!world.workspace().join("new").exists());
}

#[test]
fn a_component_writes_the_workspace_by_both_of_its_names_where_the_policy_says_so() {
    let world = world("write");
    for (path, name) in [("link", "file"), (absolute(&world, "new").as_str(), "new")] {
        assert_eq!(writes(&world, path), "ok\n", "{path}");
        assert_eq!(fs::read_to_string(world.workspace().join(name)).unwrap(), "hostile\n");
    }
}

#[test]
fn a_component_has_no_part_in_what_is_denied_to_commands() {
    let world = world("write");
    let hook = world.workspace().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "a hook").unwrap();
    let path = ".git/hooks/pre-commit";
    // Below level `full` nothing is denied, as commands would go where a component may not.
    assert_eq!(reads(&world, path), "ok 6 \"a hook\"\n");
    fs::write(world.policy(), "version = 1\nworkspace.guest-files = \"write\"\n").unwrap();
    if world.run(["doctor"]).stdout.starts_with("confinement level `full`") {
        for path in [path, &absolute(&world, path)] {
            assert_eq!(reads(&world, path), REFUSED, "{path}");
            assert_eq!(writes(&world, path), REFUSED, "{path}");
        }
        assert_eq!(reads(&world, "file"), "ok 6 \"inside\"\n");
        assert_eq!(writes(&world, ".git/config"), "ok\n");
    }
    assert_eq!(fs::read_to_string(&hook).unwrap(), "a hook");
}

#[test]
fn nothing_outside_the_workspace_can_be_reached_however_much_the_policy_gives_inside() {
    let world = world("write");
    for (path, answer) in [
        ("relative", DENIED),
        ("absolute", DENIED),
        ("../secret", DENIED),
        (&absolute(&world, "../secret"), DENIED),
        ("/etc/passwd", MISSING),
    ] {
        assert_eq!(reads(&world, path), answer, "{path}");
    }
    for path in ["relative", "../secret"] {
        assert_eq!(writes(&world, path), DENIED, "{path}");
    }
    assert_eq!(fs::read_to_string(world.path().join("secret")).unwrap(), "outside");
}

#[test]
fn a_component_without_files_finds_none() {
    let world = world("none");
    assert_eq!(reads(&world, "file"), MISSING);
    assert_eq!(reads(&world, &absolute(&world, "file")), MISSING);
}

#[test]
fn a_component_has_no_network_and_no_environment() {
    let world = World::new("");
    assert_eq!(says(&world, &["connect"]), "error PermissionDenied: Permission denied (os error 2)\n");
    assert_eq!(says(&world, &["list-env"]), "variables 0\n");
}
