//! Starting a guard, in namespaces of its own or without.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use super::child::{end, errno};
use super::clone::{Child, vfork, vfork_sibling};
use super::stack::Stack;
use super::wait::reap_now;

/// Where starting a guard can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuardStep {
    Clone,
    Session,
    Lifeline,
    Descriptors,
    Signals,
    Execute,
    Enter,
    Propagation,
    Proc,
}

impl GuardStep {
    /// What could not be done, to follow "can't ".
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Clone => "make user, PID, mount and UTS namespaces",
            Self::Session => "begin a session",
            Self::Lifeline => "hand over the lifeline",
            Self::Descriptors => "close descriptors",
            Self::Signals => "set signals",
            Self::Execute => "execute the guard from memory",
            Self::Enter => "enter the new namespaces",
            Self::Propagation => "part the new mount namespace from ours",
            Self::Proc => "mount /proc in the new namespaces",
        }
    }
}

/// A guard that could not be started. Nothing is left of it.
#[derive(Debug)]
pub(crate) struct GuardError {
    pub(crate) step: GuardStep,
    pub(crate) error: io::Error,
}

struct Frame<'a> {
    file: BorrowedFd<'a>,
    lifeline: BorrowedFd<'a>,
    failed: Option<(GuardStep, c_int)>,
}

/// Starts the guard; with namespaces it is pid 1 of a new PID namespace, inside new user, mount and UTS namespaces.
///
/// `file` is the guard's program, `lifeline` the read end of the pipe whose end it waits for.
pub(crate) fn start_guard(
    file: BorrowedFd<'_>,
    lifeline: BorrowedFd<'_>,
    namespaces: bool,
) -> Result<Child, GuardError> {
    let failed = |error| GuardError { step: GuardStep::Clone, error };
    let stack = Stack::new().map_err(failed)?;
    let flags =
        if namespaces { libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS } else { 0 };
    let mut frame = Frame { file, lifeline, failed: None };
    // SAFETY: `guard` makes system calls on the frame and nothing else; the frame outlives the call.
    let child = unsafe { vfork(guard, &stack, flags, ptr::from_mut(&mut frame).cast()) }.map_err(failed)?;
    match frame.failed {
        None => Ok(child),
        Some((step, errno)) => {
            reap_now(child.pid);
            Err(GuardError { step, error: io::Error::from_raw_os_error(errno) })
        }
    }
}

extern "C" fn guard(argument: *mut c_void) -> c_int {
    // SAFETY: `start_guard` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<Frame<'_>>() };
    // SAFETY: no memory takes part.
    attempt(&mut frame.failed, GuardStep::Session, || unsafe { libc::syscall(libc::SYS_setsid) });
    let lifeline = frame.lifeline.as_raw_fd();
    // SAFETY: dup3(2) takes integers. The source is above 2.
    attempt(&mut frame.failed, GuardStep::Lifeline, || unsafe { libc::syscall(libc::SYS_dup3, lifeline, 0, 0) });
    // SAFETY: close_range(2) takes integers.
    attempt(&mut frame.failed, GuardStep::Descriptors, || unsafe {
        libc::syscall(libc::SYS_close_range, 1, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    });
    // Orphans become its children: ignoring SIGCHLD makes the kernel reap them. Signals stay blocked: nothing but
    // SIGKILL shall end it.
    let ignore: [usize; 4] = [libc::SIG_IGN, 0, 0, 0];
    // SAFETY: the kernel reads one `struct sigaction` whose mask has 8 bytes.
    attempt(&mut frame.failed, GuardStep::Signals, || unsafe {
        libc::syscall(libc::SYS_rt_sigaction, libc::SIGCHLD, ignore.as_ptr(), 0_usize, 8_usize)
    });
    let argv = [c"portcullis-guard".as_ptr(), ptr::null()];
    let env: [*const c_char; 1] = [ptr::null()];
    let file = frame.file.as_raw_fd();
    // SAFETY: both lists end in a null pointer; the path is empty, so the program is the descriptor itself.
    attempt(&mut frame.failed, GuardStep::Execute, || unsafe {
        libc::syscall(libc::SYS_execveat, file, c"".as_ptr(), argv.as_ptr(), env.as_ptr(), libc::AT_EMPTY_PATH)
    });
    end(127)
}

struct MountFrame<'a> {
    guard: BorrowedFd<'a>,
    inner_stack: *mut c_void,
    inner: Option<(c_int, c_int)>,
    failed: Option<(GuardStep, c_int)>,
}

/// Gives a guard's mount namespace a /proc that shows its PID namespace. Its user and group ids must be mapped before.
pub(crate) fn mount_proc(guard: &OwnedFd) -> Result<(), GuardError> {
    let failed = |error| GuardError { step: GuardStep::Clone, error };
    let (outer, inner) = (Stack::new().map_err(failed)?, Stack::new().map_err(failed)?);
    let mut frame = MountFrame { guard: guard.as_fd(), inner_stack: inner.top(), inner: None, failed: None };
    // SAFETY: `enter_to_mount` makes system calls on the frame and nothing else; the frame outlives the call.
    let entering = unsafe { vfork(enter_to_mount, &outer, libc::CLONE_FILES, ptr::from_mut(&mut frame).cast()) };
    reap_now(entering.map_err(failed)?.pid);
    if let Some((pid, pidfd)) = frame.inner {
        // SAFETY: the kernel opened it for `enter_to_mount`, which shares our descriptors and left it to us.
        drop(unsafe { OwnedFd::from_raw_fd(pidfd) });
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            reap_now(pid);
        }
    }
    match frame.failed {
        None => Ok(()),
        Some((step, errno)) => Err(GuardError { step, error: io::Error::from_raw_os_error(errno) }),
    }
}

/// Enters the namespaces. A PID namespace is entered by children only, so a second one mounts.
extern "C" fn enter_to_mount(argument: *mut c_void) -> c_int {
    // SAFETY: `mount_proc` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<MountFrame<'_>>() };
    let guard = frame.guard.as_raw_fd();
    let kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
    // SAFETY: setns(2) takes integers.
    attempt(&mut frame.failed, GuardStep::Enter, || unsafe { libc::syscall(libc::SYS_setns, guard, kinds) });
    let mut pidfd: c_int = -1;
    // SAFETY: the inner stack is nobody's; the frame and `pidfd` outlive the child, as this process is suspended until
    // it ends.
    let pid = unsafe { vfork_sibling(mount, frame.inner_stack, 0, argument, &raw mut pidfd) };
    if pid < 0 {
        fail(&mut frame.failed, GuardStep::Enter);
    }
    frame.inner = Some((pid, pidfd));
    end(0)
}

extern "C" fn mount(argument: *mut c_void) -> c_int {
    // SAFETY: `mount_proc` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<MountFrame<'_>>() };
    // What the host mounts later shows up inside; nothing goes the other way.
    attempt(&mut frame.failed, GuardStep::Propagation, || {
        // SAFETY: strings that end in NUL, and null pointers where nothing is asked for.
        unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), libc::MS_REC | libc::MS_SLAVE, ptr::null()) }
            .into()
    });
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    attempt(&mut frame.failed, GuardStep::Proc, || {
        // SAFETY: as above.
        unsafe { libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, ptr::null()) }.into()
    });
    end(0)
}

fn attempt(failed: &mut Option<(GuardStep, c_int)>, step: GuardStep, call: impl FnOnce() -> libc::c_long) {
    if call() < 0 {
        fail(failed, step);
    }
}

fn fail(failed: &mut Option<(GuardStep, c_int)>, step: GuardStep) -> ! {
    *failed = Some((step, errno()));
    end(127)
}
