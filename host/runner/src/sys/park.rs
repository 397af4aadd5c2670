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

use std::ffi::{CStr, c_int, c_void};
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
use super::message::{self, CHANNEL, MOST, PLACES, STREAMS};
use super::stack::Stack;
use super::step::{Failure, SpawnError, Step, Steps};
use super::strings::Strings;
use super::wait::reap_now;
use crate::seccomp::Filter;

/// What a waiting process is made for.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// Where its processes are.
    pub(crate) scope: Scope<'a>,
    /// `tasks` files of cgroups (version 1): to write a 0 there moves the writer in.
    pub(crate) cgroups: Vec<BorrowedFd<'a>>,
    pub(crate) powers: Powers,
    pub(crate) filter: Option<Filter>,
    /// What the filter wants to see when the program is executed.
    pub(crate) token: u64,
    /// The step that fails although it need not, in tests.
    #[cfg(test)]
    pub(crate) sabotage: Option<Step>,
}

/// What a command keeps of the powers of those who start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Powers {
    /// All.
    All,
    /// All but the administration of its namespaces: else root's programs could mount there, and rename the host, for
    /// those that come after it in the same namespaces.
    NoAdministration,
    /// All, and it gets no more by executing a program.
    NoMore,
    /// None, and it gets none by executing a program; not even root does.
    None,
}

/// Where a command's processes are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In the namespaces of this process, by its pidfd.
    Namespaces(BorrowedFd<'a>),
    /// In ours.
    Here,
}

/// What a waiting process becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) program: Program<'a>,
    pub(crate) argv: &'a Strings,
    /// `NAME=value`.
    pub(crate) env: &'a Strings,
    /// Descriptor 0 of the command; `None` = its own `/dev/null`.
    pub(crate) stdin: Option<BorrowedFd<'a>>,
    /// Descriptors 1 and 2.
    pub(crate) outputs: [BorrowedFd<'a>; 2],
    /// Where it starts.
    pub(crate) directory: Directory<'a>,
    pub(crate) limits: &'a [ResourceLimit],
    /// A Landlock ruleset. Without powers it can be enforced.
    pub(crate) ruleset: Option<BorrowedFd<'a>>,
}

/// What is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program<'a> {
    /// An open file of the host's.
    Open(BorrowedFd<'a>),
    /// What is at this path in the command's own tree of files, and has this device and inode. A file that is opened
    /// outside has the host's mount: by `/proc/self/exe` its attributes could be changed.
    Inside { path: &'a CStr, device: u64, inode: u64 },
}

/// A directory by its path, and what it must be: a path can come to mean something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directory<'a> {
    /// Absolute.
    pub(crate) workspace: &'a CStr,
    /// Below the workspace; no symbolic link leads out of it.
    pub(crate) relative: &'a CStr,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// A limit of `setrlimit(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResourceLimit {
    pub(crate) resource: c_int,
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

/// What we share with the waiting process. It is written by one side at a time: by us until the process exists, and
/// then before the order is sent; by the process before it ends.
struct Shared {
    steps: Steps,
    channel: c_int,
    /// The guard's pidfd, for the process that enters its namespaces.
    guard: Option<c_int>,
    powers: Powers,
    cgroups: Vec<c_int>,
    filter: Option<Filter>,
    token: u64,
    stack: *mut c_void,
    inner: Option<(c_int, c_int)>,
    order: *const Order<'static>,
    failed: Option<Failure>,
}

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

/// The process that waits, and becomes the command.
extern "C" fn wait_for_order(argument: *mut c_void) -> c_int {
    let shared = argument.cast::<Shared>();
    // SAFETY: `Parked` keeps it until this process is gone, and neither side writes what the other does.
    let failure = match unsafe { become_command(shared) } {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    // SAFETY: as above; the host reads it after the end of the channel, which comes with this process's.
    unsafe { (*shared).failed = Some(failure) };
    call::exit(127)
}

/// # Safety
/// `shared` is valid, and for the fields that are read here only read meanwhile.
unsafe fn become_command(shared: *const Shared) -> Result<std::convert::Infallible, Failure> {
    // SAFETY: the caller's promise.
    let steps = unsafe { (*shared).steps };
    // SAFETY: as above.
    let channel = unsafe { (*shared).channel };
    // SAFETY: as above.
    let powers = unsafe { (*shared).powers };
    // A session of its own: no controlling terminal, no job control from ours.
    steps.take(Step::Session, call::setsid)?;
    steps.take(Step::Session, || call::umask(0o022))?;
    // SAFETY: as above.
    for cgroup in unsafe { &(*shared).cgroups } {
        steps.take(Step::Cgroup, || call::write(*cgroup, b"0"))?;
    }
    // While it waits it must hold nothing of the host's: not the pipes of others, whose ends would never come.
    if channel != CHANNEL {
        steps.take(Step::Descriptors, || call::dup3(channel, CHANNEL))?;
    }
    steps.take(Step::Descriptors, || call::close_range(0, CHANNEL - 1, 0))?;
    steps.take(Step::Descriptors, || call::close_range(CHANNEL + 1, c_int::MAX, 0))?;
    // The lowest free descriptor is 0. Its own, from its own tree: what it does to it nobody else sees.
    steps.take(Step::Null, || call::open_to_read(c"/dev/null"))?;
    // Every signal to its default: what the host ignores would stay ignored in the command (SIGPIPE, which Rust ignores;
    // SIGINT under nohup).
    for signal in 1..=64 {
        if signal != libc::SIGKILL && signal != libc::SIGSTOP {
            steps.take(Step::Signals, || call::signal(signal, libc::SIG_DFL))?;
        }
    }
    give_up(steps, powers)?;
    // SAFETY: as above.
    if let Some(filter) = unsafe { &(*shared).filter } {
        steps.take(Step::Filter, || call::seccomp(filter.instructions()))?;
    }

    if !steps.take(Step::Order, || message::receive(CHANNEL))? {
        // Nobody wants a command any more.
        call::exit(0);
    }
    // SAFETY: the host has written it before it sent the message, and waits for the end of the channel.
    let order = unsafe { (*shared).order };
    // SAFETY: as above.
    let order = unsafe { &*order };
    for ResourceLimit { resource, soft, hard } in order.limits {
        steps.take(Step::Limit, || call::set_limit(*resource, *soft, *hard))?;
    }
    enter_directory(steps, order.directory)?;
    // As they were sent, behind the two outputs.
    let mut places = PLACES.into_iter().skip(2);
    let mut next = || places.next().ok_or((Step::Order, Errno(libc::EPROTO)));
    let program = match order.program {
        Program::Open(_) => next()?,
        Program::Inside { path, device, inode } => {
            let program = steps.take(Step::Program, || call::open_program(path))? as c_int;
            if steps.take(Step::Program, || call::identity(program))? != (device, inode) {
                return Err((Step::Program, Errno(libc::ESTALE)));
            }
            program
        }
    };
    if order.ruleset.is_some() {
        let ruleset = next()?;
        steps.take(Step::Ruleset, || call::landlock_restrict_self(ruleset))?;
    }
    if order.stdin.is_some() {
        let stdin = next()?;
        steps.take(Step::Order, || call::dup3(stdin, 0))?;
    }
    // The channel and the program are closed as the program is executed, and whatever else there might be.
    steps.take(Step::Inheritance, || call::close_range(STREAMS, c_int::MAX, libc::CLOSE_RANGE_CLOEXEC))?;
    steps.take(Step::Mask, call::unblock_signals)?;
    // SAFETY: as above.
    let token = unsafe { (*shared).token };
    // SAFETY: the lists of `Strings` are as execve(2) wants them.
    steps.take(Step::Execute, || unsafe { call::execute(program, order.argv.as_ptr(), order.env.as_ptr(), token) })?;
    call::exit(127)
}

/// Opens the directory inside the command's own namespaces, checks that it is the one that was approved, and enters it.
fn enter_directory(steps: Steps, directory: Directory<'_>) -> Result<(), Failure> {
    let workspace = steps.take(Step::Directory, || call::open_directory(directory.workspace))? as c_int;
    let place = steps.take(Step::Directory, || call::open_below(workspace, directory.relative))? as c_int;
    let identity = steps.take(Step::Directory, || call::identity(place))?;
    if identity != (directory.device, directory.inode) {
        return Err((Step::OtherDirectory, Errno(libc::ESTALE)));
    }
    steps.take(Step::Directory, || call::fchdir(place))?;
    Ok(())
}

/// Gives up powers, as capabilities(7) has it, and where that leaves none also the right to get any: a filter may be
/// installed, and a ruleset enforced, by those who have administrative powers or have given that up.
fn give_up(steps: Steps, powers: Powers) -> Result<(), Failure> {
    const CAP_SYS_ADMIN: usize = 21;
    const MOST_CAPABILITIES: usize = 64;
    /// Root's programs get none; changes of user ids change none; none are kept or raised. Each is locked.
    const NONE_EVER: usize = 0b1110_1111;
    match powers {
        Powers::All => return Ok(()),
        Powers::NoAdministration => {
            steps.take(Step::Capability, || call::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_ADMIN))?;
            return Ok(());
        }
        Powers::NoMore => {
            steps.take(Step::Capability, || call::prctl(libc::PR_SET_NO_NEW_PRIVS, 1))?;
            return Ok(());
        }
        Powers::None => {}
    }
    steps.take(Step::Capability, || call::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as usize))?;
    // Who may not change these has nothing to lose: EPERM.
    let mut powerful = true;
    for capability in 0..MOST_CAPABILITIES {
        match call::prctl(libc::PR_CAPBSET_DROP, capability) {
            Ok(_) => {}
            // There are no more.
            Err(Errno(libc::EINVAL)) => break,
            Err(Errno(libc::EPERM)) => {
                powerful = false;
                break;
            }
            Err(errno) => return Err((Step::Capability, errno)),
        }
    }
    if powerful {
        steps.take(Step::Capability, || call::prctl(libc::PR_SET_SECUREBITS, NONE_EVER))?;
    }
    steps.take(Step::Capability, call::drop_capabilities)?;
    steps.take(Step::Capability, || call::prctl(libc::PR_SET_NO_NEW_PRIVS, 1))?;
    Ok(())
}

#[cfg(test)]
mod tests;
