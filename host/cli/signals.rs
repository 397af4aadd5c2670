//! SIGINT, SIGTERM and SIGHUP: a clean cancel.

use portcullis_policy::Code;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Cancels the token at the first of these signals. The next one ends portcullis at once, and the kernel with it the
/// pipes of what it runs.
pub(crate) fn cancel_on_signal(token: CancellationToken) -> Result<(), Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(Code::Internal, anyhow::Error::new(error).context("can't listen for signals"))
        })
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    tokio::spawn(async move {
        for round in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            token.cancel();
            if round == 1 {
                std::process::exit(130);
            }
        }
    });
    Ok(())
}
