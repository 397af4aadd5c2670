//! The tests' components, and gates for them in fresh folders.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test program uses a part; a test that can't go on panics"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_audit::{EndReason, Journal, Options, Reader, Record, Status, Stored, Verdict, verify};
use portcullis_gate::Gate;
use portcullis_policy::Policy;
use tempfile::TempDir;

/// Proves no more than that nothing hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with a workspace and a journal.
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

    pub(crate) fn journal(&self) -> PathBuf {
        self.path().join("journal")
    }

    /// A gate under these settings that lets these programs run with any arguments.
    pub(crate) fn gate(&self, settings: &str, programs: &[&str]) -> Gate {
        let mut text = format!("version = 1\nconfinement.level = \"none\"\n{settings}");
        for name in programs {
            text.push_str(&format!(
                "[[program]]\nname = \"{name}\"\n[[program.rule]]\nid = \"{name}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
            ));
        }
        let policy = Policy::parse("policy.toml", &text).unwrap();
        let journal = Journal::open(&self.journal(), Options::default()).unwrap();
        Gate::builder(policy, journal).workspace(&self.workspace()).build().unwrap()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let known = |record| match record {
            Stored::Known(record) => record,
            Stored::Unknown(record) => panic!("{record:?}"),
        };
        Reader::open(&self.journal()).unwrap().map(|entry| known(entry.unwrap().record)).collect()
    }

    /// The statuses of the outcomes, in order.
    pub(crate) fn statuses(&self) -> Vec<Status> {
        let status = |record| if let Record::Outcome(outcome) = record { Some(outcome.status) } else { None };
        self.records().into_iter().filter_map(status).collect()
    }

    /// Why the sessions ended, in order.
    pub(crate) fn ends(&self) -> Vec<EndReason> {
        let end = |record| if let Record::SessionEnd(end) = record { Some(end.reason) } else { None };
        self.records().into_iter().filter_map(end).collect()
    }

    /// The journal is whole, and every command in it has an outcome.
    pub(crate) fn assert_journal_is_whole(&self) {
        let verdict = verify(&self.journal());
        let whole = matches!(&verdict, Verdict::Intact { unfinished, torn_tails: 0, .. } if unfinished.is_empty());
        assert!(whole, "{verdict}");
    }

    /// Takes the journal's file away: no record can be written any more.
    pub(crate) fn break_journal(&self) {
        fs::remove_file(self.journal().join("00000000000000000000.jsonl")).unwrap();
    }

    /// Waits for the file `pid` in the workspace, and for what is in it.
    pub(crate) async fn pid(&self) -> u32 {
        let path = self.workspace().join("pid");
        let read = || fs::read_to_string(&path).ok()?.strip_suffix('\n')?.parse().ok();
        until("a process id", || read().is_some()).await;
        read().unwrap()
    }
}

/// A component that the tests run; `cargo xtask guests` builds them.
pub(crate) fn component(name: &str) -> PathBuf {
    let folder = match std::env::var_os("PORTCULLIS_TEST_ROOT") {
        Some(root) => PathBuf::from(root).join("components"),
        // target/debug/deps/THIS
        None => std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("components"),
    };
    let path = folder.join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `cargo xtask guests`", path.display());
    path
}

/// What `sh -c` needs to say who it is and stay for ever.
pub(crate) const FOREVER: &str = "echo $$ > new; mv new pid; exec sleep 1000";

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

/// Waits until a process is gone, or a zombie.
pub(crate) async fn gone(pid: u32) {
    let dead = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        stat.is_none_or(|stat| stat.contains(") Z ") || stat.contains(") X "))
    };
    until("the process's end", dead).await;
}

/// Says that a test can't run here, where it is counted.
pub(crate) fn skip(reason: &str) {
    use std::io::Write as _;
    if let Some(path) = std::env::var_os("PORTCULLIS_TEST_SKIPS") {
        writeln!(fs::File::options().append(true).open(path).unwrap(), "SKIP: {reason}").unwrap();
    }
}
