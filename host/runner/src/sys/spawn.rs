//! Starting a command: from prepared values to an executed program.
//!
//! Everything is prepared before the child exists. The child makes the system calls of [`command`] in their order and
//! executes the program by its descriptor; where one fails, it leaves the step and the error in the frame, which it
//! shares with us, and ends.
//!
//! Order matters: namespaces before all else; the session before descriptors are closed; the directory before
//! descriptors are closed, as it is opened inside the namespaces; the filter last but one, as it is inherited by what
//! follows; the signal mask right before the program.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::ptr;

use super::child::{end, errno};
use super::clone::{Child, vfork, vfork_sibling};
use super::filter::{STAY_BELOW, STAY_IN_GROUP};
use super::stack::Stack;
use super::wait::reap_now;

/// A command, prepared in every detail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spawn<'a> {
    /// The program, opened; at least 3, as all descriptors here.
    pub(crate) program: BorrowedFd<'a>,
    /// argv, a null pointer at its end.
    pub(crate) argv: &'a Strings,
    /// `NAME=value`, a null pointer at its end.
    pub(crate) env: &'a Strings,
    /// Descriptors 0, 1 and 2 of the command.
    pub(crate) stdio: [BorrowedFd<'a>; 3],
    /// Where it starts.
    pub(crate) directory: Directory<'a>,
    /// Its resource limits, soft and hard alike.
    pub(crate) limits: &'a [ResourceLimit],
    /// `tasks` files of cgroups (v1) or `cgroup.threads`-like files to write a 0 to, which moves the writer there.
    pub(crate) cgroups: &'a [BorrowedFd<'a>],
    /// How its processes are held together.
    pub(crate) scope: Scope<'a>,
    /// The step that fails although it need not, in tests.
    #[cfg(test)]
    pub(crate) sabotage: Option<Step>,
}

/// How a command's processes are held together.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In the namespaces of this process, by its pidfd.
    Namespaces(BorrowedFd<'a>),
    /// In the process group of the command, which a seccomp filter keeps them in.
    Group,
    /// In the process group of the command, which they can leave.
    Open,
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

/// Where a start can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    Stack = 1,
    Clone,
    Namespaces,
    Session,
    Cgroup,
    Limit,
    Stdio,
    Directory,
    OtherDirectory,
    Descriptors,
    Signals,
    Filter,
    Capability,
    Execute,
}

impl Step {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 14] = [
        Self::Stack,
        Self::Clone,
        Self::Namespaces,
        Self::Session,
        Self::Cgroup,
        Self::Limit,
        Self::Stdio,
        Self::Directory,
        Self::OtherDirectory,
        Self::Descriptors,
        Self::Signals,
        Self::Filter,
        Self::Capability,
        Self::Execute,
    ];

    /// What could not be done, to follow "can't ".
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Stack => "map a stack",
            Self::Clone => "start a process",
            Self::Namespaces => "enter the namespaces",
            Self::Session => "begin a session",
            Self::Cgroup => "enter the cgroup",
            Self::Limit => "set a resource limit",
            Self::Stdio => "connect standard streams",
            Self::Directory => "enter the working directory",
            Self::OtherDirectory => "enter the working directory that was checked (its path leads to another now)",
            Self::Descriptors => "close descriptors",
            Self::Signals => "reset signals",
            Self::Filter => "install the seccomp filter",
            Self::Capability => "give up administrative powers",
            Self::Execute => "execute the program",
        }
    }
}

/// A start that failed. Nothing is left of it.
#[derive(Debug)]
pub(crate) struct SpawnError {
    pub(crate) step: Step,
    pub(crate) error: io::Error,
}

/// Strings for `execve(2)`: each ends in NUL, and a null pointer ends the list.
#[derive(Debug)]
pub(crate) struct Strings {
    /// Keeps what the pointers lead to.
    _owned: Vec<std::ffi::CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to the strings beside them, which nobody changes.
unsafe impl Send for Strings {}
// SAFETY: as above; they are only read.
unsafe impl Sync for Strings {}

impl Strings {
    /// Fails for a string that contains NUL.
    pub(crate) fn new<I: IntoIterator<Item: Into<Vec<u8>>>>(strings: I) -> Result<Self, std::ffi::NulError> {
        let owned = strings.into_iter().map(std::ffi::CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers = owned.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { _owned: owned, pointers })
    }

    #[cfg(test)]
    pub(crate) fn seen(&self) -> Vec<&CStr> {
        assert_eq!(self.pointers.last(), Some(&ptr::null()));
        let strings = self.pointers.iter().filter(|pointer| !pointer.is_null());
        // SAFETY: each leads to a string that `_owned` keeps.
        strings.map(|&pointer| unsafe { CStr::from_ptr(pointer) }).collect()
    }
}

/// What the child shares with us.
struct Frame<'a> {
    spawn: Spawn<'a>,
    /// For the command, where it is a child of the child.
    inner_stack: *mut c_void,
    inner: Option<(c_int, c_int)>,
    failed: Option<(Step, c_int)>,
}

thread_local! {
    /// One for the command, one for the child that enters namespaces for it. A thread starts one command at a time.
    static STACKS: Option<(Stack, Stack)> = Stack::new().and_then(|outer| Ok((outer, Stack::new()?))).ok();
}

/// Starts a command and returns once its program is executed.
///
/// The calling thread is suspended meanwhile. Nothing of the host is copied.
pub(crate) fn spawn(spawn: Spawn<'_>) -> Result<Child, SpawnError> {
    STACKS.with(|stacks| {
        let no_stack = || SpawnError { step: Step::Stack, error: io::ErrorKind::OutOfMemory.into() };
        let (outer, inner) = stacks.as_ref().ok_or_else(no_stack)?;
        let mut frame = Frame { spawn, inner_stack: inner.top(), inner: None, failed: None };
        match spawn.scope {
            Scope::Namespaces(_) => spawn_inside(&mut frame, outer),
            Scope::Group | Scope::Open => spawn_here(&mut frame, outer),
        }
    })
}

fn spawn_here(frame: &mut Frame<'_>, stack: &Stack) -> Result<Child, SpawnError> {
    // SAFETY: `command` makes system calls on the frame and nothing else; the frame outlives the call, and with it the
    // child's use of it.
    let child = unsafe { vfork(command, stack, 0, ptr::from_mut(frame).cast()) };
    let child = child.map_err(|error| SpawnError { step: Step::Clone, error })?;
    settle(frame, child)
}

fn spawn_inside(frame: &mut Frame<'_>, stack: &Stack) -> Result<Child, SpawnError> {
    // It shares our descriptors (CLONE_FILES), so that the command's pidfd is opened among ours.
    // SAFETY: as above, for `enter`.
    let entering = unsafe { vfork(enter, stack, libc::CLONE_FILES, ptr::from_mut(frame).cast()) };
    let entering = entering.map_err(|error| SpawnError { step: Step::Clone, error })?;
    // It has ended: it is gone when `vfork` returns.
    reap_now(entering.pid);
    match frame.inner {
        Some((pid, pidfd)) => {
            use std::os::fd::FromRawFd as _;
            let pid = rustix::process::Pid::from_raw(pid);
            // SAFETY: the kernel opened it for `enter`, which shares our descriptors and left it to us.
            let pidfd = unsafe { std::os::fd::OwnedFd::from_raw_fd(pidfd) };
            let pid = pid.ok_or(SpawnError { step: Step::Clone, error: io::ErrorKind::InvalidData.into() })?;
            settle(frame, Child { pid, pidfd })
        }
        None => Err(failure(frame).unwrap_or(SpawnError { step: Step::Clone, error: io::ErrorKind::Other.into() })),
    }
}

/// The child, or what it could not do; then it has ended and is reaped here.
fn settle(frame: &Frame<'_>, child: Child) -> Result<Child, SpawnError> {
    match failure(frame) {
        None => Ok(child),
        Some(error) => {
            reap_now(child.pid);
            Err(error)
        }
    }
}

fn failure(frame: &Frame<'_>) -> Option<SpawnError> {
    frame.failed.map(|(step, errno)| SpawnError { step, error: io::Error::from_raw_os_error(errno) })
}

/// The first child: enters the namespaces, which needs a process of one thread, and starts the command there as a child
/// of the host's.
extern "C" fn enter(argument: *mut c_void) -> c_int {
    // SAFETY: `spawn_inside` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<Frame<'_>>() };
    if let Scope::Namespaces(guard) = frame.spawn.scope {
        let kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;
        attempt(frame, Step::Namespaces, || {
            // SAFETY: setns(2) takes integers.
            unsafe { libc::syscall(libc::SYS_setns, guard.as_raw_fd(), kinds) }
        });
    }
    let mut pidfd: c_int = -1;
    // IPC objects outlive processes, so each command has a namespace of its own for them.
    // SAFETY: the inner stack is nobody's; the frame and `pidfd` outlive the child's use of them, as this process is
    // suspended until the command is executed.
    let pid = unsafe { vfork_sibling(command, frame.inner_stack, libc::CLONE_NEWIPC, argument, &raw mut pidfd) };
    if pid < 0 {
        fail(frame, Step::Clone);
    }
    frame.inner = Some((pid, pidfd));
    end(0)
}

/// The command's own process, from its first step to its program.
extern "C" fn command(argument: *mut c_void) -> c_int {
    // SAFETY: `spawn` gave it, and waits.
    let frame = unsafe { &mut *argument.cast::<Frame<'_>>() };
    let spawn = frame.spawn;
    // A session of its own: no controlling terminal, no job control from ours.
    // SAFETY: no memory takes part.
    attempt(frame, Step::Session, || unsafe { libc::syscall(libc::SYS_setsid) });
    // SAFETY: no memory takes part. It can't fail.
    unsafe { libc::syscall(libc::SYS_umask, 0o022) };
    for cgroup in spawn.cgroups {
        // SAFETY: one byte of a constant.
        attempt(frame, Step::Cgroup, || unsafe {
            libc::syscall(libc::SYS_write, cgroup.as_raw_fd(), b"0".as_ptr(), 1_usize)
        });
    }
    // All sources are above 2, so none is overwritten before it is copied.
    for (target, source) in (0_i32..).zip(spawn.stdio) {
        // SAFETY: dup3(2) takes integers.
        attempt(frame, Step::Stdio, || unsafe { libc::syscall(libc::SYS_dup3, source.as_raw_fd(), target, 0) });
    }
    change_directory(frame, spawn.directory);
    // Not before: the host may have more open than the command may.
    for ResourceLimit { resource, soft, hard } in spawn.limits {
        let both = [*soft, *hard];
        // SAFETY: `both` is a `struct rlimit64`: two 64-bit values; process 0 is this one; no old limit is asked for.
        attempt(frame, Step::Limit, || unsafe {
            libc::syscall(libc::SYS_prlimit64, 0, *resource, both.as_ptr(), 0_usize)
        });
    }
    // Whatever the host forgot to mark is closed as the program is executed; the program itself must stay open till then.
    // SAFETY: close_range(2) takes integers.
    attempt(frame, Step::Descriptors, || unsafe {
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    });
    reset_signals(frame);
    match spawn.scope {
        Scope::Namespaces(_) => {
            filter(frame, &STAY_BELOW);
            give_up_administration(frame);
        }
        Scope::Group => {
            // Who has no powers may filter only after giving up ever getting any.
            // SAFETY: prctl(2) takes integers here.
            attempt(frame, Step::Filter, || unsafe {
                libc::syscall(libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            });
            filter(frame, &STAY_IN_GROUP);
        }
        Scope::Open => {}
    }
    let nothing_blocked: u64 = 0;
    // SAFETY: a set of 8 bytes, as the size says.
    attempt(frame, Step::Signals, || unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const nothing_blocked, 0_usize, 8_usize)
    });
    let (argv, env) = (spawn.argv.pointers.as_ptr(), spawn.env.pointers.as_ptr());
    // SAFETY: both lists end in a null pointer and lead to strings that end in NUL; the path is empty, so the program is
    // the descriptor itself.
    attempt(frame, Step::Execute, || unsafe {
        libc::syscall(libc::SYS_execveat, spawn.program.as_raw_fd(), c"".as_ptr(), argv, env, libc::AT_EMPTY_PATH)
    });
    end(127)
}

/// Opens the directory inside the command's own namespaces, checks that it is the one that was approved, and enters it.
fn change_directory(frame: &mut Frame<'_>, directory: Directory<'_>) {
    /// `struct open_how` of openat2(2).
    #[repr(C)]
    struct OpenHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const RESOLVE_NO_MAGICLINKS: u64 = 0x02;
    const RESOLVE_BENEATH: u64 = 0x08;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a string that ends in NUL; no mode is needed where nothing is created.
    let workspace = attempt(frame, Step::Directory, || unsafe {
        libc::syscall(libc::SYS_openat, libc::AT_FDCWD, directory.workspace.as_ptr(), flags, 0)
    });
    let how = OpenHow { flags: flags as u64, mode: 0, resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    let place = attempt(frame, Step::Directory, || {
        // SAFETY: a string that ends in NUL, and a `struct open_how` of the size that is given.
        unsafe {
            libc::syscall(
                libc::SYS_openat2,
                workspace as RawFd,
                directory.relative.as_ptr(),
                &raw const how,
                size_of::<OpenHow>(),
            )
        }
    });
    // SAFETY: all zeroes is a valid `struct stat`: it is made of integers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is valid for writes; fstat(2) of the C library is this system call and nothing more.
    attempt(frame, Step::Directory, || unsafe { libc::fstat(place as RawFd, &raw mut stat) }.into());
    #[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
    let same = u64::from(stat.st_dev) == directory.device && u64::from(stat.st_ino) == directory.inode;
    if !same {
        frame.failed = Some((Step::OtherDirectory, libc::ESTALE));
        end(127);
    }
    // SAFETY: fchdir(2) takes an integer.
    attempt(frame, Step::Directory, || unsafe { libc::syscall(libc::SYS_fchdir, place as RawFd) });
}

/// Every signal to its default: what the host ignores would stay ignored in the command (SIGPIPE, which Rust ignores;
/// SIGINT under nohup).
fn reset_signals(frame: &mut Frame<'_>) {
    /// `struct sigaction` of the kernel, all zero: the default, no flags, an empty mask. Longer than any architecture's.
    const DEFAULT: [usize; 4] = [0; 4];
    for signal in 1..=64 {
        if signal != libc::SIGKILL && signal != libc::SIGSTOP {
            // SAFETY: the kernel reads one `struct sigaction` whose mask has 8 bytes.
            attempt(frame, Step::Signals, || unsafe {
                libc::syscall(libc::SYS_rt_sigaction, signal, DEFAULT.as_ptr(), 0_usize, 8_usize)
            });
        }
    }
}

fn filter(frame: &mut Frame<'_>, instructions: &[libc::sock_filter]) {
    let program = libc::sock_fprog { len: instructions.len() as u16, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: the kernel reads the program and keeps a copy of its own.
    attempt(frame, Step::Filter, || unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    });
}

/// Takes CAP_SYS_ADMIN out of the bounding set, so that not even root's programs get it: in its user namespace it would
/// let the command mount, and rename the host, for those that come after it in the same namespaces.
fn give_up_administration(frame: &mut Frame<'_>) {
    const CAP_SYS_ADMIN: c_int = 21;
    // SAFETY: prctl(2) takes integers here.
    attempt(frame, Step::Capability, || unsafe {
        libc::syscall(libc::SYS_prctl, libc::PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)
    });
}

/// Makes a system call; where it fails, leaves the step and the error for the host, and ends the child.
fn attempt(frame: &mut Frame<'_>, step: Step, call: impl FnOnce() -> libc::c_long) -> libc::c_long {
    #[cfg(test)]
    if frame.spawn.sabotage == Some(step) {
        frame.failed = Some((step, libc::EPERM));
        end(127);
    }
    let result = call();
    if result < 0 {
        fail(frame, step);
    }
    result
}

/// Leaves the step and the newest error for the host, and ends the child.
fn fail(frame: &mut Frame<'_>, step: Step) -> ! {
    frame.failed = Some((step, errno()));
    end(127)
}

#[cfg(test)]
mod tests;
