//! `clone(2)` with `CLONE_VM | CLONE_VFORK`: a child that shares our memory until it executes a program.
//!
//! Nothing is copied, so the cost does not depend on the size of the host. The calling thread is suspended until the
//! child has executed a program or ended; other threads run on. The child may therefore do nothing but system calls on
//! what was prepared: no allocation, no lock, no panic (`vfork(2)`, "Caveats").

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

use rustix::process::Pid;

use super::stack::Stack;

/// A child and the descriptor that becomes readable when it ends.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
}

/// What a child runs. It must end in `execveat` or `exit`.
pub(super) type Main = extern "C" fn(*mut c_void) -> c_int;

/// Starts a child that shares our memory, with every signal blocked, and waits until it has executed a program or ended.
///
/// # Safety
/// `main` keeps to what the module says, and `argument` is valid for it.
pub(super) unsafe fn vfork(main: Main, stack: &Stack, flags: c_int, argument: *mut c_void) -> io::Result<Child> {
    let mut pidfd: c_int = -1;
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;
    // A signal that arrives in the child would run the host's handler on the host's memory.
    let mask = block_signals();
    // SAFETY: the stack is ours alone until the child is done with it, which is before this returns; `pidfd` outlives
    // the call. What `main` may do is the caller's promise.
    let pid = unsafe { libc::clone(main, stack.top(), flags, argument, &raw mut pidfd) };
    let result = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) };
    restore_signals(&mask);
    let pid = Pid::from_raw(result?).ok_or(io::ErrorKind::InvalidData)?;
    // SAFETY: with CLONE_PIDFD the kernel stored a fresh descriptor there, which nobody else knows of.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid, pidfd })
}

/// From inside such a child: starts another one that is the host's child (`CLONE_PARENT`), and stores what came of it.
///
/// # Safety
/// As [`vfork`]; the signals are blocked already.
pub(super) unsafe fn vfork_sibling(
    main: Main,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    pidfd: *mut c_int,
) -> c_int {
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::CLONE_PARENT;
    // SAFETY: the caller's promise.
    unsafe { libc::clone(main, stack, flags, argument, pidfd) }
}

fn block_signals() -> libc::sigset_t {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: fills the set that it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: both sets are valid; the mask is this thread's own.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr()) };
    // SAFETY: the call above fills it; it fails only for a wrong first argument.
    unsafe { old.assume_init() }
}

fn restore_signals(mask: &libc::sigset_t) {
    // SAFETY: the set came from `block_signals`.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}
