//! Alone in its process, whose peak of memory is then its own.

#![allow(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod support;

use portcullis_policy::Request;
use portcullis_runner::{Captured, Gap, Status};
use support::{Bench, allow};

#[tokio::test]
async fn ten_gibibytes_are_counted_exactly_and_the_host_does_not_grow() {
    // What reads is the same at both levels.
    for (level, flood) in [("limits", 10 << 30), ("none", 1 << 30)] {
        let rules = format!("limits.wall = \"10m\"\n{}", allow("head", None));
        let bench = Bench::made(level, &rules, |_| ());
        let before = peak();
        let outcome = bench.run(&Request::new("head").args(["-c", &flood.to_string(), "/dev/zero"])).await;
        let gap = Some(Gap { at: 50_000, missing: flood - 100_000 });
        assert_eq!(outcome.status, Status::Exited(0), "{level}");
        assert!(outcome.stdout == Captured { bytes: vec![0; 100_000], total: flood, gap }, "{level}");
        let grown = peak() - before;
        assert!(grown < 8 << 20, "{level}: the peak of memory grew by {grown} bytes");
    }
}

/// Most memory that this process ever had resident, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
