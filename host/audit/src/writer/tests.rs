use super::*;
use crate::reader::Reader;
use crate::testing::{Faulty, Home, WriteFault, child, child_dir, end, refusal, segment_record};
use crate::{Stored, TornTail};
use std::fs;
use std::sync::atomic::Ordering;

const ENOSPC: i32 = 28;
const EFBIG: i32 = 27;

/// A record of a type that a newer release may have, of a length to be chosen.
fn filler(length: usize) -> Vec<u8> {
    format!("{{\"type\":\"filler\",\"text\":\"{}\"}}", "x".repeat(length)).into_bytes()
}

fn faulty(home: &Home) -> (Arc<Faulty>, Writer<Faulty>) {
    let store = Arc::new(Faulty::open(&home.dir));
    let writer = Writer::open(Arc::clone(&store), home.segment(), segment_record()).unwrap();
    (store, writer)
}

fn torn_tails(home: &Home) -> Vec<TornTail> {
    let records = Reader::open(&home.dir).unwrap().map(|entry| entry.unwrap().record);
    records
        .filter_map(|record| match record {
            Stored::Known(Record::TornTail(torn)) => Some(torn),
            Stored::Known(_) | Stored::Unknown(_) => None,
        })
        .collect()
}

/// Derived from bernstein PR #3162 (case A09): the next record must not be glued to the fragment.
#[test]
fn a_record_torn_at_any_byte_is_removed_noted_and_followed() {
    let home = Home::with_a_session();
    let whole = home.content();
    let lines = home.lines();
    let last = lines.last().unwrap().clone();
    let before = whole.len() - last.len();
    for kept in 0..last.len() {
        home.put(&whole[..before + kept]);
        home.open().append(&end()).unwrap();
        let repairs = u64::from(kept > 0);
        assert_eq!(home.intact(), (lines.len() as u64 + repairs, 0, 0, repairs), "{kept}");
        let fragment = TornTail { bytes: kept as u64, sha256: Hash::of(&last[..kept]) };
        assert_eq!(torn_tails(&home), if kept > 0 { vec![fragment] } else { Vec::new() });
        assert!(home.content().starts_with(&whole[..before]));
    }
}

#[test]
fn a_first_record_torn_at_any_byte_begins_the_journal_again() {
    let home = Home::new();
    drop(home.open());
    let whole = home.content();
    for kept in 0..whole.len() {
        home.put(&whole[..kept]);
        home.open().append(&end()).unwrap();
        let repairs = u64::from(kept > 0);
        assert_eq!(home.intact(), (2 + repairs, 0, 0, repairs), "{kept}");
    }
}

#[test]
fn a_tail_torn_by_another_process_is_repaired_by_an_open_handle() {
    let home = Home::with_a_session();
    let journal = home.open();
    let mut content = home.content();
    content.extend([0; 100_000]);
    home.put(content);
    journal.append(&end()).unwrap();
    assert_eq!(home.intact(), (7, 0, 0, 1));
    assert_eq!(torn_tails(&home), [TornTail { bytes: 100_000, sha256: Hash::of(&[0; 100_000]) }]);
}

/// Derived from bernstein PR #3162 (case A10): a tail must prove itself before it becomes a parent.
#[test]
fn garbage_that_ends_in_a_newline_is_never_adopted() {
    let home = Home::with_a_session();
    let good = home.content();
    let last = String::from_utf8(home.lines().pop().unwrap()).unwrap();
    let opened = home.open();
    for garbage in [
        "\n".to_owned(),
        "\0\0\0\0\n".to_owned(),
        "{}\n".to_owned(),
        "{\"seq\":5}\n".to_owned(),
        "x".repeat(LINE_BYTES + 1) + "\n",
        last.replace("\"v\":1", "\"v\":2"),
        last.replace("\"calls\":1", "\"calls\":-1"),
        last.replace("session-end", "outcome"),
    ] {
        home.put([&*good, garbage.as_bytes()].concat());
        let refused = |result: Result<crate::Appended, JournalError>| match result {
            Err(JournalError::Corrupt { path, offset, problem }) => {
                let long = matches!(problem, LineProblem::TooLong);
                path == home.segment() && (offset == good.len() as u64 || long)
            }
            other => panic!("{other:?}"),
        };
        assert!(refused(opened.append(&end())));
        let anew = crate::Journal::open(&home.dir, crate::Options::default());
        assert!(refused(anew.map(|_| crate::Appended { seq: 0, bytes: 0 })));
        assert_eq!(home.content(), [&*good, garbage.as_bytes()].concat());
    }
}

#[test]
fn a_journal_that_went_back_under_an_open_handle_is_refused() {
    let home = Home::with_a_session();
    let journal = home.open();
    let lines = home.lines();
    home.put(lines[..4].concat());
    assert!(matches!(journal.append(&end()), Err(JournalError::Shrunk { .. })));
    // A copy of an old line, as far as it can be seen from the end.
    home.put([lines.concat(), lines[2].clone()].concat());
    assert!(matches!(journal.append(&end()), Err(JournalError::Discontinuous { expected: 5, found: 2, .. })));
    fs::remove_file(home.segment()).unwrap();
    assert!(matches!(journal.append(&end()), Err(JournalError::Removed { .. })));
}

/// Case A12, measured on a full file system: a short write first, the error only with the next call.
#[test]
fn a_short_or_failed_write_leaves_nothing_and_the_next_one_works() {
    let home = Home::new();
    let (store, mut writer) = faulty(&home);
    let record = encode(&refusal(1)).unwrap();
    for fault in [WriteFault::Short(0), WriteFault::Short(100), WriteFault::Error(ENOSPC)] {
        let before = home.content();
        store.writes.lock().unwrap().push_back(fault);
        match (fault, writer.append(&record)) {
            (WriteFault::Short(sent), Err(JournalError::Short { written, bytes, .. })) => {
                assert!(written == sent as u64 && bytes > 100);
            }
            (WriteFault::Error(number), Err(JournalError::Write { source, .. })) => {
                assert_eq!(source.raw_os_error(), Some(number));
            }
            (fault, other) => panic!("{fault:?} {other:?}"),
        }
        assert_eq!(home.content(), before);
    }
    assert_eq!(writer.append(&record).unwrap().seq, 1);
    assert_eq!(home.intact(), (2, 0, 0, 0));
}

#[test]
fn a_fragment_that_could_not_be_removed_is_repaired_by_the_next_append() {
    let home = Home::new();
    let (store, mut writer) = faulty(&home);
    let record = encode(&refusal(1)).unwrap();
    store.writes.lock().unwrap().push_back(WriteFault::Short(50));
    store.truncates.lock().unwrap().extend([5, 5]);
    assert!(matches!(writer.append(&record), Err(JournalError::Short { .. })));
    assert!(matches!(writer.append(&record), Err(JournalError::Cut { .. })));
    assert_eq!(writer.append(&record).unwrap().seq, 2);
    assert_eq!(home.intact(), (3, 0, 0, 1));
}

#[test]
fn a_file_size_limit_is_an_error_before_the_attempt() {
    let home = Home::new();
    let (store, mut writer) = faulty(&home);
    let record = encode(&refusal(1)).unwrap();
    store.limit.store(home.content().len() as u64 + 10, Ordering::Relaxed);
    assert!(matches!(writer.append(&record), Err(JournalError::FileLimit { .. })));
    store.limit.store(u64::MAX, Ordering::Relaxed);
    assert_eq!(writer.append(&record).unwrap().seq, 1);
}

/// Case A13: the kernel's answer to a process at its file size limit is SIGXFSZ, which ends it.
#[test]
fn a_process_at_its_file_size_limit_gets_an_error_and_lives() {
    if let Some(dir) = child_dir() {
        let journal = crate::Journal::open(&dir, crate::Options::default()).unwrap();
        let error = (1..1000).find_map(|number| journal.append(&refusal(number)).err());
        assert!(matches!(error, Some(JournalError::FileLimit { limit, .. }) if limit > 0), "{error:?}");
        fs::write(dir.join("done"), "").unwrap();
        return;
    }
    let home = Home::new();
    run_child("writer::tests::a_process_at_its_file_size_limit_gets_an_error_and_lives", &home, "ulimit -f 8;");
}

/// The kernel's own short write and EFBIG, for a process that ignores SIGXFSZ and does not look before.
#[test]
fn the_kernels_short_write_and_its_error_leave_no_fragment() {
    if let Some(dir) = child_dir() {
        let store = Arc::new(Faulty::open(&dir));
        let mut writer = Writer::open(store, dir.join("segment"), segment_record()).unwrap();
        writer.append(&filler(0)).unwrap();
        let too_much = writer.append(&filler(100_000));
        let Err(JournalError::Short { written: room, .. }) = too_much else { panic!("{too_much:?}") };
        // To the brim: then nothing at all can be written.
        let frame = writer.line.len() - 100_000;
        writer.append(&filler(usize::try_from(room).unwrap() - frame)).unwrap();
        let error = writer.append(&filler(0));
        let Err(JournalError::Write { source, .. }) = error else { panic!("{error:?}") };
        assert_eq!(source.raw_os_error(), Some(EFBIG));
        fs::write(dir.join("done"), "").unwrap();
        return;
    }
    let home = Home::new();
    let test = "writer::tests::the_kernels_short_write_and_its_error_leave_no_fragment";
    run_child(test, &home, "trap '' XFSZ; ulimit -f 8;");
}

fn run_child(test: &str, home: &Home, setup: &str) {
    let output = child(test, &home.dir, setup).output().unwrap();
    assert!(output.status.success() && home.dir.join("done").exists(), "{output:?}");
    let (records, _, _, repairs) = home.intact();
    assert!(records > 2 && repairs == 0);
    // With the limit gone, another process goes on.
    home.open().append(&end()).unwrap();
    assert_eq!(home.intact().0, records + 1);
}

#[test]
fn a_line_of_the_greatest_length_is_written_and_read_and_a_longer_one_is_refused() {
    let home = Home::new();
    let (_store, mut writer) = faulty(&home);
    writer.append(&filler(0)).unwrap();
    let least = home.lines().pop().unwrap().len() - 1;
    writer.append(&filler(LINE_BYTES - least)).unwrap();
    assert_eq!(home.lines().pop().unwrap().len(), LINE_BYTES + 1);
    let before = home.content();
    assert!(matches!(writer.append(&filler(LINE_BYTES - least + 1)), Err(JournalError::TooLong { .. })));
    assert_eq!(home.content(), before);
    // Another handle finds the long line's end, and goes on.
    home.open().append(&end()).unwrap();
    assert_eq!(home.intact(), (4, 0, 0, 0));
}
