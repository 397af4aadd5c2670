use super::*;
use crate::testing::{Home, call, child, child_dir, decision, end, intent, outcome, refusal, session, start};
use crate::{CallId, Problem, Reader, Refusal, SessionId, Stored, ascii};
use std::fs;
use std::num::NonZeroU64;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;
use std::sync::Barrier;

fn open(dir: &Path) -> Result<Journal, JournalError> {
    Journal::open(dir, Options::default())
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_journal_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Journal>();
}

#[test]
fn directory_and_segment_are_closed_to_others_whatever_the_umask() {
    if let Some(dir) = child_dir() {
        open(&dir.join("a/b/c")).unwrap().append(&end()).unwrap();
        return;
    }
    let home = Home::new();
    let test = "journal::tests::directory_and_segment_are_closed_to_others_whatever_the_umask";
    assert!(child(test, &home.dir, "umask 0;").status().unwrap().success());
    for (path, mode) in
        [("", 0o700), ("a", 0o700), ("a/b", 0o700), ("a/b/c", 0o700), ("a/b/c/00000000000000000000.jsonl", 0o600)]
    {
        assert_eq!(fs::metadata(home.dir.join(path)).unwrap().mode() & 0o7777, mode, "{path}");
    }
}

#[test]
fn a_directory_or_segment_open_to_others_is_refused() {
    let home = Home::with_a_session();
    for mode in [0o750, 0o701, 0o777, 0o600] {
        chmod(&home.dir, mode);
        let result = open(&home.dir);
        assert!(matches!(result, Err(JournalError::Mode { mode: m, expected: 0o700, .. }) if m == mode), "{result:?}");
    }
    chmod(&home.dir, 0o700);
    for mode in [0o640, 0o602, 0o400] {
        chmod(&home.segment(), mode);
        // Without root's powers, a segment that can't be written can't be opened in the first place.
        let result = open(&home.dir);
        assert!(
            matches!(result, Err(JournalError::Mode { expected: 0o600, .. } | JournalError::OpenSegment { .. })),
            "{result:?}"
        );
    }
    chmod(&home.segment(), 0o600);
    open(&home.dir).unwrap();
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    let home = Home::with_a_session();
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&home.dir, Some(65534), None).unwrap();
        home.dir.as_path()
    } else {
        Path::new("/")
    };
    assert!(matches!(open(foreign), Err(JournalError::Owner { .. })));
}

#[test]
fn symbolic_links_second_names_and_other_files_are_refused() {
    let home = Home::with_a_session();
    let link = home.dir.with_file_name("link");
    symlink(&home.dir, &link).unwrap();
    assert!(matches!(open(&link), Err(JournalError::OpenDirectory { .. })));
    assert!(matches!(open(&link.join("")), Err(JournalError::OpenDirectory { .. })));

    let moved = home.dir.with_file_name("moved");
    fs::rename(home.segment(), &moved).unwrap();
    symlink(&moved, home.segment()).unwrap();
    assert!(matches!(open(&home.dir), Err(JournalError::OpenSegment { .. })));
    fs::remove_file(home.segment()).unwrap();

    fs::hard_link(&moved, home.segment()).unwrap();
    assert!(matches!(open(&home.dir), Err(JournalError::Links { links: 2, .. })));
    fs::remove_file(home.segment()).unwrap();

    assert!(Command::new("mkfifo").args(["-m", "600"]).arg(home.segment()).status().unwrap().success());
    assert!(matches!(open(&home.dir), Err(JournalError::NotAFile { .. })));
    fs::remove_file(home.segment()).unwrap();

    let file = home.dir.join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(open(&file), Err(JournalError::OpenDirectory { .. })));
    assert!(matches!(open(&file.join("x")), Err(JournalError::OpenDirectory { .. })));
}

#[test]
fn a_receipt_names_its_decision_and_its_record() {
    let home = Home::new();
    let journal = home.open();
    let receipt = journal.append_intent(&intent(call(3)), *decision().as_bytes()).unwrap();
    assert_eq!((receipt.subject(), receipt.call(), receipt.seq()), (decision().as_bytes(), &call(3), 1));
    assert_eq!(receipt.bytes(), home.lines()[1].len() as u64);
    let entry = Reader::open(&home.dir).unwrap().last().unwrap().unwrap();
    assert_eq!(entry.record, Stored::Known(Record::Intent(intent(call(3)))));
}

#[test]
fn an_intent_for_another_decision_gets_no_receipt_and_no_record() {
    let home = Home::new();
    let journal = home.open();
    assert!(matches!(journal.append_intent(&intent(call(1)), [7; 32]), Err(JournalError::Subject { .. })));
    assert_eq!(home.intact().0, 1);
}

#[test]
fn the_journals_own_records_cannot_be_appended() {
    let home = Home::new();
    let journal = home.open();
    let torn = Record::TornTail(crate::TornTail { bytes: 1, sha256: decision() });
    for record in [Record::Segment(crate::testing::segment_record()), torn] {
        assert!(matches!(journal.append(&record), Err(JournalError::Reserved { .. })));
    }
    assert_eq!(journal.dir(), home.dir);
}

/// Cases A29 and A30, and sudo's CVE-2023-28486: what a guest says can't forge a line or move a cursor.
#[test]
fn hostile_text_stays_one_printable_line() {
    let home = Home::new();
    let journal = home.open();
    let evil = "a\n{\"v\":1}\r\0\u{1b}[2J\u{9b}H\u{202e}\u{2066}\u{200b}\u{2028}\u{7f}\u{feff}".to_owned();
    let Record::Refusal(mut refusal) = refusal(1) else { unreachable!() };
    refusal.request.program.clone_from(&evil);
    refusal.request.arguments = vec![evil.clone(), String::new(), evil.clone()];
    refusal.request.env = vec![(evil.clone(), evil.clone())];
    refusal.problem = Problem { message: evil, ..refusal.problem };
    let record = Record::Refusal(Refusal { ..refusal });
    let appended = journal.append(&record).unwrap();
    assert_eq!(appended, Appended { seq: 1, bytes: home.lines()[1].len() as u64 });
    assert_eq!(home.lines().len(), 2);
    assert!(home.content().iter().all(|byte| *byte == b'\n' || ascii::printable(*byte)));
    let entry = Reader::open(&home.dir).unwrap().last().unwrap().unwrap();
    assert_eq!(entry.record, Stored::Known(record));
}

#[test]
fn handles_and_threads_append_one_chain() {
    let home = Home::new();
    let journals = [home.open(), home.open(), home.open()];
    let begin = Barrier::new(9);
    std::thread::scope(|scope| {
        for thread in 0..9_usize {
            let (journal, begin) = (journals[thread % 3].clone(), &begin);
            scope.spawn(move || {
                begin.wait();
                for number in 0..100 {
                    journal.append(&refusal(1 + thread as u64 * 100 + number)).unwrap();
                }
            });
        }
    });
    assert_eq!(home.intact(), (901, 0, 0, 0));
    let mut calls: Vec<CallId> = Reader::open(&home.dir)
        .unwrap()
        .filter_map(|entry| match entry.unwrap().record {
            Stored::Known(Record::Refusal(refusal)) => Some(refusal.call),
            Stored::Known(_) | Stored::Unknown(_) => None,
        })
        .collect();
    calls.sort_unstable();
    assert_eq!(calls, (1..=900).map(call).collect::<Vec<_>>());
}

#[test]
fn fifty_processes_at_once_all_succeed_and_append_one_chain() {
    if let Some(dir) = child_dir() {
        let journal = open(&dir).unwrap();
        let mut id = [0; 8];
        id[..4].copy_from_slice(&std::process::id().to_be_bytes());
        let session = SessionId::from_bytes(id);
        let Record::SessionStart(mut begin) = start() else { unreachable!() };
        begin.session = session;
        journal.append(&Record::SessionStart(begin)).unwrap();
        for number in 1..=3 {
            let call = CallId::new(session, NonZeroU64::new(number).unwrap());
            let receipt = journal.append_intent(&intent(call), *decision().as_bytes()).unwrap();
            journal.append(&outcome(*receipt.call())).unwrap();
        }
        let Record::SessionEnd(mut finish) = end() else { unreachable!() };
        finish.session = session;
        journal.append(&Record::SessionEnd(finish)).unwrap();
        return;
    }
    let home = Home::new();
    let test = "journal::tests::fifty_processes_at_once_all_succeed_and_append_one_chain";
    let children: Vec<_> = (0..50).map(|_| child(test, &home.dir, "").spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.intact(), (1 + 50 * 8, 0, 0, 0));
}

/// Case A20: a command that is started in the meantime must not inherit the lock.
#[test]
fn a_running_command_does_not_hold_the_journal() {
    let home = Home::new();
    let journal = home.open();
    let mut command = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    journal.append(&refusal(1)).unwrap();
    let links = fs::read_dir(format!("/proc/{}/fd", command.id())).unwrap();
    // A descriptor may be closed meanwhile (the loader's), but standard input stays.
    let targets: Vec<_> = links.filter_map(|link| fs::read_link(link.ok()?.path()).ok()).collect();
    assert!(!targets.is_empty());
    assert!(!targets.iter().any(|target| target.starts_with(&home.dir)), "{targets:?}");
    home.open().append(&refusal(2)).unwrap();
    drop(command.stdin.take());
    assert!(command.wait().unwrap().success());
    assert_eq!(session(), call(1).session());
}

#[test]
fn opening_reads_only_the_end_however_long_the_journal_is() {
    let home = Home::with_a_session();
    let lines = home.lines();
    // Nonsense before the last line: whoever read it would refuse it.
    let last = lines.last().unwrap();
    home.put([vec![b'x'; 4 << 20], b"\n".to_vec(), last.clone()].concat());
    assert_eq!(open(&home.dir).unwrap().append(&end()).unwrap().seq, 5);
}
