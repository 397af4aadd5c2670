//! Appends: one lock, one line, one `write(2)`.
//!
//! Several processes write one journal. Each append takes the lock, looks whether the file still ends where this
//! writer left it, and, if not, learns number and link from the last line. So the head is read, linked and
//! written under one lock: a record never gets two children.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::line::{assemble, body, parse};
use crate::store::{State, Store};
use crate::tail::{self, Tail};
use crate::{Hash, JournalError, LINE_BYTES, LineProblem, Record, Segment};

/// One handle's view of a segment.
#[derive(Debug)]
pub(crate) struct Writer<S> {
    store: Arc<S>,
    path: PathBuf,
    segment: Segment,
    at: Position,
    line: Vec<u8>,
}

/// Where the next line goes.
#[derive(Debug, Clone, Copy)]
struct Position {
    length: u64,
    next: u64,
    prev: Hash,
}

/// What an append came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) seq: u64,
    pub(crate) bytes: u64,
    /// Length of the file after it.
    pub(crate) end: u64,
}

impl<S: Store> Writer<S> {
    /// Learns where the journal stands; begins it, or repairs its end, where that is due.
    pub(crate) fn open(store: Arc<S>, path: PathBuf, segment: Segment) -> Result<Self, JournalError> {
        let at = Position { length: 0, next: 0, prev: Hash::GENESIS };
        let mut writer = Self { store, path, segment, at, line: Vec::new() };
        writer.locked(Self::settle)?;
        Ok(writer)
    }

    /// Appends a record, given as the bytes of its JSON object.
    pub(crate) fn append(&mut self, body: &[u8]) -> Result<Written, JournalError> {
        self.locked(|writer| {
            writer.settle()?;
            writer.put(body)
        })
    }

    fn locked<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, JournalError>) -> Result<T, JournalError> {
        /// Gives the lock back however the act ends.
        struct Lock<S: Store>(Arc<S>);

        impl<S: Store> Drop for Lock<S> {
            fn drop(&mut self) {
                self.0.unlock();
            }
        }

        self.store.lock().map_err(|source| JournalError::Lock { path: self.path.clone(), source })?;
        let _lock = Lock(Arc::clone(&self.store));
        act(self)
    }

    /// Makes `self.at` true: follows what other handles wrote, repairs what they left, begins an empty segment.
    fn settle(&mut self) -> Result<(), JournalError> {
        let State { length, links } =
            self.store.state().map_err(|source| JournalError::Read { path: self.path.clone(), source })?;
        if links == 0 {
            return Err(JournalError::Removed { path: self.path.clone() });
        }
        if length == self.at.length && length > 0 {
            return Ok(());
        }
        let Tail { whole, fragment } = tail::find(length, |bytes, offset| self.store.read_at(bytes, offset))
            .map_err(|source| JournalError::Read { path: self.path.clone(), source })?;
        if whole < self.at.length {
            return Err(JournalError::Shrunk { path: self.path.clone(), from: self.at.length, to: whole });
        }
        if whole > self.at.length {
            self.at = self.adopt(whole)?;
        }
        if fragment.is_some() {
            self.store.truncate(whole).map_err(|source| JournalError::Cut { path: self.path.clone(), source })?;
        }
        if whole == 0 {
            self.begin()?;
        }
        if let Some(fragment) = fragment {
            self.put(&encode(&Record::TornTail(fragment))?)?;
        }
        Ok(())
    }

    /// The position after the line that ends at `whole`, once that line has proved to be one of ours.
    fn adopt(&self, whole: u64) -> Result<Position, JournalError> {
        let (offset, line) = tail::last_line(whole, |bytes, offset| self.store.read_at(bytes, offset))
            .map_err(|source| JournalError::Read { path: self.path.clone(), source })?;
        let corrupt = |problem| JournalError::Corrupt { path: self.path.clone(), offset, problem };
        let line = line.ok_or(LineProblem::TooLong).map_err(corrupt)?;
        let found = parse(&line).map_err(corrupt)?.header.seq;
        let next = found.checked_add(1);
        match next {
            Some(next) if found >= self.at.next => Ok(Position { length: whole, next, prev: Hash::leaf(&line) }),
            Some(_) | None => {
                Err(JournalError::Discontinuous { path: self.path.clone(), expected: self.at.next, found })
            }
        }
    }

    /// Begins the segment. Its name is brought to the disk before its first line is written, so that whoever
    /// finds a whole line knows that the file outlives a power loss.
    fn begin(&mut self) -> Result<(), JournalError> {
        self.store
            .sync_directory()
            .map_err(|source| JournalError::Sync { path: self.path.clone(), source: Arc::new(source) })?;
        self.put(&encode(&Record::Segment(self.segment.clone()))?)?;
        Ok(())
    }

    /// Writes one line at `self.at`, whole or not at all.
    fn put(&mut self, body: &[u8]) -> Result<Written, JournalError> {
        let Position { length, next: seq, prev } = self.at;
        let failed = |source| JournalError::Write { path: self.path.clone(), source };
        assemble(&mut self.line, seq, Timestamp::now(), prev, body).map_err(failed)?;
        let content = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        if content.len() > LINE_BYTES {
            return Err(JournalError::TooLong { bytes: content.len() });
        }
        let bytes = self.line.len() as u64;
        let limit = self.store.limit();
        let end = length.saturating_add(bytes);
        if end > limit {
            return Err(JournalError::FileLimit { path: self.path.clone(), limit });
        }
        let written = self.store.write(&self.line).map(|written| written as u64);
        if !matches!(written, Ok(written) if written == bytes) {
            // Should this fail as well, the fragment is repaired like that of a crash: the next append, by
            // whomever, finds the file longer than its whole lines.
            let _ = self.store.truncate(length);
        }
        match written.map_err(failed)? {
            written if written == bytes => {}
            written => {
                return Err(JournalError::Short { path: self.path.clone(), written, bytes });
            }
        }
        self.at = Position { length: end, next: seq.saturating_add(1), prev: Hash::leaf(content) };
        Ok(Written { seq, bytes, end })
    }
}

/// The JSON object of a record.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, JournalError> {
    body(record).map_err(|source| JournalError::Encode { source })
}

#[cfg(test)]
mod tests;
