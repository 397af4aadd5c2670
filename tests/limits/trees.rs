//! Whatever a command starts ends with it, and with portcullis, however that ends.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{ended_without_user_namespaces, holds, json};
use crate::support::{Ended, World, skip, started};

/// Leaves a process that sleeps for `$0` seconds, in a session of its own where it can have one, and prints `up` when
/// that process is there.
const LEAVE_DAEMON: &str = "mkfifo up; \
    { setsid sh -c 'echo up >up; exec sleep $0' $0 || sh -c 'echo up >up; exec sleep $0' $0; } \
    </dev/null >/dev/null 2>&1 & read line <up; echo $line";
/// An argument of `sleep` that no other process has.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 1_000_000 + std::process::id(), 1000 + COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a process has this argument at its end.
fn is_alive(argument: &str) -> bool {
    let end = format!("\0{argument}\0").into_bytes();
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.filter_map(|process| fs::read(process.join("cmdline")).ok()).any(|line| line.ends_with(&end))
}

/// Waits until no process has this argument at its end.
#[track_caller]
fn wait_until_gone(argument: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_alive(argument) {
        assert!(Instant::now() < deadline, "sleep {argument} is alive");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts `portcullis exec sh -c SCRIPT ARGUMENT`, and waits until it prints `up`.
fn up(world: &World, script: &str, argument: &str) -> Child {
    let mut child = started(&mut world.command(["exec", "sh", "-c", script, argument]));
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    child
}

#[test]
fn a_daemon_is_gone_when_its_command_has_ended() {
    let (world, argument) = (World::limited(&["sh"], ""), unique());
    let ended = world.exec(&["sh", "-c", LEAVE_DAEMON, &argument]);
    assert!(!is_alive(&argument), "it lives on");
    assert_eq!(ended, Ended { code: Some(0), stdout: "up\n".to_owned(), stderr: String::new() });
    assert!(!world.run(["audit", "show"]).stdout.is_empty());
}

/// The first of these proves that a process that is alive is found.
#[test]
fn a_killed_portcullis_leaves_no_process() {
    let (world, argument) = (World::limited(&["sh"], ""), unique());
    let mut portcullis = up(&world, &format!("{LEAVE_DAEMON}; exec sleep $0"), &argument);
    assert!(is_alive(&argument));
    portcullis.kill().unwrap();
    portcullis.wait().unwrap();
    wait_until_gone(&argument);
}

#[test]
fn sigterm_cancels_a_command_and_its_daemon() {
    let (world, argument) = (World::limited(&["sh"], ""), unique());
    let portcullis = up(&world, &format!("{LEAVE_DAEMON}; exec sleep $0"), &argument);
    assert!(is_alive(&argument));
    kill_process(Pid::from_child(&portcullis), Signal::TERM).unwrap();
    let output = portcullis.wait_with_output().unwrap();
    assert!(!is_alive(&argument), "it lives on");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(output.stderr, b"portcullis: the command was cancelled [shell.cancelled]\n");
}

#[test]
fn without_user_namespaces_a_process_group_holds_a_command_together() {
    let (world, argument) = (World::limited(&["sh"], ""), unique());
    let command = world.command(["exec", "--format", "json", "sh", "-c", LEAVE_DAEMON, &argument]);
    let Some(ended) = ended_without_user_namespaces(&command) else { return };
    assert!(!is_alive(&argument), "it lives on");
    let outcome = json(&ended);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(outcome["stdout"]["text"], "up\n");
    assert_eq!(outcome["enforcement"]["level"], "limits");
    assert!(outcome["enforcement"]["missing"].as_array().unwrap().contains(&json!("pid-namespace")), "{outcome}");
    assert_eq!(outcome["usage"]["leftover_processes"], json!(null));
}

#[test]
fn fifty_commands_at_once_all_come_to_their_end() {
    let world = World::limited(&["sh"], "");
    std::thread::scope(|scope| {
        for number in 0..50 {
            let world = &world;
            scope.spawn(move || {
                let ended = world.exec(&["sh", "-c", &format!("echo {number}; (echo child)")]);
                let stdout = format!("{number}\nchild\n");
                assert_eq!(ended, Ended { code: Some(0), stdout, stderr: String::new() });
            });
        }
    });
    let verified = world.run(["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// The cgroups of this process, wherever they are.
fn cgroups(directory: &Path, process: u32, found: &mut Vec<PathBuf>) {
    // Groups come and go.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(&format!("portcullis-{process}-"))) {
                found.push(entry.path());
            }
            cgroups(&entry.path(), process, found);
        }
    }
}

#[test]
fn no_cgroup_is_left_of_a_command_that_has_ended() {
    if !holds("memory-of-tree") {
        return skip("cgroups that are left: this user may make none");
    }
    let groups = |process| {
        let mut found = Vec::new();
        for controller in ["memory", "pids", "cpuacct"] {
            cgroups(&Path::new("/sys/fs/cgroup").join(controller), process, &mut found);
        }
        found
    };
    let argument = unique();
    // The first of these waits to be cancelled, the second ends by itself.
    for signal in [Some(Signal::TERM), None] {
        let world = World::limited(&["sh"], "");
        let script = format!("{LEAVE_DAEMON}; read line; [ $line = end ] || exec sleep 60");
        let mut portcullis = up(&world, &script, &argument);
        let process = portcullis.id();
        assert!(!groups(process).is_empty(), "a command has a group while it runs");
        let mut stdin = portcullis.stdin.take().unwrap();
        match signal {
            Some(signal) => kill_process(Pid::from_child(&portcullis), signal).unwrap(),
            None => std::io::Write::write_all(&mut stdin, b"end\n").unwrap(),
        }
        let output = portcullis.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(if signal.is_some() { 130 } else { 0 }), "{output:?}");
        assert_eq!(groups(process), Vec::<PathBuf>::new());
    }
}
