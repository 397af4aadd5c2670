//! What can go wrong in the gate.

use std::path::PathBuf;

use portcullis_audit::{JournalError, ParseError};
use portcullis_policy::{Code, Level, Problem, visible};
use portcullis_runner::{Unsupported, WorkspaceError};

/// The gate itself is broken, so nothing may run.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The journal can't be written.
    #[error("the journal can't be written, so nothing may run")]
    Journal(#[from] JournalError),
    /// The operating system gives no random numbers, so a session can have no id.
    #[error("the operating system gives no random numbers for the session's id, so nothing may run")]
    Random(#[source] getrandom::Error),
    /// The digest of the policy or of a program is none, so no record can name what was judged.
    #[error("a digest that a record needs is none, so nothing may run; report this as a bug of portcullis")]
    Digest(#[source] ParseError),
}

/// Why a call has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The request was refused, and nothing was started.
    #[error("{0}")]
    Refused(#[source] Problem),
    /// The gate is broken.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Why a gate could not be built. Nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The policy demands more confinement than this host has.
    #[error(
        "the policy demands confinement level `{wanted}` and this host reaches `{available}`: it {missing}; \
         `portcullis doctor` says how to get more; to accept less, write `confinement.level = \"{available}\"` in {policy}"
    )]
    Level {
        /// What the policy demands.
        wanted: Level,
        /// What there is.
        available: Level,
        /// What keeps the host from more, to follow "it".
        missing: String,
        /// How the policy's file is called.
        policy: String,
    },
    /// The policy demands confinement, and commands can't even be run here.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The workspace can't be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The workspace contains what commands must never write.
    #[error(
        "the workspace `{}` is or contains {what} (`{}`), which commands must never be able to change; \
         use a directory further down", visible(workspace), visible(&inside.to_string_lossy())
    )]
    Forbidden {
        /// The workspace, resolved.
        workspace: String,
        /// What lies inside.
        what: &'static str,
        /// Where.
        inside: PathBuf,
    },
    /// The policy lets commands write what they must never write.
    #[error(
        "the policy lets commands write `{}`, which is, contains or lies in {what} (`{}`), which commands must never be able \
         to change; name another directory under `confinement.write` in {policy}",
        visible(path), visible(&place.to_string_lossy())
    )]
    ForbiddenWrite {
        /// What may be written, as the policy names it.
        path: String,
        /// What must never be changed.
        what: &'static str,
        /// Where that is.
        place: PathBuf,
        /// How the policy's file is called.
        policy: String,
    },
    /// The workspace lies in what commands must never write.
    #[error(
        "the workspace `{}` lies in {what} (`{}`), which commands must never be able to change; use a directory elsewhere",
        visible(workspace), visible(&around.to_string_lossy())
    )]
    Within {
        /// The workspace, resolved.
        workspace: String,
        /// What lies around it.
        what: &'static str,
        /// Where that is.
        around: PathBuf,
    },
    /// A variable that the policy passes on is not Unicode text.
    #[error(
        "the environment variable `{name}` is passed on by the policy and is not Unicode text; unset it or correct it"
    )]
    Environment {
        /// Its name.
        name: String,
    },
}

impl BuildError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Level { .. } | Self::Unsupported(_) => Code::ConfinementLevel,
            Self::Workspace(_) => Code::WorkspaceMissing,
            Self::Forbidden { .. } | Self::ForbiddenWrite { .. } | Self::Within { .. } => Code::WorkspaceForbidden,
            Self::Environment { .. } => Code::EnvValue,
        }
    }
}

impl Broken {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Journal(_) => Code::JournalUnwritable,
            Self::Random(_) | Self::Digest(_) => Code::Internal,
        }
    }
}
