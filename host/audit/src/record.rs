//! The kinds of record, and those of them that are small.

use serde::{Deserialize, Serialize};

use crate::line::LineProblem;
use crate::{CallId, Hash, Intent, Outcome, Problem, Request, SessionId};

/// One record, without the fields that every line has. Its form is JSON with the tag `type`.
///
/// Within line version 1, new types and new optional fields may appear; nothing that exists changes its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one exists at a time; a box would only be in the way of matching")]
pub enum Record {
    /// The beginning of a segment. Written by the journal itself.
    Segment(Segment),
    /// A crash in the middle of an append was repaired. Written by the journal itself.
    TornTail(TornTail),
    /// A session began.
    SessionStart(SessionStart),
    /// A session ended.
    SessionEnd(SessionEnd),
    /// Somebody asked what would be decided; nothing was to start.
    Check(Check),
    /// A request that started nothing.
    Refusal(Refusal),
    /// Refusals like an earlier one, counted instead of written out.
    Repeated(Repeated),
    /// A command is about to start.
    Intent(Intent),
    /// What became of a command that was started.
    Outcome(Outcome),
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one exists at a time; a box would only be in the way of matching")]
pub enum Stored {
    /// A type that this version knows.
    Known(Record),
    /// A type of line version 1 that a newer release added.
    Unknown(UnknownRecord),
}

/// A record of a type that this version does not know. It is part of the chain like any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRecord {
    /// Its type.
    pub kind: String,
    /// The whole line: printable ASCII JSON.
    pub line: String,
}

/// The first record of every segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Version of the journal's format: [`FORMAT`](crate::FORMAT).
    pub format: u32,
    /// Name of the program that began the segment.
    pub product: String,
    /// Version of that program.
    pub version: String,
}

/// The last append was cut off by a crash: its fragment was removed, and this stands for it.
///
/// Between the removal and this record lie two system calls: a second crash just there loses this record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TornTail {
    /// Length of the fragment in bytes.
    pub bytes: u64,
    /// SHA-256 of the fragment.
    pub sha256: Hash,
}

/// A session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// The session.
    pub session: SessionId,
    /// Who asks.
    pub caller: Caller,
    /// SHA-256 of the policy's text.
    pub policy: Hash,
    /// Workspace: the host's absolute path, symbolic links resolved.
    pub workspace: String,
    /// Process id of the host.
    pub pid: u32,
}

/// Who asks for commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// What sort of caller.
    pub kind: CallerKind,
    /// Its name: a component's file name, a host's own name.
    pub name: String,
    /// SHA-256 of a component's bytes; `None` = it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
}

/// The sorts of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallerKind {
    /// A person or a script at the command line.
    Cli,
    /// A WebAssembly component.
    Component,
    /// A program that embeds the host.
    Host,
}

/// A session ended. A session without this record is still open, or was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The session.
    pub session: SessionId,
    /// Calls made in it, of every sort.
    pub calls: u64,
    /// How many of them were refused.
    pub denials: u64,
    /// Why it ended.
    pub reason: EndReason,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// The caller was done.
    Closed,
    /// The session's deadline passed.
    Deadline,
    /// It was cancelled.
    Cancelled,
    /// Its budget of calls, refusals or journal bytes was used up.
    Budget,
    /// The host failed.
    Failed,
}

/// A question what would be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The call.
    pub call: CallId,
    /// What was asked about; bounded.
    pub request: Request,
    /// The answer.
    pub verdict: CheckVerdict,
    /// Why not, where the answer is not [`CheckVerdict::Allow`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// The answers to a [`Check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// It may run.
    Allow,
    /// A person would have to approve it.
    Ask,
    /// It may not run.
    Deny,
}

/// A request that started nothing: invalid, denied, unavailable or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The call.
    pub call: CallId,
    /// What was asked for; bounded.
    pub request: Request,
    /// Why not; bounded.
    pub problem: Problem,
}

/// Refusals identical to an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The session.
    pub session: SessionId,
    /// The refused call that these repeat.
    pub of: CallId,
    /// How many there were since then, in all: a later record of the same call counts those of an earlier one too.
    pub count: u64,
}

impl Record {
    /// The record's `type`, as the line has it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Segment(_) => "segment",
            Self::TornTail(_) => "torn-tail",
            Self::SessionStart(_) => "session-start",
            Self::SessionEnd(_) => "session-end",
            Self::Check(_) => "check",
            Self::Refusal(_) => "refusal",
            Self::Repeated(_) => "repeated",
            Self::Intent(_) => "intent",
            Self::Outcome(_) => "outcome",
        }
    }
}

impl Stored {
    /// Reads the record of type `kind` from the whole line; fields that the type does not have are passed over
    /// (those of every line, and those that a newer release added).
    pub(crate) fn read(kind: &str, line: &str) -> Result<Self, LineProblem> {
        fn fields<'l, T: Deserialize<'l>>(kind: &str, line: &'l str) -> Result<T, LineProblem> {
            serde_json::from_str(line).map_err(|source| LineProblem::Fields { kind: kind.to_owned(), source })
        }
        let record = match kind {
            "segment" => Record::Segment(fields(kind, line)?),
            "torn-tail" => Record::TornTail(fields(kind, line)?),
            "session-start" => Record::SessionStart(fields(kind, line)?),
            "session-end" => Record::SessionEnd(fields(kind, line)?),
            "check" => Record::Check(fields(kind, line)?),
            "refusal" => Record::Refusal(fields(kind, line)?),
            "repeated" => Record::Repeated(fields(kind, line)?),
            "intent" => Record::Intent(fields(kind, line)?),
            "outcome" => Record::Outcome(fields(kind, line)?),
            _ => {
                return Ok(Self::Unknown(UnknownRecord { kind: kind.to_owned(), line: line.to_owned() }));
            }
        };
        Ok(Self::Known(record))
    }
}
