//! Tools from their loading to their end.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use portcullis_audit::{EndReason, Status};
use portcullis_gate::Gate;
use portcullis_wasmtime::{LoadError, RunError, RunOptions, Tool, ToolEngine};
use support::{FOREVER, World, component, gone, until, within};
use tokio_util::sync::CancellationToken;

/// Compiled once for all tests, as a host would.
fn hostile() -> &'static Tool {
    static TOOL: LazyLock<Tool> =
        LazyLock::new(|| Tool::load(&ToolEngine::new().unwrap(), &component("hostile")).unwrap());
    &TOOL
}

fn options(arguments: &[&str]) -> RunOptions {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    RunOptions { arguments, cancel: CancellationToken::new() }
}

async fn run(tool: &Tool, gate: &Gate, arguments: &[&str]) -> Result<u8, RunError> {
    within("the end", tool.run(gate, options(arguments))).await
}

#[tokio::test]
async fn after_a_call_that_carries_too_much_the_next_instance_of_the_same_tool_works() {
    let world = World::new();
    let gate = world.gate("", &["true"]);
    let tool = hostile();
    for _ in 0..2 {
        let trapped = run(tool, &gate, &["big-arguments"]).await;
        assert!(matches!(&trapped, Err(error @ RunError::Trap(_)) if error.code().as_str() == "shell.component.trap"));
        assert!(matches!(run(tool, &gate, &["exit", "0"]).await, Ok(0)));
        assert!(matches!(run(tool, &gate, &["exit", "1"]).await, Ok(1)));
    }
    drop(gate);
    let round = [EndReason::Failed, EndReason::Closed, EndReason::Closed];
    assert_eq!(world.ends(), [round, round].concat());
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_tool_that_computes_for_ever_does_not_keep_others_of_its_thread_from_running() {
    let world = World::new();
    let gate = world.gate("", &[]);
    let tool = hostile();
    let mut looping = Box::pin(tool.run(&gate, options(&["loop"])));
    let others = async {
        for _ in 0..3 {
            assert!(matches!(tool.run(&gate, options(&["exit", "0"])).await, Ok(0)));
        }
    };
    tokio::select! {
        ended = &mut looping => panic!("{ended:?}"),
        () = within("the others' end", others) => {}
    }
    drop(looping);
    drop(gate);
    world.assert_journal_is_whole();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_of_one_tool_run_at_once_in_sessions_of_their_own() {
    let world = World::new();
    let gate = world.gate("session.calls = 1\n", &["touch", "sh"]);
    let tool = hostile();
    // Each command waits for the other: one after the other they would not end.
    let meet = |own: &str, other: &str| {
        let script = format!("touch {own}; while ! [ -e {other} ]; do :; done; kill $$");
        let gate = gate.clone();
        tokio::spawn(async move { run(tool, &gate, &["exec", "sh", "-c", &script]).await })
    };
    let (one, two) = (meet("a", "b"), meet("b", "a"));
    assert!(matches!((one.await.unwrap(), two.await.unwrap()), (Ok(0), Ok(0))));
    within("the records", gate.shut_down()).await;
    drop(gate);
    assert_eq!(world.statuses(), [Status::Signaled { signal: 15 }, Status::Signaled { signal: 15 }]);
    assert_eq!(world.ends(), [EndReason::Closed, EndReason::Closed]);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn cancelling_a_run_kills_its_command_and_records_it() {
    let world = World::new();
    let gate = world.gate("", &["sh"]);
    let tool = hostile();
    let options = options(&["exec", "sh", "-c", FOREVER]);
    let cancel = options.cancel.clone();
    let running = tool.run(&gate, options);
    let cancelling = async {
        let pid = world.pid().await;
        cancel.cancel();
        pid
    };
    let (ended, pid) = within("the end", async { tokio::join!(running, cancelling) }).await;
    assert!(matches!(&ended, Err(error @ RunError::Cancelled) if error.code().as_str() == "shell.cancelled"));
    within("the records", gate.shut_down()).await;
    gone(pid).await;
    assert_eq!((world.statuses(), world.ends()), (vec![Status::Cancelled], vec![EndReason::Cancelled]));
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_run_that_was_cancelled_before_it_began_runs_nothing() {
    let world = World::new();
    let gate = world.gate("", &["touch"]);
    let options = options(&["exec", "touch", "file"]);
    options.cancel.cancel();
    let ended = within("the end", hostile().run(&gate, options)).await;
    assert!(matches!(ended, Err(RunError::Cancelled)));
    within("the records", gate.shut_down()).await;
    assert!(!world.workspace().join("file").exists());
}

#[tokio::test]
async fn the_sessions_deadline_kills_a_running_command_and_records_it() {
    let world = World::new();
    let gate = world.gate("component.wall = \"2s\"\n", &["sh"]);
    let ended = run(hostile(), &gate, &["exec", "sh", "-c", FOREVER]).await;
    assert!(matches!(&ended, Err(error @ RunError::Deadline(wall))
        if *wall == Duration::from_secs(2) && error.code().as_str() == "shell.session.deadline"));
    within("the records", gate.shut_down()).await;
    gone(world.pid().await).await;
    assert_eq!((world.statuses(), world.ends()), (vec![Status::Cancelled], vec![EndReason::Deadline]));
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn dropping_a_run_kills_its_command_and_records_it() {
    let world = World::new();
    let gate = world.gate("", &["sh"]);
    let tool = hostile();
    let mut running = Box::pin(tool.run(&gate, options(&["exec", "sh", "-c", FOREVER])));
    let pid = tokio::select! {
        ended = &mut running => panic!("{ended:?}"),
        pid = world.pid() => pid,
    };
    drop(running);
    gone(pid).await;
    until("the outcome", || world.statuses() == [Status::Cancelled]).await;
    within("the records", gate.shut_down()).await;
    assert_eq!(world.ends(), [EndReason::Closed]);
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn without_a_journal_nothing_runs() {
    let world = World::new();
    let gate = world.gate("", &["touch"]);
    let tool = hostile();
    world.break_journal();
    let ended = run(tool, &gate, &["exec", "touch", "file"]).await;
    assert!(matches!(&ended, Err(error @ RunError::Broken(_)) if error.code().as_str() == "shell.journal.unwritable"));
    assert!(!world.workspace().join("file").exists());
}

#[tokio::test]
async fn a_journal_that_breaks_in_the_middle_of_a_run_ends_the_run() {
    let world = World::new();
    let gate = world.gate("", &["rm"]);
    let segment = world.journal().join("00000000000000000000.jsonl");
    let ended = run(hostile(), &gate, &["exec", "rm", segment.to_str().unwrap()]).await;
    assert!(matches!(&ended, Err(RunError::Broken(_))), "{ended:?}");
}

#[tokio::test]
async fn a_workspace_that_is_gone_can_not_be_given_to_a_tool() {
    let world = World::new();
    let gate = world.gate("", &[]);
    fs::remove_dir(world.workspace()).unwrap();
    let ended = run(hostile(), &gate, &["exit", "0"]).await;
    assert!(matches!(&ended, Err(error @ RunError::Preopen(_)) if error.code().as_str() == "shell.workspace.missing"));
    assert_eq!(world.ends(), [EndReason::Failed]);
}

#[test]
fn what_is_no_tool_is_not_loaded_and_the_error_says_what_it_is() {
    let world = World::new();
    let engine = ToolEngine::new().unwrap();
    let load = |name: &str, bytes: &[u8]| {
        let path = world.path().join(name);
        fs::write(&path, bytes).unwrap();
        Tool::load(&engine, &path).unwrap_err()
    };
    let hello = fs::read(component("hello")).unwrap();
    let text = load("text.wasm", b"#!/bin/sh\n");
    assert!(matches!(&text, LoadError::NotAComponent { .. }), "{text}");
    let cut = load("cut.wasm", &hello[..hello.len() / 2]);
    assert!(matches!(&cut, LoadError::NotAComponent { .. }), "{cut}");
    let empty = load("empty.wasm", b"");
    assert!(matches!(&empty, LoadError::NotAComponent { .. }), "{empty}");
    let core = Tool::load(&engine, &component("core")).unwrap_err();
    assert!(matches!(&core, LoadError::CoreModule { name } if name == "core.wasm"), "{core}");
    let library = Tool::load(&engine, &component("caller")).unwrap_err();
    assert!(matches!(&library, LoadError::NoMain { name } if name == "caller.wasm"), "{library}");
    let import = Tool::load(&engine, &component("wrong-import")).unwrap_err();
    assert!(matches!(&import, LoadError::Import { imports, .. } if imports.contains(':')), "{import}");
    let missing = Tool::load(&engine, &world.path().join("missing.wasm")).unwrap_err();
    assert!(matches!(&missing, LoadError::Read { .. }), "{missing}");
    let large = world.path().join("large.wasm");
    fs::File::create(&large).unwrap().set_len(Tool::MAX_BYTES + 1).unwrap();
    let large = Tool::load(&engine, &large).unwrap_err();
    assert!(matches!(&large, LoadError::TooLarge { bytes, .. } if *bytes == Tool::MAX_BYTES + 1), "{large}");
}
