//! Components that want all the time and memory there is.

use std::process::Command;

use crate::support::World;
use crate::{ends_early, peak_memory};

/// How the only session in the journal ended.
fn reason(world: &World) -> String {
    world.records().last().unwrap()["reason"].as_str().unwrap().to_owned()
}

#[test]
fn an_endless_loop_ends_when_its_computing_time_is_used_up() {
    let world = World::new("component.compute = \"300ms\"\n");
    assert_eq!(ends_early(&world, &["loop"], "shell.component.compute"), "looping\n");
    assert_eq!(reason(&world), "failed");
}

#[test]
fn an_endless_loop_ends_with_the_session() {
    let world = World::new("component.wall = \"300ms\"\n");
    assert_eq!(ends_early(&world, &["loop"], "shell.session.deadline"), "looping\n");
    assert_eq!(reason(&world), "deadline");
}

#[test]
fn who_waits_for_ever_ends_with_the_session() {
    let world = World::new("component.wall = \"300ms\"\n");
    assert_eq!(ends_early(&world, &["poll"], "shell.session.deadline"), "waiting\n");
    assert_eq!(reason(&world), "deadline");
}

#[test]
fn who_opens_a_fifo_that_nobody_writes_ends_with_the_session() {
    let world = World::new("component.wall = \"300ms\"\n");
    assert!(Command::new("mkfifo").arg(world.workspace().join("fifo")).status().unwrap().success());
    // A thread of the host waits in the kernel for a writer; the process ends all the same, or this would not return.
    assert_eq!(ends_early(&world, &["fifo", "fifo"], "shell.session.deadline"), "");
    assert_eq!(reason(&world), "deadline");
}

#[test]
fn a_command_that_runs_for_ever_is_dead_when_the_session_has_ended() {
    let world = World::new(&format!("component.wall = \"2s\"\n{}", crate::support::allow("sh")));
    let script = "echo $$ > pid; sleep 1000 & echo $! >> pid; wait";
    assert_eq!(ends_early(&world, &["exec", "sh", "-c", script], "shell.session.deadline"), "");
    let pids = std::fs::read_to_string(world.workspace().join("pid")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
    let outcomes: Vec<_> = world
        .records()
        .into_iter()
        .filter(|record| record["type"] == "outcome")
        .map(|record| record["status"]["kind"].clone())
        .collect();
    assert_eq!(outcomes, ["cancelled"]);
}

#[test]
fn allocating_without_end_stops_at_the_components_memory_and_the_host_stays_small() {
    // Without the ceiling the component takes what it can get: the default is four times as much.
    let (ended, large) = peak_memory(&World::new(""), &["alloc"]);
    assert_eq!((ended.code, last_line(&ended.stdout)), (Some(0), "refused"), "{ended:?}");
    let world = World::new("component.memory = \"64MiB\"\n");
    let (ended, small) = peak_memory(&world, &["alloc"]);
    assert_eq!((ended.code, last_line(&ended.stdout)), (Some(0), "refused"), "{ended:?}");
    let at = ended.stdout.lines().last().unwrap().split(' ').nth(2).unwrap().parse::<u32>().unwrap();
    assert!((48..64).contains(&at), "{ended:?}");
    assert!(large > small + (128 << 20), "{large} bytes with a larger ceiling, {small} with a smaller one");
}

/// The first word of the last line.
fn last_line(text: &str) -> &str {
    text.lines().last().and_then(|line| line.split(' ').next()).unwrap_or_default()
}
