//! SIGINT, SIGTERM and SIGHUP: a clean cancel.

use std::io::Read as _;

use portcullis_policy::Code;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Cancels the token at the first of these signals. The next one ends portcullis at once: what it ran was killed at
/// the first, and only its outcome is lost.
///
/// SIGHUP stays ignored where it was: that is what `nohup` is for.
pub(crate) fn cancel_on_signal(token: CancellationToken) -> Result<(), Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(Code::Internal, anyhow::Error::new(error).context("can't listen for signals"))
        })
    };
    let mut hang_up = if hang_up_is_ignored() { None } else { Some(listen(SignalKind::hangup())?) };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    tokio::spawn(async move {
        let mut next = async || {
            let hang_up = async {
                match &mut hang_up {
                    Some(signal) => signal.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up => {}
            }
        };
        next().await;
        token.cancel();
        next().await;
        std::process::exit(i32::from(portcullis_policy::Exit::Cancelled.code()));
    });
    Ok(())
}

/// Whether this process was started with SIGHUP ignored, as `proc_pid_status(5)` has it.
fn hang_up_is_ignored() -> bool {
    const HANG_UP: u64 = 1;
    // At once: such a file does not say how long it is.
    let mut status = String::with_capacity(4096);
    let read = std::fs::File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    drop(read);
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & HANG_UP != 0)
}
