//! From a policy's text to a command that runs, as a gate does it, without a gate.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test program uses a part; a test that can't go on panics"
)]

use std::fs::{self, Permissions};
use std::num::NonZeroU64;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_audit::{CallId, Hash, Intent, Journal, Limits, Options, Program, SessionId, Stdin};
use portcullis_policy::{Decision, Facts, Policy, Problem, Request};
use portcullis_runner::{
    Approved, Captured, Input, IntentReceipt, Outcome, Programs, Running, Status, Streams, Workspace, start,
};
use tempfile::TempDir;

pub(crate) mod host;

/// Confinement levels: one whose processes a PID namespace holds, and one that holds only a process group.
pub(crate) const LEVELS: [&str; 2] = ["limits", "none"];

/// These, and the level at which everything is confined, where this machine has it.
pub(crate) fn levels() -> Vec<&'static str> {
    let full = portcullis_runner::available_level() == portcullis_runner::Level::Full;
    LEVELS.into_iter().chain(full.then_some("full")).collect()
}

/// Proves no more than that nothing hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A policy, its programs, a workspace and a journal in a fresh folder.
pub(crate) struct Bench {
    pub(crate) programs: Programs,
    policy: Policy,
    workspace: Workspace,
    journal: Journal,
    folder: TempDir,
}

impl Bench {
    /// A bench whose policy is this text, after the head that every policy needs here.
    pub(crate) fn new(rules: &str) -> Self {
        Self::prepared(rules, |_| ())
    }

    /// A bench that lets these programs run with any arguments.
    pub(crate) fn allowing(programs: &[&str]) -> Self {
        Self::new(&programs.iter().map(|name| allow(name, None)).collect::<String>())
    }

    /// As [`Bench::new`], with files that `prepare` makes in the folder first; `FOLDER` in the policy stands for it.
    pub(crate) fn prepared(rules: &str, prepare: impl FnOnce(&Path)) -> Self {
        Self::made("none", rules, prepare)
    }

    /// A bench at confinement level `limits` that lets these programs run with any arguments, under these limits.
    pub(crate) fn limited(programs: &[&str], limits: &str) -> Self {
        let programs = programs.iter().map(|name| allow(name, None)).collect::<String>();
        Self::made("limits", &format!("limits = {{ {limits} }}\nenv.set.PATH = \"/usr/bin:/bin\"\n{programs}"), |_| ())
    }

    /// A bench at this confinement level that lets these programs run with any arguments, with a usual `PATH`.
    pub(crate) fn at(level: &str, programs: &[&str]) -> Self {
        let programs = programs.iter().map(|name| allow(name, None)).collect::<String>();
        // Shells start others; below these levels it is not said who may.
        let programs = if LEVELS.contains(&level) {
            programs
        } else {
            programs.replace("[[program.rule]]", "children = \"any\"\n[[program.rule]]")
        };
        Self::made(level, &format!("env.set.PATH = \"/usr/bin:/bin\"\n{programs}"), |_| ())
    }

    /// A bench at this confinement level, with a policy and files as in [`Bench::prepared`].
    pub(crate) fn made(level: &str, rules: &str, prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Scripts are judged by the modes of the folders above them.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("workspace")).unwrap();
        prepare(folder.path());
        let rules = rules.replace("FOLDER", folder.path().to_str().unwrap());
        let text = format!("version = 1\nconfinement.level = \"{level}\"\n{rules}");
        let policy = Policy::parse("policy.toml", &text).unwrap();
        let workspace = Workspace::open(&folder.path().join("workspace")).unwrap();
        let programs = Programs::resolve(&policy, &workspace);
        let journal = Journal::open(&folder.path().join("journal"), Options::default()).unwrap();
        Self { programs, policy, workspace, journal, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Judges and approves. A request that the policy refuses is a mistake in the test.
    pub(crate) fn approve(&self, request: &Request) -> Result<Approved, Problem> {
        self.approve_in(request, &self.workspace)
    }

    /// As [`Bench::approve`], for another workspace.
    pub(crate) fn approve_in(&self, request: &Request, workspace: &Workspace) -> Result<Approved, Problem> {
        let valid = request.validate().unwrap();
        let facts = Facts::new(self.programs.fact(valid.program()));
        match self.policy.decide(&valid, &facts) {
            Decision::Allow(allowed) => self.programs.approve(*allowed, workspace),
            Decision::Ask(problem) | Decision::Deny(problem) => Err(problem),
        }
    }

    /// Records the intent.
    pub(crate) fn receipt(&self, approved: &Approved) -> IntentReceipt {
        let allowed = approved.allowed();
        let intent = Intent {
            call: CallId::new(SessionId::from_bytes([1; 8]), NonZeroU64::MIN),
            request: portcullis_audit::Request {
                program: allowed.program().to_string(),
                arguments: allowed.arguments().to_vec(),
                cwd: None,
                env: Vec::new(),
                stdin: Stdin::Empty,
                network: false,
                merge_stderr: false,
                reason: None,
                call_id: None,
                omitted: None,
            },
            decision: Hash::from(approved.digest()),
            rules: Vec::new(),
            program: Program {
                name: allowed.program().to_string(),
                path: allowed.identity().path.clone(),
                device: allowed.identity().device,
                inode: allowed.identity().inode,
                sha256: None,
                script: None,
            },
            cwd: ".".to_owned(),
            env: Vec::new(),
            env_omitted: None,
            limits: Limits {
                wall_ns: 0,
                output_bytes: 0,
                cpu_ns: None,
                memory_bytes: None,
                processes: None,
                file_size_bytes: None,
                open_files: None,
            },
            network: false,
            level: "none".to_owned(),
        };
        self.journal.append_intent(&intent.bounded(), approved.digest()).unwrap()
    }

    pub(crate) fn start(&self, request: &Request, streams: Streams) -> Running {
        let approved = self.approve(request).unwrap();
        let receipt = self.receipt(&approved);
        start(approved, receipt, streams).unwrap()
    }

    /// Runs a command to its end with this input.
    pub(crate) async fn feed(&self, request: &Request, input: Input) -> Outcome {
        finish(self.start(request, Streams { input, ..Streams::default() })).await
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, request: &Request) -> Outcome {
        self.feed(request, Input::Empty).await
    }

    /// Runs a command that must succeed and say nothing on standard error; its whole output, as text.
    pub(crate) async fn text(&self, request: &Request) -> String {
        let Outcome { status, stdout, stderr, .. } = self.run(request).await;
        assert_eq!(status, Status::Exited(0));
        assert_eq!((stderr, &stdout.gap), (Some(Captured::default()), &None));
        String::from_utf8(stdout.bytes).unwrap()
    }

    /// Runs a shell script.
    pub(crate) async fn sh(&self, script: &str) -> Outcome {
        self.run(&sh(script)).await
    }
}

/// A program's table that allows any arguments; a file under another name where one is given.
pub(crate) fn allow(name: &str, file: Option<&str>) -> String {
    let file = file.map(|file| format!("file = \"{file}\"\n")).unwrap_or_default();
    format!(
        "[[program]]\nname = \"{name}\"\n{file}[[program.rule]]\nid = \"{name}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
    )
}

/// A request for `sh -c SCRIPT`.
pub(crate) fn sh(script: &str) -> Request {
    Request::new("sh").args(["-c", script])
}

/// Waits for the end, and not for ever.
pub(crate) async fn finish(running: Running) -> Outcome {
    within("the command's end", running.wait()).await
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

/// Waits until a file holds this many lines, each a process id.
pub(crate) async fn pids(path: &Path, count: usize) -> Vec<u32> {
    let read = || -> Vec<u32> {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.parse().ok()).collect()
    };
    until("a list of processes", || read().len() >= count).await;
    read()
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z' && state != 'X')
}

/// A process's state, a letter; none where it is gone.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Waits until processes are gone.
pub(crate) async fn gone(pids: &[u32]) {
    until("the processes' end", || !pids.iter().any(|&pid| is_alive(pid))).await;
}

/// Makes a file that can be executed, new or in place of another.
pub(crate) fn executable(path: &Path, content: impl AsRef<[u8]>) {
    let content_file = path.with_extension("content");
    fs::write(&content_file, content).unwrap();
    copied(&content_file, path);
    fs::remove_file(content_file).unwrap();
}

/// Copies a file, new or in place of another, and makes it executable.
///
/// By `cp`: a child that another test starts right now inherits, for a moment, what this process has open for
/// writing, and the kernel executes no such file (ETXTBSY).
pub(crate) fn copied(from: &Path, to: &Path) {
    let fresh = to.with_extension("fresh");
    assert!(Command::new("cp").arg(from).arg(&fresh).status().unwrap().success());
    fs::set_permissions(&fresh, Permissions::from_mode(0o755)).unwrap();
    fs::rename(&fresh, to).unwrap();
}

/// Processes of this machine that have this text among their arguments.
pub(crate) fn with_argument(text: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|&pid: &u32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        is_alive(pid) && arguments.split(|&byte| byte == 0).any(|argument| argument == text.as_bytes())
    })
    .collect()
}

/// An argument for `sleep` that no other process of this machine has: about 30 years.
pub(crate) fn unique_sleep() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("1000000000.{}{:04}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether commands get a PID namespace of their own here; where not, that is said and counted.
pub(crate) fn has_namespaces(outcome: &Outcome) -> bool {
    let has = !outcome.enforcement.missing.contains(&"pid-namespace");
    if !has {
        skip("commands get no PID namespace here");
    }
    has
}

/// Says that a test can't run here, where it is counted.
pub(crate) fn skip(reason: &str) {
    use std::io::Write as _;
    if let Some(path) = std::env::var_os("PORTCULLIS_TEST_SKIPS") {
        writeln!(fs::File::options().append(true).open(path).unwrap(), "SKIP: {reason}").unwrap();
    }
}
