//! A host that panics, aborts or exits leaves nothing of its commands.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;

use portcullis_runner::{Running, Streams};
use support::host::{case, host};
use support::{Bench, sh, unique_sleep, until, with_argument};

/// Where a host of a test gets the argument that tells its processes.
const SLEEP: &str = "PORTCULLIS_TEST_SLEEP";

/// A command of several processes, all of them there. At level `limits` one is in a session of its own, if it can be.
async fn started(level: &str) -> (Bench, Running) {
    let (bench, sleep) = (Bench::at(level, &["sh"]), std::env::var(SLEEP).unwrap());
    let session = if level != "none" { "setsid" } else { "env" };
    let script = format!(
        "trap '' HUP; ({session} sleep {sleep} || sleep {sleep}) & (sleep {sleep}; true) & sleep {sleep}; true"
    );
    let running = bench.start(&sh(&script), Streams::default());
    until("three processes", || with_argument(&sleep).len() == 3).await;
    (bench, running)
}

/// Starts a command, says so, and dies in this way.
#[expect(clippy::print_stdout, reason = "the test reads it")]
fn die(way: &str, level: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (_bench, running) = runtime.block_on(started(level));
    println!("the command runs");
    match way {
        // Everything is dropped on the way out.
        "panic" => panic!("unwinding"),
        // Nothing is.
        "panic, with everything forgotten" => {
            std::mem::forget((running, runtime, _bench));
            panic!("unwinding")
        }
        "exit" => std::process::exit(7),
        "abort" => std::process::abort(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_host_that_panics_exits_or_aborts_leaves_no_process() {
    let test = "a_host_that_panics_exits_or_aborts_leaves_no_process";
    if let Some(case) = case() {
        let (way, level) = case.split_once(" at ").unwrap();
        return std::thread::scope(|scope| {
            // On a thread that is in no runtime yet. Its panic goes on here.
            if let Err(panic) = scope.spawn(|| die(way, level)).join() {
                std::panic::resume_unwind(panic);
            }
        });
    }
    for (case, code, signal) in [
        ("panic at limits", Some(101), None),
        ("panic at none", Some(101), None),
        ("panic, with everything forgotten at limits", Some(101), None),
        ("exit at limits", Some(7), None),
        ("abort at limits", None, Some(6)),
        ("abort at full", None, Some(6)),
    ] {
        if !support::levels().iter().any(|level| case.ends_with(level)) {
            support::skip(&format!("{case}: this machine does not reach the level"));
            continue;
        }
        let sleep = unique_sleep();
        let output = host(&[], test, case).env(SLEEP, &sleep).output();
        let Output { status, stdout, .. } = output.unwrap();
        assert!(String::from_utf8_lossy(&stdout).contains("the command runs"), "{case}: {status}");
        assert_eq!((status.code(), status.signal()), (code, signal), "{case}");
        until(case, || with_argument(&sleep).is_empty()).await;
    }
}

/// In a task, and in a thread, that panics while the host lives on.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_that_the_host_survives_leaves_no_process() {
    let test = "a_panic_that_the_host_survives_leaves_no_process";
    let Some(level) = case() else {
        for level in support::levels() {
            support::host::passed(host(&[], test, level).env(SLEEP, unique_sleep()));
        }
        return;
    };
    let sleep = std::env::var(SLEEP).unwrap();
    let of_task = level.clone();
    let task = tokio::spawn(async move {
        let (_bench, running) = started(&of_task).await;
        let _wait = running.wait();
        panic!("in a task");
    });
    assert!(task.await.unwrap_err().is_panic());
    until("the end of the task's command", || with_argument(&sleep).is_empty()).await;

    let runtime = tokio::runtime::Handle::current();
    let thread = std::thread::spawn(move || {
        let (_bench, _running) = runtime.block_on(started(&level));
        panic!("in a thread");
    });
    until("the thread's end", || thread.is_finished()).await;
    assert!(thread.join().is_err());
    until("the end of the thread's command", || with_argument(&sleep).is_empty()).await;
}
