//! `close_range(2)`: what this process has open stays out of the commands that it starts.

use std::io;

/// Makes every descriptor above 2 close-on-exec.
///
/// This process may have been started with descriptors that are not (`portcullis … 9<secret`). Closing them in the
/// child instead would take `pre_exec`, which makes std copy the whole process for every start.
pub(crate) fn close_on_exec() -> io::Result<()> {
    // SAFETY: the call takes three integers. With CLOEXEC it closes nothing, so no descriptor that others own becomes
    // invalid.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
