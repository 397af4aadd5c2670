//! What came of judging a request.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Confinement, Identity, Level, Limits, Network, Problem, ProgramName, RuleId};

/// What a rule does with the commands that it fits. Ordered: the strictest that fits wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It may run.
    Allow,
    /// A person must approve each call. Until approvals exist this denies, with `shell.approval.required`.
    Ask,
    /// It may not run, whatever other rules say.
    Deny,
}

impl Effect {
    /// The word that the policy language uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The verdict on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a decision that nobody reads protects nobody"]
pub enum Decision {
    /// It may run, exactly as described.
    Allow(Box<Allowed>),
    /// A person would have to say yes.
    Ask(Problem),
    /// It may not run.
    Deny(Problem),
}

/// A command that the policy allows, in every detail that matters for running it.
///
/// Only [`Policy::decide`](crate::Policy::decide) makes one. It is plain data, and says nothing about whether the
/// file is still the one that was judged: the runner checks that when it turns this into what it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Allowed {
    pub(crate) program: ProgramName,
    pub(crate) identity: Identity,
    pub(crate) arguments: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) merge_stderr: bool,
    pub(crate) limits: Limits,
    pub(crate) confinement: Confinement,
    pub(crate) level: Level,
    pub(crate) rules: Vec<RuleId>,
    pub(crate) policy: String,
}

impl Allowed {
    /// The entry's name, which is also `argv[0]`.
    #[must_use]
    pub fn program(&self) -> &ProgramName {
        &self.program
    }

    /// The file that was judged.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// `argv[1..]`.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Directory below the workspace, relative, without `.` and `..`; empty = the workspace.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The whole environment of the command, sorted by name.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Whether standard error goes down the pipe of standard output.
    #[must_use]
    pub fn merge_stderr(&self) -> bool {
        self.merge_stderr
    }

    /// The ceilings.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What the kernel lets it reach, as far as its level holds that.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The network that it gets: that of its confinement.
    #[must_use]
    pub fn network(&self) -> Network {
        self.confinement.network
    }

    /// The confinement level that the policy names; see there what it means.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The rules that allowed it, sorted by id.
    #[must_use]
    pub fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    /// SHA-256, in hex, of the policy that decided.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// SHA-256 over every field: what an intent record, and later a signature, is about.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        struct Hasher(Sha256);
        impl std::io::Write for Hasher {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.update(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut hasher = Hasher(Sha256::new_with_prefix(b"portcullis decision 1\n"));
        // Plain data without maps, floats or fallible parts always serialises, and the writer never fails. Were it
        // to fail all the same, the digest would be that of a prefix, which matches nothing that was recorded.
        let serialised = serde_json::to_writer(&mut hasher, self);
        debug_assert!(serialised.is_ok());
        hasher.0.finalize().into()
    }
}

#[cfg(test)]
mod tests;
