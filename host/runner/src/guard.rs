//! What holds a command's processes together, and ends them with the host.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags, RawDir, SeekFrom};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};

pub(crate) use crate::error::GuardError;
use crate::proc;
use crate::sys::mounts::Op;
use crate::sys::{self, Child, GuardStep};

/// A running guard (see `sys/guard.rs`). Dropping it ends it, and with it the processes of its namespace.
#[derive(Debug)]
pub(crate) struct Guard {
    pid: Pid,
    pidfd: OwnedFd,
    /// The guard waits for its end; it comes when we drop it, or die.
    lifeline: File,
    kind: Kind,
    /// The /proc of its namespaces.
    inside: Option<OwnedFd>,
    reaped: bool,
}

/// How long dropping a guard waits for its end; it may hang in the kernel.
const DROP_PATIENCE: Duration = Duration::from_millis(100);

/// What a guard can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// It is pid 1 of a PID namespace, with a /proc of its own: its end is the end of everything inside.
    Namespaces,
    /// It kills a process group when the host is gone; a seccomp filter keeps processes in it.
    Group,
    /// There is none: for policies that want no confinement.
    Open,
}

impl GuardError {
    pub(crate) fn new(what: &str, cause: &impl std::fmt::Display) -> Self {
        Self { what: what.to_owned(), cause: cause.to_string() }
    }

    fn mounting(plan: &[Op], error: &sys::GuardError) -> Self {
        let op = if let GuardStep::Mount(step) = error.step { plan.get(step) } else { None };
        Self::new(&op.map_or_else(|| error.step.what().to_owned(), Op::what), &error.error)
    }
}

impl From<sys::GuardError> for GuardError {
    fn from(error: sys::GuardError) -> Self {
        Self::new(error.step.what(), &error.error)
    }
}

impl Guard {
    /// Starts one: for [`Kind::Group`] without a plan; else in namespaces, where it is carried out. `network` = it keeps
    /// the host's network.
    pub(crate) fn start(plan: Option<&[Op]>, network: bool) -> Result<Self, GuardError> {
        let pipe =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).and_then(|(ours, theirs)| Ok((above_stdio(ours)?, theirs)));
        let (read, write) = pipe.map_err(|errno| GuardError::new("make a pipe", &errno))?;
        let all = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;
        let kinds = if plan.is_none() { 0 } else { all | if network { 0 } else { libc::CLONE_NEWNET } };
        let Child { pid, pidfd } = sys::start_guard(program()?, read.as_fd(), kinds)?;
        let kind = if plan.is_some() { Kind::Namespaces } else { Kind::Group };
        let mut guard = Self { pid, pidfd, lifeline: File::from(write), kind, inside: None, reaped: false };
        if let Some(plan) = plan {
            map_ids(pid)?;
            sys::mount(&guard.pidfd, plan).map_err(|error| GuardError::mounting(plan, &error))?;
            guard.inside = Some(guard.open("/proc")?);
        }
        Ok(guard)
    }

    /// Opens a place of the tree that it sees.
    pub(crate) fn open(&self, path: &str) -> Result<OwnedFd, GuardError> {
        let path = format!("/proc/{}/root{path}", self.pid.as_raw_pid());
        rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| GuardError::new("look into the new namespaces", &errno))
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Tells the guard of a group which one it is, by the process id of its leader.
    pub(crate) fn watch_group(&mut self, leader: Pid) {
        // It fails only where the guard has died, which is as if the host could not kill it.
        let _dead = self.lifeline.write_all(&leader.as_raw_pid().to_ne_bytes());
    }

    /// How many processes are inside beside the guard and the command itself, which has ended and is not reaped yet.
    /// `None` = can't be told.
    pub(crate) fn leftovers(&self) -> Option<u32> {
        self.processes().map(|all| all.saturating_sub(2))
    }

    /// Processes of the namespace as its /proc lists them, zombies and the guard included. `None` also where the guard
    /// is not among them: then the listing is not what this takes it for.
    fn processes(&self) -> Option<u32> {
        let proc = self.inside.as_ref()?;
        // Everything before this position is not about processes (`FIRST_PROCESS_ENTRY` of the kernel): most of the list.
        rustix::fs::seek(proc, SeekFrom::Start(256)).ok()?;
        let mut buffer = [std::mem::MaybeUninit::uninit(); 2048];
        let mut listing = RawDir::new(proc, &mut buffer);
        let (mut count, mut guard) = (0, false);
        while let Some(entry) = listing.next() {
            let entry = entry.ok()?;
            let name = entry.file_name().to_bytes();
            count += u32::from(name.iter().all(u8::is_ascii_digit));
            guard |= name == b"1";
        }
        guard.then_some(count)
    }

    /// Processes inside, beside the guard and the command itself.
    pub(crate) fn descendants(&self) -> Vec<Pid> {
        proc::descendants(self.pid).unwrap_or_default()
    }

    /// Kills the guard, and so everything in its namespaces.
    pub(crate) fn kill(&self) {
        // It fails only where it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Waits until it has ended, for so long at most.
    pub(crate) fn wait(&self, patience: Duration) {
        let timeout = rustix::event::Timespec::try_from(patience).ok();
        let mut ends = [PollFd::new(&self.pidfd, PollFlags::IN)];
        // Interrupted or failed: whoever calls looks whether it has ended.
        let _ended = rustix::event::poll(&mut ends, timeout.as_ref());
    }

    /// Reaps it if it has ended; says whether it has. In a PID namespace that means that nothing is left inside.
    pub(crate) fn reap(&mut self) -> bool {
        if !self.reaped {
            self.reaped = !matches!(sys::wait(self.pid), Ok(None));
        }
        self.reaped
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // As a rule it takes a fraction of a millisecond. Left unreaped it would stay as a zombie.
            self.wait(DROP_PATIENCE);
            self.reap();
        }
    }
}

/// The guard's program, made once.
pub(crate) fn program() -> Result<BorrowedFd<'static>, GuardError> {
    static PROGRAM: OnceLock<Result<OwnedFd, GuardError>> = OnceLock::new();
    let made = PROGRAM.get_or_init(|| {
        let file = sys::guard_file().and_then(|file| Ok(above_stdio(file)?));
        file.map_err(|error| GuardError::new("put the guard into memory", &error))
    });
    made.as_ref().map(AsFd::as_fd).map_err(Clone::clone)
}

/// A copy of a descriptor above 2, where it is not: the guard's lifeline comes to lie there.
fn above_stdio(descriptor: OwnedFd) -> rustix::io::Result<OwnedFd> {
    if descriptor.as_raw_fd() > 2 { Ok(descriptor) } else { rustix::io::fcntl_dupfd_cloexec(&descriptor, 3) }
}

/// Maps the ids of the new user namespace to what they are outside: for root all of them, for others their own.
fn map_ids(guard: Pid) -> Result<(), GuardError> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let write = |file: &str, text: &str| {
        std::fs::write(format!("/proc/{}/{file}", guard.as_raw_pid()), text)
            .map_err(|error| GuardError::new("map user and group ids into the new user namespace", &error))
    };
    if user.is_root() {
        let all = "0 0 4294967295";
        return write("uid_map", all).and_then(|()| write("gid_map", all));
    }
    write("setgroups", "deny")?;
    write("uid_map", &format!("{0} {0} 1", user.as_raw()))?;
    write("gid_map", &format!("{0} {0} 1", group.as_raw()))
}
