//! `sigaction(2)` for SIGCHLD: a host that ignores it loses every exit status.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Whether this process ignores SIGCHLD, which may be inherited: the kernel then reaps children itself, and nobody
/// learns how they ended.
pub(crate) fn child_signal_is_ignored() -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no new action is given; the old one is written to valid memory.
    let asked = unsafe { libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeroed, and all zeroes is a valid `sigaction`: integers and a null pointer.
    let action = unsafe { action.assume_init() };
    asked == 0 && (action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0)
}

/// Sets SIGCHLD to its default.
pub(crate) fn restore_child_signal() -> io::Result<()> {
    // SAFETY: all zeroes is a valid `sigaction`: the default action, no flags, an empty mask.
    let action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the action is valid, and the old one is not asked for.
    if unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut()) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
