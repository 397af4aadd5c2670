//! A shell executes some commands in its own place and forks for others, and shells differ in which: whatever the shape,
//! nothing is left.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::time::Duration;

use portcullis_policy::{LimitRequest, ProgramFact, ProgramName, Request};
use portcullis_runner::{Running, Status, Streams};
use support::{Bench, finish, levels, skip, unique_sleep, until, with_argument};

/// Scripts that last as long as `SLEEP`.
const LASTING: [&str; 19] = [
    "sleep SLEEP",
    "exec sleep SLEEP",
    "sleep SLEEP; true",
    "(sleep SLEEP)",
    "(sleep SLEEP); true",
    "{ sleep SLEEP; true; }",
    "sleep SLEEP | cat",
    "true | sleep SLEEP",
    "sleep SLEEP | cat | cat; true",
    "x=$(sleep SLEEP)",
    "x=$(sleep SLEEP | cat; true); true",
    "sleep SLEEP & wait",
    "sleep SLEEP && true",
    "! sleep SLEEP",
    "if sleep SLEEP; then :; fi",
    "while sleep SLEEP; do :; done",
    "f() { sleep SLEEP; true; }; f",
    "trap 'true' EXIT; sleep SLEEP",
    "sh -c 'sleep SLEEP; true'; true",
];

/// Scripts that end at once and leave `SLEEP` with their standard output.
const LEAVING: [&str; 8] = [
    "sleep SLEEP &",
    "(sleep SLEEP &)",
    "(sleep SLEEP; true) &",
    "sleep SLEEP | cat &",
    "{ sleep SLEEP; true; } &",
    "sh -c 'sleep SLEEP; true' &",
    "nohup sleep SLEEP &",
    "(trap '' HUP TERM INT; sleep SLEEP; true) &",
];

/// Every shell that is here, at every level.
fn shells() -> Vec<(Bench, &'static str, &'static str)> {
    let mut shells = Vec::new();
    for level in levels() {
        for shell in ["dash", "bash"] {
            let bench = Bench::at(level, &[shell]);
            match bench.programs.fact(&ProgramName::new(shell).unwrap()) {
                ProgramFact::Found(_) => shells.push((bench, level, shell)),
                ProgramFact::Missing | ProgramFact::Unusable(_) => skip(&format!("{shell} is not installed")),
            }
        }
    }
    shells
}

fn request(shell: &str, shape: &str, sleep: &str) -> Request {
    Request::new(shell).args(["-c", &shape.replace("SLEEP", sleep)])
}

/// A command of each shape, all at once, with what to find its processes by.
fn start_all<const N: usize>(
    bench: &Bench,
    shapes: [&'static str; N],
    request: impl Fn(&str, &str) -> Request,
) -> [(&'static str, String, Running); N] {
    shapes.map(|shape| {
        let sleep = unique_sleep();
        let running = bench.start(&request(shape, &sleep), Streams::default());
        (shape, sleep, running)
    })
}

#[tokio::test]
async fn whatever_a_shell_forks_for_dies_when_the_command_is_cancelled() {
    for (bench, level, shell) in shells() {
        let all = start_all(&bench, LASTING, |shape, sleep| request(shell, shape, sleep));
        for (shape, sleep, running) in &all {
            until(shape, || !with_argument(sleep).is_empty()).await;
            running.canceller().cancel();
        }
        for (shape, sleep, running) in all {
            assert_eq!(finish(running).await.status, Status::Cancelled, "{shell} {level}: {shape}");
            assert_eq!(with_argument(&sleep), Vec::<u32>::new(), "{shell} {level}: {shape}");
        }
    }
}

#[tokio::test]
async fn whatever_a_shell_forks_for_dies_when_the_command_is_dropped() {
    for (bench, _, shell) in shells() {
        for (shape, sleep, running) in start_all(&bench, LASTING, |shape, sleep| request(shell, shape, sleep)) {
            until(shape, || !with_argument(&sleep).is_empty()).await;
            drop(running);
            until(shape, || with_argument(&sleep).is_empty()).await;
        }
    }
}

#[tokio::test]
async fn whatever_a_shell_forks_for_dies_at_the_wall_clock_limit() {
    let limits = LimitRequest { wall: Some(Duration::from_secs(1)), ..LimitRequest::default() };
    for (bench, level, shell) in shells() {
        for (shape, sleep, running) in
            start_all(&bench, LASTING, |shape, sleep| request(shell, shape, sleep).limits(limits))
        {
            assert_eq!(finish(running).await.status, Status::WallExceeded, "{shell} {level}: {shape}");
            assert_eq!(with_argument(&sleep), Vec::<u32>::new(), "{shell} {level}: {shape}");
        }
    }
}

#[tokio::test]
async fn what_a_shell_leaves_in_the_background_with_its_output_does_not_delay_its_end_and_dies() {
    for (bench, level, shell) in shells() {
        let all = start_all(&bench, LEAVING, |shape, sleep| {
            // It goes on when the other is there, so that the end finds somebody.
            let script =
                format!("{shape}\nuntil grep -lzx SLEEP /proc/[0-9]*/cmdline >/dev/null 2>&1; do :; done; echo done");
            request(shell, &script, sleep)
        });
        for (shape, sleep, running) in all {
            let outcome = finish(running).await;
            let said = String::from_utf8_lossy(&outcome.stdout.bytes).into_owned();
            // The default limit is half a minute: who waited for the pipe's end would run into it.
            assert_eq!((outcome.status, said.as_str()), (Status::Exited(0), "done\n"), "{shell} {level}: {shape}");
            assert_eq!(with_argument(&sleep), Vec::<u32>::new(), "{shell} {level}: {shape}");
        }
    }
}

/// Forks and ends, again and again: whoever kills the processes that he has listed comes too late for the newest.
const RUNAWAY: &str = "import os, sys
if os.fork() == 0:
    while True:
        if os.fork(): os._exit(0)
while sys.argv[1] == 'wait': pass
print('done')";

#[tokio::test]
async fn a_process_that_forks_and_ends_for_ever_is_caught() {
    for level in levels() {
        let bench = Bench::at(level, &["python3"]);
        let marker = unique_sleep();
        let outcome = bench.run(&Request::new("python3").args(["-c", RUNAWAY, "leave", &marker])).await;
        assert_eq!(
            (outcome.status, outcome.stdout.bytes.as_slice()),
            (Status::Exited(0), b"done\n".as_slice()),
            "{level}"
        );
        until(level, || with_argument(&marker).is_empty()).await;

        let marker = unique_sleep();
        let running = bench.start(&Request::new("python3").args(["-c", RUNAWAY, "wait", &marker]), Streams::default());
        until(level, || with_argument(&marker).len() > 1).await;
        running.canceller().cancel();
        assert_eq!(finish(running).await.status, Status::Cancelled, "{level}");
        assert_eq!(with_argument(&marker), Vec::<u32>::new(), "{level}");
    }
}

#[tokio::test]
async fn orphans_that_have_ended_do_not_count_against_the_limit_on_processes() {
    let script = "i=0; while [ $i -lt 400 ]; do (true &) || exit 9; i=$((i+1)); done; echo done";
    for level in levels() {
        let outcome = Bench::at(level, &["sh"]).sh(script).await;
        let stderr = String::from_utf8_lossy(&outcome.stderr.as_ref().unwrap().bytes).into_owned();
        assert_eq!((outcome.status, stderr.as_str()), (Status::Exited(0), ""), "{level}");
    }
}
