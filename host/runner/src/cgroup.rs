//! A cgroup of its own for each command: limits and counts that hold for its whole process tree.
//!
//! Version 1 hierarchies that this user may write, as root mostly. Where there is none, limits hold per process, and
//! the enforcement says so.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The controllers that are used, each where it is there.
#[derive(Debug)]
struct Hierarchies {
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
}

/// One command's group in each hierarchy. Dropping it removes them, once its processes are gone.
///
/// Its files are opened once: opening one costs more than all that is done with it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    memory: Option<Memory>,
    pids: Option<Pids>,
    cpuacct: Option<Processor>,
}

#[derive(Debug)]
struct Memory {
    limit: File,
    /// Memory and swap together; there only where swap is counted, and without swap there is nothing to limit.
    limit_with_swap: Option<File>,
    counters: File,
    group: Group,
    limited: bool,
    /// Kills before the command: the group may have served another.
    kills_before: u64,
    /// The command had more than its limit already when that was set.
    exceeded_at_once: bool,
}

#[derive(Debug)]
struct Pids {
    limit: File,
    group: Group,
    /// The limit that is set: writing it again would cost for nothing.
    most: Option<u32>,
}

#[derive(Debug)]
struct Processor {
    usage: File,
    group: Group,
    before: Duration,
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
        let cgroup = Self {
            memory: hierarchies.memory.as_deref().and_then(|place| Memory::make(place).ok()),
            pids: hierarchies.pids.as_deref().and_then(|place| Pids::make(place).ok()),
            cpuacct: hierarchies.cpuacct.as_deref().and_then(|place| Processor::make(place).ok()),
        };
        let there = cgroup.groups().next().is_some();
        there.then_some(cgroup)
    }

    /// Makes it ready for another command: counts from here on, and limits no memory.
    pub(crate) fn begin(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.begin();
        }
        if let Some(processor) = &mut self.cpuacct {
            processor.before = processor.time();
        }
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        let memory = self.memory.as_ref().map(|memory| &memory.group);
        let pids = self.pids.as_ref().map(|pids| &pids.group);
        let cpuacct = self.cpuacct.as_ref().map(|processor| &processor.group);
        [memory, pids, cpuacct].into_iter().flatten()
    }

    /// What the command writes a 0 to.
    pub(crate) fn tasks(&self) -> Vec<BorrowedFd<'_>> {
        self.groups().map(|group| group.tasks.as_fd()).collect()
    }

    /// Whether memory can be limited.
    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Limits the memory of the tree. Only once the program is executed: until then its process shares the memory of
    /// this one, and the kernel, looking for somebody to kill for memory in the group, would kill both. Says whether
    /// the limit holds; where it can't be set because more is used already, that counts as a kill.
    pub(crate) fn limit_memory(&mut self, bytes: u64) -> bool {
        self.memory.as_mut().is_some_and(|memory| memory.limit(bytes))
    }

    /// Limits the processes and threads of the tree. Says whether it holds.
    pub(crate) fn limit_processes(&mut self, most: u32) -> bool {
        let Some(pids) = &mut self.pids else { return false };
        if pids.most != Some(most) {
            pids.most = write(&pids.limit, most.into()).is_ok().then_some(most);
        }
        pids.most.is_some()
    }

    /// Whether more memory was used already than may be, when the limit was set.
    pub(crate) fn memory_exceeded_at_once(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.exceeded_at_once)
    }

    /// Whether the kernel killed a process of the tree for its memory limit.
    pub(crate) fn memory_exceeded(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.exceeded_at_once || memory.kills() > memory.kills_before)
    }

    /// Processor time of the tree, of those that have ended too. `None` where it is not counted.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.cpuacct.as_ref().map(|processor| processor.time().saturating_sub(processor.before))
    }
}

impl Memory {
    fn make(hierarchy: &Path) -> io::Result<Self> {
        let group = Group::make(hierarchy)?;
        Ok(Self {
            limit: group.open("memory.limit_in_bytes", true)?,
            limit_with_swap: group.open("memory.memsw.limit_in_bytes", true).ok(),
            counters: group.open("memory.oom_control", false)?,
            group,
            limited: false,
            kills_before: 0,
            exceeded_at_once: false,
        })
    }

    fn begin(&mut self) {
        if self.limited {
            // The limit with swap may never be below the other, so it is the first to go up.
            let _there = self.limit_with_swap.as_ref().map(|file| file.write_at(b"-1", 0));
            self.limited = self.limit.write_at(b"-1", 0).is_err();
        }
        self.kills_before = self.kills();
        self.exceeded_at_once = false;
    }

    fn limit(&mut self, bytes: u64) -> bool {
        let limited = write(&self.limit, bytes);
        self.exceeded_at_once = limited.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy);
        if limited.is_ok() {
            self.limited = true;
            let _there = self.limit_with_swap.as_ref().map(|file| write(file, bytes));
        }
        limited.is_ok() || self.exceeded_at_once
    }

    fn kills(&self) -> u64 {
        let text = read(&self.counters);
        let kills = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        kills.and_then(|kills| kills.trim().parse().ok()).unwrap_or(0)
    }
}

impl Pids {
    fn make(hierarchy: &Path) -> io::Result<Self> {
        let group = Group::make(hierarchy)?;
        Ok(Self { limit: group.open("pids.max", true)?, group, most: None })
    }
}

impl Processor {
    fn make(hierarchy: &Path) -> io::Result<Self> {
        let group = Group::make(hierarchy)?;
        Ok(Self { usage: group.open("cpuacct.usage", false)?, group, before: Duration::ZERO })
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(read(&self.usage).trim().parse().unwrap_or(0))
    }
}

fn write(file: &File, value: u64) -> io::Result<()> {
    file.write_at(value.to_string().as_bytes(), 0)?;
    Ok(())
}

/// A short file of the kernel's; empty where it can't be read.
fn read(file: &File) -> String {
    let mut bytes = [0; 256];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

impl Group {
    fn make(hierarchy: &Path) -> io::Result<Self> {
        // One that was killed may have had our process id, and in containers all are 1.
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let name = format!("portcullis-{}-{:016x}", std::process::id(), u64::from_ne_bytes(random));
        let directory = hierarchy.join(name);
        fs::create_dir(&directory)?;
        let tasks = File::options().write(true).open(directory.join("tasks"));
        match tasks {
            Ok(tasks) => Ok(Self { directory, tasks: tasks.into() }),
            Err(error) => {
                let _left = fs::remove_dir(&directory);
                Err(error)
            }
        }
    }

    fn open(&self, file: &str, to_write: bool) -> io::Result<File> {
        File::options().read(!to_write).write(to_write).open(self.directory.join(file))
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
        let ours = std::process::id().to_string();
        // One of ours that is this old was our namesake's: this is done once, before any is made.
        let is_gone = maker.is_some_and(|maker| maker == ours || !Path::new("/proc").join(maker).exists());
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
