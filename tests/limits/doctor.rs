//! `portcullis doctor`.

use serde_json::Value;

use super::{ended_without_user_namespaces, holds, json};
use crate::support::{Ended, World, ended};

const NAMES: [&str; 11] = [
    "guard",
    "pid-namespace",
    "memory-of-tree",
    "processes-of-tree",
    "cpu-of-tree",
    "pidfd",
    "openat2",
    "close-range",
    "seccomp-filter",
    "landlock",
    "mount-namespace",
];

/// The exit code says the same as the report, whatever this host has.
fn assert_is_sound(ended: &Ended) -> Value {
    assert_eq!(ended.stderr, "");
    let report = json(ended);
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["capabilities", "kernel", "level", "schema", "user"]);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["user"], rustix::process::geteuid().as_raw());
    let all = report["capabilities"].as_array().unwrap();
    assert_eq!(all.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    assert_eq!(ended.code, Some(if report["level"] == "full" { 0 } else { 1 }));
    for one in all {
        assert_ne!(one["detail"], "");
        assert!(one["holds"] == false || one["remedy"].is_null(), "{one}");
    }
    report
}

#[test]
fn the_doctor_tells_what_this_host_has_as_json_and_as_text() {
    let world = World::new("");
    let report = assert_is_sound(&world.run(["doctor", "--json"]));
    let text = world.run(["doctor"]);
    assert_eq!(text.stderr, "");
    let level = report["level"].as_str().unwrap();
    assert!(text.stdout.starts_with(&format!("confinement level `{level}`")), "{}", text.stdout);
    for one in report["capabilities"].as_array().unwrap() {
        let holds = if one["holds"] == true { "yes" } else { "no " };
        let start = format!("\n  {holds}  {:<17}  {}", one["name"].as_str().unwrap(), one["detail"].as_str().unwrap());
        assert!(text.stdout.contains(&start), "{start:?}: {}", text.stdout);
        assert!(one["remedy"].as_str().is_none_or(|remedy| text.stdout.contains(remedy)), "{one}");
    }
}

#[test]
fn the_doctor_needs_no_policy_no_home_and_no_journal() {
    let world = World::new("");
    let mut bare = world.bare(["doctor", "--json"]);
    assert_is_sound(&ended(bare.env_remove("HOME")));
    assert!(!world.state().exists());
}

#[test]
fn without_user_namespaces_the_doctor_names_the_switch() {
    let world = World::new("");
    let Some(text) = ended_without_user_namespaces(&world.command(["doctor"])) else { return };
    assert_eq!((text.code, text.stderr.as_str()), (Some(1), ""));
    let level = if holds("landlock") { "landlock" } else { "limits" };
    let first = format!("confinement level `{level}`, with parts missing, as user 0 on Linux ");
    assert!(text.stdout.starts_with(&first), "{}", text.stdout);
    for name in ["pid-namespace", "mount-namespace"] {
        let missing = format!("\n  no   {name:<17}  can't make user, PID, mount and UTS namespaces: ");
        let (_, after) = text.stdout.split_once(&missing).unwrap_or_else(|| panic!("{name}: {}", text.stdout));
        let remedy = after.lines().nth(1);
        assert_eq!(remedy, Some("       to get it          set sysctl user.max_user_namespaces=10000"), "{name}");
    }

    let report = json(&ended_without_user_namespaces(&world.command(["doctor", "--json"])).unwrap());
    assert_eq!(report["level"], level);
    for place in [1, 10] {
        let namespace = &report["capabilities"][place];
        assert_eq!(namespace["holds"], false, "{namespace}");
        assert_eq!(namespace["remedy"], "set sysctl user.max_user_namespaces=10000", "{namespace}");
    }
}
