use super::*;
use crate::testing::{Home, call, decision, end, intent, refusal, start};
use std::fs;

fn head(home: &Home) -> Head {
    let verdict = verify(&home.dir);
    let Verdict::Intact { records, head, .. } = verdict else { panic!("{verdict}") };
    Head { records, hash: head }
}

/// The verdict as text, without its last part, the advice.
fn told(verdict: &Verdict) -> String {
    verdict.to_string().split(';').next().unwrap().to_owned()
}

/// A session with three refusals, without its links: to be linked by [`chain`].
fn bodies(home: &Home) -> Vec<String> {
    let journal = home.open();
    journal.append(&start()).unwrap();
    for number in 1..=3 {
        journal.append(&refusal(number)).unwrap();
    }
    let lines = home.lines().into_iter().map(|line| String::from_utf8(line).unwrap());
    lines.map(|line| line.split_once("\"type\"").unwrap().1.trim_end().to_owned()).collect()
}

/// What a forger makes: these records, well linked.
fn chain(bodies: &[String]) -> String {
    let mut prev = Hash::GENESIS;
    let mut text = String::new();
    for (seq, body) in bodies.iter().enumerate() {
        let time = "2026-01-31T12:00:00.000001Z";
        let line = format!("{{\"v\":1,\"seq\":{seq},\"time\":\"{time}\",\"prev\":\"{prev}\",\"type\"{body}");
        prev = Hash::leaf(line.as_bytes());
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn an_intact_journal_tells_what_is_unfinished() {
    let home = Home::with_a_session();
    assert_eq!(home.intact(), (5, 0, 0, 0));
    let journal = home.open();
    journal.append(&start()).unwrap();
    let receipt = journal.append_intent(&intent(call(2)), *decision().as_bytes()).unwrap();
    let verdict = verify(&home.dir);
    let Verdict::Intact { anchor, open_sessions, unfinished, .. } = &verdict else { panic!("{verdict}") };
    assert_eq!((anchor, open_sessions, unfinished), (&Anchor::Unanchored, &1, &vec![*receipt.call()]));
    assert!(verdict.to_string().contains("UNANCHORED"), "{verdict}");
    assert!(verdict.to_string().contains("; 1 session without an end"), "{verdict}");
    let unfinished = "; 1 command without an outcome (running, or started and unknown), first 9f2c41d07a3be615.2;";
    assert!(verdict.to_string().contains(unfinished), "{verdict}");
    assert_eq!(verdict.exit_code(), 0);
}

#[test]
fn a_flipped_bit_at_any_place_is_found() {
    let home = Home::with_a_session();
    let good = home.content();
    let held = head(&home);
    let last = good.len() - home.lines().pop().unwrap().len();
    for at in 0..good.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= bit;
            home.put(&bad);
            // The last record has nobody after it who vouches for it, unless its head is held elsewhere.
            let verdict = if at < last { verify(&home.dir) } else { verify_against(&home.dir, held) };
            assert_ne!(verdict.exit_code(), 0, "byte {at}, bit {bit:#x}: {verdict}");
        }
    }
    home.put(good);
    assert_eq!(verify_against(&home.dir, held).exit_code(), 0);
}

#[test]
fn an_edited_record_is_named() {
    let home = Home::with_a_session();
    let text = String::from_utf8(home.content()).unwrap();
    home.put(text.replace("/usr/bin/ls", "/usr/bin/rm"));
    let verdict = verify(&home.dir);
    assert!(matches!(verdict, Verdict::Edited { seq: 2, line: 3 }), "{verdict}");
    assert_eq!(verdict.exit_code(), 4);
}

/// Case A02 among them: a verifier that seeds itself from the first link it finds accepts a cut beginning.
#[test]
fn deleted_records_are_missing_wherever_they_were() {
    let home = Home::with_a_session();
    let lines = home.lines();
    for from in 0..lines.len() - 1 {
        for to in from..lines.len() - 1 {
            home.put([lines[..from].concat(), lines[to + 1..].concat()].concat());
            let verdict = verify(&home.dir);
            let expected = (from as u64, to as u64);
            assert!(matches!(verdict, Verdict::Missing { from, to } if (from, to) == expected), "{verdict}");
            assert_eq!(verdict.exit_code(), 5);
        }
    }
}

#[test]
fn swapped_records_are_reordered_not_missing() {
    let home = Home::with_a_session();
    let lines = home.lines();
    for first in 0..lines.len() {
        for second in first + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(first, second);
            home.put(swapped.concat());
            let verdict = verify(&home.dir);
            let due = (first as u64 + 1, first as u64, second as u64);
            assert!(
                matches!(verdict, Verdict::Reordered { line, expected, found } if (line, expected, found) == due),
                "{verdict}"
            );
            assert_eq!(verdict.exit_code(), 6);
        }
    }
}

/// Case A17 (fak#5876) among them: two writers that went on from one record.
#[test]
fn copied_and_inserted_records_and_second_branches_are_duplicates() {
    let home = Home::new();
    let bodies = bodies(&home);
    let honest = chain(&bodies);
    let lines: Vec<&str> = honest.split_inclusive('\n').collect();
    let other = [&bodies[..2], &[bodies[3].clone()]].concat();
    let forged = chain(&other);
    let forged = forged.split_inclusive('\n').next_back().unwrap();
    for (content, line, seq) in [
        ([&lines[..3], &[lines[2]], &lines[3..]].concat(), 4, 2),
        ([&lines[..], &[lines[1]]].concat(), 6, 1),
        ([&lines[..2], &[forged], &lines[2..]].concat(), 4, 2),
        ([&lines[..3], &[forged]].concat(), 4, 2),
    ] {
        home.put(content.concat());
        let verdict = verify(&home.dir);
        assert!(matches!(verdict, Verdict::Duplicate { line: l, seq: s } if (l, s) == (line, seq)), "{verdict}");
        assert_eq!(verdict.exit_code(), 7);
    }
}

/// Case A01: what an unkeyed chain can't see, and the head held elsewhere does.
#[test]
fn a_cut_end_is_seen_only_with_a_head_held_elsewhere() {
    let home = Home::with_a_session();
    let held = head(&home);
    let lines = home.lines();
    for kept in 0..lines.len() {
        home.put(lines[..kept].concat());
        assert_eq!(verify(&home.dir).exit_code(), u8::from(kept == 0));
        let verdict = verify_against(&home.dir, held);
        let records = if kept == 1 { "1 record".to_owned() } else { format!("{kept} records") };
        assert_eq!(told(&verdict), format!("shorter: {records}, and the head held has 5"));
        assert_eq!(verdict.exit_code(), 10);
    }
    // Case A03: everything is gone.
    fs::remove_file(home.segment()).unwrap();
    assert!(matches!(verify(&home.dir), Verdict::Empty));
    assert!(matches!(verify_against(&home.dir, held), Verdict::Shorter { records: 0, expected: 5, torn_bytes: 0 }));
}

#[test]
fn a_rewritten_end_is_seen_only_with_a_head_held_elsewhere() {
    let home = Home::new();
    let mut bodies = bodies(&home);
    home.put(chain(&bodies));
    let held = head(&home);
    bodies[2] = bodies[2].replace("rm", "cp");
    home.put(chain(&bodies));
    assert_eq!(verify(&home.dir).exit_code(), 0);
    let verdict = verify_against(&home.dir, held);
    assert!(matches!(verdict, Verdict::Forked { seq: 4, expected, .. } if expected == held.hash), "{verdict}");
    assert_eq!(verdict.exit_code(), 11);
}

#[test]
fn a_journal_that_grew_still_has_the_head_held() {
    let home = Home::with_a_session();
    let held = head(&home);
    home.open().append(&end()).unwrap();
    let verdict = verify_against(&home.dir, held);
    assert!(matches!(verdict, Verdict::Intact { records: 6, anchor: Anchor::Held(head), .. } if head == held));
    assert!(!verdict.to_string().contains("UNANCHORED"));
    let nothing = Head { records: 0, hash: Hash::GENESIS };
    assert_eq!(verify_against(&home.dir, nothing).exit_code(), 0);
}

#[test]
fn a_head_reads_back_from_its_text() {
    let held = head(&Home::with_a_session());
    assert_eq!(held.to_string().parse(), Ok(held));
    for bad in ["", "5", ":", "+5:", "05:", "5:xyz"] {
        assert!(format!("{bad}{}", Hash::GENESIS).parse::<Head>().is_err() || bad == "5", "{bad}");
        assert!(bad.parse::<Head>().is_err());
    }
}

#[test]
fn a_torn_tail_is_its_own_verdict() {
    let home = Home::with_a_session();
    let held = head(&home);
    let good = home.content();
    home.put([&*good, b"{\"v\""].concat());
    let verdict = verify(&home.dir);
    assert!(matches!(verdict, Verdict::TornTail { after_seq: Some(4), bytes: 4 }), "{verdict}");
    assert_eq!(verdict.exit_code(), 3);
    assert!(matches!(verify_against(&home.dir, held), Verdict::TornTail { .. }));
    home.put(&good[..good.len() - 1]);
    assert!(matches!(verify_against(&home.dir, held), Verdict::Shorter { records: 4, torn_bytes: 1.., .. }));
    home.put("x");
    assert!(matches!(verify(&home.dir), Verdict::TornTail { after_seq: None, bytes: 1 }));
}

#[test]
fn other_versions_and_foreign_lines_are_told_apart() {
    let home = Home::new();
    let bodies = bodies(&home);
    let good = chain(&bodies);
    let cases = [
        (good.replace("{\"v\":1,\"seq\":2", "{\"v\":9,\"x\":2"), "unknown version: record 2 has format 9", 9),
        (
            good.replace("{\"v\":1,\"seq\":2", "{\"w\":1,\"seq\":2"),
            "malformed: line 3: the version 'v' is not where it should be",
            8,
        ),
        (chain(&bodies[1..]), "malformed: line 1: a segment begins with a 'segment' record, and this one does not", 8),
        (
            chain(&[bodies[0].clone(), bodies[0].clone()]),
            "malformed: line 2: a 'segment' record stands inside a segment",
            8,
        ),
        (good.replace('\n', "\r\n"), "malformed: line 1: byte 195 is not printable ASCII", 8),
    ];
    for (content, expected, code) in cases {
        home.put(content);
        let verdict = verify(&home.dir);
        assert_eq!((told(&verdict).as_str(), verdict.exit_code()), (expected, code));
    }
}

#[test]
fn nothing_to_read_is_never_a_success() {
    let home = Home::new();
    assert!(matches!(verify(&home.dir), Verdict::Empty));
    fs::create_dir(&home.dir).unwrap();
    assert!(matches!(verify(&home.dir), Verdict::Empty));
    home.put("");
    let verdict = verify(&home.dir);
    assert!(matches!(verdict, Verdict::Empty));
    assert_eq!(verdict.exit_code(), 1);
    fs::remove_file(home.segment()).unwrap();
    fs::create_dir(home.segment()).unwrap();
    let verdict = verify(&home.dir);
    assert!(verdict.to_string().starts_with("unreadable: ") && verdict.exit_code() == 1, "{verdict}");
}

#[test]
fn one_is_one_record_and_more_are_records() {
    let told = |verdict: Verdict| verdict.to_string().split(';').next().unwrap().to_owned();
    let intact = |records| Verdict::Intact {
        records,
        head: Hash::GENESIS,
        anchor: Anchor::Unanchored,
        open_sessions: 0,
        unfinished: Vec::new(),
        torn_tails: 0,
    };
    assert_eq!(told(intact(1)), format!("intact: 1 record, head 1:{}", Hash::GENESIS));
    assert_eq!(told(intact(2)), format!("intact: 2 records, head 2:{}", Hash::GENESIS));
    assert_eq!(told(Verdict::Missing { from: 3, to: 3 }), "missing: record 3 is not there");
    assert_eq!(told(Verdict::Missing { from: 3, to: 4 }), "missing: records 3 to 4 are not there");
    assert_eq!(
        told(Verdict::TornTail { after_seq: Some(1), bytes: 1 }),
        "torn: 1 byte of an unfinished record after record 1"
    );
}
