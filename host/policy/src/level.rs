//! How far the kernel confines a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A confinement level; each holds everything that the one below it does.
///
/// A policy names it (`confinement.level`, default [`Level::Full`]). [`Level::Full`] and [`Level::Landlock`] are the least
/// that is accepted: a command gets the most that its host has, and a host that can't reach it starts nothing.
/// [`Level::Limits`] and [`Level::None`] are taken at their word: a command gets no more, even where the host could.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No kernel confinement: a command can do what the host's user can.
    None,
    /// Resource limits, and where the host has them PID, user, mount, IPC and UTS namespaces of its own: whatever a command
    /// starts ends with it. Files, programs and network are those of the host's user.
    Limits,
    /// And Landlock, a seccomp filter and no powers: what is read, written and executed is what the policy names, and
    /// there is no network unless it gives one. Other files are seen and not opened; nothing can be denied that lies in
    /// the workspace.
    Landlock,
    /// And namespaces with a tree of files, a network and processes of its own: what the policy does not name is not
    /// there, and denied paths are kept.
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
