//! Watching a process through its descriptor.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a pidfd with the current runtime: it becomes readable when the process ends.
pub(crate) fn watch(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` gives the same open descriptor at every call until it is dropped, and only `AsyncFd` holds
    // it, which deregisters it first.
    let registered = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
    Ok(registered?)
}
