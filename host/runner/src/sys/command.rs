//! What the waiting process does: it makes itself ready, waits for its order, and becomes the command.
//!
//! Nothing but the system calls of `call.rs` on what was prepared, see `park.rs`.

use std::ffi::{c_int, c_void};

use super::call::{self, Errno};
use super::message::{self, CHANNEL, PLACES, STREAMS};
use super::order::{Directory, Order, Powers, Program, ResourceLimit};
use super::step::{Failure, Step, Steps};
use crate::seccomp::Filter;

/// What we share with the waiting process. It is written by one side at a time: by us until the process exists, and
/// then before the order is sent; by the process before it ends.
pub(super) struct Shared {
    pub(super) steps: Steps,
    pub(super) channel: c_int,
    /// The guard's pidfd, for the process that enters its namespaces.
    pub(super) guard: Option<c_int>,
    pub(super) powers: Powers,
    pub(super) cgroups: Vec<c_int>,
    pub(super) filter: Option<Filter>,
    pub(super) token: u64,
    pub(super) stack: *mut c_void,
    pub(super) inner: Option<(c_int, c_int)>,
    pub(super) order: *const Order<'static>,
    pub(super) failed: Option<Failure>,
}

/// The process that waits, and becomes the command.
pub(super) extern "C" fn wait_for_order(argument: *mut c_void) -> c_int {
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
