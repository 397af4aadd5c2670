//! What a verification found.

use std::fmt;
use std::str::FromStr;

use crate::text::{ParseError, from_decimal, text_serde};
use crate::{CallId, Hash, JournalError, LineProblem};

/// A journal's state in one line, to be held outside the machine: how many records, and the hash of the last.
///
/// Its text form is `RECORDS:HASH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of records.
    pub records: u64,
    /// Hash of the last one's line; [`Hash::GENESIS`] where there are none.
    pub hash: Hash,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.records, self.hash)
    }
}

impl FromStr for Head {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.split_once(':')
            .and_then(|(records, hash)| Some(Self { records: from_decimal(records)?, hash: hash.parse().ok()? }))
            .ok_or(ParseError { expected: "a number of records, ':', and 64 lower-case hexadecimal digits" })
    }
}

text_serde!(Head);

/// What an intact chain was compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Nothing outside the journal. Records cut off its end, and an end that was rewritten as a whole, **can't be
    /// seen**.
    Unanchored,
    /// A head that somebody held: up to there, the journal is the one that was seen then. What follows it is
    /// unanchored.
    Held(Head),
}

/// What a verification found. Never a yes or no: see [`verify`](crate::verify).
#[derive(Debug)]
#[must_use = "a journal is intact only if this says so"]
pub enum Verdict {
    /// Every record is there, in order, and linked to the one before, from the first one on.
    Intact {
        /// Number of records. At least 1.
        records: u64,
        /// Hash of the last record's line.
        head: Hash,
        /// What that was compared with. Without a head held elsewhere, a shortened journal is intact as well.
        anchor: Anchor,
        /// Sessions that have a start and no end: still running, or cut off.
        open_sessions: u64,
        /// Calls that have an intent and no outcome, in order: still running, or started with unknown outcome.
        unfinished: Vec<CallId>,
        /// Repaired ends: appends that a crash cut off, each noted in the journal.
        torn_tails: u64,
    },
    /// All whole records are as in `Intact`, and after them comes a part of one: a crash, or a cut.
    TornTail {
        /// Number of the last whole record; `None` = there is none.
        after_seq: Option<u64>,
        /// Bytes of the fragment.
        bytes: u64,
    },
    /// A record is not the one that the next one was linked to: one of the two was changed.
    Edited {
        /// The record's number.
        seq: u64,
        /// Its line, from 1.
        line: u64,
    },
    /// Records are missing inside the journal.
    Missing {
        /// Number of the first missing record.
        from: u64,
        /// Number of the last missing record.
        to: u64,
    },
    /// A record stands where another is due, which comes later.
    Reordered {
        /// The line, from 1.
        line: u64,
        /// Number of the record due there.
        expected: u64,
        /// Number of the record found there.
        found: u64,
    },
    /// A number is used again: a record was copied or inserted, or two writers went on from one record.
    Duplicate {
        /// The line, from 1.
        line: u64,
        /// The number.
        seq: u64,
    },
    /// A line of a format that this release does not know. Nothing is said about it or what follows.
    UnknownVersion {
        /// Number of the record due there.
        seq: u64,
        /// The line's version.
        version: u64,
    },
    /// A line is not one that a journal writes.
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// There is no record at all. Never a success: deleting everything must not verify.
    Empty,
    /// The journal is intact as far as it goes, and that is less than the head that was held.
    Shorter {
        /// Number of whole records.
        records: u64,
        /// Number of records in the head that was held.
        expected: u64,
        /// Bytes of a fragment after them.
        torn_bytes: u64,
    },
    /// The journal has another record where the head that was held has its last: it was rewritten, or it is
    /// another journal.
    Forked {
        /// Number of the record.
        seq: u64,
        /// Hash of its line in the head that was held.
        expected: Hash,
        /// Hash of its line here.
        found: Hash,
    },
    /// The journal can't be read, so nothing is known.
    Unreadable {
        /// Why.
        error: JournalError,
    },
}

impl Verdict {
    /// The exit code of `portcullis audit verify`. 2 is left to wrong usage.
    ///
    /// | code | verdict |
    /// |---|---|
    /// | 0 | `Intact` |
    /// | 1 | `Empty`, `Unreadable` |
    /// | 3 | `TornTail` |
    /// | 4 | `Edited` |
    /// | 5 | `Missing` |
    /// | 6 | `Reordered` |
    /// | 7 | `Duplicate` |
    /// | 8 | `Malformed` |
    /// | 9 | `UnknownVersion` |
    /// | 10 | `Shorter` |
    /// | 11 | `Forked` |
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Intact { .. } => 0,
            Self::Empty | Self::Unreadable { .. } => 1,
            Self::TornTail { .. } => 3,
            Self::Edited { .. } => 4,
            Self::Missing { .. } => 5,
            Self::Reordered { .. } => 6,
            Self::Duplicate { .. } => 7,
            Self::Malformed { .. } => 8,
            Self::UnknownVersion { .. } => 9,
            Self::Shorter { .. } => 10,
            Self::Forked { .. } => 11,
        }
    }
}

/// For people: what, where, and the next step. An error's causes are included.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KEEP: &str = "keep a copy of the directory, and compare it with a backup";
        match self {
            Self::Intact { records, head, anchor, open_sessions, unfinished, torn_tails } => {
                let head = Head { records: *records, hash: *head };
                write!(f, "intact: {}, head {head}", counted(*records, "record"))?;
                if *open_sessions > 0 {
                    write!(f, "; {} without an end (running, or cut off)", counted(*open_sessions, "session"))?;
                }
                if let Some(first) = unfinished.first() {
                    let commands = counted(unfinished.len() as u64, "command");
                    write!(f, "; {commands} without an outcome (running, or started and unknown), first {first}")?;
                }
                if *torn_tails > 0 {
                    write!(f, "; {} torn by crashes and repaired", counted(*torn_tails, "record"))?;
                }
                match anchor {
                    Anchor::Unanchored => f.write_str(
                        "; UNANCHORED: a cut or rewritten end can't be seen; hold this head elsewhere, and verify against it",
                    ),
                    Anchor::Held(held) => {
                        let held = counted(held.records, "record");
                        write!(f, "; anchored up to the head held, of {held}; hold the new one from now on")
                    }
                }
            }
            Self::TornTail { after_seq, bytes } => {
                write!(f, "torn: {} of an unfinished record ", counted(*bytes, "byte"))?;
                match after_seq {
                    Some(seq) => write!(f, "after record {seq}")?,
                    None => f.write_str("and no whole one")?,
                }
                f.write_str("; the next append repairs and notes it")
            }
            Self::Edited { seq, line } => {
                write!(f, "edited: record {seq} (line {line}), or the link to it in the next line, was changed; {KEEP}")
            }
            Self::Missing { from, to } => {
                if from == to {
                    return write!(f, "missing: record {from} is not there; {KEEP}");
                }
                write!(f, "missing: records {from} to {to} are not there; {KEEP}")
            }
            Self::Reordered { line, expected, found } => {
                write!(
                    f,
                    "reordered: line {line} has record {found} where {expected} is due, which comes later; {KEEP}"
                )
            }
            Self::Duplicate { line, seq } => {
                write!(
                    f,
                    "duplicate: line {line} uses the number {seq} again (copied, inserted, or a second writer); {KEEP}"
                )
            }
            Self::UnknownVersion { seq, version } => {
                write!(f, "unknown version: record {seq} has format {version}; verify with the release that wrote it")
            }
            Self::Malformed { line, problem } => {
                write!(f, "malformed: line {line}: ")?;
                chain(f, problem)?;
                write!(f, "; {KEEP}")
            }
            Self::Empty => f.write_str("empty: there is no record; check the path, or find out what deleted them"),
            Self::Shorter { records, expected, torn_bytes } => {
                write!(f, "shorter: {}, and the head held has {expected}; ", counted(*records, "record"))?;
                if *torn_bytes > 0 {
                    let follow = if *torn_bytes == 1 { "follows" } else { "follow" };
                    write!(f, "{} of an unfinished one {follow}; ", counted(*torn_bytes, "byte"))?;
                }
                write!(f, "the end was cut off (or lost with the power); {KEEP}")
            }
            Self::Forked { seq, expected, found } => {
                write!(
                    f,
                    "forked: record {seq} has hash {found}, and the head held has {expected}: rewritten, or another journal; {KEEP}"
                )
            }
            Self::Unreadable { error } => {
                f.write_str("unreadable: ")?;
                chain(f, error)
            }
        }
    }
}

/// `1 record`, `2 records`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An error with its causes.
fn chain(f: &mut fmt::Formatter<'_>, error: &dyn std::error::Error) -> fmt::Result {
    write!(f, "{error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(f, " ({error})")?;
        cause = error.source();
    }
    Ok(())
}
