//! Commands and the sessions that they belong to: whoever ends first, every command ends, with an outcome on record.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use portcullis_audit::{EndReason, Record, Status as Recorded};
use portcullis_gate::{Caller, Request, SessionOptions, Status};
use support::{World, allow, code, gone, open, pid, sh, until, within};

/// A command that says who it is and stays for ever.
fn forever() -> Request {
    sh("echo $$ > pid.new; mv pid.new pid; exec sleep 1000")
}

fn end_reason(world: &World) -> EndReason {
    let reason = |record| if let Record::SessionEnd(end) = record { Some(end.reason) } else { None };
    world.records().into_iter().find_map(reason).unwrap()
}

#[tokio::test]
async fn a_deadline_cancels_what_runs_and_starts_nothing_more() {
    let world = World::new();
    let gate = world.gate(&allow("sh"));
    let options = SessionOptions { wall: Some(Duration::from_millis(500)), ..SessionOptions::default() };
    let session = gate.session_with(Caller::host("test"), options).unwrap();
    let done = within("the end", session.exec(sh("exec sleep 1000"))).await.unwrap();
    assert_eq!(done.outcome.status, Status::Cancelled);
    assert_eq!(code(session.exec(sh("touch file")).await), "shell.session.closed");
    session.close(EndReason::Deadline).unwrap();
    drop(session);
    assert_eq!(world.statuses(), [Recorded::Cancelled]);
    assert_eq!(end_reason(&world), EndReason::Deadline, "only the first close counts");
    assert!(!world.workspace().join("file").exists());
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn cancelling_a_session_ends_what_runs_and_what_waits_for_its_turn() {
    let world = World::new();
    let gate = world.gate(&format!("session.concurrent = 1\n{}", allow("sh")));
    let session = Arc::new(open(&gate));
    let running = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.exec(forever()).await }
    });
    let pid = pid(&world.workspace().join("pid")).await;
    let mut waiting = Box::pin(session.exec(sh("touch file")));
    let pending = std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_pending()));
    assert!(pending.await, "there is one place, and it is taken");
    session.cancel();
    assert_eq!(within("the end", running).await.unwrap().unwrap().outcome.status, Status::Cancelled);
    gone(pid).await;
    // By now the place is free as well; nobody takes it any more.
    assert_eq!(code(within("the answer", waiting).await), "shell.cancelled");
    assert!(!world.workspace().join("file").exists());
    assert_eq!(world.kinds(), ["segment", "session-start", "intent", "outcome", "refusal"]);
}

#[tokio::test]
async fn dropping_a_call_kills_its_command_and_records_its_outcome() {
    let world = World::new();
    let gate = world.gate(&allow("sh"));
    let session = Arc::new(open(&gate));
    let call = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.exec(forever()).await }
    });
    let pid = pid(&world.workspace().join("pid")).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    gone(pid).await;
    until("the outcome", || world.statuses() == [Recorded::Cancelled]).await;
    // The session itself goes on.
    session.exec(sh("exit 0")).await.unwrap();
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn dropping_a_session_in_the_middle_of_a_call_kills_its_command_and_records_its_outcome() {
    let world = World::new();
    let gate = world.gate(&allow("sh"));
    let session = open(&gate);
    let call = tokio::spawn(async move { session.exec(forever()).await });
    let pid = pid(&world.workspace().join("pid")).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    within("the last outcome", gate.shut_down()).await;
    gone(pid).await;
    assert_eq!(world.statuses(), [Recorded::Cancelled]);
    assert_eq!(end_reason(&world), EndReason::Closed);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_closed_session_runs_nothing() {
    let world = World::new();
    let gate = world.gate(&allow("sh"));
    let session = open(&gate);
    session.close(EndReason::Closed).unwrap();
    assert_eq!(code(session.exec(sh("touch file")).await), "shell.session.closed");
    assert!(!world.workspace().join("file").exists());
}

#[tokio::test]
async fn shutting_down_a_gate_without_commands_returns() {
    let world = World::new();
    let gate = world.gate("");
    within("the end", gate.shut_down()).await;
    within("the end", gate.shut_down()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_in_flight_over_one_gate_all_complete() {
    let world = World::new();
    let gate = world.gate(&format!("session.concurrent = 64\nsession.calls = 1000\n{}", allow("true")));
    let session = Arc::new(open(&gate));
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let session = Arc::clone(&session);
            tokio::spawn(async move { session.exec(Request::new("true")).await })
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for call in calls {
        let done = within("the end", call).await.unwrap().unwrap();
        assert_eq!(done.outcome.status, Status::Exited(0));
        ids.insert(done.audit.to_string());
    }
    assert_eq!(ids.len(), 1000);
    drop(session);
    let kinds = world.kinds();
    let count = |kind| kinds.iter().filter(|&&found| found == kind).count();
    assert_eq!((count("intent"), count("outcome"), kinds.len()), (1000, 1000, 2003));
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn sessions_of_one_gate_are_apart() {
    let world = World::new();
    let gate = world.gate(&format!("session.calls = 1\n{}", allow("true")));
    let (one, two) = (open(&gate), open(&gate));
    assert_ne!(one.id(), two.id());
    one.exec(Request::new("true")).await.unwrap();
    assert_eq!(code(one.exec(Request::new("true")).await), "shell.session.calls");
    one.cancel();
    two.exec(Request::new("true")).await.unwrap();
}
