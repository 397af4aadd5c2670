//! Passing a command's output on: our own streams, which remember why they took no more.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use portcullis_policy::Code;
use portcullis_runner::Output;
use tokio::io::AsyncWrite;

use crate::failure::Failure;

/// What became of a stream that was passed on.
#[derive(Debug)]
pub(crate) struct Passed {
    name: &'static str,
    failed: Arc<OnceLock<io::Error>>,
}

impl Passed {
    /// A destination for a command's output, and what will tell whether it took everything.
    pub(crate) fn to(name: &'static str, stream: impl AsyncWrite + Send + Unpin + 'static) -> (Output, Self) {
        let failed = Arc::new(OnceLock::new());
        (Box::new(Remembering { stream, failed: Arc::clone(&failed) }), Self { name, failed })
    }

    /// Whether everything was taken, or the reader went away, as `head` does: that is the reader's choice.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.failed.get() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let message = format!("can't pass on the command's standard {}, so a part is lost: {error}", self.name);
                Err(Failure::message(Code::Internal, message))
            }
            Some(_) | None => Ok(()),
        }
    }
}

struct Remembering<W> {
    stream: W,
    failed: Arc<OnceLock<io::Error>>,
}

impl<W> Remembering<W> {
    fn remember<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        result.map_err(|error| {
            let kind = error.kind();
            // Only the first is of interest: later ones follow from it.
            drop(self.failed.set(error));
            kind.into()
        })
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Remembering<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.remember(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        self.remember(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.remember(result)
    }
}
