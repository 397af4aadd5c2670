//! Seccomp filters (`seccomp(2)`): which system calls a command's processes have.
//!
//! Two things are kept by them. A command's processes stay where they can be found and ended, at every level but
//! `none`. And at the levels that confine, the calls are refused that could undo the other layers (mounts, namespaces,
//! executions that are not allowed), reach what those do not cover (sockets, keyrings, other processes), or open parts
//! of the kernel that commands have no use for.

mod table;
mod tree;

use libc::sock_filter;

use self::table::{Architecture, CALLS, NEWEST, TREE, Verdict};
use self::tree::{ALLOW, Answer, Leaf, error};

/// A filter, ready to be installed.
#[derive(Debug, Clone)]
pub(crate) struct Filter(Vec<sock_filter>);

/// What a filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purpose {
    /// The process group holds the command together, for want of a PID namespace.
    pub(crate) group: bool,
    /// Refuse what a confined command must not have; else only what would let it leave its tree.
    pub(crate) confine: bool,
    /// The network families are allowed.
    pub(crate) network: bool,
    pub(crate) execution: Execution,
}

/// Which programs may be executed once the filter is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Execution {
    /// One, by `execveat` with this token in its unused sixth argument: that of the command itself, which then does not
    /// know it.
    ///
    /// A secret address of the path would not do: the kernel's answers tell addresses that are mapped from others.
    Once(u64),
    /// Those that other layers allow: no files without a name may be executed, which pass those.
    Listed,
    /// All.
    Any,
}

impl Filter {
    pub(crate) fn new(purpose: Purpose) -> Self {
        Self(program(purpose, Architecture::HERE))
    }

    pub(crate) fn instructions(&self) -> &[sock_filter] {
        &self.0
    }
}

fn program(purpose: Purpose, architecture: Architecture) -> Vec<sock_filter> {
    let mut calls: Vec<(u32, Leaf)> = CALLS
        .iter()
        .filter(|call| purpose.confine || TREE.contains(&call.name))
        .filter_map(|call| Some((call.number(architecture)?, leaf(call.verdict, purpose))))
        .filter(|(_, leaf)| *leaf != Leaf::Always(ALLOW))
        .collect();
    calls.sort_unstable_by_key(|(number, _)| *number);

    // From which number on which leaf holds.
    let mut leaves = Vec::with_capacity(2 * calls.len() + 2);
    let mut next = 0;
    for (number, leaf) in calls {
        if number > next {
            leaves.push((next, Leaf::Always(ALLOW)));
        }
        next = number + 1;
        match leaves.last() {
            Some((_, last)) if *last == leaf => {}
            _ => leaves.push((number, leaf)),
        }
    }
    if next <= NEWEST {
        leaves.push((next, Leaf::Always(ALLOW)));
    }
    // Newer ones, and x32's on x86-64: those have a bit of their own above all others.
    leaves.push((if purpose.confine { NEWEST + 1 } else { X32 }, Leaf::Always(error(libc::ENOSYS))));
    tree::program(architecture.audit(), &leaves)
}

/// Numbers from here on are x32's on x86-64, and belong to nobody elsewhere.
const X32: u32 = 0x4000_0000;

const REFUSED: Answer = error(libc::EPERM);

fn leaf(verdict: Verdict, purpose: Purpose) -> Leaf {
    let always = Leaf::Always;
    let limited = purpose.execution != Execution::Any;
    match verdict {
        Verdict::Refuse => always(REFUSED),
        Verdict::Absent => always(error(libc::ENOSYS)),
        Verdict::CloneFlags => {
            let bits = if purpose.confine { NAMESPACES | libc::CLONE_PARENT } else { libc::CLONE_PARENT };
            Leaf::Bits { argument: 0, bits: bits as u32, then: REFUSED, otherwise: ALLOW }
        }
        Verdict::Socket => {
            let all = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| family as u32);
            let families = if purpose.network { &all[..] } else { &all[..1] };
            let otherwise = error(libc::EAFNOSUPPORT);
            Leaf::Among { argument: 0, values: families.to_vec(), then: ALLOW, otherwise }
        }
        Verdict::Ioctl => {
            Leaf::Among { argument: 1, values: vec![TIOCSTI, TIOCLINUX], then: REFUSED, otherwise: ALLOW }
        }
        Verdict::Personality => {
            Leaf::Among { argument: 0, values: PERSONALITIES.to_vec(), then: ALLOW, otherwise: REFUSED }
        }
        Verdict::Memfd if limited => {
            Leaf::Bits { argument: 1, bits: MFD_NOEXEC_SEAL, then: ALLOW, otherwise: error(libc::EACCES) }
        }
        Verdict::Execve if matches!(purpose.execution, Execution::Once(_)) => always(error(libc::EACCES)),
        Verdict::Execveat => match purpose.execution {
            Execution::Once(token) => {
                Leaf::Whole { argument: 5, value: token, then: ALLOW, otherwise: error(libc::EACCES) }
            }
            Execution::Listed | Execution::Any => always(ALLOW),
        },
        Verdict::Session if purpose.group => always(REFUSED),
        Verdict::Group if purpose.group => always(error(0)),
        Verdict::First if purpose.group => {
            Leaf::Among { argument: 0, values: vec![0], then: ALLOW, otherwise: REFUSED }
        }
        Verdict::Second if purpose.group => {
            Leaf::Among { argument: 1, values: vec![0], then: ALLOW, otherwise: REFUSED }
        }
        Verdict::Memfd | Verdict::Execve | Verdict::Session | Verdict::Group | Verdict::First | Verdict::Second => {
            always(ALLOW)
        }
    }
}

/// A new time namespace has no flag of `clone`'s: the bit is one of those of the exit signal.
const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;
/// Types on a terminal as its user would: `ioctl_tty(2)`.
const TIOCSTI: u32 = 0x5412;
/// Pastes on a virtual console: `ioctl_console(2)`.
const TIOCLINUX: u32 = 0x541c;
/// Linux; Linux without randomised addresses (debuggers, `setarch -R`); the question which one it is.
const PERSONALITIES: [u32; 3] = [0, 0x0004_0000, u32::MAX];
/// `memfd_create(2)`: never to be executed.
const MFD_NOEXEC_SEAL: u32 = 0x0008;

#[cfg(test)]
mod tests;
