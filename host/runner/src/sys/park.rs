//! Starting a command in two halves: a process that is confined and waits, made ahead of time; and the order that turns
//! it into the command.
//!
//! The waiting process shares our memory (`CLONE_VM`) until it executes the program, so nothing of the host is copied,
//! and the order is read where we made it. It runs on a stack of its own while our threads run on, so it does nothing
//! but the system calls of `call.rs` on what was prepared: no allocation, no lock, no panic, nothing of the C library. It
//! is never in the company of a command: who is in its namespaces could look into its memory, which is ours.
//!
//! ```text
//! host                                       waiting process
//! park ── clone ───────────────────────────▶ namespaces, session, cgroup, no descriptors but the channel,
//!                                            default signals, no powers, seccomp filter; then it waits
//! start ─ the order, and descriptors ──────▶ limits, directory, signal mask, execveat
//!       ◀─ the end of the channel ────────── closed by the kernel as the program is executed
//! ```
//!
//! Order matters: namespaces before all else; the cgroup before descriptors are closed; the filter last before the
//! wait, so that everything after it gets by with what a command may do; the signal mask right before the program.
//!
//! The channel ends when we close it or die, and then the waiting process ends too.

use std::ffi::{c_int, c_void};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::{Pid, Signal};

use super::call::{self, Errno};
use super::clone::{Child, beside, sibling, vfork};
use super::command::{Shared, wait_for_order};
use super::message::MOST;
use super::order::{Order, Program, Scope, Setup};
use super::stack::Stack;
use super::step::{SpawnError, Step, Steps};
use super::wait::reap_now;

/// A process that waits to become a command. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Parked {
    pid: Pid,
    /// Taken when the process becomes a command, or is gone.
    pidfd: Option<OwnedFd>,
    channel: OwnedFd,
    shared: *mut Shared,
    stack: Option<Stack>,
}

// SAFETY: what the pointer leads to is this value's own and the waiting process's, which are careful with each other.
unsafe impl Send for Parked {}
// SAFETY: its shared methods do not follow the pointer.
unsafe impl Sync for Parked {}

/// Makes a process that waits to become a command. `stack` is used again, where there is one.
pub(crate) fn park(setup: Setup<'_>, stack: Option<Stack>) -> Result<Parked, SpawnError> {
    let stack = match stack {
        Some(stack) => stack,
        None => Stack::new().map_err(|error| SpawnError::new(Step::Stack, error))?,
    };
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
        .map_err(|errno| SpawnError::new(Step::Channel, errno))?;
    let guard = match setup.scope {
        Scope::Namespaces(guard) => Some(guard.as_raw_fd()),
        Scope::Here => None,
    };
    #[cfg(test)]
    let steps = Steps { sabotage: setup.sabotage };
    #[cfg(not(test))]
    let steps = Steps {};
    let shared = Box::into_raw(Box::new(Shared {
        steps,
        channel: theirs.as_raw_fd(),
        guard,
        powers: setup.powers,
        cgroups: setup.cgroups.iter().map(BorrowedFd::as_raw_fd).collect(),
        filter: setup.filter,
        token: setup.token,
        stack: stack.top(),
        inner: None,
        order: ptr::null(),
        failed: None,
    }));
    let child = if guard.is_some() { park_inside(shared) } else { park_here(shared, &stack) };
    match child {
        Ok(Child { pid, pidfd }) => Ok(Parked { pid, pidfd: Some(pidfd), channel: ours, shared, stack: Some(stack) }),
        Err(error) => {
            // SAFETY: it came from a box, and no process that knows of it is left.
            drop(unsafe { Box::from_raw(shared) });
            Err(error)
        }
    }
}

fn park_here(shared: *mut Shared, stack: &Stack) -> Result<Child, SpawnError> {
    // SAFETY: `wait_for_order` keeps to what the module says; `Parked` keeps what it uses until it is gone.
    let child = unsafe { beside(wait_for_order, stack, 0, shared.cast()) };
    child.map_err(|error| SpawnError::new(Step::Clone, error))
}

fn park_inside(shared: *mut Shared) -> Result<Child, SpawnError> {
    thread_local! {
        /// For the process that enters namespaces. A thread makes one at a time.
        static STACK: Option<Stack> = Stack::new().ok();
    }
    STACK.with(|stack| {
        let stack = stack.as_ref().ok_or_else(|| SpawnError::new(Step::Stack, io::ErrorKind::OutOfMemory))?;
        // It shares our descriptors (CLONE_FILES), so that the pidfd is opened among ours.
        // SAFETY: as above, for `enter`, which has ended when this returns.
        let entering = unsafe { vfork(enter, stack, libc::CLONE_FILES, shared.cast()) };
        let entering = entering.map_err(|error| SpawnError::new(Step::Clone, error))?;
        reap_now(entering.pid);
        // SAFETY: `enter` has ended, and the waiting process does not write this field.
        let inner = unsafe { (*shared).inner };
        let Some((pid, pidfd)) = inner else {
            // SAFETY: no process that knows of it is left.
            let failed = unsafe { (*shared).failed };
            let (step, errno) = failed.unwrap_or((Step::Clone, Errno(libc::EIO)));
            return Err(SpawnError::new(step, io::Error::from_raw_os_error(errno.0)));
        };
        // SAFETY: the kernel opened it for `enter`, which shares our descriptors and left it to us.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let pid = Pid::from_raw(pid).ok_or_else(|| SpawnError::new(Step::Clone, io::ErrorKind::InvalidData))?;
        Ok(Child { pid, pidfd })
    })
}

impl Parked {
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Tells it to become a command. The descriptors may be closed when this returns; what else the order leads to must
    /// stay until the start is confirmed.
    pub(crate) fn order<'a>(self, order: &'a Order<'a>) -> Ordered<'a> {
        // SAFETY: the process waits for the message that is sent below, and reads this after it.
        unsafe { (*self.shared).order = ptr::from_ref(order).cast() };
        let [stdout, stderr] = order.outputs;
        let program = match order.program {
            Program::Open(program) => Some(program),
            Program::Inside { .. } => None,
        };
        // In this order, which the process knows too.
        let more = [program, order.ruleset, order.stdin].into_iter().flatten();
        let mut descriptors = [stdout; MOST];
        let mut count = 0;
        for (place, descriptor) in descriptors.iter_mut().zip([stdout, stderr].into_iter().chain(more)) {
            *place = descriptor;
            count += 1;
        }
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors[..count]));
        let byte = [io::IoSlice::new(b"!")];
        let sent =
            rustix::io::retry_on_intr(|| rustix::net::sendmsg(&self.channel, &byte, &mut control, SendFlags::NOSIGNAL));
        Ordered { parked: self, sent: sent.map(drop), order: PhantomData }
    }

    /// Ends the process, where it has not become a command, and reaps it.
    fn end(&mut self) {
        if let Some(pidfd) = self.pidfd.take() {
            // It fails only where it has ended already.
            let _ended = rustix::process::pidfd_send_signal(&pidfd, Signal::KILL);
            reap_now(self.pid);
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.end();
        // SAFETY: it came from a box; the process that shared it has ended or executed a program.
        drop(unsafe { Box::from_raw(self.shared) });
    }
}

/// A process on its way to its program. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Ordered<'a> {
    parked: Parked,
    sent: rustix::io::Result<()>,
    /// What the process reads.
    order: PhantomData<&'a Order<'a>>,
}

impl Ordered<'_> {
    /// Waits until the program is executed. The calling thread is suspended meanwhile. With the stack, to be used again.
    pub(crate) fn confirm(mut self) -> Result<(Child, Option<Stack>), SpawnError> {
        // Where it has failed and ended nothing can be sent; it has left word then.
        let told = self.wait_for_end_of_channel();
        // SAFETY: the process does not use our memory any more.
        let failed = unsafe { (*self.parked.shared).failed };
        if let Some((step, errno)) = failed {
            return Err(SpawnError::new(step, io::Error::from_raw_os_error(errno.0)));
        }
        self.sent.and(told).map_err(|errno| SpawnError::new(Step::Channel, errno))?;
        let gone = || SpawnError::new(Step::Channel, io::ErrorKind::InvalidData);
        let pidfd = self.parked.pidfd.take().ok_or_else(gone)?;
        Ok((Child { pid: self.parked.pid, pidfd }, self.parked.stack.take()))
    }

    /// Until the process has executed a program or ended. Where that can't be known it is ended.
    fn wait_for_end_of_channel(&mut self) -> rustix::io::Result<()> {
        let mut byte = [0_u8];
        loop {
            match rustix::net::recv(&self.parked.channel, &mut byte, RecvFlags::empty()) {
                Ok((_, 0)) | Err(rustix::io::Errno::CONNRESET) => return Ok(()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => {
                    self.parked.end();
                    return Err(errno);
                }
            }
        }
    }
}

/// The first process: enters the namespaces, which needs a process of one thread, and makes the one that waits, there,
/// as a child of the host's.
extern "C" fn enter(argument: *mut c_void) -> c_int {
    let shared = argument.cast::<Shared>();
    // SAFETY: `park_inside` gave it, and waits; nobody else has it yet.
    let all = unsafe { &mut *shared };
    let kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;
    let guard = all.guard.unwrap_or(-1);
    if let Err(failure) = all.steps.take(Step::Namespaces, || call::setns(guard, kinds)) {
        all.failed = Some(failure);
        call::exit(127);
    }
    let stack = all.stack;
    let mut pidfd: c_int = -1;
    // IPC objects outlive processes, so each command has a namespace of its own for them.
    // SAFETY: the stack is nobody's; `Parked` keeps it and what `argument` leads to; `pidfd` is written before this
    // returns.
    let made = unsafe { sibling(wait_for_order, stack, libc::CLONE_NEWIPC, argument, &raw mut pidfd) };
    match made {
        // SAFETY: the waiting process leaves this field alone.
        Ok(pid) => unsafe { (*shared).inner = Some((pid, pidfd)) },
        // SAFETY: there is no other process.
        Err(errno) => unsafe { (*shared).failed = Some((Step::Clone, errno)) },
    }
    call::exit(0)
}

#[cfg(test)]
mod tests;
