//! What every child that shares our memory needs at its end.

use std::ffi::c_int;
use std::io;

/// The error of the newest system call of this thread, whose memory the child shares; that thread is suspended.
pub(super) fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Ends this process and nothing else: no destructors, no `atexit`, which are the host's.
pub(super) fn end(code: c_int) -> ! {
    // SAFETY: takes an integer, and does not return.
    unsafe { libc::_exit(code) }
}
