//! What one command runs in: a guard, and where the host has one to give a cgroup of its own.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use portcullis_policy::KernelLimits;
use rustix::process::{Pid, Signal};

use crate::cgroup::Cgroup;
use crate::guard::{Guard, GuardError, Kind};
use crate::proc;

/// A guard and a cgroup, for one command, used once.
#[derive(Debug)]
pub(crate) struct Sandbox {
    guard: Guard,
    cgroup: Option<Cgroup>,
    limits_memory: bool,
    limits_processes: bool,
}

impl Sandbox {
    pub(crate) fn make(kind: Kind) -> Result<Self, GuardError> {
        // A policy that wants no confinement gets no limits either.
        let cgroup = if kind == Kind::Open { None } else { Cgroup::make() };
        Ok(Self { guard: Guard::start(kind)?, cgroup, limits_memory: false, limits_processes: false })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.guard.kind()
    }

    pub(crate) fn guard_pidfd(&self) -> BorrowedFd<'_> {
        self.guard.pidfd()
    }

    /// Sets what holds for the whole tree, before the command is in it.
    pub(crate) fn limit(&mut self, limits: Option<KernelLimits>) {
        if let (Some(cgroup), Some(limits)) = (&self.cgroup, limits) {
            self.limits_memory = cgroup.limit_memory(limits.memory_bytes);
            self.limits_processes = cgroup.limit_processes(limits.processes);
        }
    }

    /// Whether the memory limit holds for the whole tree.
    pub(crate) fn limits_memory(&self) -> bool {
        self.limits_memory
    }

    /// Whether the limit on processes holds, one way or the other.
    pub(crate) fn limits_processes(&self) -> bool {
        self.limits_processes || self.counts_processes_by_rlimit()
    }

    /// Whether `RLIMIT_NPROC` counts the command's processes alone: in a user namespace, and not for root, for whom the
    /// kernel ignores it.
    pub(crate) fn counts_processes_by_rlimit(&self) -> bool {
        !self.limits_processes && self.kind() == Kind::Namespaces && !rustix::process::geteuid().is_root()
    }

    /// What the command writes a 0 to, to enter its cgroup.
    pub(crate) fn cgroup_tasks(&self) -> Vec<BorrowedFd<'_>> {
        self.cgroup.as_ref().map(Cgroup::tasks).unwrap_or_default()
    }

    /// Tells the guard about a command that has started.
    pub(crate) fn watch(&mut self, command: Pid) -> std::io::Result<()> {
        match self.kind() {
            Kind::Namespaces => Ok(()),
            Kind::Group | Kind::Open => self.guard.watch_group(command),
        }
    }

    /// Processor time of the whole tree so far.
    pub(crate) fn cpu_time(&self, command: Pid) -> Duration {
        if let Some(time) = self.cgroup.as_ref().and_then(Cgroup::cpu_time) {
            return time;
        }
        let mut tree = self.guard.descendants();
        tree.push(command);
        tree.extend(proc::descendants(command).unwrap_or_default());
        tree.sort_unstable_by_key(|process| process.as_raw_pid());
        tree.dedup();
        tree.into_iter().filter_map(proc::cpu_time).sum()
    }

    /// Whether the kernel killed a process of the tree for its memory limit.
    pub(crate) fn memory_exceeded(&self) -> bool {
        self.cgroup.as_ref().is_some_and(Cgroup::memory_exceeded)
    }

    /// Asks the command to end: SIGTERM to its process group, and SIGCONT for those that are stopped.
    pub(crate) fn terminate(command: Pid) {
        for signal in [Signal::TERM, Signal::CONT] {
            // It fails only where nothing is left to ask.
            let _nothing_left = rustix::process::kill_process_group(command, signal);
        }
    }

    /// Kills the whole tree. The command must not be reaped yet, so that its process group can't be another's.
    pub(crate) fn kill(&self, command: Pid) {
        if self.kind() == Kind::Namespaces {
            self.guard.kill();
        }
        // In a PID namespace the guard's death kills all of it; this only is sooner.
        let _nothing_left = rustix::process::kill_process_group(command, Signal::KILL);
    }

    /// Processes that the command left, once it has ended. `None` = can't be told.
    pub(crate) fn leftovers(&self) -> Option<u32> {
        self.guard.leftovers()
    }

    /// Gives back the cgroup of a sandbox whose guard has ended; what is left goes.
    pub(crate) fn dismantle(mut self) {
        if let Some(cgroup) = self.cgroup.take() {
            cgroup.free();
        }
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn guard_mut(&mut self) -> &mut Guard {
        &mut self.guard
    }
}
