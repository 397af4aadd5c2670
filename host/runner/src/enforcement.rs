//! What the kernel really holds a command to.

use portcullis_policy::Level;

use crate::guard::Kind;
use crate::sandbox::Sandbox;

/// The confinement that was in force for a command: reported, never assumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The level reached.
    pub level: Level,
    /// What level [`Full`](Level::Full) has and this command did not, one word each:
    ///
    /// | word | without it |
    /// |---|---|
    /// | `resource-limits` | only wall-clock time is limited |
    /// | `pid-namespace` | the command sees other processes; its own are held together by their process group, which a seccomp filter keeps them in |
    /// | `memory-of-tree` | the memory limit holds for each process, not for all together |
    /// | `processes-of-tree` | the number of processes is not limited |
    /// | `landlock`, `seccomp`, `capabilities`, `network-namespace` | files, system calls, powers and network are those of the host's user |
    pub missing: Vec<&'static str>,
}

/// What no command has in this release.
const NOT_YET: [&str; 4] = ["landlock", "seccomp", "capabilities", "network-namespace"];

/// The most that this host can enforce.
///
/// Always [`Level::Limits`] in this release. A policy must accept that by name (`confinement.level = "limits"`).
#[must_use]
pub fn available_level() -> Level {
    Level::Limits
}

/// The level that a command gets here under a policy that accepts this one at least: the most that there is, and none
/// where the policy wants none.
#[must_use]
pub fn level_for(accepted: Level) -> Level {
    if accepted == Level::None { Level::None } else { available_level() }
}

impl Enforcement {
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        let mut missing = Vec::new();
        match sandbox.kind() {
            Kind::Open => return Self::none(),
            Kind::Group => missing.push("pid-namespace"),
            Kind::Namespaces => {}
        }
        if !sandbox.limits_memory() {
            missing.push("memory-of-tree");
        }
        if !sandbox.limits_processes() {
            missing.push("processes-of-tree");
        }
        missing.extend(NOT_YET);
        Self { level: available_level(), missing }
    }

    /// Nothing was enforced, or nothing is known about it.
    pub(crate) fn none() -> Self {
        let parts = ["pid-namespace", "resource-limits"];
        Self { level: Level::None, missing: parts.into_iter().chain(NOT_YET).collect() }
    }
}
