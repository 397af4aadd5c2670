//! The proof that an intent is in the journal.

use crate::CallId;

/// Proof that an intent is in the journal: what starts a command demands it, by value.
///
/// Only [`Journal::append_intent`](crate::Journal::append_intent) makes one, after the record is in the journal;
/// it can't be copied, so one intent starts one command.
///
/// ```compile_fail
/// let receipt = portcullis_audit::IntentReceipt { subject: [0; 32] };
/// ```
///
/// ```compile_fail
/// fn twice(receipt: portcullis_audit::IntentReceipt) -> [portcullis_audit::IntentReceipt; 2] {
///     [receipt.clone(), receipt]
/// }
/// ```
#[derive(Debug)]
#[must_use = "an intent was recorded: start the command with this receipt, or record that the start failed"]
pub struct IntentReceipt {
    subject: [u8; 32],
    call: CallId,
    seq: u64,
    bytes: u64,
}

impl IntentReceipt {
    /// Callers have appended the intent.
    #[cfg(unix)]
    pub(crate) const fn new(subject: [u8; 32], call: CallId, seq: u64, bytes: u64) -> Self {
        Self { subject, call, seq, bytes }
    }

    /// Digest of the decision that the intent was written for. Whoever starts a command compares it with the
    /// decision in hand.
    #[must_use]
    pub const fn subject(&self) -> &[u8; 32] {
        &self.subject
    }

    /// The call that the intent belongs to.
    #[must_use]
    pub const fn call(&self) -> &CallId {
        &self.call
    }

    /// The intent's number in the journal.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Bytes that the intent takes in the journal.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
