//! From records to calls: an intent and its outcome are one call.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use portcullis_audit::{CallId, CheckVerdict, Entry, ProblemKind, Record, Request, SessionId, Status, Stored};

use crate::failure::Failure;
use crate::output;

/// One call, as a row shows it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) time: Timestamp,
    pub(super) caller: String,
    pub(super) result: Result,
    pub(super) wall: Option<Duration>,
    pub(super) command: String,
}

#[derive(Debug)]
pub(super) enum Result {
    /// Started, and no outcome is on record: it runs, or the host died.
    Open,
    /// It ended.
    Ended(Status),
    /// It was refused, this often in a row.
    Refused { code: String, kind: ProblemKind, times: u64 },
    /// It was only checked.
    Checked(CheckVerdict),
}

/// Reads entries and keeps the newest `most` calls (0 = all).
pub(super) fn collect(
    entries: impl Iterator<Item = std::result::Result<Entry, Failure>>,
    most: usize,
) -> std::result::Result<Vec<Call>, Failure> {
    let mut calls = Calls { callers: HashMap::new(), rows: Vec::new(), index: HashMap::new() };
    for entry in entries {
        let Entry { time, record, .. } = entry?;
        if let Stored::Known(record) = record {
            calls.take(time, record);
        }
        calls.forget(most);
    }
    let surplus = if most == 0 { 0 } else { calls.rows.len().saturating_sub(most) };
    Ok(calls.rows.split_off(surplus))
}

struct Calls {
    callers: HashMap<SessionId, String>,
    rows: Vec<Call>,
    /// Where the row of a call is that may still change.
    index: HashMap<CallId, usize>,
}

impl Calls {
    fn take(&mut self, time: Timestamp, record: Record) {
        match record {
            Record::Segment(_) | Record::TornTail(_) => {}
            Record::SessionStart(start) => {
                self.callers.insert(start.session, start.caller.name);
            }
            Record::SessionEnd(end) => {
                self.callers.remove(&end.session);
            }
            Record::Check(check) => self.push(check.call, time, &check.request, Result::Checked(check.verdict)),
            Record::Refusal(refusal) => {
                let result = Result::Refused { code: refusal.problem.code, kind: refusal.problem.kind, times: 1 };
                self.push(refusal.call, time, &refusal.request, result);
            }
            Record::Repeated(repeated) => {
                if let Some(Call { result: Result::Refused { times, .. }, .. }) = self.row(&repeated.of) {
                    *times = repeated.count.saturating_add(1);
                }
            }
            Record::Intent(intent) => self.push(intent.call, time, &intent.request, Result::Open),
            Record::Outcome(outcome) => {
                let wall = Duration::from_nanos(outcome.usage.wall_ns);
                if let Some(call) = self.row(&outcome.call) {
                    call.result = Result::Ended(outcome.status);
                    call.wall = Some(wall);
                }
                self.index.remove(&outcome.call);
            }
        }
    }

    fn push(&mut self, id: CallId, time: Timestamp, request: &Request, result: Result) {
        self.index.insert(id, self.rows.len());
        let caller = self.callers.get(&id.session()).cloned().unwrap_or_default();
        let mut command = output::command_line(&request.program, request.arguments.iter().map(String::as_str));
        if let Some(omitted) = &request.omitted {
            command.push_str(&format!(" … ({} more bytes)", omitted.bytes));
        }
        self.rows.push(Call { id: id.to_string(), time, caller, result, wall: None, command });
    }

    fn row(&mut self, id: &CallId) -> Option<&mut Call> {
        self.index.get(id).and_then(|&row| self.rows.get_mut(row))
    }

    /// Drops old rows in bulk, so that a journal of any length is read in bounded memory.
    fn forget(&mut self, most: usize) {
        let keep = most.max(1000);
        if most == 0 || self.rows.len() < 2 * keep {
            return;
        }
        let surplus = self.rows.len() - keep;
        self.rows.drain(..surplus);
        self.index.retain(|_, row| *row >= surplus);
        self.index.values_mut().for_each(|row| *row -= surplus);
    }
}
