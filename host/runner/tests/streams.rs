//! What goes into commands and comes out of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use portcullis_policy::{LimitRequest, Request};
use portcullis_runner::{Captured, Gap, Input, Output, Status, Streams};
use support::{Bench, finish, sh, within};
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A limit of so many bytes, below a policy that allows more.
fn keeping(bytes: u64, request: Request) -> Request {
    request.limits(LimitRequest { output_bytes: Some(bytes), ..LimitRequest::default() })
}

/// A policy for these programs that lets 100 MB of each stream be kept.
fn generous(programs: &[&str]) -> Bench {
    let rules: String = programs.iter().map(|name| support::allow(name, None)).collect();
    Bench::new(&format!("limits.output = \"100MB\"\n{rules}"))
}

/// Bytes that tell their place.
fn pattern(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

#[tokio::test]
async fn no_input_is_the_end_of_file_at_once() {
    let bench = Bench::allowing(&["cat"]);
    let outcome = bench.run(&Request::new("cat")).await;
    assert_eq!((outcome.status, outcome.stdout), (Status::Exited(0), Captured::default()));
    let outcome = bench.feed(&Request::new("cat"), Input::Bytes(Vec::new())).await;
    assert_eq!((outcome.status, outcome.stdout), (Status::Exited(0), Captured::default()));
}

#[tokio::test]
async fn input_larger_than_a_pipe_comes_back_whole_while_the_command_floods_its_output() {
    let bench = generous(&["sh"]);
    let sent = pattern(3 << 20);
    // Twenty megabytes come before the first byte is read: who writes all before reading would wait for ever.
    let script = "head -c 20000000 /dev/zero; cat";
    let outcome = bench.feed(&sh(script), Input::Bytes(sent.clone())).await;
    assert_eq!((outcome.status, outcome.stdout.total, outcome.stdout.gap), (Status::Exited(0), 23_145_728, None));
    assert!(outcome.stdout.bytes[..20_000_000].iter().all(|&byte| byte == 0));
    assert!(outcome.stdout.bytes[20_000_000..] == sent);
}

#[tokio::test]
async fn any_bytes_pass_both_ways_unchanged() {
    let bench = Bench::allowing(&["cat"]);
    let sent: Vec<u8> = (0..=255).chain(*b"\xff\xfe\0\xc3\x28\xed\xa0\x80").collect();
    let outcome = bench.feed(&Request::new("cat"), Input::Bytes(sent.clone())).await;
    assert_eq!(outcome.stdout, Captured { total: sent.len() as u64, bytes: sent, gap: None });
}

#[tokio::test]
async fn a_command_that_reads_nothing_of_its_input_ends_all_the_same() {
    let bench = Bench::allowing(&["true", "head"]);
    let outcome = bench.feed(&Request::new("true"), Input::Bytes(pattern(4 << 20))).await;
    assert_eq!(outcome.status, Status::Exited(0));
    let outcome = bench.feed(&Request::new("head").args(["-c", "5"]), Input::Bytes(pattern(4 << 20))).await;
    assert_eq!((outcome.status, outcome.stdout.bytes), (Status::Exited(0), pattern(5)));
}

#[tokio::test]
async fn a_reader_that_never_ends_does_not_keep_a_command_from_ending() {
    let bench = Bench::allowing(&["head"]);
    let (ours, theirs) = tokio::io::duplex(64);
    let mut ours = ours;
    let running = bench.start(
        &Request::new("head").args(["-n", "1"]),
        Streams { input: Input::Reader(Box::new(theirs)), ..Streams::default() },
    );
    ours.write_all(b"one\n").await.unwrap();
    let outcome = finish(running).await;
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"one\n".as_slice()));
    drop(ours);
}

#[tokio::test]
async fn a_dialogue_over_streams_works_line_by_line() {
    let bench = Bench::allowing(&["sh"]);
    let (mut say, input) = tokio::io::duplex(64);
    let (output, mut hear) = tokio::io::duplex(64);
    let streams =
        Streams { input: Input::Reader(Box::new(input)), stdout: Some(Box::new(output)), ..Streams::default() };
    let running = bench.start(&sh("while read line; do echo \"got $line\"; done"), streams);
    for word in ["one", "two", "three"] {
        say.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        let mut answer = vec![0; word.len() + 5];
        within("the answer", hear.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, format!("got {word}\n").into_bytes());
    }
    drop(say);
    let outcome = finish(running).await;
    assert_eq!((outcome.status, outcome.stdout.total), (Status::Exited(0), 26));
}

/// A place that takes nothing.
struct Closed;

impl AsyncWrite for Closed {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_command_whose_reader_is_gone_dies_of_sigpipe_as_in_a_pipeline() {
    let bench = Bench::allowing(&["yes"]);
    let streams = Streams { stdout: Some(Box::new(Closed)), ..Streams::default() };
    let outcome = finish(bench.start(&Request::new("yes"), streams)).await;
    assert_eq!(outcome.status, Status::Signaled(13));
}

#[tokio::test]
async fn who_takes_copies_slowly_gets_them_whole_even_after_the_commands_end() {
    let bench = generous(&["seq"]);
    let (copy, mut slow) = tokio::io::duplex(1);
    let streams = Streams { stdout: Some(Box::new(copy) as Output), ..Streams::default() };
    let running = bench.start(&Request::new("seq").args(["20000"]), streams);
    let expected: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    let read = tokio::spawn(async move {
        // However long it takes: all that the command writes fits into pipes and buffers, so it ends at once.
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let mut text = String::new();
        slow.read_to_string(&mut text).await.map(|_| text)
    });
    let outcome = finish(running).await;
    assert_eq!((outcome.status, outcome.stdout.total), (Status::Exited(0), expected.len() as u64));
    assert!(within("the copy", read).await.unwrap().unwrap() == expected);
    assert!(outcome.stdout.bytes == expected.into_bytes());
}

#[tokio::test]
async fn a_copy_that_nobody_takes_is_given_up_when_the_command_is_cancelled() {
    let bench = generous(&["seq"]);
    let (copy, untouched) = tokio::io::duplex(1);
    let streams = Streams { stdout: Some(Box::new(copy) as Output), ..Streams::default() };
    let running = bench.start(&Request::new("seq").args(["10"]), streams);
    running.canceller().cancel();
    let status = finish(running).await.status;
    assert!(matches!(status, Status::Exited(0) | Status::Cancelled), "{status:?}");
    drop(untouched);
}

#[tokio::test]
async fn merged_streams_come_in_the_order_written() {
    let bench = generous(&["sh"]);
    let script = "i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let outcome = bench.run(&sh(script).merge_stderr()).await;
    let expected: String = (0..500).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(outcome.stdout, Captured { total: expected.len() as u64, bytes: expected.into_bytes(), gap: None });
    assert_eq!(outcome.stderr, None);
}

#[tokio::test]
async fn both_streams_flooded_at_once_are_both_read() {
    let bench = Bench::allowing(&["sh"]);
    let script = "head -c 3000000 /dev/zero & head -c 5000000 /dev/zero >&2; wait";
    let outcome = bench.sh(script).await;
    let stderr = outcome.stderr.unwrap();
    assert_eq!((outcome.status, outcome.stdout.total, stderr.total), (Status::Exited(0), 3_000_000, 5_000_000));
    let kept = Some(Gap { at: 50_000, missing: 4_900_000 });
    assert_eq!((stderr.bytes.len(), stderr.gap), (100_000, kept));
}

#[tokio::test]
async fn head_tail_and_gap_of_a_flood_are_exact() {
    let bench = generous(&["seq"]);
    let whole: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect();
    let whole = whole.as_bytes();
    for (kept, head) in [(1, 1), (2, 1), (1001, 501), (1 << 20, 1 << 19)] {
        let outcome = bench.run(&keeping(kept, Request::new("seq").args(["1000000"]))).await;
        let kept = usize::try_from(kept).unwrap();
        let bytes = [&whole[..head], &whole[whole.len() - (kept - head)..]].concat();
        let gap = Some(Gap { at: head as u64, missing: (whole.len() - kept) as u64 });
        assert!(outcome.stdout == Captured { bytes, total: whole.len() as u64, gap }, "{kept} bytes kept");
    }
}

#[tokio::test]
async fn fifty_megabytes_are_counted_exactly_and_not_kept() {
    let bench = Bench::allowing(&["head"]);
    let before = resident();
    let outcome = bench.run(&Request::new("head").args(["-c", "50000000", "/dev/zero"])).await;
    let grown = resident().saturating_sub(before);
    let expected =
        Captured { bytes: vec![0; 100_000], total: 50_000_000, gap: Some(Gap { at: 50_000, missing: 49_900_000 }) };
    assert!(outcome.stdout == expected);
    assert!(outcome.stdout.bytes.capacity() < 1 << 20, "{}", outcome.stdout.bytes.capacity());
    // Other tests of this program run beside it, and hold up to as much as they let be kept.
    assert!(grown < 200 << 20, "grew by {grown} bytes");
}

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}
