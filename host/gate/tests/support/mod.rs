//! A gate with a policy, a workspace and a journal in a fresh folder.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test program uses a part; a test that can't go on panics"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_audit::{Journal, Options, Reader, Record, Stored, Verdict, verify};
use portcullis_gate::{Caller, Done, ExecError, Gate, GateBuilder, Problem, Request, Session};
use portcullis_policy::Policy;
use tempfile::TempDir;

/// Proves no more than that nothing hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for a gate.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.workspace()).unwrap();
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    pub(crate) fn journal_directory(&self) -> PathBuf {
        self.path().join("journal")
    }

    /// A builder under a policy of this text, after the head that every policy needs here.
    pub(crate) fn builder(&self, rules: &str) -> GateBuilder {
        self.builder_of(&format!("version = 1\nconfinement.level = \"none\"\n{rules}"))
    }

    /// A builder under a policy of this text.
    pub(crate) fn builder_of(&self, policy: &str) -> GateBuilder {
        let policy = Policy::parse("policy.toml", policy).unwrap();
        let journal = Journal::open(&self.journal_directory(), Options::default()).unwrap();
        Gate::builder(policy, journal).workspace(&self.workspace())
    }

    pub(crate) fn gate(&self, rules: &str) -> Gate {
        self.builder(rules).build().unwrap()
    }

    /// The journal's records.
    pub(crate) fn records(&self) -> Vec<Record> {
        let reader = Reader::open(&self.journal_directory()).unwrap();
        reader
            .map(|entry| match entry.unwrap().record {
                Stored::Known(record) => record,
                Stored::Unknown(record) => panic!("{record:?}"),
            })
            .collect()
    }

    /// The types of the journal's records, in order.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.records().iter().map(Record::kind).collect()
    }

    /// The statuses of the journal's outcomes, in order.
    pub(crate) fn statuses(&self) -> Vec<portcullis_audit::Status> {
        let outcome = |record| if let Record::Outcome(outcome) = record { Some(outcome.status) } else { None };
        self.records().into_iter().filter_map(outcome).collect()
    }

    /// Bytes of the journal.
    pub(crate) fn journal_bytes(&self) -> u64 {
        fs::metadata(self.journal_directory().join("00000000000000000000.jsonl")).unwrap().len()
    }

    /// The journal is whole, and every command in it has an outcome.
    pub(crate) fn assert_journal_is_whole(&self) {
        let verdict = verify(&self.journal_directory());
        let whole = matches!(&verdict, Verdict::Intact { unfinished, torn_tails: 0, .. } if unfinished.is_empty());
        assert!(whole, "{verdict}");
    }
}

/// A program's table that allows any arguments.
pub(crate) fn allow(program: &str) -> String {
    format!(
        "[[program]]\nname = \"{program}\"\n[[program.rule]]\nid = \"{program}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
    )
}

/// Says that a test can't run here, where it is counted.
pub(crate) fn skip(reason: &str) {
    if let Some(path) = std::env::var_os("PORTCULLIS_TEST_SKIPS") {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "SKIP: {reason}").unwrap();
    }
}

/// A request for `sh -c SCRIPT`.
pub(crate) fn sh(script: &str) -> Request {
    Request::new("sh").args(["-c", script])
}

pub(crate) fn open(gate: &Gate) -> Session {
    gate.session(Caller::host("test")).unwrap()
}

/// Why a call was refused.
pub(crate) fn refusal(result: Result<Done, ExecError>) -> Problem {
    match result {
        Err(ExecError::Refused(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

/// The code of a refusal.
pub(crate) fn code(result: Result<Done, ExecError>) -> &'static str {
    refusal(result).code.as_str()
}

/// Waits for what must happen, and not for ever.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what} does not come"))
}

/// Waits until a condition holds, and not for ever.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    within(what, async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

/// Waits until a file holds a process id and a line break.
pub(crate) async fn pid(path: &Path) -> u32 {
    let read = || fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok();
    until("a process id", || read().is_some()).await;
    read().unwrap()
}

/// Waits until a process is gone, or a zombie.
pub(crate) async fn gone(pid: u32) {
    let dead = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        stat.is_none_or(|stat| stat.contains(") Z ") || stat.contains(") X "))
    };
    until("the process's end", dead).await;
}
