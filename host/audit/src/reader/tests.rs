use super::*;
use crate::Record;
use crate::testing::{Home, call, decision, end, intent, outcome, start};

fn read(home: &Home) -> Vec<Result<Entry, JournalError>> {
    Reader::open(&home.dir).unwrap().collect()
}

#[test]
fn the_records_come_back_in_order_and_linked() {
    let home = Home::with_a_session();
    let entries: Vec<Entry> = read(&home).into_iter().map(Result::unwrap).collect();
    let records: Vec<&Stored> = entries.iter().skip(1).map(|entry| &entry.record).collect();
    let expected = [start(), Record::Intent(intent(call(1))), outcome(call(1)), end()].map(Stored::Known);
    assert_eq!(records, expected.iter().collect::<Vec<_>>());
    let mut prev = Hash::GENESIS;
    for (seq, (entry, line)) in entries.iter().zip(home.lines()).enumerate() {
        assert_eq!((entry.seq, entry.prev), (seq as u64, prev));
        prev = Hash::leaf(&line[..line.len() - 1]);
        assert_eq!(entry.line_hash, prev);
    }
    assert_eq!(decision(), intent(call(1)).decision);
}

#[test]
fn a_torn_tail_comes_after_all_whole_records() {
    let home = Home::with_a_session();
    home.put([home.content(), b"{\"v\":1,".to_vec()].concat());
    let mut entries = read(&home);
    assert!(matches!(entries.pop(), Some(Err(JournalError::TornTail { bytes: 7, .. }))));
    assert!(entries.len() == 5 && entries.iter().all(Result::is_ok));
}

#[test]
fn a_bad_line_ends_the_reading_and_is_named() {
    let home = Home::with_a_session();
    let mut lines = home.lines();
    lines[2] = b"nonsense\n".to_vec();
    home.put(lines.concat());
    let entries = read(&home);
    assert_eq!(entries.len(), 3);
    assert!(matches!(entries.last(), Some(Err(JournalError::Malformed { line: 3, .. }))));
}

#[test]
fn a_line_beyond_the_limit_is_refused_without_being_held() {
    let home = Home::with_a_session();
    let mut lines = home.lines();
    lines[1] = [vec![b'x'; 10 * crate::LINE_BYTES], b"\n".to_vec()].concat();
    home.put(lines.concat());
    let mut reader = Reader::open(&home.dir).unwrap();
    assert!(reader.next().unwrap().is_ok());
    let problem = reader.next().unwrap().unwrap_err();
    assert!(matches!(problem, JournalError::Malformed { line: 2, problem: LineProblem::TooLong, .. }));
    assert!(reader.next().is_none());
}

#[test]
fn a_reader_sees_what_was_there_when_it_was_opened() {
    let home = Home::with_a_session();
    let journal = home.open();
    let reader = Reader::open(&home.dir).unwrap();
    journal.append(&end()).unwrap();
    assert_eq!(reader.count(), 5);
}

#[test]
fn no_journal_and_a_journal_with_more_segments_are_told_apart() {
    let home = Home::with_a_session();
    std::fs::write(home.dir.join("00000000000000000005.jsonl"), "").unwrap();
    assert!(matches!(Reader::open(&home.dir), Err(JournalError::MoreSegments { .. })));
    let reopened = crate::Journal::open(&home.dir, crate::Options::default());
    assert!(matches!(reopened, Err(JournalError::MoreSegments { .. })));
    let none = Home::new();
    std::fs::create_dir(&none.dir).unwrap();
    assert!(matches!(Reader::open(&none.dir), Err(JournalError::NoJournal { .. })));
    assert!(matches!(Reader::open(&none.dir.join("x")), Err(JournalError::NoJournal { .. })));
}
