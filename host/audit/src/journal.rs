//! The journal as its users see it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::appender::Appender;
use crate::directory;
use crate::line::FORMAT;
use crate::segments::FIRST_SEGMENT;
use crate::store::SegmentFile;
use crate::writer::Written;
use crate::{Intent, IntentReceipt, JournalError, Options, Record, Segment};

/// A journal that is open for appending. A clone is another handle to the same one.
///
/// Many threads and many processes may append to one directory at once; the records form one chain. When the last
/// clone is dropped, what is not yet on the disk is flushed; call [`Journal::flush`] before to learn whether that
/// works.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    appender: Appender<SegmentFile>,
}

/// Where an appended record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The record's number in the journal, from 0.
    pub seq: u64,
    /// Bytes that it takes in the journal, newline included.
    pub bytes: u64,
}

impl Journal {
    /// Opens the journal in `dir`; makes the directory (0700) and the segment (0600) where they are missing.
    ///
    /// The cost does not depend on the journal's length: only its last line is read. An unfinished last line, as
    /// a crash leaves it, is removed, and a [`TornTail`](crate::TornTail) record put in its place.
    ///
    /// # Errors
    /// When directory or segment are not this user's alone, are symbolic links, or can't be made, locked, read or
    /// written; when the last line is not one that a journal writes ([`JournalError::Corrupt`]): garbage never
    /// becomes the parent of a record.
    pub fn open(dir: &Path, options: Options) -> Result<Self, JournalError> {
        let Options { durability, product, version } = options;
        let file = directory::open(dir)?;
        let segment = Segment { format: FORMAT, product, version };
        let appender = Appender::open(file, dir.join(FIRST_SEGMENT), segment, durability)?;
        Ok(Self { inner: Arc::new(Inner { directory: dir.to_owned(), appender }) })
    }

    /// Appends a record. When this returns, it is in the kernel, and on the disk as far as the journal's
    /// [`Durability`](crate::Durability) asks for it.
    ///
    /// # Errors
    /// When the record can't be locked, written or flushed; nothing of it is then in the journal, unless only the
    /// flush failed. When the record is too long, or one that only the journal writes. After any error, the
    /// act that the record was for must not happen.
    pub fn append(&self, record: &Record) -> Result<Appended, JournalError> {
        let Written { seq, bytes, end: _ } = self.inner.appender.append(record)?;
        Ok(Appended { seq, bytes })
    }

    /// Appends an intent, and returns the proof that it is in the journal. `subject` is the digest of the decision
    /// that allowed the command; the intent must name the same one.
    ///
    /// # Errors
    /// As [`Journal::append`], and when `subject` is not the intent's decision.
    pub fn append_intent(&self, intent: &Intent, subject: [u8; 32]) -> Result<IntentReceipt, JournalError> {
        self.inner.appender.append_intent(intent, subject)
    }

    /// Waits until everything that was appended through this journal is on the disk. Free where it already is.
    ///
    /// # Errors
    /// When the disk reports a failure, now or earlier. The first failure is final: all later appends through this
    /// handle and its clones fail.
    pub fn flush(&self) -> Result<(), JournalError> {
        self.inner.appender.flush()
    }

    /// The journal's directory, as it was given to [`Journal::open`].
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.directory
    }
}

#[cfg(test)]
mod tests;
