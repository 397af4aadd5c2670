//! Budgets, and how refusals are recorded: whatever a caller asks, the journal stays small and true.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::collections::BTreeMap;

use portcullis_audit::{CheckVerdict, EndReason, Record, Repeated, SessionEnd};
use portcullis_gate::{Request, Status, Verdict};
use support::{World, allow, code, open, within};

/// How often each refusal was recorded, repeats included: program, code, times.
fn refused(world: &World) -> Vec<(String, String, u64)> {
    let mut calls: Vec<(portcullis_audit::CallId, (String, String, u64))> = Vec::new();
    for record in world.records() {
        match record {
            Record::Refusal(refusal) => calls.push((refusal.call, (refusal.request.program, refusal.problem.code, 1))),
            // The count is that of all repeats so far.
            Record::Repeated(Repeated { of, count, .. }) => {
                calls.iter_mut().find(|(call, _)| *call == of).unwrap().1.2 = count + 1;
            }
            Record::Segment(_)
            | Record::TornTail(_)
            | Record::SessionStart(_)
            | Record::SessionEnd(_)
            | Record::Check(_)
            | Record::Intent(_)
            | Record::Outcome(_) => {}
        }
    }
    calls.into_iter().map(|(_, row)| row).collect()
}

fn row(program: &str, code: &str, times: u64) -> (String, String, u64) {
    (program.to_owned(), code.to_owned(), times)
}

fn end(world: &World) -> (u64, u64, EndReason) {
    match world.records().pop() {
        Some(Record::SessionEnd(SessionEnd { calls, denials, reason, .. })) => (calls, denials, reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn calls_beyond_the_budget_start_nothing() {
    let world = World::new();
    let gate = world.gate(&format!("session.calls = 3\n{}", allow("true")));
    let session = open(&gate);
    for _ in 0..3 {
        session.exec(Request::new("true")).await.unwrap();
    }
    for _ in 0..5 {
        assert_eq!(code(session.exec(Request::new("true")).await), "shell.session.calls");
    }
    drop(session);
    assert_eq!(refused(&world), [row("true", "shell.session.calls", 5)]);
    assert_eq!(end(&world), (8, 5, EndReason::Budget));
    assert_eq!(world.statuses().len(), 3);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn after_too_many_refusals_nothing_runs_any_more_in_this_session_and_everything_in_the_next() {
    let world = World::new();
    let gate = world.gate(&format!("session.denials = 10\n{}", allow("true")));
    let session = open(&gate);
    for n in 0..10 {
        assert_eq!(code(session.exec(Request::new(format!("unlisted-{n}"))).await), "shell.policy.unlisted");
    }
    assert_eq!(code(session.exec(Request::new("true")).await), "shell.session.denials");
    let Verdict::Deny(problem) = session.check(&Request::new("true")).unwrap() else { panic!("the budget is used up") };
    assert_eq!(problem.code.as_str(), "shell.session.denials");
    drop(session);
    assert_eq!(end(&world), (12, 12, EndReason::Budget));
    open(&gate).exec(Request::new("true")).await.unwrap();
}

#[tokio::test]
async fn the_same_refusal_a_hundred_thousand_times_is_a_handful_of_records() {
    let world = World::new();
    let gate = world.gate("session.denials = 1_000_000_000\nsession.calls = 1_000_000_000\n");
    let session = open(&gate);
    for _ in 0..100_000 {
        assert_eq!(code(session.exec(Request::new("rm")).await), "shell.policy.unlisted");
    }
    drop(session);
    assert_eq!(refused(&world), [row("rm", "shell.policy.unlisted", 100_000)]);
    assert_eq!(end(&world), (100_000, 100_000, EndReason::Closed));
    assert!(world.journal_bytes() < 8 << 10, "{} bytes", world.journal_bytes());
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn refusals_that_alternate_are_all_recorded_until_the_budget_ends() {
    let world = World::new();
    let gate = world.gate("session.denials = 100\n");
    let session = open(&gate);
    for n in 0..60 {
        session.exec(Request::new(["rm", "dd"][n % 2])).await.unwrap_err();
    }
    for _ in 0..60 {
        session.exec(Request::new("rm")).await.unwrap_err();
    }
    drop(session);
    let mut expected: Vec<_> = (0..60).map(|n| row(["rm", "dd"][n % 2], "shell.policy.unlisted", 1)).collect();
    expected.extend([row("rm", "shell.policy.unlisted", 40), row("rm", "shell.session.denials", 20)]);
    assert_eq!(refused(&world), expected);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn who_asks_for_something_else_each_time_does_not_fill_the_journal_after_the_budget_ended() {
    let world = World::new();
    let gate = world.gate(&format!("session.denials = 20\n{}", allow("true")));
    let session = open(&gate);
    let long = "x".repeat(100_000);
    for n in 0..20_000 {
        // A different program each time, with arguments that are long.
        session.exec(Request::new(format!("p{n}")).args([long.as_str()])).await.unwrap_err();
    }
    drop(session);
    let mut refused = refused(&world);
    assert_eq!(refused.pop(), Some(row("p20", "shell.session.denials", 19_980)));
    assert_eq!(refused.len(), 20);
    // Each of the first twenty carries at most 64 KiB of its request.
    assert!(world.journal_bytes() < 21 * (66 << 10), "{} bytes", world.journal_bytes());
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_session_has_a_share_of_the_journal_and_no_more() {
    let world = World::new();
    let rules = format!("session.journal = \"1MiB\"\nsession.calls = 1_000_000\n{}", allow("true"));
    let gate = world.gate(&rules);
    let session = open(&gate);
    let long = vec!["\u{1}".repeat(10_000); 10];
    let mut allowed = 0;
    for _ in 0..1000 {
        match session.check(&Request::new("true").args(long.clone())).unwrap() {
            Verdict::Allow(_) => allowed += 1,
            Verdict::Deny(problem) => assert_eq!(problem.code.as_str(), "shell.session.journal"),
            Verdict::Ask(problem) => panic!("{problem}"),
        }
    }
    assert_eq!(code(session.exec(Request::new("true")).await), "shell.session.journal");
    drop(session);
    assert!((10..20).contains(&allowed), "{allowed} calls of 64 KiB");
    assert!(world.journal_bytes() < (1 << 20) + (200 << 10), "{} bytes", world.journal_bytes());
    assert_eq!(end(&world).2, EndReason::Budget);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_check_decides_as_a_call_does_is_recorded_and_counted_and_runs_nothing() {
    let world = World::new();
    let rules = format!(
        "session.calls = 4\n{}[[program]]\nname = \"ask\"\nfile = \"/bin/true\"\n[[program.rule]]\nid = \"ask\"\n\
         decision = \"ask\"\nwhy = \"a person knows\"\n",
        allow("touch")
    );
    let gate = world.gate(&rules);
    let session = open(&gate);
    let touch = Request::new("touch").args(["file"]);
    assert!(matches!(session.check(&touch).unwrap(), Verdict::Allow(allowed) if allowed.program().as_str() == "touch"));
    assert!(matches!(session.check(&Request::new("ask")).unwrap(), Verdict::Ask(_)));
    assert!(matches!(session.check(&touch.clone().cwd("missing")).unwrap(), Verdict::Deny(_)));
    assert!(!world.workspace().join("file").exists());
    session.exec(touch.clone()).await.unwrap();
    assert!(world.workspace().join("file").exists());
    assert!(
        matches!(session.check(&touch).unwrap(), Verdict::Deny(problem) if problem.code.as_str() == "shell.session.calls")
    );
    drop(session);
    let checks: BTreeMap<_, _> = world
        .records()
        .into_iter()
        .filter_map(|record| if let Record::Check(check) = record { Some(check) } else { None })
        .map(|check| (check.call.number().get(), (check.verdict, check.problem.map(|problem| problem.code))))
        .collect();
    let expected = [
        (1, (CheckVerdict::Allow, None)),
        (2, (CheckVerdict::Ask, Some("shell.approval.required".to_owned()))),
        (3, (CheckVerdict::Deny, Some("shell.cwd.missing".to_owned()))),
    ];
    assert_eq!(checks, BTreeMap::from(expected));
    assert_eq!(end(&world), (5, 1, EndReason::Budget));
}

#[tokio::test]
async fn no_more_commands_run_at_once_than_the_policy_lets() {
    let world = World::new();
    let gate = world.gate(&format!("session.concurrent = 3\n{}", allow("sh")));
    let session = open(&gate);
    // Three are there at once: each waits for the others.
    let barrier = "mkdir here.$$; while [ $(ls -d here.* | wc -l) -lt 3 ]; do :; done";
    for done in within("the end", join_all((0..3).map(|_| session.exec(support::sh(barrier))))).await {
        assert_eq!(done.unwrap().outcome.status, Status::Exited(0));
    }
    // And never four: each counts who runs beside it.
    let script = "mkdir run.$$; i=0; while [ $i -lt 20 ]; do ls -d run.* | wc -l; i=$((i+1)); done; rmdir run.$$";
    let calls = (0..30).map(|_| session.exec(support::sh(script)));
    let mut most = 0;
    for done in within("the end", join_all(calls)).await {
        let text = String::from_utf8(done.unwrap().outcome.stdout.bytes).unwrap();
        most = text.lines().map(|line| line.trim().parse::<u32>().unwrap()).fold(most, u32::max);
    }
    assert!((1..=3).contains(&most), "{most} at once");
    world.assert_journal_is_whole();
}

/// All of these at once, in this task.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (future, output) in &mut pending {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    pending.into_iter().filter_map(|(_, output)| output).collect()
}
