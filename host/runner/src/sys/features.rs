//! Asking the kernel for what it has, without using it.

use std::io;

/// Whether a seccomp filter could answer with an error (`SECCOMP_GET_ACTION_AVAIL` of `seccomp(2)`).
pub(crate) fn seccomp_can_refuse() -> io::Result<()> {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads the one integer that the pointer leads to, and changes nothing.
    answer(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) })
}

/// Whether there is `close_range(2)`.
pub(crate) fn has_close_range() -> io::Result<()> {
    // SAFETY: takes integers. No descriptor has this number: nothing is closed.
    answer(unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, 0) })
}

fn answer(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
