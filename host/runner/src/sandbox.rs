//! What one command runs in: a guard, and where the host has one to give a cgroup of its own.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use portcullis_policy::KernelLimits;
use rustix::process::{Pid, Signal};

use crate::cgroup::Cgroup;
use crate::guard::{Guard, GuardError, Kind};
use crate::proc;

/// A guard and a cgroup, for one command at a time. A command of a policy that wants no confinement has neither.
#[derive(Debug)]
pub(crate) struct Sandbox {
    guard: Option<Guard>,
    cgroup: Option<Cgroup>,
    limits_memory: bool,
    limits_processes: bool,
}

impl Sandbox {
    pub(crate) fn make(kind: Kind) -> Result<Self, GuardError> {
        let guard = Guard::start(kind)?;
        Ok(Self { guard: Some(guard), cgroup: Cgroup::make(), limits_memory: false, limits_processes: false })
    }

    /// What a command of a policy that wants no confinement runs in: nothing.
    pub(crate) fn open() -> Self {
        Self { guard: None, cgroup: None, limits_memory: false, limits_processes: false }
    }

    /// What its guard can do; `None` = there is none.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.guard.as_ref().map(Guard::kind)
    }

    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    pub(crate) fn guard_mut(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut()
    }

    /// Sets what holds for the whole tree, before the command is in it.
    pub(crate) fn limit(&mut self, limits: Option<KernelLimits>) {
        if let (Some(cgroup), Some(limits)) = (&mut self.cgroup, limits) {
            cgroup.begin();
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
        !self.limits_processes && self.kind() == Some(Kind::Namespaces) && !rustix::process::geteuid().is_root()
    }

    /// What the command writes a 0 to, to enter its cgroup.
    pub(crate) fn cgroup_tasks(&self) -> Vec<BorrowedFd<'_>> {
        self.cgroup.as_ref().map(Cgroup::tasks).unwrap_or_default()
    }

    /// Tells the guard about a command that has started.
    pub(crate) fn watch(&mut self, command: Pid) -> std::io::Result<()> {
        match &mut self.guard {
            Some(guard) if guard.kind() == Kind::Group => guard.watch_group(command),
            _ => Ok(()),
        }
    }

    /// Processor time of the whole tree so far.
    pub(crate) fn cpu_time(&self, command: Pid) -> Duration {
        if let Some(time) = self.cgroup.as_ref().and_then(Cgroup::cpu_time) {
            return time;
        }
        let mut tree = self.guard.as_ref().map(Guard::descendants).unwrap_or_default();
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
        if let Some(guard) = &self.guard
            && guard.kind() == Kind::Namespaces
        {
            guard.kill();
        }
        // In a PID namespace the guard's death kills all of it; this only is sooner.
        let _nothing_left = rustix::process::kill_process_group(command, Signal::KILL);
    }

    /// Processes that the command left, once it has ended. `None` = can't be told.
    pub(crate) fn leftovers(&self) -> Option<u32> {
        self.guard.as_ref().and_then(Guard::leftovers)
    }

    /// Ends it, for good. Says whether it has ended.
    pub(crate) fn end(&mut self, patience: Duration) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        guard.kill();
        guard.wait(patience);
        guard.reap()
    }

    /// Gives back the cgroup of a sandbox that has ended; what is left goes.
    pub(crate) fn dismantle(mut self) {
        if let Some(cgroup) = self.cgroup.take() {
            cgroup.free();
        }
    }
}
