//! Cancelling `exec`: the tree is dead, and the journal tells.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode};
use rustix::process::{Pid, Signal, kill_process};

use super::printed;
use crate::support::{World, ended, started};

/// A named pipe that every process of the command below holds open.
fn lifeline(world: &World) -> PathBuf {
    let path = world.workspace().join("lifeline");
    rustix::fs::mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path
}

/// Prints `ready`, and then lives for a minute, with two children of which one left the parent.
const TREE: &str = "exec 9>lifeline; trap '' INT TERM HUP; (sleep 60 & sleep 60 &); sleep 60 & echo ready; wait";

/// Waits for the first line that a program prints.
fn wait_for_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// What the journal says of the one call's end, and of the session's.
fn ends(world: &World) -> (String, String) {
    let records = world.records();
    let of = |kind: &str| records.iter().find(|record| record["type"] == kind).unwrap_or_else(|| panic!("no {kind}"));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (text(&of("outcome")["status"]["kind"]), text(&of("session-end")["reason"]))
}

/// `portcullis` with the usual reaction to SIGHUP, even where the tests run under `nohup`.
fn listening(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    env.current_dir(command.get_current_dir().unwrap()).env_clear();
    env.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    env
}

#[test]
fn sigint_sigterm_and_sighup_kill_the_tree_and_are_recorded() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = World::allowing(&["sh"]);
        let fifo = lifeline(&world);
        let mut child = started(&mut listening(&world.command(["exec", "sh", "-c", TREE])));
        let mut life = File::open(fifo).unwrap();
        assert_eq!(wait_for_line(&mut child), "ready\n");
        let sent = Instant::now();
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal:?}");
        assert_eq!(output.stderr, b"portcullis: the command was cancelled [shell.cancelled]\n");
        // The end of file: nobody is left who holds it open.
        life.read_to_end(&mut Vec::new()).unwrap();
        assert!(sent.elapsed() < Duration::from_secs(30), "{signal:?}");
        assert_eq!(ends(&world), ("cancelled".to_owned(), "cancelled".to_owned()), "{signal:?}");
    }
}

#[test]
fn a_cancelled_command_is_told_as_json_with_what_it_wrote() {
    let world = World::allowing(&["sh"]);
    let fifo = lifeline(&world);
    let script = "echo half; echo x >lifeline; exec sleep 60";
    let child = started(&mut world.command(["exec", "--format", "json", "sh", "-c", script]));
    assert_eq!(fs::read(fifo).unwrap(), b"x\n");
    send(Signal::INT, &child);
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(130), Vec::new()));
    assert_eq!(json["status"], serde_json::json!({"kind": "cancelled"}));
    assert_eq!(json["stdout"], serde_json::json!({"text": "half\n", "total": 5, "gap": null}));
}

#[test]
fn a_cancelled_component_leaves_no_command_and_a_closed_session() {
    let world = World::allowing(&["sh"]);
    let fifo = lifeline(&world);
    let hostile = crate::support::component("hostile");
    let args = ["run", hostile.to_str().unwrap(), "exec", "sh", "-c", TREE];
    let child = started(&mut world.command(args));
    let mut life = File::open(fifo).unwrap();
    send(Signal::TERM, &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stderr, b"portcullis: cancelled [shell.cancelled]\n");
    life.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(ends(&world), ("cancelled".to_owned(), "cancelled".to_owned()));
}

#[test]
fn under_nohup_a_hangup_changes_nothing() {
    let world = World::allowing(&["cat"]);
    let given = world.command(["exec", "cat"]);
    let mut nohup = Command::new("env");
    nohup.arg("--ignore-signal=HUP").arg(given.get_program()).args(given.get_args());
    nohup.current_dir(world.workspace()).env_clear();
    nohup.envs(given.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = started(&mut nohup);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"before\n").unwrap();
    assert_eq!(wait_for_line(&mut child), "before\n");
    send(Signal::HUP, &child);
    stdin.write_all(b"after\n").unwrap();
    assert_eq!(wait_for_line(&mut child), "after\n");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(ends(&world), ("exited".to_owned(), "closed".to_owned()));
}

#[test]
fn a_killed_portcullis_leaves_an_open_session_and_the_next_one_works() {
    let world = World::allowing(&["cat", "true"]);
    let mut child = started(&mut world.command(["exec", "cat"]));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"started\n").unwrap();
    assert_eq!(wait_for_line(&mut child), "started\n");
    // The kernel closes its pipes, and so `cat` ends.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(world.record_types(), ["segment", "session-start", "intent"]);
    let call = world.records()[2]["call"].as_str().unwrap().to_owned();
    let session = call.strip_suffix(".1").unwrap();

    assert_eq!(world.exec(&["true"]), printed(""));
    let verified = world.run(["audit", "verify"]);
    assert_eq!((verified.code, verified.stderr.as_str()), (Some(0), ""));
    assert!(verified.stdout.starts_with("intact: 7 records, "), "{}", verified.stdout);
    assert!(verified.stdout.contains("without an end") && verified.stdout.contains(&format!("first {call};")));

    let table = world.run(["audit", "show"]).stdout;
    let row = table.lines().find(|line| line.starts_with(&call)).unwrap();
    assert!(row.contains("  no outcome  ") && row.ends_with("  cat"), "{row}");
    let shown = world.run(["audit", "show", &call]).stdout;
    let told = format!("\ncall {call} has no outcome: it still runs, or portcullis was killed\n");
    assert!(shown.ends_with(&told), "{shown}");
    let shown = world.run(["audit", "show", session]).stdout;
    let told = format!("{told}the session has no end: it still runs, or portcullis was killed\n");
    assert!(shown.ends_with(&told), "{shown}");
    assert_eq!(ended(&mut world.command(["audit", "show", "-n", "1"])).stdout.lines().count(), 2);
}
