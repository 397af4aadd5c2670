//! Starting a guard, in namespaces of its own or without.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use super::call::{self, Errno};
use super::clone::{Child, sibling, vfork};
use super::mounts::{self, Op};
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
    /// A step of the plan.
    Mount(usize),
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
            Self::Mount(_) => "mount in the new namespaces",
        }
    }
}

/// A guard that could not be started. Nothing is left of it.
#[derive(Debug)]
pub(crate) struct GuardError {
    pub(crate) step: GuardStep,
    pub(crate) error: io::Error,
}

/// A step of a child that failed, and the kernel's answer.
type Failure = (GuardStep, Errno);

struct Frame<'a> {
    file: BorrowedFd<'a>,
    lifeline: BorrowedFd<'a>,
    failed: Option<Failure>,
}

/// Starts the guard; with namespaces it is pid 1 of a new PID namespace, inside new user, mount and UTS namespaces.
///
/// `file` is the guard's program, `lifeline` the read end of the pipe whose end it waits for, `kinds` the namespaces
/// (`CLONE_NEW…`) that it gets.
pub(crate) fn start_guard(file: BorrowedFd<'_>, lifeline: BorrowedFd<'_>, kinds: c_int) -> Result<Child, GuardError> {
    let failed = |error| GuardError { step: GuardStep::Clone, error };
    let stack = Stack::new().map_err(failed)?;
    let mut frame = Frame { file, lifeline, failed: None };
    // SAFETY: `guard` makes system calls on the frame and nothing else; the frame outlives the call.
    let child = unsafe { vfork(guard, &stack, kinds, ptr::from_mut(&mut frame).cast()) }.map_err(failed)?;
    match frame.failed {
        None => Ok(child),
        Some((step, errno)) => {
            reap_now(child.pid);
            Err(GuardError { step, error: io::Error::from_raw_os_error(errno.0) })
        }
    }
}

extern "C" fn guard(argument: *mut c_void) -> c_int {
    // SAFETY: `start_guard` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<Frame<'_>>() };
    let Err(failure) = become_guard(frame.file.as_raw_fd(), frame.lifeline.as_raw_fd());
    frame.failed = Some(failure);
    call::exit(127)
}

fn become_guard(file: c_int, lifeline: c_int) -> Result<std::convert::Infallible, Failure> {
    call::setsid().map_err(at(GuardStep::Session))?;
    // The source is above 2.
    call::dup3(lifeline, 0).map_err(at(GuardStep::Lifeline))?;
    call::close_range(1, c_int::MAX, libc::CLOSE_RANGE_CLOEXEC).map_err(at(GuardStep::Descriptors))?;
    // Orphans become its children: ignoring SIGCHLD makes the kernel reap them. Signals stay blocked: nothing but
    // SIGKILL shall end it.
    call::signal(libc::SIGCHLD, libc::SIG_IGN).map_err(at(GuardStep::Signals))?;
    let argv = [c"portcullis-guard".as_ptr(), ptr::null()];
    let env: [*const c_char; 1] = [ptr::null()];
    // SAFETY: both lists end in a null pointer.
    unsafe { call::execute(file, argv.as_ptr(), env.as_ptr(), 0) }.map_err(at(GuardStep::Execute))?;
    call::exit(127)
}

struct MountFrame<'a> {
    plan: &'a [Op],
    guard: BorrowedFd<'a>,
    inner_stack: *mut c_void,
    inner: Option<(c_int, c_int)>,
    failed: Option<Failure>,
}

/// Mounts in a guard's namespaces, by a plan. Its user and group ids must be mapped before.
pub(crate) fn mount(guard: &OwnedFd, plan: &[Op]) -> Result<(), GuardError> {
    let failed = |error| GuardError { step: GuardStep::Clone, error };
    let (outer, inner) = (Stack::new().map_err(failed)?, Stack::new().map_err(failed)?);
    let mut frame = MountFrame { plan, guard: guard.as_fd(), inner_stack: inner.top(), inner: None, failed: None };
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
        Some((step, errno)) => Err(GuardError { step, error: io::Error::from_raw_os_error(errno.0) }),
    }
}

/// Enters the namespaces. A PID namespace is entered by children only, so a second one mounts.
extern "C" fn enter_to_mount(argument: *mut c_void) -> c_int {
    // SAFETY: `mount` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<MountFrame<'_>>() };
    let kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
    if let Err(failure) = call::setns(frame.guard.as_raw_fd(), kinds).map_err(at(GuardStep::Enter)) {
        frame.failed = Some(failure);
        call::exit(127);
    }
    let mut pidfd: c_int = -1;
    // SAFETY: the inner stack is nobody's; the frame and `pidfd` outlive the child, as this process is suspended until
    // it ends.
    let made = unsafe { sibling(mount_inside, frame.inner_stack, libc::CLONE_VFORK, argument, &raw mut pidfd) };
    match made {
        Ok(pid) => frame.inner = Some((pid, pidfd)),
        Err(errno) => frame.failed = Some((GuardStep::Enter, errno)),
    }
    call::exit(0)
}

extern "C" fn mount_inside(argument: *mut c_void) -> c_int {
    // SAFETY: `mount` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<MountFrame<'_>>() };
    // The modes of what is made are as the plan says.
    let unmasked = call::umask(0).map_err(|errno| (0, errno)).map(drop);
    if let Err((step, errno)) = unmasked.and_then(|()| mounts::carry_out(frame.plan)) {
        frame.failed = Some((GuardStep::Mount(step), errno));
    }
    call::exit(0)
}

fn at(step: GuardStep) -> impl Fn(Errno) -> Failure {
    move |errno| (step, errno)
}
