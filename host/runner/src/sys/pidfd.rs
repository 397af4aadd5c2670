//! `pidfd_open(2)`: a descriptor that becomes readable when a process ends.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Opens a descriptor of a process and registers it with the current runtime.
///
/// The process must be a child that was not reaped yet, so that its id can't be another's.
pub(crate) fn watch(process: Pid) -> io::Result<AsyncFd<OwnedFd>> {
    let descriptor = pidfd_open(process, PidfdFlags::empty())?;
    // SAFETY: an `OwnedFd` gives the same open descriptor at every call until it is dropped, and only `AsyncFd` holds
    // it, which deregisters it first.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    Ok(registered?)
}
