//! What one command runs in: a guard, and where the host has one to give a cgroup of its own.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use portcullis_policy::KernelLimits;
use rustix::process::{Pid, Signal};

use crate::cgroup::Cgroup;
use crate::guard::{Guard, GuardError, Kind};
use crate::key::Key;
use crate::own::Own;
use crate::reach::Reach;
use crate::seccomp::Filter;
use crate::sys::{self, Child, Order, Ordered, Parked, Scope, Setup, SpawnError, Stack};
use crate::view;
use crate::{deny, proc};

/// A guard, a cgroup, and a process that waits to become a command: for one command at a time. For a command of a
/// policy that wants no confinement, that process alone.
#[derive(Debug)]
pub(crate) struct Sandbox {
    key: Arc<Key>,
    /// Before the guard: its process must be reaped for the guard's namespaces to end.
    parked: Option<Parked>,
    guard: Option<Guard>,
    cgroup: Option<Cgroup>,
    /// Of a confined command: what nobody else has.
    own: Option<Own>,
    /// Landlock rulesets for those kinds of commands that were here.
    rulesets: HashMap<Reach, Arc<OwnedFd>>,
    stack: Option<Stack>,
    limits_memory: bool,
    limits_processes: bool,
}

/// Most rulesets that a sandbox keeps.
const MOST_RULESETS: usize = 32;

impl Sandbox {
    /// Without a process yet; see [`Sandbox::park`].
    pub(crate) fn make(key: &Arc<Key>) -> Result<Self, GuardError> {
        let (guard, own) = match (key.kind, &key.confined) {
            (Kind::Open, _) => (None, None),
            (Kind::Group, confined) => {
                let guard = Guard::start(None, true)?;
                (Some(guard), confined.as_ref().map(|_| Own::directory()).transpose()?)
            }
            (Kind::Namespaces, None) => (Some(Guard::start(Some(&view::host()), true)?), None),
            (Kind::Namespaces, Some(confined)) => {
                let plan = confined.view.as_ref().map(|view| deny::hold(view).and_then(|()| view.plan())).transpose();
                let plan = plan.map_err(|error| GuardError::new("show a command its files", &error))?;
                let guard = Guard::start(Some(&plan.unwrap_or_default()), confined.network)?;
                let own = Own::of(&guard)?;
                (Some(guard), Some(own))
            }
        };
        let cgroup = if key.kind == Kind::Open { None } else { Cgroup::make() };
        Ok(Self {
            key: Arc::clone(key),
            parked: None,
            guard,
            cgroup,
            own,
            rulesets: HashMap::new(),
            stack: None,
            limits_memory: false,
            limits_processes: false,
        })
    }

    /// Makes the process that waits to become a command. Nobody may be in the sandbox.
    pub(crate) fn park(&mut self) -> Result<(), SpawnError> {
        if self.parked.is_some() {
            return Ok(());
        }
        if let Some(cgroup) = &mut self.cgroup {
            cgroup.begin();
        }
        let mut token = [0; 8];
        getrandom::fill(&mut token).map_err(|_| SpawnError::no_token())?;
        // Zero is what is in the register when nobody puts a token there.
        let token = u64::from_ne_bytes(token).max(1);
        let scope = match (self.key.kind, &self.guard) {
            (Kind::Namespaces, Some(guard)) => Scope::Namespaces(guard.pidfd()),
            _ => Scope::Here,
        };
        let setup = Setup {
            scope,
            cgroups: self.cgroup.as_ref().map(Cgroup::tasks).unwrap_or_default(),
            powers: self.key.powers(),
            filter: self.key.purpose(token).map(Filter::new),
            token,
            #[cfg(test)]
            sabotage: None,
        };
        let parked = sys::park(setup, self.stack.take())?;
        if let (Kind::Group, Some(guard)) = (self.key.kind, &mut self.guard) {
            guard.watch_group(parked.pid());
        }
        self.parked = Some(parked);
        Ok(())
    }

    /// The ruleset of a confined command.
    pub(crate) fn ruleset(&mut self, reach: &Reach) -> std::io::Result<Option<Arc<OwnedFd>>> {
        let Some(own) = &self.own else { return Ok(None) };
        if let Some(ruleset) = self.rulesets.get(reach) {
            return Ok(Some(Arc::clone(ruleset)));
        }
        let ruleset = Arc::new(reach.ruleset(own)?);
        if self.rulesets.len() >= MOST_RULESETS {
            self.rulesets.clear();
        }
        self.rulesets.insert(reach.clone(), Arc::clone(&ruleset));
        Ok(Some(ruleset))
    }

    /// Where a command's temporary files go, if it must be told.
    pub(crate) fn temporary(&self) -> Option<&str> {
        self.own.as_ref().and_then(Own::directory_path)
    }

    pub(crate) fn key(&self) -> &Arc<Key> {
        &self.key
    }

    /// Whether what is denied is still masked. The kernel takes a mask away when what it lies on is removed or replaced
    /// by somebody who does not see the mask, as editors do when they save.
    pub(crate) fn is_intact(&self) -> bool {
        let view = self.key.confined.as_ref().and_then(|confined| confined.view.as_ref());
        match (view, &self.own) {
            (Some(view), Some(own)) => own.masks(view),
            _ => true,
        }
    }

    /// Whether another command finds it as this one did: nothing is left in memory or on disk that is its own.
    pub(crate) fn is_clean(&self) -> bool {
        self.own.as_ref().is_none_or(Own::is_clean)
    }

    /// Tells the waiting process to execute the program; there must be one.
    pub(crate) fn order<'a>(&mut self, order: &'a Order<'a>) -> Result<Ordered<'a>, SpawnError> {
        self.park()?;
        let nobody = || SpawnError { step: sys::Step::Channel, error: std::io::ErrorKind::NotFound.into() };
        Ok(self.parked.take().ok_or_else(nobody)?.order(order))
    }

    /// Waits until the program is executed, and sets the limits that can't be set before.
    pub(crate) fn confirm(&mut self, ordered: Ordered<'_>, limits: Option<KernelLimits>) -> Result<Child, SpawnError> {
        let (child, stack) = ordered.confirm()?;
        self.stack = stack;
        if let (Some(cgroup), Some(limits)) = (&mut self.cgroup, limits) {
            self.limits_memory = cgroup.limit_memory(limits.memory_bytes);
            if cgroup.memory_exceeded_at_once() {
                self.kill(child.pid);
            }
        }
        Ok(child)
    }

    pub(crate) fn guard_mut(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut()
    }

    /// Sets what must hold for the whole tree before the command is there, and finds out what will.
    pub(crate) fn limit(&mut self, limits: Option<KernelLimits>) {
        if let (Some(cgroup), Some(limits)) = (&mut self.cgroup, limits) {
            self.limits_memory = cgroup.has_memory();
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
        !self.limits_processes && self.key.kind == Kind::Namespaces && !rustix::process::geteuid().is_root()
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
        // The kernel keeps a namespace until all its processes are reaped.
        self.parked = None;
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
