//! Which journal is written, and by how many at once.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;

use super::{assert_refused, printed};
use crate::support::{World, ended};

#[test]
fn fifty_commands_at_once_all_succeed_and_the_journal_is_intact() {
    let world = World::allowing(&["true"]);
    let start = |_| world.command(["exec", "true"]).stdout(Stdio::null()).spawn().unwrap();
    let children: Vec<_> = (0..50).map(start).collect();
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    let types = world.record_types();
    let count = |wanted: &str| types.iter().filter(|kind| *kind == wanted).count();
    assert_eq!((count("session-start"), count("intent"), count("outcome"), count("session-end")), (50, 50, 50, 50));
    assert_eq!(types.len(), 201);
    let verified = world.run(["audit", "verify"]);
    assert_eq!((verified.code, verified.stderr.as_str()), (Some(0), ""));
    assert!(verified.stdout.starts_with("intact: 201 records, head 201:"), "{}", verified.stdout);
    assert!(!verified.stdout.contains("without"), "{}", verified.stdout);
}

#[test]
fn the_journal_is_where_the_option_says_else_the_variable_else_the_state() {
    let world = World::allowing(&["true"]);
    let (by_option, by_variable) = (world.path().join("option/journal"), world.path().join("variable/journal"));
    let option = ["--journal", by_option.to_str().unwrap(), "exec", "true"];
    assert_eq!(ended(world.command(option).env("PORTCULLIS_JOURNAL", &by_variable)), printed(""));
    assert!(by_option.exists() && !by_variable.exists() && !world.state().exists());
    let option = ["audit", "show", "--journal", by_option.to_str().unwrap()];
    assert_eq!(ended(&mut world.bare(option)).stdout.lines().count(), 2);
    assert_eq!(ended(world.command(["exec", "true"]).env("PORTCULLIS_JOURNAL", &by_variable)), printed(""));
    assert!(by_variable.exists() && !world.state().exists());
    assert_eq!(ended(world.command(["exec", "true"]).env("PORTCULLIS_JOURNAL", "")), printed(""));
    assert!(world.journal().exists());
}

#[test]
fn a_journal_of_others_or_by_a_link_or_with_garbage_is_refused() {
    let world = World::allowing(&["true"]);
    let journal = world.path().join("journal");
    let exec = || world.run(["--journal", journal.to_str().unwrap(), "exec", "true"]);
    assert_eq!(exec(), printed(""));
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o755)).unwrap();
    assert_refused(&exec(), 125, "shell.journal.unreadable");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o700)).unwrap();
    let segment = journal.join("00000000000000000000.jsonl");
    let whole = fs::read(&segment).unwrap();
    fs::write(&segment, [&whole[..], b"garbage\n"].concat()).unwrap();
    assert_refused(&exec(), 125, "shell.journal.unreadable");
    fs::write(&segment, whole).unwrap();
    assert_eq!(exec(), printed(""));
    let real = world.path().join("real");
    fs::rename(&journal, &real).unwrap();
    symlink(&real, &journal).unwrap();
    assert_refused(&exec(), 125, "shell.journal.unreadable");
    fs::remove_file(&journal).unwrap();
    fs::write(&journal, "").unwrap();
    assert_refused(&exec(), 125, "shell.journal.unreadable");
}

#[test]
fn a_record_that_a_crash_cut_off_is_mended_by_the_next_command() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.exec(&["true"]), printed(""));
    let segment = world.journal().join("00000000000000000000.jsonl");
    let whole = fs::read(&segment).unwrap();
    fs::write(&segment, &whole[..whole.len() - 10]).unwrap();
    let shown = world.run(["audit", "show"]);
    assert_eq!((shown.code, shown.stdout.lines().count()), (Some(0), 2), "what is whole is shown");
    assert!(shown.stderr.starts_with("portcullis: ") && shown.stderr.contains("unfinished"), "{}", shown.stderr);
    assert_eq!(world.exec(&["true"]), printed(""));
    assert_eq!(world.record_types()[4..], ["torn-tail", "session-start", "intent", "outcome", "session-end"]);
    assert_eq!(world.run(["audit", "verify"]).code, Some(0));
}

#[test]
fn record_durability_writes_the_same_records() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.run(["exec", "--durability", "record", "true"]), printed(""));
    assert_eq!(world.record_types(), ["segment", "session-start", "intent", "outcome", "session-end"]);
}
