//! What can go wrong between an approval and a running command.

use std::ffi::NulError;
use std::io;
use std::path::PathBuf;

use portcullis_policy::{Code, Level, Problem, visible};

/// This is not Linux. Whatever would run a command says so, in this one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("commands can be run on Linux only; elsewhere policies can be checked, and journals read and verified")]
pub struct Unsupported;

/// A command that was allowed and did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The receipt is that of another decision.
    #[error("the journal's receipt is for another command; nothing was started")]
    WrongReceipt,
    /// The policy wants more confinement than this host has. A gate finds that out before.
    #[error("the policy wants confinement level {wanted}, and this host reaches {available}: {why}")]
    Level {
        /// What the policy accepts at least.
        wanted: Level,
        /// What there is.
        available: Level,
        /// What is missing.
        why: String,
    },
    /// A pipe could not be made, or not be handed to the runtime.
    #[error("can't make a pipe for the command")]
    Pipe(#[source] io::Error),
    /// What holds a command's processes together could not be started.
    #[error("can't start the guard of the command's processes; `portcullis doctor` says what this host can do")]
    Guard(#[source] GuardError),
    /// The host ignores SIGCHLD, so the kernel throws exit statuses away.
    #[error("this process ignores SIGCHLD, so exit statuses would be lost; call `restore_child_signal` at its start")]
    ChildSignal,
    /// A string contains NUL.
    #[error("a string of the command contains NUL")]
    Nul(#[source] NulError),
    /// The process could not be set up, or the kernel did not execute the program.
    #[error("can't {what}, for {path}")]
    Execute {
        /// The act that failed.
        what: &'static str,
        /// The program's file.
        path: String,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// It was started and could not be watched; it was killed at once.
    #[error("can't watch the command; it was killed")]
    Watch(#[source] io::Error),
}

impl StartError {
    /// The problem that a guest and the journal are told of. Paths of the host are left to the advice.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let cause = std::error::Error::source(self).map(|source| format!(": {source}")).unwrap_or_default();
        let advice = format!("{self}{cause}");
        let message = match self {
            Self::Execute { what, source, .. } => {
                format!("the command was allowed and could not be started: can't {what}: {source}")
            }
            Self::WrongReceipt
            | Self::Level { .. }
            | Self::Pipe(_)
            | Self::Guard(_)
            | Self::ChildSignal
            | Self::Nul(_)
            | Self::Watch(_) => "the command was allowed and could not be started".to_owned(),
        };
        Problem::new(Code::StartFailed, message).advise(advice)
    }
}

/// Why a guard could not be started: what was tried, and the kernel's answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("can't {what}: {cause}")]
pub struct GuardError {
    pub(crate) what: String,
    pub(crate) cause: String,
}

/// A directory that can't be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// It does not exist, or can't be entered.
    #[error("can't open the workspace `{}`; name a directory that exists with --workspace", visible(&path.to_string_lossy()))]
    Open {
        /// As it was given.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// Its path is no Unicode text, which a component's preopen and the journal need.
    #[error("the path of the workspace, `{}`, is not Unicode text; rename it or use another", visible(&path.to_string_lossy()))]
    NotUnicode {
        /// The resolved path.
        path: PathBuf,
    },
}
