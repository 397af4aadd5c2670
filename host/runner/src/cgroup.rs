//! A cgroup of its own for each command: limits and counts that hold for its whole process tree.
//!
//! Version 1 hierarchies that this user may write, as root mostly. Where there is none, limits hold per process, and
//! the enforcement says so.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::guard::above_stdio;

/// The controllers that are used, each where it is there.
#[derive(Debug)]
struct Hierarchies {
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
}

/// One command's group in each hierarchy. Dropping it removes them, once its processes are gone.
#[derive(Debug)]
pub(crate) struct Cgroup {
    memory: Option<Group>,
    pids: Option<Group>,
    cpuacct: Option<Group>,
    /// What the counters said before the command: the groups may have served another.
    before: Counters,
    /// The limits that are set: writing them again would cost a command a tenth of its start.
    memory_limit: Option<u64>,
    process_limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    memory_kills: u64,
    cpu_time: Duration,
}

/// Groups whose processes are gone, to be used again: making one and removing it costs as much as the rest of a sandbox.
static FREE: Mutex<Vec<Cgroup>> = Mutex::new(Vec::new());
/// Most of them that are kept.
const MOST_FREE: usize = 16;

#[derive(Debug)]
struct Group {
    directory: PathBuf,
    /// A process that writes a 0 here moves itself in. `tasks` and not `cgroup.procs`: to move only the calling thread
    /// the kernel takes no lock that is held against forks.
    tasks: OwnedFd,
}

impl Cgroup {
    /// Groups without processes: used ones, else new ones that this host lets us make; `None` where it lets us make none.
    pub(crate) fn make() -> Option<Self> {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.or_else(Self::new)
    }

    /// Gives back groups whose processes are gone.
    pub(crate) fn free(self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_FREE {
            free.push(self);
        }
    }

    /// Removes the groups that are kept.
    pub(crate) fn remove_free() {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn new() -> Option<Self> {
        let hierarchies = hierarchies();
        let group = |hierarchy: &Option<PathBuf>| hierarchy.as_ref().and_then(|path| Group::make(path).ok());
        let cgroup = Self {
            memory: group(&hierarchies.memory),
            pids: group(&hierarchies.pids),
            cpuacct: group(&hierarchies.cpuacct),
            before: Counters::default(),
            memory_limit: None,
            process_limit: None,
        };
        let there = cgroup.groups().next().is_some();
        there.then_some(cgroup)
    }

    /// Counts from here on.
    pub(crate) fn begin(&mut self) {
        self.before = self.counters();
    }

    fn counters(&self) -> Counters {
        let memory = self.memory.as_ref().and_then(|group| group.read("memory.oom_control").ok());
        let kills = memory.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("oom_kill ")));
        let cpu = self.cpuacct.as_ref().and_then(|group| group.read("cpuacct.usage").ok());
        Counters {
            memory_kills: kills.and_then(|kills| kills.trim().parse().ok()).unwrap_or(0),
            cpu_time: Duration::from_nanos(cpu.and_then(|time| time.trim().parse().ok()).unwrap_or(0)),
        }
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        [&self.memory, &self.pids, &self.cpuacct].into_iter().flatten()
    }

    /// What the command writes a 0 to.
    pub(crate) fn tasks(&self) -> Vec<BorrowedFd<'_>> {
        self.groups().map(|group| group.tasks.as_fd()).collect()
    }

    /// Limits the memory of the tree, swap included where that is counted. Says whether it holds.
    pub(crate) fn limit_memory(&mut self, bytes: u64) -> bool {
        let Some(group) = &self.memory else { return false };
        if self.memory_limit == Some(bytes) {
            return true;
        }
        // With swap counted, its limit may never be below the other: which has to move first depends on the direction. It
        // is there only where swap is counted; without swap there is nothing to limit.
        let _raised = group.write("memory.memsw.limit_in_bytes", bytes);
        let limited = group.write("memory.limit_in_bytes", bytes).is_ok();
        let _lowered = group.write("memory.memsw.limit_in_bytes", bytes);
        self.memory_limit = limited.then_some(bytes);
        limited
    }

    /// Limits the processes and threads of the tree. Says whether it holds.
    pub(crate) fn limit_processes(&mut self, most: u32) -> bool {
        let Some(group) = &self.pids else { return false };
        if self.process_limit == Some(most) {
            return true;
        }
        let limited = group.write("pids.max", most.into()).is_ok();
        self.process_limit = limited.then_some(most);
        limited
    }

    /// Whether the kernel killed a process of the tree for its memory limit.
    pub(crate) fn memory_exceeded(&self) -> bool {
        self.counters().memory_kills > self.before.memory_kills
    }

    /// Processor time of the tree, of those that have ended too. `None` where it is not counted.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.cpuacct.is_some().then(|| self.counters().cpu_time.saturating_sub(self.before.cpu_time))
    }
}

impl Group {
    fn make(hierarchy: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("portcullis-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = hierarchy.join(name);
        fs::create_dir(&directory)?;
        let tasks = File::options().write(true).open(directory.join("tasks"));
        match tasks.and_then(|tasks| Ok(above_stdio(tasks.into())?)) {
            Ok(tasks) => Ok(Self { directory, tasks }),
            Err(error) => {
                let _left = fs::remove_dir(&directory);
                Err(error)
            }
        }
    }

    fn write(&self, file: &str, value: u64) -> io::Result<()> {
        fs::write(self.directory.join(file), value.to_string())
    }

    fn read(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.directory.join(file))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that hangs in the kernel keeps it; an empty group costs nothing.
        let _left = fs::remove_dir(&self.directory);
    }
}

/// Where the groups of this process are in the hierarchies, looked up once, by making a group in each.
fn hierarchies() -> &'static Hierarchies {
    static HIERARCHIES: OnceLock<Hierarchies> = OnceLock::new();
    HIERARCHIES.get_or_init(|| {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let usable = |controller| {
            let place = place(&own, &mounts, controller)?;
            sweep(&place);
            Group::make(&place).is_ok().then_some(place)
        };
        Hierarchies { memory: usable("memory"), pids: usable("pids"), cpuacct: usable("cpuacct") }
    })
}

/// Removes what processes that were killed have left: groups outlive their makers. A group with a process in it can't be
/// removed, and one of a container beside us, whose processes we don't see, is younger than this as a rule.
fn sweep(hierarchy: &Path) {
    const OLD: Duration = Duration::from_secs(600);
    for entry in fs::read_dir(hierarchy).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix("portcullis-")?.split('-').next());
        let is_gone = maker.is_some_and(|maker| !Path::new("/proc").join(maker).exists());
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        if is_gone && age.is_some_and(|age| age > OLD) {
            let _in_use = fs::remove_dir(entry.path());
        }
    }
}

/// The directory of our group in a version 1 hierarchy, from `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn place(own: &str, mounts: &str, controller: &str) -> Option<PathBuf> {
    // 4:memory:/path
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        fields.next()?.split(',').any(|name| name == controller).then(|| fields.next()).flatten()
    })?;
    // … root mount-point options … - cgroup source options
    mounts.lines().find_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut filesystem = filesystem.split(' ');
        let is_ours =
            filesystem.next() == Some("cgroup") && filesystem.nth(1)?.split(',').any(|option| option == controller);
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // In a container the hierarchy is often mounted from our own group on.
        let below = if root == "/" { path } else { path.strip_prefix(root)? };
        is_ours.then(|| Path::new(point).join(below.trim_start_matches('/')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_group_is_found_on_hosts_and_in_containers() {
        let own = "4:memory:/a/b\n3:cpu,cpuacct:/c\n0::/unified\n";
        let host = "30 25 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:11 - cgroup cgroup rw,memory\n\
                    31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
        assert_eq!(place(own, host, "memory"), Some("/sys/fs/cgroup/memory/a/b".into()));
        assert_eq!(place(own, host, "cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct/c".into()));
        assert_eq!(place(own, host, "pids"), None);
        let container = "30 25 0:26 /a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert_eq!(place(own, container, "memory"), Some("/sys/fs/cgroup/memory/b".into()));
        assert_eq!(place("0::/x\n", "", "memory"), None);
    }
}
