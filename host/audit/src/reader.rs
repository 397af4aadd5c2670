//! A journal's records, one after the other.

use std::path::Path;

use jiff::Timestamp;

use crate::line::{Line, parse};
use crate::scan::{Lines, Scanned};
use crate::{Hash, JournalError, LineProblem, Stored};

/// Reads a journal from its first record, in memory bounded by [`LINE_BYTES`](crate::LINE_BYTES).
///
/// It sees the records that were there when it was opened, and needs no permission to write. It reads lines
/// strictly, but does not follow the chain: to know whether a journal is what was written, [`verify`](crate::verify)
/// it. After an error it ends.
///
/// An unfinished last line comes out as [`JournalError::TornTail`], after all records.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    done: bool,
}

/// One record of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 0.
    pub seq: u64,
    /// When it was appended, by the clock of the machine that wrote it; to the microsecond.
    pub time: Timestamp,
    /// The hash of the line before ([`Hash::leaf`]); [`Hash::GENESIS`] for the first.
    pub prev: Hash,
    /// The hash of this line.
    pub line_hash: Hash,
    /// The record itself.
    pub record: Stored,
}

impl Reader {
    /// Opens the journal in `dir` for reading.
    ///
    /// # Errors
    /// When there is none ([`JournalError::NoJournal`]), when it can't be opened or read, or when it goes on in
    /// segments that this release does not follow.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        Ok(Self { lines: Lines::open(dir)?, done: false })
    }

    fn entry(&mut self) -> Result<Option<Entry>, JournalError> {
        let path = self.lines.path().to_owned();
        let torn = self.lines.torn();
        let Some(Scanned { number, bytes }) = self.lines.next()? else {
            self.done = true;
            return if torn == 0 { Ok(None) } else { Err(JournalError::TornTail { path, bytes: torn }) };
        };
        let parsed = bytes.ok_or(LineProblem::TooLong).and_then(|line| Ok((parse(line)?, Hash::leaf(line))));
        match parsed {
            Ok((Line { header, record }, line_hash)) => {
                Ok(Some(Entry { seq: header.seq, time: header.time, prev: header.prev, line_hash, record }))
            }
            Err(problem) => Err(JournalError::Malformed { path, line: number, problem }),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.entry().transpose();
        self.done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl std::iter::FusedIterator for Reader {}

#[cfg(test)]
mod tests;
