//! A refusal or failure, as guests and people see it.

use std::fmt;

use serde::Serialize;

use crate::{Code, RuleId, WitCase};

/// Which of the contract's errors a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The request itself is wrong; nothing was decided.
    Invalid,
    /// The policy said no.
    Denied,
    /// A person would have to say yes.
    Approval,
    /// Allowed, but not possible now.
    Unavailable,
    /// Cancelled before the start.
    Cancelled,
    /// Portcullis failed.
    Failed,
}

/// Why a command did not run: a code for programs, a message for everyone, advice for people.
///
/// `message` is safe for guests: it names rules by id, never files of the host. `advice` may name the policy file
/// and its lines, and is for people only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stable code.
    pub code: Code,
    /// Id of the rule that decided, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// What and why. Quoted text of the request is escaped as by [`visible`](crate::visible).
    pub message: String,
    /// Index into the arguments that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u32>,
    /// The next step for a person: what to change, and in which line of which file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Problem {
    /// A problem with no rule, place or advice.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, rule: None, message: message.into(), at: None, advice: None }
    }

    /// Adds the argument that it is about; indices beyond `u32` are left out.
    #[must_use]
    pub fn at(mut self, index: usize) -> Self {
        self.at = u32::try_from(index).ok();
        self
    }

    /// Adds the rule that decided.
    #[must_use]
    pub fn by(mut self, rule: &RuleId) -> Self {
        self.rule = Some(rule.clone());
        self
    }

    /// Adds the next step for a person.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Which of the contract's errors it is.
    #[must_use]
    pub fn kind(&self) -> ProblemKind {
        match self.code.wit_case() {
            WitCase::Invalid | WitCase::Split => ProblemKind::Invalid,
            WitCase::Denied if self.code == Code::ApprovalRequired => ProblemKind::Approval,
            WitCase::Denied => ProblemKind::Denied,
            WitCase::Unavailable => ProblemKind::Unavailable,
            WitCase::Cancelled => ProblemKind::Cancelled,
            WitCase::Trap | WitCase::Never => ProblemKind::Failed,
        }
    }
}

/// For people: message, advice, rule and code in one line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(advice) = &self.advice {
            write!(f, "; {advice}")?;
        }
        match &self.rule {
            Some(rule) => write!(f, " [rule {rule}, {}]", self.code),
            None => write!(f, " [{}]", self.code),
        }
    }
}

impl std::error::Error for Problem {}
