//! What all clones of a journal share: the writer, and when to flush.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::flush::Flusher;
use crate::store::Store;
use crate::writer::{Writer, Written, encode};
use crate::{Durability, Intent, IntentReceipt, JournalError, Record, Segment};

/// A writer behind a lock, and its flusher.
#[derive(Debug)]
pub(crate) struct Appender<S: Store> {
    writer: Mutex<Writer<S>>,
    flusher: Flusher<S>,
    durability: Durability,
}

/// What a record asks of the disk.
#[derive(Debug, Clone, Copy)]
enum Flush {
    /// Nothing on its own: it goes along with the next record that does.
    Never,
    /// In the background.
    Later,
    /// Before the append returns.
    Now,
}

impl<S: Store> Appender<S> {
    pub(crate) fn open(
        store: S,
        path: PathBuf,
        segment: Segment,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        let store = Arc::new(store);
        let writer = Mutex::new(Writer::open(Arc::clone(&store), path.clone(), segment)?);
        Ok(Self { writer, flusher: Flusher::new(store, path), durability })
    }

    pub(crate) fn append(&self, record: &Record) -> Result<Written, JournalError> {
        let flush = match record {
            Record::Segment(_) | Record::TornTail(_) => {
                return Err(JournalError::Reserved { kind: record.kind() });
            }
            Record::SessionStart(_) | Record::SessionEnd(_) => Flush::Never,
            Record::Check(_) | Record::Refusal(_) | Record::Repeated(_) => Flush::Later,
            Record::Intent(_) | Record::Outcome(_) => self.command(),
        };
        self.write(&encode(record)?, flush)
    }

    pub(crate) fn append_intent(&self, intent: &Intent, subject: [u8; 32]) -> Result<IntentReceipt, JournalError> {
        /// An intent by reference, in the form of a [`Record`].
        #[derive(serde::Serialize)]
        #[serde(tag = "type", rename_all = "kebab-case")]
        enum Borrowed<'i> {
            Intent(&'i Intent),
        }

        if intent.decision.as_bytes() != &subject {
            return Err(JournalError::Subject { call: intent.call });
        }
        let Written { seq, bytes, end: _ } = self.write(&encode(&Borrowed::Intent(intent))?, self.command())?;
        Ok(IntentReceipt::new(subject, intent.call, seq, bytes))
    }

    pub(crate) fn flush(&self) -> Result<(), JournalError> {
        self.flusher.now()
    }

    /// What the records around a command ask of the disk.
    const fn command(&self) -> Flush {
        match self.durability {
            Durability::Interval => Flush::Later,
            Durability::Record => Flush::Now,
        }
    }

    fn write(&self, body: &[u8], flush: Flush) -> Result<Written, JournalError> {
        self.flusher.check()?;
        let written = {
            // A panic inside leaves at worst a longer file, which the next append follows like a stranger's.
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.append(body)?
        };
        self.flusher.wrote(written.end);
        match flush {
            Flush::Never => {}
            Flush::Later => self.flusher.later()?,
            Flush::Now => self.flusher.now()?,
        }
        Ok(written)
    }
}
