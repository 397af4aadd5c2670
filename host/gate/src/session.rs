//! Sessions: one caller, its budgets, its deadline, and its place in the journal.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portcullis_audit as audit;
use portcullis_audit::{CallId, EndReason, Record, SessionId};
use portcullis_policy::{Problem, Request};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::budget::Budget;
use crate::builder::Shared;
use crate::{Broken, Caller, records};

/// How a session differs from the policy's defaults.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionOptions {
    /// Commands still running after this time are cancelled, and no more are started. `None` = no deadline.
    pub wall: Option<Duration>,
    /// Most bytes kept of each stream, whatever the policy allows. `None` = the policy's limit.
    pub output_bytes: Option<u64>,
}

/// A caller's session. Dropping it cancels its commands and closes it.
#[derive(Debug)]
pub struct Session {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: SessionId,
    pub(crate) deadline: Option<Instant>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) cancel: CancellationToken,
    pub(crate) slots: Semaphore,
    pub(crate) ledger: Arc<Ledger>,
}

/// A session's budgets and its part of the journal, shared with the commands in flight.
#[derive(Debug)]
pub(crate) struct Ledger {
    session: SessionId,
    journal: audit::Journal,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    budget: Budget,
    last_refusal: Option<Refusal>,
    ended: bool,
}

/// The newest refusal, and how often it came again since.
#[derive(Debug)]
struct Refusal {
    call: CallId,
    program: String,
    problem: Problem,
    repeats: u64,
    recorded: u64,
}

impl Session {
    pub(crate) fn open(shared: Arc<Shared>, caller: Caller, options: SessionOptions) -> Result<Self, Broken> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(Broken::Random)?;
        let id = SessionId::from_bytes(bytes);
        let settings = shared.policy.session();
        let ledger = Ledger {
            session: id,
            journal: shared.journal.clone(),
            state: Mutex::new(State { budget: Budget::new(settings), last_refusal: None, ended: false }),
        };
        ledger.append(&Record::SessionStart(audit::SessionStart {
            session: id,
            caller: caller.0,
            policy: records::hash(shared.policy.digest())?,
            workspace: shared.workspace.path().to_owned(),
            pid: std::process::id(),
        }))?;
        let concurrent = usize::try_from(settings.concurrent).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Self {
            id,
            deadline: options.wall.map(|wall| Instant::now() + wall),
            output_bytes: options.output_bytes,
            cancel: CancellationToken::new(),
            slots: Semaphore::new(concurrent.min(Semaphore::MAX_PERMITS)),
            ledger: Arc::new(ledger),
            shared,
        })
    }

    /// Its id, 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// When its commands are cancelled, if it has a deadline.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Cancels every command in flight; no more are started.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Cancels what runs, and records the session's end. Only the first close of a session counts.
    ///
    /// # Errors
    /// [`Broken`], where the journal can't be written.
    pub fn close(&self, reason: EndReason) -> Result<(), Broken> {
        self.cancel.cancel();
        self.ledger.end(reason)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A journal that can't be written has said so at every call before; nobody is left to tell.
        drop(self.close(EndReason::Closed));
    }
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        // The counters are whole at every moment, so a panic elsewhere does not spoil them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call: its id, or the problem where a budget is used up.
    pub(crate) fn begin(&self) -> (CallId, Result<(), Problem>) {
        let (number, go_on) = self.state().budget.call();
        let number = NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        (CallId::new(self.session, number), go_on)
    }

    /// Appends a record of this session, and what was held back before it.
    pub(crate) fn append(&self, record: &Record) -> Result<(), Broken> {
        let mut state = self.state();
        self.flush_repeats(&mut state)?;
        state.last_refusal = None;
        let written = self.journal.append(record)?;
        state.budget.journal(written.bytes);
        Ok(())
    }

    /// Appends an intent; the receipt lets the command start.
    pub(crate) fn append_intent(
        &self,
        intent: &audit::Intent,
        digest: [u8; 32],
    ) -> Result<audit::IntentReceipt, Broken> {
        let mut state = self.state();
        self.flush_repeats(&mut state)?;
        state.last_refusal = None;
        let receipt = self.journal.append_intent(intent, digest)?;
        state.budget.journal(receipt.bytes());
        Ok(receipt)
    }

    /// Records that a call was refused. One that is the same as the last is only counted, and the count is recorded
    /// at 1, 10, 100 … and when something else comes. Once a budget is used up every refusal is the same, whatever was
    /// asked for: who asks for something else each time writes no more than others.
    pub(crate) fn refuse(&self, call: CallId, request: &Request, problem: Problem) -> Result<Problem, Broken> {
        let mut state = self.state();
        let exhausted = state.budget.is_answer(&problem);
        state.budget.refusal();
        if let Some(last) = &mut state.last_refusal
            && (last.program == request.program || exhausted)
            && last.problem == problem
        {
            last.repeats += 1;
            if is_power_of_ten(last.repeats) {
                self.flush_repeats(&mut state)?;
            }
            return Ok(problem);
        }
        self.flush_repeats(&mut state)?;
        let record = Record::Refusal(audit::Refusal {
            call,
            request: records::request(request),
            problem: records::problem(&problem),
        });
        let written = self.journal.append(&record)?;
        state.budget.journal(written.bytes);
        state.last_refusal =
            Some(Refusal { call, program: request.program.clone(), problem: problem.clone(), repeats: 0, recorded: 0 });
        Ok(problem)
    }

    fn flush_repeats(&self, state: &mut State) -> Result<(), Broken> {
        let Some(last) = &mut state.last_refusal else { return Ok(()) };
        if last.repeats > last.recorded {
            last.recorded = last.repeats;
            let record = audit::Repeated { session: self.session, of: last.call, count: last.repeats };
            let written = self.journal.append(&Record::Repeated(record))?;
            state.budget.journal(written.bytes);
        }
        Ok(())
    }

    fn end(&self, reason: EndReason) -> Result<(), Broken> {
        let mut state = self.state();
        if state.ended {
            return Ok(());
        }
        state.ended = true;
        self.flush_repeats(&mut state)?;
        state.last_refusal = None;
        let reason =
            if reason == EndReason::Closed && state.budget.is_exhausted() { EndReason::Budget } else { reason };
        let (calls, denials) = (state.budget.calls(), state.budget.refusals());
        self.journal.append(&Record::SessionEnd(audit::SessionEnd {
            session: self.session,
            calls,
            denials,
            reason,
        }))?;
        Ok(())
    }
}

fn is_power_of_ten(mut number: u64) -> bool {
    while number >= 10 && number.is_multiple_of(10) {
        number /= 10;
    }
    number == 1
}
