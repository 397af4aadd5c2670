//! How commands end, and that nothing of them is left.

mod support;

use std::time::Duration;

use portcullis_policy::{LimitRequest, Request};
use portcullis_runner::{Captured, Enforcement, Level, Outcome, Running, Status, Streams, Usage};
use rustix::process::{Pid, Signal};
use support::{Bench, executable, finish, gone, is_alive, pids, sh, state, until};

/// A wall-clock limit that a command which waits for ever runs into.
fn briefly(request: Request) -> Request {
    request.limits(LimitRequest { wall: Some(Duration::from_secs(1)), ..LimitRequest::default() })
}

#[tokio::test]
async fn an_outcome_says_all_there_is_to_say() {
    let bench = Bench::allowing(&["sh"]);
    let outcome = bench.sh("echo out; echo err >&2; exit 7").await;
    let Usage { wall, user: _, system: _, peak_memory_bytes, leftover_processes } = outcome.usage;
    assert!(wall > Duration::ZERO && peak_memory_bytes > 0, "{outcome:?}");
    assert_eq!(leftover_processes, None);
    let expected = Outcome {
        status: Status::Exited(7),
        stdout: Captured { bytes: b"out\n".to_vec(), total: 4, gap: None },
        stderr: Some(Captured { bytes: b"err\n".to_vec(), total: 4, gap: None }),
        usage: outcome.usage,
        enforcement: Enforcement {
            level: Level::None,
            missing: vec![
                "pid-namespace",
                "resource-limits",
                "landlock",
                "seccomp",
                "capabilities",
                "mount-namespace",
                "network-namespace",
            ],
        },
    };
    assert_eq!(outcome, expected);
}

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    let bench = Bench::allowing(&["sh"]);
    for code in [0, 1, 2, 126, 127, 128, 137, 255] {
        assert_eq!(bench.sh(&format!("exit {code}")).await.status, Status::Exited(code));
    }
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("PIPE", 13)] {
        assert_eq!(bench.sh(&format!("kill -{name} $$")).await.status, Status::Signaled(number));
    }
}

#[tokio::test]
async fn a_wall_clock_limit_kills_the_whole_process_group() {
    let bench = Bench::allowing(&["sh"]);
    let script = "echo $$ > pids; sleep 1000 & echo $! >> pids; sh -c 'echo $$ >> pids; exec sleep 1000' & wait";
    let running = bench.start(&briefly(sh(script)), Streams::default());
    let pids = pids(&bench.workspace().join("pids"), 3).await;
    let outcome = finish(running).await;
    assert_eq!(outcome.status, Status::WallExceeded);
    assert!(outcome.usage.wall >= Duration::from_secs(1), "{outcome:?}");
    gone(&pids).await;
}

#[tokio::test]
async fn a_command_that_ignores_every_signal_is_killed_all_the_same() {
    let bench = Bench::allowing(&["sh"]);
    let script = "trap '' HUP INT QUIT TERM PIPE; echo $$ > pids; while :; do sleep 1000; done";
    let running = bench.start(&sh(script), Streams::default());
    let pids = pids(&bench.workspace().join("pids"), 1).await;
    running.canceller().cancel();
    assert_eq!(finish(running).await.status, Status::Cancelled);
    gone(&pids).await;
}

#[tokio::test]
async fn a_command_leads_its_session_and_can_not_leave_its_process_group_for_the_hosts() {
    let bench = Bench::allowing(&["python3"]);
    let script = "import os
try: os.setpgid(0, os.getpgid(os.getppid()))
except PermissionError: print('no')";
    let outcome = bench.run(&Request::new("python3").args(["-c", script])).await;
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"no\n".as_slice()));
}

#[tokio::test]
async fn children_that_outlive_their_command_are_killed_with_its_end_and_do_not_delay_it() {
    let bench = Bench::allowing(&["sh"]);
    let outcome = bench.sh("sleep 1000 & echo $! > pids; echo done").await;
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"done\n".as_slice()));
    assert!(outcome.usage.wall < Duration::from_secs(100), "{:?}", outcome.usage);
    gone(&pids(&bench.workspace().join("pids"), 1).await).await;
}

#[tokio::test]
async fn a_process_that_escapes_the_group_and_holds_the_pipe_does_not_hold_up_the_outcome() {
    let bench = Bench::allowing(&["sh"]);
    let script = "setsid sh -c 'echo $$ > pids; exec sleep 1000' & while ! [ -s pids ]; do :; done; echo done";
    let outcome = bench.sh(script).await;
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"done\n".as_slice()));
    // What this level does not hold, as the crate's documentation says: it lives on.
    let pid = pids(&bench.workspace().join("pids"), 1).await[0];
    assert!(is_alive(pid));
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_process_that_escapes_and_floods_the_pipe_does_not_hold_up_the_outcome() {
    let bench = Bench::allowing(&["sh"]);
    let script = "setsid sh -c 'echo $$ > pids; exec yes' & while ! [ -s pids ]; do :; done";
    let outcome = bench.sh(script).await;
    assert_eq!(outcome.status, Status::Exited(0));
    // Nobody reads its pipe any more.
    gone(&pids(&bench.workspace().join("pids"), 1).await).await;
}

#[tokio::test]
async fn dropping_a_running_command_kills_it_and_its_children_and_leaves_no_zombie() {
    let bench = Bench::allowing(&["sh"]);
    let running = bench.start(&sh("echo $$ > pids; sleep 1000 & echo $! >> pids; wait"), Streams::default());
    let pids = pids(&bench.workspace().join("pids"), 2).await;
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    drop(running);
    gone(&pids).await;
    until("the reaping", || state(pids[0]).is_none()).await;
}

#[tokio::test]
async fn dropping_the_wait_kills_the_command() {
    let bench = Bench::allowing(&["sh"]);
    let running = bench.start(&sh("echo $$ > pids; exec sleep 1000"), Streams::default());
    let pids = pids(&bench.workspace().join("pids"), 1).await;
    let wait = tokio::spawn(Running::wait(running));
    wait.abort();
    assert!(wait.await.unwrap_err().is_cancelled());
    gone(&pids).await;
}

#[test]
fn ending_the_runtime_kills_what_it_watched() {
    let bench = Bench::allowing(&["sh"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (pids, running) = runtime.block_on(async {
        let running = bench.start(&sh("echo $$ > pids; sleep 1000 & echo $! >> pids; wait"), Streams::default());
        (pids(&bench.workspace().join("pids"), 2).await, running)
    });
    drop(runtime);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        gone(&pids).await;
        let Status::Unknown(problem) = finish(running).await.status else { panic!("nobody knows how it ended") };
        assert_eq!(problem.code.as_str(), "shell.internal");
    });
}

#[tokio::test]
async fn cancelling_what_has_ended_changes_nothing() {
    let bench = Bench::allowing(&["sh"]);
    let running = bench.start(&sh("echo $$ > pids; exit 3"), Streams::default());
    let pids = pids(&bench.workspace().join("pids"), 1).await;
    // Reaped, so that the runner knows that it has ended.
    until("the reaping", || state(pids[0]).is_none()).await;
    running.canceller().cancel();
    assert_eq!(finish(running).await.status, Status::Exited(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_at_once_all_end_and_leave_no_zombie() {
    let bench = Bench::allowing(&["sh"]);
    let running: Vec<_> = (0..100)
        .map(|n| bench.start(&sh(&format!("echo $$ >> pids; echo {n}; exit {n}")), Streams::default()))
        .collect();
    for (n, running) in running.into_iter().enumerate() {
        let outcome = finish(running).await;
        assert_eq!(outcome.status, Status::Exited(u8::try_from(n).unwrap()));
        assert_eq!(outcome.stdout.bytes, format!("{n}\n").into_bytes());
    }
    let pids = pids(&bench.workspace().join("pids"), 100).await;
    assert_eq!(pids.iter().filter(|&&pid| state(pid).is_some()).count(), 0, "they were reaped before `wait` returned");
}

#[tokio::test]
async fn a_program_that_the_kernel_does_not_start_is_an_error_and_leaves_nothing() {
    let file = support::allow("broken", Some("FOLDER/broken"));
    // An ELF header, and nothing that a kernel could run.
    let bench = Bench::prepared(&file, |folder| executable(&folder.join("broken"), b"\x7fELF and no more"));
    let approved = bench.approve(&Request::new("broken")).unwrap();
    let receipt = bench.receipt(&approved);
    let error = portcullis_runner::start(approved, receipt, Streams::default()).unwrap_err();
    let problem = error.problem();
    assert_eq!(problem.code.as_str(), "shell.start.failed");
    assert_eq!(
        problem.message,
        "the command was allowed and could not be started: can't execute the program: Exec format error (os \
         error 8)"
    );
}

#[tokio::test]
async fn the_longest_argument_lists_that_a_request_can_have_do_start() {
    let bench = Bench::allowing(&["true"]);
    for arguments in [vec!["x".to_owned(); Request::MAX_ARGUMENTS], vec!["x".repeat(131_000); 8]] {
        assert_eq!(bench.run(&Request::new("true").args(arguments)).await.status, Status::Exited(0));
    }
}
