//! What a session may still do. The journal is not a gun: whatever a caller asks, its records stay bounded.

use portcullis_policy::{Code, Problem, SessionSettings};

/// Counts a session's calls, refusals and journal bytes against its budgets.
#[derive(Debug)]
pub(crate) struct Budget {
    settings: SessionSettings,
    calls: u64,
    refusals: u64,
    journal: u64,
    /// Once a budget is used up every call gets this same answer: identical refusals cost next to nothing.
    exhausted: Option<Problem>,
}

impl Budget {
    pub(crate) fn new(settings: SessionSettings) -> Self {
        Self { settings, calls: 0, refusals: 0, journal: 0, exhausted: None }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    pub(crate) fn refusals(&self) -> u64 {
        self.refusals
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.is_some()
    }

    /// Whether this is what every call is told since a budget is used up.
    pub(crate) fn is_answer(&self, problem: &Problem) -> bool {
        self.exhausted.as_ref() == Some(problem)
    }

    /// Counts a call; its number, from 1, and why it can't go on, where a budget is used up.
    pub(crate) fn call(&mut self) -> (u64, Result<(), Problem>) {
        self.calls += 1;
        if self.exhausted.is_none() && self.calls > self.settings.calls {
            self.exhaust(Code::SessionCalls, "calls", self.settings.calls);
        }
        (self.calls, self.exhausted.clone().map_or(Ok(()), Err))
    }

    /// Counts a refused call.
    pub(crate) fn refusal(&mut self) {
        self.refusals += 1;
        if self.exhausted.is_none() && self.refusals >= self.settings.denials {
            self.exhaust(Code::SessionDenials, "denials", self.settings.denials);
        }
    }

    /// Counts bytes written to the journal.
    pub(crate) fn journal(&mut self, bytes: u64) {
        self.journal = self.journal.saturating_add(bytes);
        if self.exhausted.is_none() && self.journal >= self.settings.journal {
            self.exhaust(Code::SessionJournal, "bytes of journal", self.settings.journal);
        }
    }

    fn exhaust(&mut self, code: Code, what: &str, most: u64) {
        let message = format!("the session has used up its {most} {what}; nothing more is run for it");
        let advice = "if the tool really needs more, raise the number under [session] in the policy";
        self.exhausted = Some(Problem::new(code, message).advise(advice));
    }
}
