//! What a command reads and where a copy of what it writes goes.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

/// What a command reads on its standard input.
#[derive(Default)]
pub enum Input {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// Whatever comes, until it ends.
    Reader(Box<dyn AsyncRead + Send + Unpin>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Reader(_) => f.write_str("Reader"),
        }
    }
}

/// A place that gets a copy of a stream as it is written.
///
/// Where it does not take more (a closed pipe), the command finds its own pipe closed too.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The streams of one command.
#[derive(Default)]
pub struct Streams {
    /// What it reads.
    pub input: Input,
    /// Gets a copy of standard output.
    pub stdout: Option<Output>,
    /// Gets a copy of standard error; nothing where that is merged into standard output.
    pub stderr: Option<Output>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("input", &self.input)
            .field("stdout", &self.stdout.is_some())
            .field("stderr", &self.stderr.is_some())
            .finish()
    }
}
