//! Exit codes, messages and JSON of commands that exceed a limit.

use serde_json::{Value, json};

use super::{holds, json};
use crate::support::{Ended, World, allow, skip};

const SPIN: &str = "while :; do :; done";
/// Both spin, so that neither alone uses up what both do.
const SPIN_TWICE: &str = "sh -c 'while :; do :; done' & while :; do :; done";
const WRITE: &str = "exec head -c 200000 /dev/zero >big";

/// Runs `sh -c SCRIPT` under these limits.
fn shell(limits: &str, script: &str) -> Ended {
    World::limited(&["sh"], limits).exec(&["sh", "-c", script])
}

fn killed(code: i32, message: &str) -> Ended {
    let stderr = format!("portcullis: the command was killed: {message}\n");
    Ended { code: Some(code), stdout: String::new(), stderr }
}

/// Status, exit code and enforcement of `exec --format json`; its own exit code is the same.
fn told(world: &World, argv: &[&str]) -> (Value, Value) {
    let ended = world.exec(&[&["--format", "json"], argv].concat());
    let outcome = json(&ended);
    assert_eq!((outcome["exit_code"].as_i64(), ended.stderr.as_str()), (ended.code.map(i64::from), ""));
    assert_eq!(outcome["enforcement"]["level"], "limits");
    (outcome["status"].clone(), outcome["exit_code"].clone())
}

#[test]
fn wall_clock_time_ends_in_124() {
    let message = "its wall-clock limit ran out; --timeout asks for another, up to the policy's";
    assert_eq!(shell("wall = \"300ms\"", "exec sleep 60"), killed(124, message));
    let world = World::limited(&["sleep"], "wall = \"300ms\"");
    assert_eq!(told(&world, &["sleep", "60"]), (json!({"kind": "wall-exceeded"}), json!(124)));
}

#[test]
fn processor_time_ends_in_124_and_counts_the_whole_tree() {
    let message = "its processor time ran out; `limits.cpu` of the policy gives more";
    assert_eq!(shell("wall = \"60s\", cpu = \"300ms\"", SPIN), killed(124, message));
    let world = World::limited(&["sh"], "wall = \"60s\", cpu = \"500ms\"");
    assert_eq!(told(&world, &["sh", "-c", SPIN_TWICE]), (json!({"kind": "cpu-exceeded"}), json!(124)));
}

#[test]
fn memory_ends_in_137_where_it_is_the_trees() {
    // It keeps what it reads until it finds the end of a line.
    let (program, limits) = (["tail", "/dev/zero"], "wall = \"60s\", memory = \"32MiB\"");
    let world = World::limited(&["tail"], limits);
    let ended = world.exec(&program);
    if holds("memory-of-tree") {
        let message = "it used more memory than it may; `limits.memory` of the policy gives more";
        assert_eq!(ended, killed(137, message));
        assert_eq!(told(&world, &program), (json!({"kind": "memory-exceeded"}), json!(137)));
    } else {
        skip("the memory of a tree: this user may make no cgroup");
        // Its allocation fails, and it says so itself.
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), "tail: memory exhausted\n"));
        assert_eq!(told(&world, &program), (json!({"kind": "exited", "code": 1}), json!(1)));
    }
}

#[test]
fn a_large_file_ends_in_153() {
    let limits = "file-size = \"100KB\"";
    let message = "it wrote a larger file than it may; `limits.file-size` of the policy gives more";
    let world = World::limited(&["sh"], limits);
    assert_eq!(world.exec(&["sh", "-c", WRITE]), killed(153, message));
    assert_eq!(std::fs::metadata(world.workspace().join("big")).unwrap().len(), 100_000);
    assert_eq!(told(&world, &["sh", "-c", WRITE]), (json!({"kind": "file-size-exceeded"}), json!(153)));
}

#[test]
fn processes_and_descriptors_are_refused_to_the_command() {
    if holds("processes-of-tree") {
        let script = "for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; echo all";
        let ended = shell("processes = 5", script);
        assert_ne!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.to_lowercase().contains("fork"), "{ended:?}");
        // Nothing of that holds where it is not reached.
        assert_eq!(shell("processes = 20", script).stdout, "all\n");
    } else {
        skip("the number of processes: this user may make no cgroup");
    }
    assert_eq!(shell("open-files = 40", "ulimit -n").stdout, "40\n");
}

#[test]
fn a_request_asks_for_less_than_the_policy_gives() {
    let world = World::limited(&["sh"], "cpu = \"60s\", memory = \"64MiB\", processes = 20");
    let asked = ["--cpu", "300ms", "--memory", "32MiB", "--processes", "5"];
    let checked = json(&world.run([&["check", "--json"], &asked[..], &["sh"]].concat()));
    let limits = &checked["allowed"]["limits"];
    assert_eq!([&limits["cpu_ns"], &limits["memory_bytes"], &limits["processes"]], [300_000_000, 32 << 20, 5]);
    let ended = world.exec(&[&asked[..], &["sh", "-c", SPIN]].concat());
    assert_eq!(ended, killed(124, "its processor time ran out; --cpu asks for more, up to the policy's"));
    let intent = world.records().into_iter().find(|record| record["type"] == "intent").unwrap();
    assert_eq!(intent["limits"]["cpu_ns"], 300_000_000);
    assert_eq!(intent["limits"]["memory_bytes"], 32 << 20);
    assert_eq!(intent["limits"]["processes"], 5);
    // As much as the policy gives may be asked for.
    assert_eq!(world.exec(&["--cpu", "60s", "--memory", "64MiB", "--processes", "20", "sh", "-c", ":"]).code, Some(0));
}

#[test]
fn memory_that_was_asked_for_is_all_there_is() {
    let world = World::limited(&["tail"], "wall = \"60s\", memory = \"512MiB\"");
    let ended = world.exec(&["--memory", "32MiB", "tail", "/dev/zero"]);
    if holds("memory-of-tree") {
        let message = "it used more memory than it may; --memory asks for more, up to the policy's";
        assert_eq!(ended, killed(137, message));
    } else {
        skip("the memory of a tree: this user may make no cgroup");
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), "tail: memory exhausted\n"));
    }
}

#[test]
fn more_than_the_policy_gives_and_nothing_at_all_are_refused() {
    let world = World::limited(&["true"], "cpu = \"10s\", memory = \"64MiB\", processes = 20");
    let wrong = ["--cpu=11s", "--cpu=0s", "--memory=65MiB", "--memory=0", "--processes=21", "--processes=0"];
    for option in wrong {
        for command in ["exec", "check"] {
            let Ended { code, stdout, stderr } = world.run([command, option, "true"]);
            assert_eq!(code, Some(126), "{option}: {stderr}");
            assert!((stdout + &stderr).contains("shell.limit.policy"), "{option}: {stderr}");
        }
    }
    let world = World::allowing(&["true"]);
    for option in ["--cpu=1s", "--memory=64MiB", "--processes=5"] {
        let Ended { code, stderr, .. } = world.exec(&[option, "true"]);
        assert_eq!(code, Some(125), "{option}: {stderr}");
        assert!(stderr.ends_with("[shell.limit.unsupported]\n"), "{option}: {stderr}");
    }
}

#[test]
fn the_journal_tells_which_limit_was_exceeded() {
    let world = World::limited(&["sh"], "wall = \"60s\", cpu = \"300ms\"");
    world.exec(&["sh", "-c", SPIN]);
    let outcome = world.records().into_iter().find(|record| record["type"] == "outcome").unwrap();
    assert_eq!(outcome["status"]["kind"], "cpu-exceeded");
    assert_eq!(outcome["level"], "limits");
}

#[test]
fn a_policy_that_wants_no_confinement_can_have_no_such_limits() {
    let world = World::new(&format!("limits.cpu = \"1s\"\n{}", allow("sh")));
    let ended = world.exec(&["sh", "-c", "true"]);
    assert_eq!(ended.code, Some(125));
    let message = "this limit does not hold at confinement level `none`";
    assert!(ended.stderr.contains(message) && ended.stderr.ends_with("[shell.policy.invalid]\n"), "{}", ended.stderr);
}
