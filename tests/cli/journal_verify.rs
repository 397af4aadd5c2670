//! `audit verify`: every change has a word and an exit code of its own.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::printed;
use crate::support::{Ended, World};

/// A journal of three commands, and its lines.
fn journal() -> (World, Vec<String>) {
    let world = World::allowing(&["true"]);
    for _ in 0..3 {
        assert_eq!(world.exec(&["true"]), printed(""));
    }
    let lines = fs::read_to_string(segment(&world)).unwrap().lines().map(str::to_owned).collect();
    (world, lines)
}

fn segment(world: &World) -> PathBuf {
    world.journal().join("00000000000000000000.jsonl")
}

fn write(world: &World, lines: &[String]) {
    fs::write(segment(world), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// Asserts the word and the exit code, in text and in JSON.
#[track_caller]
fn assert_verdict(world: &World, args: &[&str], code: i32, word: &str) {
    let Ended { code: found, stdout, stderr } = world.run([&["audit", "verify"], args].concat());
    assert_eq!((found, stderr.as_str()), (Some(code), ""), "{stdout}");
    let (told, _) = stdout.split_once(':').unwrap();
    let (first, _) = word.split_once('-').unwrap_or((word, ""));
    assert!(told.starts_with(first) && stdout.lines().count() == 1, "{stdout}");
    let Ended { code: found, stdout: json, stderr } = world.run([&["audit", "verify", "--json"], args].concat());
    assert_eq!((found, stderr.as_str()), (Some(code), ""));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["schema"], &json["verdict"], &json["exit_code"], &json["message"]),
        (&json!(1), &json!(word), &json!(code), &json!(stdout.trim_end()))
    );
}

fn head(world: &World) -> String {
    let json: Value = serde_json::from_str(&world.run(["audit", "verify", "--json"]).stdout).unwrap();
    json["head"].as_str().unwrap().to_owned()
}

#[test]
fn an_intact_journal_gives_0_and_a_head_to_hold() {
    let (world, lines) = journal();
    assert_verdict(&world, &[], 0, "intact");
    let held = head(&world);
    assert!(held.starts_with(&format!("{}:", lines.len())), "{held}");
    let anchored = |args: &[&str]| {
        let json = world.run([&["audit", "verify", "--json"], args].concat()).stdout;
        serde_json::from_str::<Value>(&json).unwrap()["anchored"].clone()
    };
    assert_eq!((anchored(&[]), anchored(&["--head", &held])), (json!(false), json!(true)));
    assert_eq!(world.exec(&["true"]), printed(""));
    assert_verdict(&world, &["--head", &held], 0, "intact");
}

#[test]
fn a_changed_record_gives_4() {
    let (world, mut lines) = journal();
    let changed = lines[3].replacen("\"code\":0", "\"code\":1", 1);
    assert_ne!(changed, lines[3]);
    lines[3] = changed;
    write(&world, &lines);
    assert_verdict(&world, &[], 4, "edited");
}

#[test]
fn missing_moved_and_copied_records_give_5_6_and_7() {
    let (world, lines) = journal();
    let mut missing = lines.clone();
    missing.remove(4);
    write(&world, &missing);
    assert_verdict(&world, &[], 5, "missing");
    let mut moved = lines.clone();
    moved.swap(4, 5);
    write(&world, &moved);
    assert_verdict(&world, &[], 6, "reordered");
    let mut copied = lines.clone();
    copied.insert(5, lines[4].clone());
    write(&world, &copied);
    assert_verdict(&world, &[], 7, "duplicate");
}

#[test]
fn lines_that_no_journal_of_this_release_writes_give_8_and_9() {
    let (world, lines) = journal();
    let mut malformed = lines.clone();
    malformed[4] = "{}".to_owned();
    write(&world, &malformed);
    assert_verdict(&world, &[], 8, "malformed");
    let mut newer = lines.clone();
    newer[4] = newer[4].replacen("\"v\":1", "\"v\":2", 1);
    write(&world, &newer);
    assert_verdict(&world, &[], 9, "unknown-version");
}

#[test]
fn a_cut_end_is_seen_only_with_a_head_that_was_held() {
    let (world, lines) = journal();
    let held = head(&world);
    write(&world, &lines[..9]);
    assert_verdict(&world, &[], 0, "intact");
    assert!(world.run(["audit", "verify"]).stdout.contains("UNANCHORED"));
    assert_verdict(&world, &["--head", &held], 10, "shorter");
    // Another history of the same length.
    let (other, _) = journal();
    assert_verdict(&other, &["--head", &held], 11, "forked");
}

#[test]
fn a_torn_end_gives_3() {
    let (world, _) = journal();
    let whole = fs::read(segment(&world)).unwrap();
    fs::write(segment(&world), &whole[..whole.len() - 5]).unwrap();
    assert_verdict(&world, &[], 3, "torn-tail");
}

#[test]
fn nothing_at_all_is_never_a_success() {
    let (world, _) = journal();
    fs::write(segment(&world), "").unwrap();
    assert_verdict(&world, &[], 1, "empty");
    fs::remove_file(segment(&world)).unwrap();
    assert_verdict(&world, &[], 1, "empty");
    fs::remove_dir(world.journal()).unwrap();
    assert_verdict(&world, &[], 1, "empty");
    fs::write(world.journal(), "").unwrap();
    assert_verdict(&world, &[], 1, "unreadable");
}
