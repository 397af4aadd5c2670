//! Feeding what a command reads.

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;

use crate::Input;

/// What feeds a command's standard input.
pub(crate) struct Feed {
    pub(crate) pipe: pipe::Sender,
    pub(crate) input: Input,
}

impl Feed {
    /// Writes until the input ends or the command reads no more. Neither is an error of the command's.
    pub(crate) async fn run(mut self) {
        match self.input {
            Input::Empty => {}
            Input::Bytes(bytes) => drop(self.pipe.write_all(&bytes).await),
            Input::Reader(mut reader) => drop(tokio::io::copy(&mut reader, &mut self.pipe).await),
        }
    }
}
