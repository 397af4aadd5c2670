//! What the tests of several modules need: records, journals on disk, a file that fails on demand, children.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

use crate::segments::FIRST_SEGMENT;
use crate::store::{SegmentFile, State, Store};
use crate::{
    CallId, Caller, CallerKind, EndReason, Hash, Intent, Journal, Limits, Options, Outcome, Problem, ProblemKind,
    Program, Record, Refusal, Request, Segment, SessionEnd, SessionId, SessionStart, Status, Stdin, Usage, Verdict,
    verify,
};

pub(crate) fn session() -> SessionId {
    SessionId::from_bytes([0x9f, 0x2c, 0x41, 0xd0, 0x7a, 0x3b, 0xe6, 0x15])
}

pub(crate) fn call(number: u64) -> CallId {
    CallId::new(session(), NonZeroU64::new(number).unwrap())
}

pub(crate) fn request() -> Request {
    Request {
        program: "ls".to_owned(),
        arguments: vec!["-l".to_owned(), "a b".to_owned()],
        cwd: None,
        env: vec![("LANG".to_owned(), "C".to_owned())],
        stdin: Stdin::Empty,
        network: false,
        merge_stderr: false,
        reason: None,
        call_id: None,
        omitted: None,
    }
}

pub(crate) fn problem() -> Problem {
    Problem {
        kind: ProblemKind::Denied,
        code: "shell.policy.unmatched".to_owned(),
        rule: None,
        message: "no rule allows 'rm'".to_owned(),
        at: None,
    }
}

pub(crate) fn start() -> Record {
    Record::SessionStart(SessionStart {
        session: session(),
        caller: Caller { kind: CallerKind::Cli, name: "portcullis".to_owned(), digest: None },
        policy: Hash::of(b"policy"),
        workspace: "/w".to_owned(),
        pid: 1,
    })
}

pub(crate) fn end() -> Record {
    Record::SessionEnd(SessionEnd { session: session(), calls: 1, denials: 0, reason: EndReason::Closed })
}

pub(crate) fn refusal(number: u64) -> Record {
    Record::Refusal(Refusal { call: call(number), request: request(), problem: problem() })
}

pub(crate) fn decision() -> Hash {
    Hash::of(b"decision")
}

pub(crate) fn intent(call: CallId) -> Intent {
    Intent {
        call,
        request: request(),
        decision: decision(),
        rules: vec!["ls".to_owned()],
        program: Program {
            name: "ls".to_owned(),
            path: "/usr/bin/ls".to_owned(),
            device: 1,
            inode: 2,
            sha256: None,
            script: None,
        },
        cwd: "/w".to_owned(),
        env: Vec::new(),
        env_omitted: None,
        limits: Limits {
            wall_ns: 1,
            output_bytes: 2,
            cpu_ns: None,
            memory_bytes: None,
            processes: None,
            file_size_bytes: None,
            open_files: None,
        },
        network: false,
        level: "full".to_owned(),
    }
}

pub(crate) fn outcome(call: CallId) -> Record {
    Record::Outcome(Outcome {
        call,
        status: Status::Exited { code: 0 },
        stdout: None,
        stderr: None,
        usage: Usage { wall_ns: 1, user_ns: 2, system_ns: 3, peak_memory_bytes: 4, leftover_processes: Some(0) },
        level: "full".to_owned(),
        missing: Vec::new(),
    })
}

/// A folder for a journal that is not there yet.
pub(crate) struct Home {
    _parent: tempfile::TempDir,
    pub(crate) dir: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        Self { dir: parent.path().join("journal"), _parent: parent }
    }

    /// A journal of segment, session-start, intent, outcome, session-end.
    pub(crate) fn with_a_session() -> Self {
        let home = Self::new();
        let journal = home.open();
        journal.append(&start()).unwrap();
        let receipt = journal.append_intent(&intent(call(1)), *decision().as_bytes()).unwrap();
        journal.append(&outcome(*receipt.call())).unwrap();
        journal.append(&end()).unwrap();
        home
    }

    pub(crate) fn open(&self) -> Journal {
        Journal::open(&self.dir, Options::default()).unwrap()
    }

    pub(crate) fn segment(&self) -> PathBuf {
        self.dir.join(FIRST_SEGMENT)
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        fs::read(self.segment()).unwrap()
    }

    pub(crate) fn put(&self, content: impl AsRef<[u8]>) {
        fs::write(self.segment(), content).unwrap();
    }

    /// The lines, each with its newline.
    pub(crate) fn lines(&self) -> Vec<Vec<u8>> {
        self.content().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// Number of records, open sessions, unfinished calls and repairs of an intact journal.
    pub(crate) fn intact(&self) -> (u64, u64, usize, u64) {
        intact(&self.dir)
    }
}

pub(crate) fn intact(dir: &Path) -> (u64, u64, usize, u64) {
    let verdict = verify(dir);
    let Verdict::Intact { records, head: _, anchor: _, open_sessions, unfinished, torn_tails } = verdict else {
        panic!("{verdict}")
    };
    (records, open_sessions, unfinished.len(), torn_tails)
}

pub(crate) fn segment_record() -> Segment {
    Segment { format: 1, product: "test".to_owned(), version: "0".to_owned() }
}

/// What the next write does instead of writing all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WriteFault {
    /// Writes this many bytes.
    Short(usize),
    /// Fails with this error number.
    Error(i32),
}

/// A real segment that fails on demand.
pub(crate) struct Faulty {
    real: SegmentFile,
    pub(crate) writes: Mutex<VecDeque<WriteFault>>,
    pub(crate) truncates: Mutex<VecDeque<i32>>,
    pub(crate) syncs: Mutex<VecDeque<i32>>,
    pub(crate) limit: AtomicU64,
    /// Told of every sync.
    pub(crate) synced: Mutex<Option<mpsc::Sender<()>>>,
}

impl Faulty {
    pub(crate) fn open(dir: &Path) -> Self {
        Self {
            real: crate::directory::open(dir).unwrap(),
            writes: Mutex::default(),
            truncates: Mutex::default(),
            syncs: Mutex::default(),
            limit: AtomicU64::new(u64::MAX),
            synced: Mutex::default(),
        }
    }

    /// What is told of every sync.
    pub(crate) fn watch(&self) -> mpsc::Receiver<()> {
        let (sender, receiver) = mpsc::channel();
        *self.synced.lock().unwrap() = Some(sender);
        receiver
    }
}

impl Store for Faulty {
    fn lock(&self) -> io::Result<()> {
        self.real.lock()
    }

    fn unlock(&self) {
        self.real.unlock();
    }

    fn state(&self) -> io::Result<State> {
        self.real.state()
    }

    fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.writes.lock().unwrap().pop_front() {
            None => self.real.write(bytes),
            Some(WriteFault::Short(length)) => self.real.write(&bytes[..length]),
            Some(WriteFault::Error(number)) => Err(io::Error::from_raw_os_error(number)),
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        match self.truncates.lock().unwrap().pop_front() {
            None => self.real.truncate(length),
            Some(number) => Err(io::Error::from_raw_os_error(number)),
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.real.read_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        let fault = self.syncs.lock().unwrap().pop_front();
        let done = fault.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)));
        if let Some(sender) = &*self.synced.lock().unwrap() {
            let _ = sender.send(());
        }
        done
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.real.sync_directory()
    }
}

const CHILD: &str = "PORTCULLIS_AUDIT_TEST_CHILD";

/// The folder that this process is to work in, where it is a child of a test.
pub(crate) fn child_dir() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// This test program, started anew to run only `test` in `dir`; `setup` is shell before it.
pub(crate) fn child(test: &str, dir: &Path, setup: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{setup} exec \"$@\""))
        .arg("sh")
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, dir);
    command
}
