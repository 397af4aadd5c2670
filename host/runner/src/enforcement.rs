//! What the kernel really holds a command to.

use portcullis_policy::Level;

use crate::guard::Kind;
use crate::sandbox::Sandbox;
use crate::{Enforcement, Unsupported, pool, sys};

/// What confines a command beyond its limits.
const CONFINEMENT: [&str; 5] = ["landlock", "seccomp", "capabilities", "mount-namespace", "network-namespace"];
/// Since then Landlock keeps signals in.
const SIGNALS: u32 = 6;

/// Whether commands can be run on this operating system at all.
///
/// # Errors
/// [`Unsupported`], on any but Linux.
pub const fn supported() -> Result<(), Unsupported> {
    Ok(())
}

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
