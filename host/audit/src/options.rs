//! How a journal is opened.

/// How a journal is opened. The default: [`Durability::Interval`], product `portcullis` with this crate's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// When records reach the disk.
    pub durability: Durability,
    /// Name of the program that writes; recorded where it begins a segment.
    pub product: String,
    /// Version of that program.
    pub version: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            product: "portcullis".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// When records reach the disk. They are in the kernel when an append returns, whichever it is: a crash of the
/// host loses none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// In the background, within about 50 ms: a power loss can take the records of that time. No append waits for
    /// the disk. The start and the end of a session wait for another record to go with: a session without commands
    /// flushes nothing.
    #[default]
    Interval,
    /// Every intent and every outcome before its append returns; other records as with [`Durability::Interval`].
    Record,
}
