//! Nothing runs that can't be recorded.

use std::num::NonZeroU64;
use std::process::Command;

use portcullis_audit::{CallId, Check, CheckVerdict, Journal, Options, Record, Request, SessionId, Stdin};

use crate::support::{Ended, World, component, ended};
use crate::{assert_journal_is_whole, journal_bytes};

/// A world whose journal exists and is longer than anything else that portcullis writes while it runs a component:
/// wasmtime keeps the initial memory of one in a file without a name, which a small limit would catch as well.
fn world() -> World {
    let world = World::allowing(&["touch"]);
    assert_eq!(world.exec(&["touch", "first"]).code, Some(0));
    let journal = Journal::open(&world.journal(), Options::default()).unwrap();
    let request = Request {
        program: "padding".to_owned(),
        arguments: vec!["x".repeat(60 << 10)],
        cwd: None,
        env: Vec::new(),
        stdin: Stdin::Empty,
        network: false,
        merge_stderr: false,
        reason: None,
        call_id: None,
        omitted: None,
    };
    let call = CallId::new(SessionId::from_bytes([1; 8]), NonZeroU64::MIN);
    let record = Record::Check(Check { call, request, verdict: CheckVerdict::Allow, problem: None });
    for _ in 0..20 {
        journal.append(&record).unwrap();
    }
    world
}

/// Runs `hostile exec touch NAME` with no more room in the journal than these bytes.
fn touch(world: &World, name: &str, room: u64) -> Ended {
    let run = world.command(["run"]);
    let mut limited = Command::new("prlimit");
    limited
        .arg(format!("--fsize={}", journal_bytes(world) + room))
        .arg("--")
        .arg(run.get_program())
        .args(run.get_args());
    limited.arg(component("hostile")).args(["exec", "touch", name]).current_dir(world.workspace()).env_clear();
    limited.envs(run.get_envs().filter_map(|(variable, value)| Some((variable, value?))));
    ended(&mut limited)
}

#[test]
fn a_command_whose_intent_can_not_be_recorded_does_not_run() {
    let world = world();
    // With room for everything the command line works.
    let ended = touch(&world, "roomy", 1 << 20);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(world.workspace().join("roomy").exists());

    // The session's beginning fits, the intent does not.
    let Ended { code, stdout, stderr } = touch(&world, "unrecorded", 700);
    assert_eq!((code, stdout.as_str()), (Some(125), ""), "{stderr}");
    assert!(stderr.starts_with("portcullis: the journal can't be written, so nothing may run: "), "{stderr}");
    assert!(stderr.ends_with("[shell.journal.unwritable]\n"), "{stderr}");
    assert!(!world.workspace().join("unrecorded").exists());
    let types = world.record_types();
    assert_eq!(types[types.len() - 2..], ["session-start", "session-end"]);

    // Nothing fits.
    let Ended { code, stdout, stderr } = touch(&world, "unrecorded", 0);
    assert_eq!((code, stdout.as_str()), (Some(125), ""), "{stderr}");
    assert!(stderr.ends_with("[shell.journal.unwritable]\n"), "{stderr}");
    assert!(!world.workspace().join("unrecorded").exists());
    assert_journal_is_whole(&world);
}

#[test]
fn a_command_whose_outcome_can_not_be_recorded_traps_its_component() {
    let world = world();
    assert_eq!(touch(&world, "measured", 1 << 20).code, Some(0));
    let text = std::fs::read_to_string(world.journal().join("00000000000000000000.jsonl")).unwrap();
    let lengths: Vec<_> = text.split_inclusive('\n').rev().take(4).map(|line| line.len() as u64).collect();
    let [_end, _outcome, intent, start] = lengths[..] else { panic!("{lengths:?}") };
    // Session and intent fit, and not even the shortest record beside them.
    let Ended { code, stdout, stderr } = touch(&world, "as-known", start + intent + 100);
    assert_eq!((code, stdout.as_str()), (Some(125), ""), "{stderr}");
    assert!(stderr.ends_with("[shell.journal.unwritable]\n"), "{stderr}");
    // It ran, and the journal says so: an intent without an outcome.
    assert!(world.workspace().join("as-known").exists());
    let verified = world.run(["audit", "verify"]);
    assert_eq!(verified.code, Some(0));
    assert!(verified.stdout.contains("; 1 command without an outcome"), "{}", verified.stdout);
}
