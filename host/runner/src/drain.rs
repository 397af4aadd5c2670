//! Reading what a command writes.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use crate::capture::Capture;
use crate::{Captured, Output};

/// How long after the command's end a pipe may stay open with nothing in it: a process that escaped may hold it for
/// ever.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// Bytes read at once: what a pipe holds unless it is asked to hold more.
const PIECE: usize = 64 << 10;
/// Bytes that the pipe of a flooding command holds.
const WIDE: usize = 256 << 10;

/// Reads a stream to its end.
pub(crate) struct Drain {
    pipe: Option<pipe::Receiver>,
    copy: Option<Output>,
    capture: Capture,
}

impl Drain {
    /// Will read this pipe, hand on what comes, and keep at most so many bytes of it.
    pub(crate) fn new(pipe: pipe::Receiver, copy: Option<Output>, most: u64) -> Self {
        Self { pipe: Some(pipe), copy, capture: Capture::new(most) }
    }

    /// What was kept.
    pub(crate) fn finish(self) -> Captured {
        self.capture.finish()
    }

    /// Reads to the end. Once the command has ended, reads what it left in the pipe, however slowly the copy is
    /// taken, and waits no longer than [`GRACE`] for others that hold the pipe.
    pub(crate) async fn run(&mut self, ended: &CancellationToken) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut piece = Vec::with_capacity(PIECE);
        // Whatever comes after a full pipe was written after the end, by somebody who escaped.
        let mut left = None;
        let mut widened = false;
        let late = async {
            ended.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::pin!(late);
        loop {
            tokio::select! {
                biased;
                readable = pipe.readable() => if readable.is_err() { break },
                () = &mut late => break,
            }
            if left.is_none() && ended.is_cancelled() {
                left = Some(rustix::pipe::fcntl_getpipe_size(&*pipe).unwrap_or(PIECE));
            }
            piece.clear();
            match pipe.try_read_buf(&mut piece) {
                Ok(0) => break,
                Ok(read) => {
                    self.capture.push(&piece);
                    if read == PIECE && !widened {
                        // A writer that keeps a pipe full goes to sleep after each of our reads. Only such a pipe gets
                        // more: what a user's pipes may hold together is limited. Without more it is slower.
                        let _refused = rustix::pipe::fcntl_setpipe_size(&*pipe, WIDE);
                        widened = true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => break,
            }
            if let Some(copy) = &mut self.copy
                && (copy.write_all(&piece).await.is_err() || copy.flush().await.is_err())
            {
                break;
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(piece.len());
                if *left == 0 {
                    break;
                }
            }
        }
        // Closed at once: a command that still writes learns that nobody reads, as it would without us.
        self.pipe = None;
    }
}
