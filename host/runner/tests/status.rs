//! Codes, signals and limits are three things, at every level; and what was written is there whatever ended the command.

#![allow(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod support;

use std::time::Duration;

use portcullis_policy::{LimitRequest, Request};
use portcullis_runner::{Captured, Gap, Status};
use support::{Bench, LEVELS, sh};

#[tokio::test]
async fn a_code_is_no_signal_no_limit_and_no_failure_to_start() {
    use Status::{Exited, Signaled};
    for level in LEVELS {
        let bench = Bench::at(level, &["sh", "python3", "bash"]);
        for (script, status) in [
            // A shell that passes on how its child ended: its own end is a code.
            ("sh -c 'kill -9 $$'; exit $?", Exited(137)),
            ("sh -c 'kill -TERM $$'; exit $?", Exited(143)),
            // Itself:
            ("kill -9 $$", Signaled(9)),
            ("kill -TERM $$", Signaled(15)),
            ("exec sh -c 'kill -9 $$'", Signaled(9)),
            // What others take for a limit, or for a program that is not there:
            ("exit 124", Exited(124)),
            ("exit 137", Exited(137)),
            ("exit 143", Exited(143)),
            ("portcullis-no-such-program", Exited(127)),
            ("/", Exited(126)),
            ("timeout --foreground 0.01 sleep 1000", Exited(124)),
            // The last 8 bits, as of every program.
            ("exec python3 -c 'import os; os._exit(256 + 7)'", Exited(7)),
            ("exec python3 -c 'import os; os._exit(-1)'", Exited(255)),
            ("exec python3 -c 'import os; os.abort()'", Signaled(6)),
            ("exec python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGRTMAX)'", Signaled(64)),
            // The status of the pipeline's end, not of those before it.
            ("false | true", Exited(0)),
            ("kill -9 $$ | true; exit 3", Signaled(9)),
        ] {
            assert_eq!(bench.sh(script).await.status, status, "{level}: {script}");
        }
    }
}

#[tokio::test]
async fn a_command_that_is_stopped_is_continued_to_hear_that_it_must_end() {
    let limits = LimitRequest { wall: Some(Duration::from_secs(1)), ..LimitRequest::default() };
    for level in LEVELS {
        let bench = Bench::at(level, &["sh"]);
        let script = "trap 'echo last words; exit 0' TERM; echo before; kill -STOP $$; while :; do sleep 0.01; done";
        let outcome = bench.run(&sh(script).limits(limits)).await;
        let said = String::from_utf8_lossy(&outcome.stdout.bytes).into_owned();
        assert_eq!((outcome.status, said.as_str()), (Status::WallExceeded, "before\nlast words\n"), "{level}");
    }
}

#[tokio::test]
async fn what_was_written_before_a_limit_is_there_on_both_streams() {
    let limits = LimitRequest { wall: Some(Duration::from_secs(1)), ..LimitRequest::default() };
    for level in LEVELS {
        let bench = Bench::at(level, &["sh"]);
        let outcome =
            bench.run(&sh("echo out; echo err >&2; trap '' TERM; sleep 1000; sleep 1000").limits(limits)).await;
        assert_eq!(outcome.status, Status::WallExceeded, "{level}");
        let whole = |text: &str| Captured { bytes: text.into(), total: text.len() as u64, gap: None };
        assert_eq!((outcome.stdout, outcome.stderr), (whole("out\n"), Some(whole("err\n"))), "{level}");
    }
}

#[tokio::test]
async fn what_is_in_the_pipe_when_a_command_ends_is_read() {
    for level in LEVELS {
        let bench = Bench::at(level, &["head"]);
        for _ in 0..50 {
            // What a pipe holds: the command ends without waiting for a reader.
            let outcome = bench.run(&Request::new("head").args(["-c", "65536", "/dev/zero"])).await;
            assert!(outcome.stdout == Captured { bytes: vec![0; 65536], total: 65536, gap: None }, "{level}");
        }
    }
}

/// A bound that counts bytes falls into characters and escape sequences, and leaves both as they are.
#[tokio::test]
async fn a_bound_in_the_middle_of_a_character_or_an_escape_sequence_cuts_there() {
    let whole = "\u{1b}[31m中é\u{1b}]0;t\u{7}".repeat(4000).into_bytes();
    for level in LEVELS {
        let bench = Bench::at(level, &["python3"]);
        for kept in [1_u64, 2, 3, 4, 5, 6, 7, 8, 9, 100, 101, 102, 103, 4095] {
            let script = "import sys; sys.stdout.buffer.write('\\x1b[31m中é\\x1b]0;t\\x07'.encode() * 4000)";
            let limits = LimitRequest { output_bytes: Some(kept), ..LimitRequest::default() };
            let outcome = bench.run(&Request::new("python3").args(["-c", script]).limits(limits)).await;
            let (head, tail) = (kept.div_ceil(2) as usize, (kept / 2) as usize);
            let expected = Captured {
                bytes: [&whole[..head], &whole[whole.len() - tail..]].concat(),
                total: whole.len() as u64,
                gap: Some(Gap { at: head as u64, missing: whole.len() as u64 - kept }),
            };
            assert_eq!(outcome.stdout, expected, "{level}: {kept} bytes kept");
        }
    }
}
