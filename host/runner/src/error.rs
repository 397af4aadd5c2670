//! What can go wrong between an approval and a running command.

use std::io;
use std::path::PathBuf;

use portcullis_policy::{Code, Problem, visible};

/// A command that was allowed and did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The receipt is that of another decision.
    #[error("the journal's receipt is for another command; nothing was started")]
    WrongReceipt,
    /// A pipe could not be made, or not be handed to the runtime.
    #[error("can't make a pipe for the command")]
    Pipe(#[source] io::Error),
    /// The host's own descriptors could not be kept from the command.
    #[error("can't keep the host's descriptors from the command (close_range(2) needs Linux 5.11)")]
    Descriptors(#[source] io::Error),
    /// The kernel did not start the program.
    #[error("can't execute {path}")]
    Execute {
        /// The file.
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
            Self::Execute { source, .. } => format!("the command was allowed and could not be started: {source}"),
            Self::WrongReceipt | Self::Pipe(_) | Self::Descriptors(_) | Self::Watch(_) => {
                "the command was allowed and could not be started".to_owned()
            }
        };
        Problem::new(Code::StartFailed, message).advise(advice)
    }
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
