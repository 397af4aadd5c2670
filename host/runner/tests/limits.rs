//! Confinement level `limits`: every ceiling has a status or an error of the program's own, and nothing gets past it.

mod support;

use portcullis_policy::{Level, Request};
use portcullis_runner::Status;
use support::{Bench, sh};

/// A Python program that takes memory, 1 MiB at a time and touched, until it has this much.
fn hog(mebibytes: u32) -> Request {
    let script = format!("kept = [bytearray(b'x' * (1 << 20)) for _ in range({mebibytes})]; print(len(kept))");
    Request::new("python3").args(["-c", &script])
}

#[tokio::test]
async fn more_memory_than_allowed_ends_the_command_or_fails_in_it() {
    let bench = Bench::limited(&["python3"], "memory = '4GiB'");
    let outcome = bench.run(&hog(300)).await;
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"300\n".as_slice()), "it works");

    let bench = Bench::limited(&["python3"], "memory = '100MiB'");
    let outcome = bench.run(&hog(300)).await;
    assert_eq!(outcome.stdout.total, 0);
    if outcome.enforcement.missing.contains(&"memory-of-tree") {
        // Per process: Python is told that there is no more.
        assert_eq!(outcome.status, Status::Exited(1));
        let stderr = String::from_utf8(outcome.stderr.unwrap().bytes).unwrap();
        assert!(stderr.contains("MemoryError"), "{stderr}");
    } else {
        assert_eq!(outcome.status, Status::MemoryExceeded);
    }
}

#[tokio::test]
async fn the_memory_of_a_whole_tree_counts_where_the_host_can_count_it() {
    let bench = Bench::limited(&["sh", "python3"], "memory = '150MiB', wall = '5s'");
    let each = "python3 -c \"kept = b'x' * (80 << 20); print(len(kept)); import sys; sys.stdin.read()\"";
    let outcome =
        bench.run(&sh(&format!("mkfifo wait; for i in 1 2 3; do {each} < wait & done; exec 9> wait; wait"))).await;
    if outcome.enforcement.missing.contains(&"memory-of-tree") {
        support::skip("this host can't count the memory of a tree");
        return;
    }
    // One of them was killed, whichever; the shell does not tell.
    assert!(matches!(outcome.status, Status::Exited(0) | Status::MemoryExceeded | Status::WallExceeded), "{outcome:?}");
    assert_ne!(outcome.stdout.total, 3 * 9, "not all three can have had their memory");
}

#[tokio::test]
async fn processor_time_is_limited_over_the_whole_tree() {
    let spin = "while :; do :; done";
    let bench = Bench::limited(&["sh"], "cpu = '1s'");
    let alone = bench.sh(spin).await;
    assert_eq!(alone.status, Status::CpuExceeded);
    assert!(alone.usage.wall.as_secs() < 20, "{:?}", alone.usage);
    // None of the four reaches a second by itself, and the shell only waits.
    let together = bench.sh(&format!("for i in 1 2 3 4; do ({spin}) & done; wait")).await;
    assert_eq!(together.status, Status::CpuExceeded);
}

#[tokio::test]
async fn a_file_larger_than_allowed_ends_the_command() {
    let write = Request::new("dd").args(["if=/dev/zero", "of=file", "bs=65536", "count=32"]);
    let bench = Bench::limited(&["dd"], "file-size = '2MiB'");
    assert_eq!(bench.run(&write).await.status, Status::Exited(0), "what fits is written");
    let bench = Bench::limited(&["dd"], "file-size = '1MiB'");
    assert_eq!(bench.run(&write).await.status, Status::FileSizeExceeded);
    assert_eq!(std::fs::metadata(bench.workspace().join("file")).unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn open_files_are_limited() {
    let script = "n = 0\ntry:\n  while True: open('/dev/null').detach().detach(); n += 1\nexcept OSError as e: print(n, e.errno)";
    let script = script.replace("open('/dev/null').detach().detach()", "__import__('os').open('/dev/null', 0)");
    let bench = Bench::limited(&["python3"], "open-files = 40");
    let text = bench.text(&Request::new("python3").args(["-c", &script])).await;
    assert_eq!(text, "37 24\n", "three are open already, and EMFILE is 24");
}

#[tokio::test]
async fn processes_are_limited_over_the_whole_tree() {
    let script = "import os, time
n = 0
try:
  while True:
    if os.fork() == 0: time.sleep(1000)
    n += 1
except OSError as error: print(n, error.errno, flush=True)";
    let bench = Bench::limited(&["python3"], "processes = 20");
    let outcome = bench.run(&Request::new("python3").args(["-c", script])).await;
    if outcome.enforcement.missing.contains(&"processes-of-tree") {
        support::skip("this host can't count the processes of a tree");
        return;
    }
    assert_eq!(
        (outcome.status, String::from_utf8(outcome.stdout.bytes).unwrap()),
        (Status::Exited(0), "19 11\n".to_owned())
    );
    assert!(outcome.usage.leftover_processes.is_none_or(|left| left == 19), "{:?}", outcome.usage);
}

#[tokio::test]
async fn a_command_writes_no_core_dump() {
    let bench = Bench::limited(&["sh"], "");
    assert_eq!(bench.sh("ulimit -c; ulimit -H -c").await.stdout.bytes, b"0\n0\n");
}

#[tokio::test]
async fn the_level_reached_is_in_the_outcome() {
    let bench = Bench::limited(&["true"], "");
    let outcome = bench.run(&Request::new("true")).await;
    assert_eq!(outcome.enforcement.level, Level::Limits);
    for part in ["landlock", "seccomp", "capabilities", "network-namespace"] {
        assert!(outcome.enforcement.missing.contains(&part), "{:?}", outcome.enforcement);
    }
}
