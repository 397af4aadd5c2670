//! Whether a journal is what was written.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::line::{Header, Line, parse, parse_header};
use crate::scan::{Lines, Scanned};
use crate::{Anchor, CallId, Hash, Head, JournalError, LineProblem, Record, SessionId, Stored, Verdict};

/// Follows the chain of the journal in `dir` from its first record to its last.
///
/// It reads the bytes on disk and never serialises anything again. Time is linear; memory is bounded by the
/// longest line, plus 24 bytes or so for every session and command that has no end.
///
/// # What it can't see
/// The result is **unanchored**. Whoever can write the journal can cut off its end, or rewrite it from any
/// record on and compute the hashes anew, and the result verifies. Only a [`Head`] that is held where they can't
/// write shows it: keep the one that this prints, and use [`verify_against`]. Records that were never written, and
/// false ones, no verification sees.
pub fn verify(dir: &Path) -> Verdict {
    follow(dir, Anchor::Unanchored)
}

/// As [`verify`], and compares with a head that was held elsewhere: the journal must have at least its records, and
/// the last of them must be the same.
///
/// A cut before the head is [`Verdict::Shorter`], a rewritten past [`Verdict::Forked`]. What comes after the
/// head is unanchored as ever.
pub fn verify_against(dir: &Path, expected: Head) -> Verdict {
    follow(dir, Anchor::Held(expected))
}

fn follow(dir: &Path, anchor: Anchor) -> Verdict {
    let mut chain = Chain::new(anchor);
    let mut lines = match Lines::open(dir) {
        Ok(lines) => lines,
        Err(JournalError::NoJournal { .. }) => return chain.end(0),
        Err(error) => return Verdict::Unreadable { error },
    };
    loop {
        match lines.next() {
            Ok(Some(line)) => match chain.take(&line) {
                None => {}
                Some(Fault::Certain(verdict)) => return verdict,
                Some(Fault::Gap { line, expected, found }) => return gap(&mut lines, line, expected, found),
            },
            Ok(None) => return chain.end(lines.torn()),
            Err(error) => return Verdict::Unreadable { error },
        }
    }
}

/// Why the chain ends here.
enum Fault {
    Certain(Verdict),
    /// A later record stands here; whether those before it are gone or moved, the rest of the journal tells.
    Gap {
        line: u64,
        expected: u64,
        found: u64,
    },
}

fn gap(lines: &mut Lines, line: u64, expected: u64, found: u64) -> Verdict {
    loop {
        match lines.next() {
            Ok(Some(Scanned { number: _, bytes })) => {
                let seq = bytes.and_then(|bytes| parse_header(bytes).ok()).map(|header| header.seq);
                if seq.is_some_and(|seq| (expected..found).contains(&seq)) {
                    return Verdict::Reordered { line, expected, found };
                }
            }
            Ok(None) => {
                return Verdict::Missing { from: expected, to: found.saturating_sub(1) };
            }
            Err(error) => return Verdict::Unreadable { error },
        }
    }
}

/// What was seen so far of an unbroken chain.
struct Chain {
    anchor: Anchor,
    records: u64,
    head: Hash,
    torn_tails: u64,
    sessions: HashSet<SessionId>,
    calls: BTreeSet<CallId>,
}

impl Chain {
    fn new(anchor: Anchor) -> Self {
        Self {
            anchor,
            records: 0,
            head: Hash::GENESIS,
            torn_tails: 0,
            sessions: HashSet::new(),
            calls: BTreeSet::new(),
        }
    }

    /// Takes the next line; a fault ends the chain.
    fn take(&mut self, Scanned { number: line, bytes }: &Scanned<'_>) -> Option<Fault> {
        let malformed = |problem| Some(Fault::Certain(Verdict::Malformed { line: *line, problem }));
        let due = self.records;
        let parsed = bytes.ok_or(LineProblem::TooLong).and_then(|bytes| Ok((parse(bytes)?, Hash::leaf(bytes))));
        let (Line { header, record }, hash) = match parsed {
            Ok(parsed) => parsed,
            Err(LineProblem::Version { version }) => {
                return Some(Fault::Certain(Verdict::UnknownVersion { seq: due, version }));
            }
            Err(problem) => return malformed(problem),
        };
        let Header { seq, time: _, prev, kind: _ } = header;
        if seq < due {
            return Some(Fault::Certain(Verdict::Duplicate { line: *line, seq }));
        }
        if seq > due {
            return Some(Fault::Gap { line: *line, expected: due, found: seq });
        }
        if prev != self.head {
            // The first record has only its own link to be wrong.
            let seq = due.saturating_sub(1);
            return Some(Fault::Certain(Verdict::Edited { seq, line: seq.saturating_add(1) }));
        }
        let begins = matches!(record, Stored::Known(Record::Segment(_)));
        if begins != (due == 0) {
            return malformed(if begins { LineProblem::NestedSegment } else { LineProblem::NotASegment });
        }
        if let Anchor::Held(Head { records, hash: expected }) = self.anchor
            && records.checked_sub(1) == Some(due)
            && expected != hash
        {
            return Some(Fault::Certain(Verdict::Forked { seq, expected, found: hash }));
        }
        self.records = due.saturating_add(1);
        self.head = hash;
        if let Stored::Known(record) = record {
            self.note(&record);
        }
        None
    }

    /// Keeps account of what was begun.
    fn note(&mut self, record: &Record) {
        match record {
            Record::SessionStart(start) => {
                self.sessions.insert(start.session);
            }
            Record::SessionEnd(end) => {
                self.sessions.remove(&end.session);
            }
            Record::Intent(intent) => {
                self.calls.insert(intent.call);
            }
            Record::Outcome(outcome) => {
                self.calls.remove(&outcome.call);
            }
            Record::TornTail(_) => self.torn_tails += 1,
            Record::Segment(_) | Record::Check(_) | Record::Refusal(_) | Record::Repeated(_) => {}
        }
    }

    /// The verdict when there are no more lines, but `torn` bytes of one.
    fn end(self, torn: u64) -> Verdict {
        let Self { anchor, records, head, torn_tails, sessions, calls } = self;
        match anchor {
            Anchor::Held(Head { records: expected, hash: _ }) if records < expected => {
                Verdict::Shorter { records, expected, torn_bytes: torn }
            }
            Anchor::Held(_) | Anchor::Unanchored if torn > 0 => {
                Verdict::TornTail { after_seq: records.checked_sub(1), bytes: torn }
            }
            Anchor::Held(_) | Anchor::Unanchored if records == 0 => Verdict::Empty,
            Anchor::Held(_) | Anchor::Unanchored => Verdict::Intact {
                records,
                head,
                anchor,
                open_sessions: sessions.len() as u64,
                unfinished: calls.into_iter().collect(),
                torn_tails,
            },
        }
    }
}

#[cfg(test)]
mod tests;
