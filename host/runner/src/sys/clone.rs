//! `clone(2)` with `CLONE_VM`: children that share our memory until they execute a program.
//!
//! Nothing is copied, so the cost does not depend on the size of the host. Such a child may do nothing but system calls
//! on what was prepared: no allocation, no lock, no panic (`vfork(2)`, "Caveats"); and where our thread is not suspended
//! meanwhile, nothing of the C library, whose `errno` is that thread's.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

use rustix::process::Pid;

use super::call::Errno;
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
    // SAFETY: the caller's promise; the stack is ours alone until the child is done with it, which is before this returns.
    unsafe { beside(main, stack, flags | libc::CLONE_VFORK, argument) }
}

/// Starts a child that shares our memory, with every signal blocked, and runs beside us.
///
/// # Safety
/// `main` keeps to what the module says, and `stack` and `argument` stay valid until it has executed a program or ended.
pub(super) unsafe fn beside(main: Main, stack: &Stack, flags: c_int, argument: *mut c_void) -> io::Result<Child> {
    let mut pidfd: c_int = -1;
    let flags = flags | libc::CLONE_VM | libc::CLONE_PIDFD;
    // A signal that arrives in the child would run the host's handler on the host's memory.
    let mask = block_signals();
    // SAFETY: `pidfd` is written before the call returns; the rest is the caller's promise.
    let pid = unsafe { libc::clone(main, stack.top(), flags, argument, &raw mut pidfd) };
    let result = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) };
    restore_signals(&mask);
    let pid = Pid::from_raw(result?).ok_or(io::ErrorKind::InvalidData)?;
    // SAFETY: with CLONE_PIDFD the kernel stored a fresh descriptor there, which nobody else knows of.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid, pidfd })
}

/// From inside a child of [`vfork`]: starts another one that is the host's child (`CLONE_PARENT`) and runs beside. Its
/// process id; its pidfd is stored.
///
/// # Safety
/// As [`beside`]; the signals are blocked already.
pub(super) unsafe fn sibling(
    main: Main,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    pidfd: *mut c_int,
) -> Result<c_int, Errno> {
    let flags = flags | libc::CLONE_VM | libc::CLONE_PIDFD | libc::CLONE_PARENT;
    // SAFETY: the caller's promise.
    let pid = unsafe { libc::clone(main, stack, flags, argument, pidfd) };
    // The thread whose `errno` this is is suspended: its child of `vfork` is not gone.
    if pid < 0 { Err(Errno(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))) } else { Ok(pid) }
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
