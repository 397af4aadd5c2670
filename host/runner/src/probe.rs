//! What this host can do for commands, found out by doing it.

use std::fs;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::process::PidfdFlags;

use crate::cgroup::Cgroup;
use crate::guard::{Guard, GuardError, Kind};
use crate::{Capability, pool, ruleset, sys};

/// How long a guard that was started as a trial may take to die.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries out everything that commands are held with, for this user on this host. Call [`settle`](crate::settle) before
/// the process ends.
#[must_use]
pub fn probe() -> Vec<Capability> {
    let (kind, refusal) = pool::namespaces();
    let namespaced = kind == Kind::Namespaces;
    let mut cgroup = Cgroup::make();
    vec![
        guard(),
        pid_namespace(refusal),
        memory(cgroup.as_mut().is_some_and(|cgroup| cgroup.limit_memory(1 << 30))),
        processes(cgroup.as_mut().is_some_and(|cgroup| cgroup.limit_processes(256)), namespaced),
        processor_time(cgroup.as_ref().is_some_and(|cgroup| cgroup.cpu_time().is_some())),
        kernel("pidfd", "processes are watched by descriptors", "5.3", pidfd()),
        kernel("openat2", "directories are opened below the workspace only", "5.6", openat2()),
        kernel("close-range", "commands get no descriptor of the host's", "5.11", sys::has_close_range()),
        kernel("seccomp-filter", "refuses system calls that commands have no business with", "4.14", seccomp()),
        landlock(),
        mount_namespace(pool::confinement()),
    ]
}

fn guard() -> Capability {
    let name = "guard";
    match Guard::start(None, true) {
        Ok(guard) => {
            guard.kill();
            guard.wait(PATIENCE);
            has(name, "kills a command when portcullis dies; it is executed from memory")
        }
        Err(error) => {
            let remedy = "allow memfd_create and execveat in the container's seccomp profile, and set sysctl \
                          vm.memfd_noexec=0";
            lacks(name, format!("{error}; no command can be started"), remedy)
        }
    }
}

fn pid_namespace(refusal: Option<&GuardError>) -> Capability {
    let name = "pid-namespace";
    match refusal {
        None => has(name, "whatever a command starts ends with it; user, mount, IPC and UTS namespaces too"),
        Some(error) => {
            let detail =
                format!("{error}; a process group, and a seccomp filter that keeps processes in it, hold instead");
            lacks(name, detail, namespace_remedy())
        }
    }
}

/// The first switch that is off; else what containers do.
fn namespace_remedy() -> &'static str {
    let is = |switch: &str, value| fs::read_to_string(switch).is_ok_and(|text| text.trim() == value);
    if is("/proc/sys/user/max_user_namespaces", "0") {
        "set sysctl user.max_user_namespaces=10000"
    } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "set sysctl kernel.unprivileged_userns_clone=1"
    } else if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "give portcullis an AppArmor profile with `userns,`, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    } else {
        "in a container: allow clone, setns and mount with new namespaces in its seccomp profile, and leave its /proc \
         unmasked (Docker: --security-opt seccomp=FILE --security-opt systempaths=unconfined)"
    }
}

fn memory(limited: bool) -> Capability {
    let name = "memory-of-tree";
    if limited {
        has(name, "limits.memory holds for all processes of a command together (cgroup `memory`)")
    } else {
        lacks(name, "limits.memory holds for each process on its own (RLIMIT_DATA)", cgroup_remedy())
    }
}

fn processes(limited: bool, namespaced: bool) -> Capability {
    let name = "processes-of-tree";
    if limited {
        has(name, "limits.processes holds for all processes of a command together (cgroup `pids`)")
    } else if namespaced && !rustix::process::geteuid().is_root() {
        has(name, "limits.processes holds for all processes of a command together (RLIMIT_NPROC in its user namespace)")
    } else {
        lacks(name, "limits.processes does not hold", cgroup_remedy())
    }
}

fn processor_time(counted: bool) -> Capability {
    let name = "cpu-of-tree";
    if counted {
        has(name, "limits.cpu counts every process that a command ever had (cgroup `cpuacct`)")
    } else {
        let detail = "limits.cpu counts the processes that are alive, and for each process on its own (RLIMIT_CPU)";
        lacks(name, detail, cgroup_remedy())
    }
}

fn cgroup_remedy() -> &'static str {
    if fs::exists("/sys/fs/cgroup/cgroup.controllers").unwrap_or(false) {
        "mount the controller as a cgroup hierarchy of version 1; this release does not use version 2"
    } else {
        "run as root, or have this user's cgroup (/proc/self/cgroup) delegated: made writable for it in this \
         controller's hierarchy; in a container, mount /sys/fs/cgroup writable"
    }
}

/// A system call that the kernel has since a release, unless something refuses it.
fn kernel(name: &'static str, purpose: &str, since: &str, tried: std::io::Result<()>) -> Capability {
    match tried {
        Ok(()) => has(name, purpose),
        Err(error) => {
            let remedy = format!("use Linux {since} or newer; in a container, allow the call in its seccomp profile");
            Capability { remedy: Some(remedy), ..lacks(name, error.to_string(), "") }
        }
    }
}

fn pidfd() -> std::io::Result<()> {
    rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    Ok(())
}

fn openat2() -> std::io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, "/", flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
    Ok(())
}

fn seccomp() -> std::io::Result<()> {
    sys::seccomp_can_refuse()
}

fn landlock() -> Capability {
    let name = "landlock";
    match sys::landlock_abi() {
        Some(abi) if abi >= ruleset::OLDEST => {
            let signals = if abi < 6 { "; before version 6 it does not keep signals in" } else { "" };
            has(name, format!("commands read, write and execute what the policy names (version {abi}{signals})"))
        }
        Some(abi) => lacks(name, format!("version {abi} is too old"), "use Linux 6.2 or newer"),
        None => {
            let remedy = "use Linux 6.2 or newer, with `landlock` in the kernel's lsm= list; in a container, allow its \
                          system calls in the seccomp profile";
            lacks(name, "commands can't be confined to files", remedy)
        }
    }
}

/// What a trial of everything together came to.
fn mount_namespace((kind, refusal): (Kind, Option<&GuardError>)) -> Capability {
    let name = "mount-namespace";
    match refusal {
        None => has(name, "commands have a tree of files and a network of their own, and no powers; tried on one"),
        Some(error) => {
            let instead = match kind {
                Kind::Group => "; Landlock, a seccomp filter and no powers hold all the same (level landlock)",
                Kind::Namespaces | Kind::Open => "",
            };
            lacks(name, format!("{error}{instead}"), namespace_remedy())
        }
    }
}

fn has(name: &'static str, detail: impl Into<String>) -> Capability {
    Capability { name, holds: true, detail: detail.into(), remedy: None }
}

fn lacks(name: &'static str, detail: impl Into<String>, remedy: &str) -> Capability {
    Capability { name, holds: false, detail: detail.into(), remedy: Some(remedy.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_a_remedy() {
        for capability in probe() {
            assert_eq!(capability.holds, capability.remedy.is_none(), "{capability:?}");
        }
        crate::settle();
    }
}
