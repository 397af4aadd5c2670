//! Alone in its process, where nobody else opens descriptors or starts children.

#![allow(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod support;

use std::fs;

use portcullis_policy::Request;
use portcullis_runner::{Outcome, Status};
use support::Bench;

#[tokio::test]
async fn a_thousand_commands_leave_no_descriptor_and_no_child() {
    let bench = Bench::limited(&["true"], "");
    let one = || async { bench.run(&Request::new("true")).await };
    let Outcome { status, .. } = one().await;
    assert_eq!(status, Status::Exited(0));
    portcullis_runner::settle();
    let before = (descriptors(), children());
    // Starts that fail leave nothing either.
    for _ in 0..20 {
        std::fs::create_dir(bench.workspace().join("sub")).unwrap();
        let approved = bench.approve(&Request::new("true").cwd("sub")).unwrap();
        std::fs::remove_dir(bench.workspace().join("sub")).unwrap();
        let receipt = bench.receipt(&approved);
        portcullis_runner::start(approved, receipt, portcullis_runner::Streams::default()).unwrap_err();
    }
    for _ in 0..20 {
        let outcomes = futures(50, &one).await;
        assert!(outcomes.iter().all(|outcome| outcome.status == Status::Exited(0)), "{outcomes:?}");
    }
    portcullis_runner::settle();
    assert_eq!((descriptors(), children()), before);
}

async fn futures<F: Future<Output = Outcome>>(count: usize, one: &impl Fn() -> F) -> Vec<Outcome> {
    let mut all: Vec<_> = (0..count).map(|_| Box::pin(one())).collect();
    let mut outcomes = Vec::new();
    // All are polled before the first is awaited to its end.
    std::future::poll_fn(|context| {
        all.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(outcome) => {
                outcomes.push(outcome);
                false
            }
            std::task::Poll::Pending => true,
        });
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outcomes
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, zombies too.
fn children() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    threads
        .map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default().split(' ').count() - 1)
        .sum()
}
