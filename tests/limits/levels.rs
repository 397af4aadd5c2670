//! Machines that lack something that confinement needs: what a policy demands is refused, or what is missing is said.

use std::fs;

use serde_json::{Value, json};

use super::json;
use crate::support::lesser::{Lack, holds, reaches_full};
use crate::support::{Ended, World, allow, ended};

/// A world whose policy demands this level; `None` = says nothing about it.
fn demanding(level: Option<&str>) -> World {
    let world = World::new("");
    demand(&world, level);
    world
}

fn demand(world: &World, level: Option<&str>) {
    let line = level.map(|level| format!("confinement.level = \"{level}\"\n")).unwrap_or_default();
    fs::write(world.policy(), format!("version = 1\n{line}{}", allow("echo"))).unwrap();
}

/// `portcullis exec --format json echo hello`; `lack` is taken away.
fn echo(world: &World, lack: Option<Lack>) -> Option<Ended> {
    let command = world.command(["exec", "--format", "json", "echo", "hello"]);
    let mut command = match lack {
        Some(lack) => lack.of(&command)?,
        None => command,
    };
    Some(ended(&mut command))
}

/// The command ran, and this held, as its result and the journal have it.
#[track_caller]
fn assert_ran(world: &World, ended: &Ended, level: &str, missing: &[&str]) {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let result = json(ended);
    assert_eq!(result["stdout"]["text"], "hello\n", "{result}");
    assert_eq!(result["enforcement"], json!({ "level": level, "missing": missing }));
    let records = world.records();
    let last = |kind| records.iter().rfind(|record| record["type"] == kind).unwrap();
    assert_eq!(last("intent")["level"], level);
    assert_eq!((&last("outcome")["level"], &last("outcome")["missing"]), (&json!(level), &json!(missing)));
}

/// Nothing ran, and the message says what is missing and the one line that accepts less.
#[track_caller]
fn assert_refused(world: &World, ended: &Ended, wanted: &str, there: &str, missing: &str) {
    let expected = format!(
        "portcullis: the policy demands confinement level `{wanted}` and this host reaches `{there}`: it {missing}; \
         `portcullis doctor` says how to get more; to accept less, write `confinement.level = \"{there}\"` in {} \
         [shell.confinement.level]\n",
        world.policy().display()
    );
    assert_eq!(*ended, Ended { code: Some(125), stdout: String::new(), stderr: expected });
    let begun = world.journal().exists() && world.record_types() != ["segment"];
    assert!(!begun, "a session was begun");
}

/// What this host's cgroups do not count, where processes are counted `by_cgroup` only.
fn uncounted(by_cgroup: bool) -> Vec<&'static str> {
    if holds("memory-of-tree") {
        vec![]
    } else if by_cgroup {
        vec!["memory-of-tree", "processes-of-tree"]
    } else {
        vec!["memory-of-tree"]
    }
}

/// In a namespace a limit of the process's own counts processes, but for root.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_machine_that_has_everything_reaches_full() {
    if !reaches_full() {
        return;
    }
    let world = demanding(None);
    assert_ran(&world, &echo(&world, None).unwrap(), "full", &uncounted(is_root()));
}

/// Refuses without, and runs at level `landlock` once the policy has the line of the message.
fn assert_landlock_is_left(lack: Lack, missing: &str) {
    if !reaches_full() {
        return;
    }
    let world = demanding(None);
    let Some(refused) = echo(&world, Some(lack)) else { return };
    assert_refused(&world, &refused, "full", "landlock", missing);
    demand(&world, Some("landlock"));
    let ran = echo(&world, Some(lack)).unwrap();
    let parts = [&["pid-namespace"], &uncounted(true)[..], &["mount-namespace", "network-namespace"]].concat();
    assert_ran(&world, &ran, "landlock", &parts);
    // It is the least: where there is more, there is more.
    assert_eq!(json(&echo(&world, None).unwrap())["enforcement"]["level"], "full");
}

#[test]
fn without_user_namespaces_full_is_refused_and_landlock_holds() {
    let missing = "can't make user, PID, mount and UTS namespaces: No space left on device (os error 28)";
    assert_landlock_is_left(Lack::UserNamespaces, missing);
}

#[test]
fn without_mounts_full_is_refused_and_landlock_holds() {
    assert_landlock_is_left(
        Lack::Mounts,
        "can't part the mounts from the host's: Operation not permitted (os error 1)",
    );
}

#[test]
fn without_landlock_full_and_landlock_are_refused() {
    if !reaches_full() {
        return;
    }
    for (level, wanted) in [(None, "full"), (Some("landlock"), "landlock")] {
        let world = demanding(level);
        let Some(refused) = echo(&world, Some(Lack::Landlock)) else { return };
        let missing = "can't use Landlock: the kernel has none, or it is switched off";
        assert_refused(&world, &refused, wanted, "limits", missing);
    }
    let world = demanding(Some("limits"));
    let ran = echo(&world, Some(Lack::Landlock)).unwrap();
    let rest = ["landlock", "seccomp", "capabilities", "mount-namespace", "network-namespace"];
    let parts = [&uncounted(is_root())[..], &rest].concat();
    assert_ran(&world, &ran, "limits", &parts);
}

#[test]
fn without_cgroups_every_result_says_which_limits_do_not_hold() {
    if !reaches_full() {
        return;
    }
    for lack in [Lack::Cgroups, Lack::WritableCgroups] {
        let world = demanding(None);
        let Some(ran) = echo(&world, Some(lack)) else { return };
        let parts: &[&str] = if is_root() { &["memory-of-tree", "processes-of-tree"] } else { &["memory-of-tree"] };
        assert_ran(&world, &ran, "full", parts);

        let report = json(&ended(&mut lack.of(&world.command(["doctor", "--json"])).unwrap()));
        let lacking: Vec<&Value> =
            report["capabilities"].as_array().unwrap().iter().filter(|one| one["holds"] == false).collect();
        let named = |name: &str| lacking.iter().any(|one| one["name"] == name && !one["remedy"].is_null());
        assert!(parts.iter().all(|part| named(part)) && named("cpu-of-tree"), "{lack:?}: {report}");
    }
}

/// What the host can do is remembered, as a note that costs nothing when it is wrong.
#[test]
fn that_this_host_confines_fully_is_remembered_and_found_out_again() {
    let world = World::new("");
    fs::write(world.policy(), format!("version = 1\n{}", allow("true"))).unwrap();
    let note = world.home().join(".cache/portcullis/confinement");
    let Ended { code, stderr, .. } = world.exec(&["true"]);
    if code == Some(125) {
        assert!(stderr.contains("shell.confinement.level") && !note.exists(), "{stderr}");
        return;
    }
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let first = fs::read_to_string(&note).unwrap();
    assert_eq!(first.len(), 64, "{first}");
    for wrong in [first.as_str(), "", "something else"] {
        fs::write(&note, wrong).unwrap();
        assert_eq!(world.exec(&["true"]).code, Some(0), "{wrong}");
        assert_eq!(fs::read_to_string(&note).unwrap(), first);
    }
}
