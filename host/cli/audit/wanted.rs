//! Which records an id asks for.

use portcullis_audit::{CallId, Record, SessionId};
use portcullis_policy::{Code, visible};

use crate::failure::Failure;

/// What an id names.
pub(super) enum Wanted {
    Call(CallId),
    Session(SessionId),
}

impl Wanted {
    pub(super) fn parse(id: &str) -> Result<Self, Failure> {
        let call = id.parse().map(Self::Call);
        call.or_else(|_| id.parse().map(Self::Session)).map_err(|_| {
            let message = format!("`{}` is no id of the journal; `portcullis audit show` lists them", visible(id));
            Failure::message(Code::Usage, message)
        })
    }

    pub(super) fn fits(&self, record: &Record) -> bool {
        let (session, call) = match record {
            Record::Segment(_) | Record::TornTail(_) => return false,
            Record::SessionStart(start) => (start.session, None),
            Record::SessionEnd(end) => (end.session, None),
            Record::Check(check) => (check.call.session(), Some(check.call)),
            Record::Refusal(refusal) => (refusal.call.session(), Some(refusal.call)),
            Record::Repeated(repeated) => (repeated.session, Some(repeated.of)),
            Record::Intent(intent) => (intent.call.session(), Some(intent.call)),
            Record::Outcome(outcome) => (outcome.call.session(), Some(outcome.call)),
        };
        match self {
            Self::Call(wanted) => call == Some(*wanted),
            Self::Session(wanted) => session == *wanted,
        }
    }
}

pub(super) fn not_there(id: &str) -> Failure {
    Failure::message(
        Code::Usage,
        format!("the journal has no record of `{}`; `portcullis audit show` lists what it has", visible(id)),
    )
}
