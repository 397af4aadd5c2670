//! How far the kernel confines a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A confinement level; each holds everything that the one below it does.
///
/// A policy names the least level that it accepts (`confinement.level`, default [`Level::Full`]). A host that
/// can't reach it starts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No kernel confinement: a command can do what the host's user can. Of the levels it alone is taken at its word: a
    /// policy that names it gets no confinement, even where the host could confine.
    None,
    /// Resource limits, and where the host has them PID, user, mount, IPC and UTS namespaces of its own.
    Limits,
    /// Landlock, a seccomp filter and resource limits.
    Landlock,
    /// Everything: namespaces, no capabilities, Landlock, a seccomp filter and resource limits.
    Full,
}

impl Level {
    /// The word that the policy language uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Limits => "limits",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
