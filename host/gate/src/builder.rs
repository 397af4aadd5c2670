//! Building a gate, and what it holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_audit::Journal;
use portcullis_policy::Policy;
use portcullis_runner::{Programs, Workspace, available_level, confinement_problem, supported};
use tokio_util::task::TaskTracker;

use crate::places::{refuse_protected, refuse_writes};
use crate::{Broken, BuildError, Caller, Session, SessionOptions};

/// Decides, records and runs. Cheap to clone; all clones are one gate.
#[derive(Debug, Clone)]
pub struct Gate {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) policy: Policy,
    pub(crate) programs: Programs,
    pub(crate) workspace: Workspace,
    pub(crate) journal: Journal,
    pub(crate) host_environment: BTreeMap<String, String>,
    /// Commands in flight: each writes its own outcome, even if nobody waits for it any more.
    pub(crate) in_flight: TaskTracker,
}

/// Makes a [`Gate`].
#[derive(Debug)]
#[must_use]
pub struct GateBuilder {
    policy: Policy,
    journal: Journal,
    workspace: PathBuf,
    protected: Vec<(&'static str, PathBuf)>,
}

impl Gate {
    /// Starts with a policy and a journal; both are required.
    pub fn builder(policy: Policy, journal: Journal) -> GateBuilder {
        GateBuilder { policy, journal, workspace: PathBuf::from("."), protected: Vec::new() }
    }

    /// Opens a session with the policy's budgets and no deadline.
    ///
    /// # Errors
    /// [`Broken`], where the journal can't be written.
    pub fn session(&self, caller: Caller) -> Result<Session, Broken> {
        self.session_with(caller, SessionOptions::default())
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`Broken`], where the journal can't be written.
    pub fn session_with(&self, caller: Caller, options: SessionOptions) -> Result<Session, Broken> {
        Session::open(Arc::clone(&self.shared), caller, options)
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// The workspace, absolute, symbolic links resolved.
    #[must_use]
    pub fn workspace(&self) -> &str {
        self.shared.workspace.path()
    }

    /// The journal.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Waits until every command is dead and its outcome is recorded. Sessions should be cancelled before.
    pub async fn shut_down(&self) {
        self.shared.in_flight.close();
        self.shared.in_flight.wait().await;
    }
}

impl GateBuilder {
    /// The directory that commands work in. Default: the current directory.
    pub fn workspace(mut self, directory: &Path) -> Self {
        directory.clone_into(&mut self.workspace);
        self
    }

    /// Names something that commands must never be able to change; a workspace that is it, contains it or lies in it is
    /// refused.
    ///
    /// The journal is always protected so. The home directory and `/` are, too, and a workspace may lie in them.
    pub fn protect(mut self, what: &'static str, path: &Path) -> Self {
        self.protected.push((what, path.to_owned()));
        self
    }

    /// Checks everything, looks the programs up, and makes the gate.
    ///
    /// # Errors
    /// [`BuildError`], for a policy that demands more confinement than there is, or a workspace that can't be used.
    pub fn build(self) -> Result<Gate, BuildError> {
        let Self { policy, journal, workspace, mut protected } = self;
        let available = available_level();
        if available < policy.level() {
            // Where nothing can be run it would not help to accept less.
            supported()?;
            let missing = confinement_problem().unwrap_or_else(|| "does not say why".to_owned());
            let (wanted, policy) = (policy.level(), policy.name().to_owned());
            return Err(BuildError::Level { wanted, available, missing, policy });
        }
        let workspace = Workspace::open(&workspace)?;
        protected.push(("the journal", journal.dir().to_owned()));
        refuse_protected(&workspace, protected.clone())?;
        refuse_writes(&policy, protected)?;
        let programs = Programs::resolve(&policy, &workspace);
        let host_environment = host_environment(&policy)?;
        let in_flight = TaskTracker::new();
        let shared = Shared { policy, programs, workspace, journal, host_environment, in_flight };
        Ok(Gate { shared: Arc::new(shared) })
    }
}

fn host_environment(policy: &Policy) -> Result<BTreeMap<String, String>, BuildError> {
    let passed = policy.passed_variables().into_iter();
    passed
        .filter_map(|name| std::env::var_os(name).map(|value| (name.to_owned(), value)))
        .map(|(name, value)| match value.into_string() {
            Ok(value) => Ok((name, value)),
            Err(_) => Err(BuildError::Environment { name }),
        })
        .collect()
}
