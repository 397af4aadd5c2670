//! What the kernel really holds a command to.

use portcullis_policy::Level;

use crate::guard::Kind;
use crate::sandbox::Sandbox;
use crate::{pool, sys};

/// The confinement that was in force for a command: reported, never assumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The level reached.
    pub level: Level,
    /// What level [`Full`](Level::Full) has at its best and this command did not, one word each:
    ///
    /// | word | without it |
    /// |---|---|
    /// | `resource-limits` | only wall-clock time is limited |
    /// | `pid-namespace` | the command sees other processes; its own are held together by their process group, which a seccomp filter keeps them in |
    /// | `memory-of-tree` | the memory limit holds for each process, not for all together |
    /// | `processes-of-tree` | the number of processes is not limited |
    /// | `landlock`, `seccomp`, `capabilities` | files, programs, system calls and powers are those of the host's user |
    /// | `mount-namespace` | the command sees all files, though it can open only its own; it changes the attributes of others that its user owns, and before version 9 of Landlock connects to Unix sockets by path |
    /// | `network-namespace` | sockets are refused by family only, where the network is off |
    /// | `signal-scope` | Landlock is older than version 6: the command can signal other processes of its user |
    pub missing: Vec<&'static str>,
}

/// What confines a command beyond its limits.
const CONFINEMENT: [&str; 5] = ["landlock", "seccomp", "capabilities", "mount-namespace", "network-namespace"];
/// Since then Landlock keeps signals in.
const SIGNALS: u32 = 6;

/// The most that this host can enforce, found out once by confining a program.
#[must_use]
pub fn available_level() -> Level {
    match pool::confinement().0 {
        Kind::Namespaces => Level::Full,
        Kind::Group => Level::Landlock,
        Kind::Open => Level::Limits,
    }
}

/// Takes it that this host reaches [`Level::Full`], instead of finding that out, which takes some milliseconds: for hosts
/// that know from an earlier process. Call it before everything else.
///
/// It is no evidence and need not be: a command is confined as its policy wants, or its start is refused.
/// [`expectation_failed`] says whether that has happened.
pub fn expect_full_confinement() {
    pool::expect_everything();
}

/// Whether a command could not be confined after [`expect_full_confinement`].
#[must_use]
pub fn expectation_failed() -> bool {
    pool::disappointed()
}

/// The level that a command gets here under a policy that accepts this one at least. [`Level::Landlock`] and
/// [`Level::Full`] are the least: it gets the most that there is. The others are taken at their word.
#[must_use]
pub fn level_for(accepted: Level) -> Level {
    match accepted {
        Level::None | Level::Limits => accepted,
        Level::Landlock | Level::Full => available_level(),
    }
}

/// What keeps this host from [`Level::Full`], as a sentence's end; `None` where nothing does.
#[must_use]
pub fn confinement_problem() -> Option<String> {
    pool::confinement().1.map(ToString::to_string)
}

impl Enforcement {
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        let key = sandbox.key();
        let (level, confined) = match (key.kind, &key.confined) {
            (Kind::Open, _) => return Self::none(),
            (_, None) => (Level::Limits, false),
            (Kind::Group, Some(_)) => (Level::Landlock, true),
            (Kind::Namespaces, Some(_)) => (Level::Full, true),
        };
        let mut missing = Vec::new();
        if key.kind == Kind::Group {
            missing.push("pid-namespace");
        }
        if !sandbox.limits_memory() {
            missing.push("memory-of-tree");
        }
        if !sandbox.limits_processes() {
            missing.push("processes-of-tree");
        }
        match (confined, key.kind) {
            (false, _) => missing.extend(CONFINEMENT),
            (true, Kind::Group) => {
                missing.extend(["mount-namespace", "network-namespace"]);
                if sys::landlock_abi().is_none_or(|abi| abi < SIGNALS) {
                    missing.push("signal-scope");
                }
            }
            (true, _) => {}
        }
        Self { level, missing }
    }

    /// Nothing was enforced, or nothing is known about it.
    pub(crate) fn none() -> Self {
        let parts = ["pid-namespace", "resource-limits"];
        Self { level: Level::None, missing: parts.into_iter().chain(CONFINEMENT).collect() }
    }
}
