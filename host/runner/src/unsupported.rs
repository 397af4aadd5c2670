//! Stand-ins for systems other than Linux: all that is public here, with its signatures, and one answer to everything,
//! [`Unsupported`].
//!
//! What can't be there has no value: an [`Approved`] or a [`Running`] holds an [`Infallible`], so that no path of a host
//! leads to a command that is not confined.

use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::path::Path;

use portcullis_audit::IntentReceipt;
use portcullis_policy::{Allowed, Code, Level, Policy, Problem, ProgramFact, ProgramName};
use tokio_util::sync::CancellationToken;

use crate::{Capability, Outcome, StartError, Streams, Unsupported, WorkspaceError};

/// Whether commands can be run on this operating system at all.
///
/// # Errors
/// [`Unsupported`], on any but Linux.
pub const fn supported() -> Result<(), Unsupported> {
    Err(Unsupported)
}

/// The most that this host can enforce: nothing.
#[must_use]
pub fn available_level() -> Level {
    Level::None
}

/// The level that a command gets here: none.
#[must_use]
pub fn level_for(_accepted: Level) -> Level {
    Level::None
}

/// What keeps this host from [`Level::Full`].
#[must_use]
pub fn confinement_problem() -> Option<String> {
    Some(Unsupported.to_string())
}

/// Takes it that this host confines commands, which it does not.
pub fn expect_full_confinement() {}

/// No command is ever started here.
#[must_use]
pub fn expectation_failed() -> bool {
    false
}

/// What this host lacks: Linux.
#[must_use]
pub fn probe() -> Vec<Capability> {
    let remedy = "use Linux on x86-64 or aarch64; a container or a virtual machine will do".to_owned();
    vec![Capability { name: "linux", holds: false, detail: Unsupported.to_string(), remedy: Some(remedy) }]
}

/// Does nothing: nobody's end is waited for here.
///
/// # Errors
/// None.
pub fn restore_child_signal() -> io::Result<()> {
    Ok(())
}

/// Does nothing: nothing of this crate is left beside this process.
pub fn settle() {}

/// A workspace. It can be looked at, and nothing runs in it.
#[derive(Debug)]
pub struct Workspace {
    path: String,
}

impl Workspace {
    /// Finds a directory, symbolic links resolved.
    ///
    /// # Errors
    /// [`WorkspaceError`], for a directory that does not exist or whose path is no Unicode text.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::Open { path: path.to_owned(), source };
        let canonical = std::fs::canonicalize(path).map_err(failed)?;
        if !canonical.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        match canonical.into_os_string().into_string() {
            Ok(path) => Ok(Self { path }),
            Err(path) => Err(WorkspaceError::NotUnicode { path: path.into() }),
        }
    }

    /// Its absolute path, symbolic links resolved.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The programs of a policy, none of which is usable.
#[derive(Debug)]
pub struct Programs {
    names: HashSet<ProgramName>,
}

impl Programs {
    /// Learns the names of a policy's programs.
    #[must_use]
    pub fn resolve(policy: &Policy, _workspace: &Workspace) -> Self {
        Self { names: policy.programs().map(|entry| entry.name().clone()).collect() }
    }

    /// What a program's name stands for, for the decider: one of the policy's is unusable.
    #[must_use]
    pub fn fact(&self, program: &ProgramName) -> ProgramFact {
        if self.names.contains(program) { ProgramFact::Unusable(Unsupported.to_string()) } else { ProgramFact::Missing }
    }

    /// Approves nothing.
    ///
    /// # Errors
    /// `shell.start.failed`, always.
    pub fn approve(&self, _allowed: Allowed, _workspace: &Workspace) -> Result<Approved, Problem> {
        Err(Problem::new(Code::StartFailed, Unsupported.to_string()))
    }
}

/// A command that may run. Nobody can make one here.
#[derive(Debug)]
pub struct Approved {
    never: Infallible,
}

impl Approved {
    /// The decision.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        match self.never {}
    }

    /// The decision's digest, which the intent must be recorded for.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        match self.never {}
    }

    /// SHA-256, in hex, of the program's file, or of the script.
    #[must_use]
    pub fn program_sha256(&self) -> Option<&str> {
        match self.never {}
    }
}

/// A command that runs. Nobody can start one here.
#[derive(Debug)]
#[must_use = "dropping it kills the command"]
pub struct Running {
    never: Infallible,
}

/// Starts an approved command, of which there is none.
///
/// # Errors
/// None.
pub fn start(approved: Approved, _receipt: IntentReceipt, _streams: Streams) -> Result<Running, StartError> {
    match approved.never {}
}

impl Running {
    /// Waits for the command's end.
    pub async fn wait(self) -> Outcome {
        match self.never {}
    }

    /// What cancels the command.
    #[must_use]
    pub fn canceller(&self) -> CancellationToken {
        match self.never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reached_level;

    #[test]
    fn nothing_is_there_and_one_sentence_says_why() {
        assert_eq!(supported(), Err(Unsupported));
        assert_eq!((available_level(), level_for(Level::Full)), (Level::None, Level::None));
        let capabilities = probe();
        assert_eq!(reached_level(&capabilities), None);
        assert_eq!(Some(&capabilities[0].detail), confinement_problem().as_ref());
    }

    #[test]
    fn a_program_of_the_policy_is_unusable_and_others_are_missing() {
        let policy = Policy::parse(
            "policy.toml",
            "version = 1\n[[program]]\nname = \"git\"\n\
             rule = [{ id = \"git\", decision = \"allow\", why = \"a test\" }]\n",
        )
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let programs = Programs::resolve(&policy, &Workspace::open(folder.path()).unwrap());
        let fact = |name: &str| programs.fact(&ProgramName::new(name).unwrap());
        assert_eq!(fact("git"), ProgramFact::Unusable(Unsupported.to_string()));
        assert_eq!(fact("rm"), ProgramFact::Missing);
    }
}
