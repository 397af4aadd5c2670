//! Keeping hostile input small: what is kept of it, and the digest of the rest.

use sha2::{Digest as _, Sha256};

use crate::ascii::fit;
use crate::{Check, Hash, Intent, Omitted, Outcome, Problem, Record, Refusal, Request, Status};

/// Most bytes of a journal's line that the text of one [`Request`] takes: 64 KiB, as escaped in the file.
///
/// A guest can send megabytes with every call, and a refusal costs it nothing: the journal must not be its way
/// to fill the disk.
pub const REQUEST_BYTES: usize = 64 * 1024;

/// Most bytes of a journal's line that the environment of one [`Intent`] takes: 64 KiB, as escaped in the file.
pub const ENVIRONMENT_BYTES: usize = 64 * 1024;

/// Most bytes of a journal's line that the message of one [`Problem`] takes, a note about the cut aside: 4 KiB,
/// as escaped in the file.
pub const MESSAGE_BYTES: usize = 4 * 1024;

const EARLIER: u8 = 0;
const PROGRAM: u8 = 1;
const ARGUMENT: u8 = 2;
const DIRECTORY: u8 = 3;
const NAME: u8 = 4;
const VALUE: u8 = 5;
const REASON: u8 = 6;
const CALL: u8 = 7;

/// Quotes and comma around an argument.
const ARGUMENT_FRAME: usize = 3;

/// Quotes, commas and brackets around a variable.
const VARIABLE_FRAME: usize = 9;

impl Request {
    /// The request with at most [`REQUEST_BYTES`] of text, and the digest of the rest in `omitted`.
    ///
    /// What is kept is a prefix of the request in the order program, arguments, directory, environment, reason,
    /// call id: after the first cut, which is at a character's boundary, nothing more is kept (lists end there,
    /// later strings become empty). Time is linear in the request, memory constant beside it. A request that
    /// fits comes back as it is.
    ///
    /// ```
    /// use portcullis_audit::{Request, Stdin};
    ///
    /// let request = Request {
    ///     program: "ls".to_owned(),
    ///     arguments: vec!["x".repeat(1_000_000)],
    ///     cwd: None,
    ///     env: Vec::new(),
    ///     stdin: Stdin::Empty,
    ///     network: false,
    ///     merge_stderr: false,
    ///     reason: None,
    ///     call_id: None,
    ///     omitted: None,
    /// };
    /// let bounded = request.bounded();
    /// let kept = bounded.arguments[0].len() as u64;
    /// assert!(kept < 65_536);
    /// assert_eq!(bounded.omitted.map(|rest| rest.bytes), Some(1_000_000 - kept));
    /// ```
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let mut budget = Budget::new(REQUEST_BYTES, self.omitted.take());
        budget.string(PROGRAM, &mut self.program);
        budget.arguments(&mut self.arguments);
        budget.option(DIRECTORY, &mut self.cwd);
        budget.variables(&mut self.env);
        budget.option(REASON, &mut self.reason);
        budget.option(CALL, &mut self.call_id);
        self.omitted = budget.omitted();
        self
    }
}

impl Intent {
    /// The intent with its request bounded ([`Request::bounded`]), and at most [`ENVIRONMENT_BYTES`] of
    /// environment; the digest of the rest is in `env_omitted`.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.request = self.request.bounded();
        let mut budget = Budget::new(ENVIRONMENT_BYTES, self.env_omitted.take());
        budget.variables(&mut self.env);
        self.env_omitted = budget.omitted();
        self
    }
}

impl Problem {
    /// The problem with at most [`MESSAGE_BYTES`] of message, which says how much was cut off.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let (kept, _) = fit(&self.message, MESSAGE_BYTES);
        let rest = self.message.len() - kept;
        if rest > 0 {
            self.message.truncate(kept);
            self.message.push_str(&format!(" [{rest} more bytes]"));
            self.message.shrink_to_fit();
        }
        self
    }
}

impl Record {
    /// The record with everything that a guest can size bounded: [`Request::bounded`], [`Intent::bounded`],
    /// [`Problem::bounded`]. Such a record fits into a line.
    #[must_use]
    pub fn bounded(self) -> Self {
        match self {
            Self::Check(Check { call, request, verdict, problem }) => {
                Self::Check(Check { call, request: request.bounded(), verdict, problem: problem.map(Problem::bounded) })
            }
            Self::Refusal(Refusal { call, request, problem }) => {
                Self::Refusal(Refusal { call, request: request.bounded(), problem: problem.bounded() })
            }
            Self::Intent(intent) => Self::Intent(intent.bounded()),
            Self::Outcome(outcome) => Self::Outcome(Outcome { status: outcome.status.bounded(), ..outcome }),
            whole @ (Self::Segment(_)
            | Self::TornTail(_)
            | Self::SessionStart(_)
            | Self::SessionEnd(_)
            | Self::Repeated(_)) => whole,
        }
    }
}

impl Status {
    /// The status with its problem bounded.
    fn bounded(self) -> Self {
        match self {
            Self::StartFailed { problem } => Self::StartFailed { problem: problem.bounded() },
            Self::Unknown { problem } => Self::Unknown { problem: problem.bounded() },
            whole @ (Self::Exited { .. }
            | Self::Signaled { .. }
            | Self::WallExceeded
            | Self::CpuExceeded
            | Self::MemoryExceeded
            | Self::FileSizeExceeded
            | Self::Cancelled) => whole,
        }
    }
}

/// Room in a line, and what found none.
struct Budget {
    room: usize,
    cut: bool,
    rest: Sha256,
    bytes: u64,
    strings: u64,
    earlier: Option<Omitted>,
}

impl Budget {
    /// A budget of `room` bytes for a value of which `earlier` was left out before.
    fn new(room: usize, earlier: Option<Omitted>) -> Self {
        Self { room, cut: false, rest: Sha256::new(), bytes: 0, strings: 0, earlier }
    }

    /// Takes room for framing; where there is none, everything after is cut.
    fn frame(&mut self, count: usize) {
        match self.room.checked_sub(count) {
            Some(room) => self.room = room,
            None => self.cut = true,
        }
    }

    /// Keeps what has room of `text`. Returns whether there is anything to keep.
    fn string(&mut self, field: u8, text: &mut String) -> bool {
        let (kept, written) = if self.cut { (0, 0) } else { fit(text, self.room) };
        self.room -= written;
        if !self.cut && kept == text.len() {
            return true;
        }
        self.cut = true;
        self.omit(field, text.get(kept..).unwrap_or_default());
        text.truncate(kept);
        text.shrink_to_fit();
        kept > 0
    }

    fn option(&mut self, field: u8, text: &mut Option<String>) {
        if let Some(text) = text {
            self.string(field, text);
        }
    }

    fn arguments(&mut self, list: &mut Vec<String>) {
        let mut kept = 0;
        for text in &mut *list {
            self.frame(ARGUMENT_FRAME);
            kept += usize::from(self.string(ARGUMENT, text));
        }
        list.truncate(kept);
        list.shrink_to_fit();
    }

    fn variables(&mut self, list: &mut Vec<(String, String)>) {
        let mut kept = 0;
        for (name, value) in &mut *list {
            self.frame(VARIABLE_FRAME);
            kept += usize::from(self.string(NAME, name));
            self.string(VALUE, value);
        }
        list.truncate(kept);
        list.shrink_to_fit();
    }

    fn omit(&mut self, field: u8, piece: &str) {
        self.rest.update([field]);
        self.rest.update((piece.len() as u64).to_be_bytes());
        self.rest.update(piece.as_bytes());
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        self.strings = self.strings.saturating_add(1);
    }

    /// What was left out, now and before.
    fn omitted(mut self) -> Option<Omitted> {
        if self.strings == 0 {
            return self.earlier;
        }
        if let Some(Omitted { bytes, strings, sha256 }) = self.earlier {
            self.rest.update([EARLIER]);
            self.rest.update(sha256.as_bytes());
            self.bytes = self.bytes.saturating_add(bytes);
            self.strings = self.strings.saturating_add(strings);
        }
        Some(Omitted { bytes: self.bytes, strings: self.strings, sha256: Hash::from(self.rest) })
    }
}

#[cfg(test)]
mod tests;
