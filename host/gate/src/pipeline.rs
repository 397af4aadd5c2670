//! The story of a call, in order: count, check, decide, approve, record, run, record.

use std::sync::Arc;
use std::time::Instant;

use portcullis_audit::{self as audit, CallId, Record};
use portcullis_policy::{Allowed, Code, Decision, Facts, Limits, Problem, Request, Stdin, ValidRequest};
use portcullis_runner::{Input, Outcome, Running, Streams, level_for, start};
use tokio_util::sync::CancellationToken;

use crate::session::Ledger;
use crate::{Broken, ExecError, Session, records};

/// A command that was started, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Id of the call's records in the journal.
    pub audit: CallId,
    /// What came of the command.
    pub outcome: Outcome,
}

/// What would become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a verdict that nobody reads protects nobody"]
pub enum Verdict {
    /// It may run, under these limits.
    Allow(Box<Allowed>),
    /// A person would have to say yes.
    Ask(Problem),
    /// It may not run, or the request is wrong.
    Deny(Problem),
}

impl Session {
    /// Runs a command to its end.
    ///
    /// Dropping the future kills the command; its outcome is recorded all the same.
    ///
    /// # Errors
    /// [`ExecError::Refused`]: nothing was started. [`ExecError::Broken`]: the journal can't be written.
    pub async fn exec(&self, request: Request) -> Result<Done, ExecError> {
        self.exec_with(request, Streams::default()).await
    }

    /// Runs a command to its end, with streams of the host's: a reader as input, where the request's standard input
    /// is [`Stdin::Stream`], and copies of what the command writes.
    ///
    /// # Errors
    /// As [`Session::exec`].
    pub async fn exec_with(&self, mut request: Request, mut streams: Streams) -> Result<Done, ExecError> {
        let (call, go_on) = self.ledger.begin();
        let refuse = |request: &Request, problem| match self.ledger.refuse(call, request, problem) {
            Ok(problem) => ExecError::Refused(problem),
            Err(broken) => ExecError::Broken(broken),
        };
        if let Err(problem) = go_on.and_then(|()| self.is_open()) {
            return Err(refuse(&request, problem));
        }
        let _slot = match self.slot().await {
            Ok(slot) => slot,
            Err(problem) => return Err(refuse(&request, problem)),
        };
        let allowed = match self.judge(&request) {
            Decision::Allow(allowed) => *allowed,
            Decision::Ask(problem) | Decision::Deny(problem) => return Err(refuse(&request, problem)),
        };
        let approved = match self.shared.programs.approve(allowed, &self.shared.workspace) {
            Ok(approved) => approved,
            Err(problem) => return Err(refuse(&request, problem)),
        };
        let intent =
            records::intent(call, records::request(&request), &approved, level_for(approved.allowed().level()))?;
        let receipt = self.ledger.append_intent(&intent, approved.digest())?;
        if let Stdin::Bytes(bytes) = std::mem::take(&mut request.stdin) {
            streams.input = Input::Bytes(bytes);
        }
        match start(approved, receipt, streams) {
            Ok(running) => self.finish(call, running).await,
            Err(error) => {
                let problem = error.problem();
                self.ledger.append(&Record::Outcome(records::start_failed(call, &problem)))?;
                Err(ExecError::Refused(problem))
            }
        }
    }

    /// What [`Session::exec`] would decide, by the same code path, with no effect. Counts as a call, and is recorded.
    ///
    /// # Errors
    /// [`Broken`], where the journal can't be written.
    pub fn check(&self, request: &Request) -> Result<Verdict, Broken> {
        let (call, go_on) = self.ledger.begin();
        if let Err(problem) = go_on.and_then(|()| self.is_open()) {
            return Ok(Verdict::Deny(self.ledger.refuse(call, request, problem)?));
        }
        let decision = match self.judge(request) {
            // What the file system says now belongs to the verdict: a changed program, a missing directory.
            Decision::Allow(allowed) => match self.shared.programs.approve(*allowed, &self.shared.workspace) {
                Ok(approved) => Verdict::Allow(Box::new(approved.allowed().clone())),
                Err(problem) => Verdict::Deny(problem),
            },
            Decision::Ask(problem) => Verdict::Ask(problem),
            Decision::Deny(problem) => Verdict::Deny(problem),
        };
        let (verdict, problem) = match &decision {
            Verdict::Allow(_) => (audit::CheckVerdict::Allow, None),
            Verdict::Ask(problem) => (audit::CheckVerdict::Ask, Some(records::problem(problem))),
            Verdict::Deny(problem) => (audit::CheckVerdict::Deny, Some(records::problem(problem))),
        };
        self.ledger.append(&Record::Check(audit::Check {
            call,
            request: records::request(request),
            verdict,
            problem,
        }))?;
        Ok(decision)
    }

    /// The decision, from the request, the policy and the host's facts.
    fn judge(&self, request: &Request) -> Decision {
        let valid = match request.validate() {
            Ok(valid) => valid,
            Err(problem) => return Decision::Deny(problem),
        };
        self.shared.policy.decide(&valid, &self.facts(&valid))
    }

    fn facts(&self, request: &ValidRequest<'_>) -> Facts {
        Facts {
            program: self.shared.programs.fact(request.program()),
            host_environment: self.shared.host_environment.clone(),
            output_ceiling: self.output_bytes.unwrap_or(Limits::MAX.output_bytes),
            workspace: Some(self.shared.workspace.path().to_owned()),
        }
    }

    fn is_open(&self) -> Result<(), Problem> {
        if self.cancel.is_cancelled() {
            return Err(Problem::new(Code::SessionClosed, "the session is over; nothing more is run for it"));
        }
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => Err(Problem::new(
                Code::SessionClosed,
                "the session's wall-clock limit ran out; nothing more is run for it",
            )),
            _ => Ok(()),
        }
    }

    /// Waits for a free place among the session's concurrent commands.
    async fn slot(&self) -> Result<tokio::sync::SemaphorePermit<'_>, Problem> {
        tokio::select! {
            // The end of the session is often what frees a place.
            biased;
            () = self.over() => Err(Problem::new(Code::Cancelled, "the call was cancelled before the command started")),
            slot = self.slots.acquire() => {
                slot.map_err(|_| Problem::new(Code::SessionClosed, "the session is over; nothing more is run for it"))
            }
        }
    }

    /// Until the session is cancelled or its deadline comes.
    fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let cancel = self.cancel.clone();
        let deadline = self.deadline;
        async move {
            let late = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = late => {}
            }
        }
    }

    /// Waits for the end and records it, in a task of its own: who drops the call kills the command, and its outcome
    /// is recorded even so.
    async fn finish(&self, call: CallId, running: Running) -> Result<Done, ExecError> {
        let cancel_on_drop = running.canceller().drop_guard();
        let finishing = finish(call, running, self.over(), Arc::clone(&self.ledger));
        let finished = self.shared.in_flight.spawn(finishing).await;
        drop(cancel_on_drop);
        match finished {
            Ok(done) => Ok(done?),
            Err(_) => {
                let problem =
                    Problem::new(Code::Internal, "the task that watched the command is gone; the command was killed");
                Err(ExecError::Refused(problem))
            }
        }
    }
}

async fn finish(
    call: CallId,
    running: Running,
    over: impl Future<Output = ()>,
    ledger: Arc<Ledger>,
) -> Result<Done, Broken> {
    let cancel: CancellationToken = running.canceller();
    let end = running.wait();
    tokio::pin!(end);
    let outcome = tokio::select! {
        outcome = &mut end => outcome,
        () = over => {
            cancel.cancel();
            end.await
        }
    };
    ledger.append(&Record::Outcome(records::outcome(call, &outcome)))?;
    Ok(Done { audit: call, outcome })
}
