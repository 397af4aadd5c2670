//! System calls that a filter does not simply allow, with their numbers on each architecture.
//!
//! Numbers: `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl` of Linux 6.18.

use Verdict::{
    Absent, CloneFlags, Execve, Execveat, First, Group, Ioctl, Memfd, Personality, Refuse, Second, Session, Socket,
};

/// The newest system call that was looked at. Newer ones are answered as if the kernel did not have them: one of them
/// undid `noexec` for root the day it came (`open_tree_attr`).
pub(super) const NEWEST: u32 = 469;

/// What happens to a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Refused: EPERM.
    Refuse,
    /// Answered as if the kernel did not have it: ENOSYS.
    Absent,
    /// No new namespaces, and no child for the host (`CLONE_PARENT`).
    CloneFlags,
    /// The families of the network that is allowed.
    Socket,
    /// No typing on terminals.
    Ioctl,
    /// Only what does not make memory executable.
    Personality,
    /// Only files that can't be executed, where it is limited what may be executed.
    Memfd,
    /// Not at all where a command may have no children that execute programs.
    Execve,
    /// Then only with the token.
    Execveat,
    /// No new session, where the process group holds the command together.
    Session,
    /// No other process group either; answered as if it had worked, as job control takes a failure badly.
    Group,
    /// On the calling process only (first argument 0), where there is no PID namespace.
    First,
    /// The same, for calls with the process in the second argument.
    Second,
}

/// A system call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    /// `None` = this architecture does not have it.
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    pub(super) verdict: Verdict,
}

impl Call {
    /// Its number on an architecture.
    pub(super) fn number(&self, architecture: Architecture) -> Option<u32> {
        match architecture {
            Architecture::X86_64 => self.x86_64,
            Architecture::Aarch64 => self.aarch64,
        }
    }
}

/// An architecture that filters are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The one that this is compiled for.
    pub(super) const HERE: Self = if cfg!(target_arch = "x86_64") { Self::X86_64 } else { Self::Aarch64 };

    /// `AUDIT_ARCH_*` of `linux/audit.h`, which the kernel gives to filters.
    pub(super) fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }
}

const fn call(name: &'static str, x86_64: Option<u32>, aarch64: Option<u32>, verdict: Verdict) -> Call {
    Call { name, x86_64, aarch64, verdict }
}

/// Those that even a command does not simply have which is confined by nothing but its limits: they would take a process
/// out of its tree.
pub(super) const TREE: [&str; 4] = ["clone", "clone3", "setsid", "setpgid"];

/// All that are not simply allowed.
#[rustfmt::skip]
pub(super) const CALLS: &[Call] = &[
    // Mounts and roots: they would undo what is hidden, read-only or not executable.
    call("mount", Some(165), Some(40), Refuse),
    call("umount2", Some(166), Some(39), Refuse),
    call("pivot_root", Some(155), Some(41), Refuse),
    call("chroot", Some(161), Some(51), Refuse),
    call("open_tree", Some(428), Some(428), Refuse),
    call("open_tree_attr", Some(467), Some(467), Refuse),
    call("move_mount", Some(429), Some(429), Refuse),
    call("fsopen", Some(430), Some(430), Refuse),
    call("fsconfig", Some(431), Some(431), Refuse),
    call("fsmount", Some(432), Some(432), Refuse),
    call("fspick", Some(433), Some(433), Refuse),
    call("mount_setattr", Some(442), Some(442), Refuse),
    // Other namespaces; `clone` is looked into.
    call("unshare", Some(272), Some(97), Refuse),
    call("setns", Some(308), Some(268), Refuse),
    // Other processes: their memory, descriptors and execution.
    call("ptrace", Some(101), Some(117), Refuse),
    call("process_vm_readv", Some(310), Some(270), Refuse),
    call("process_vm_writev", Some(311), Some(271), Refuse),
    call("process_madvise", Some(440), Some(440), Refuse),
    call("kcmp", Some(312), Some(272), Refuse),
    call("pidfd_getfd", Some(438), Some(438), Refuse),
    // Large parts of the kernel that commands have no use for, with a history of holes.
    call("bpf", Some(321), Some(280), Refuse),
    call("perf_event_open", Some(298), Some(241), Refuse),
    call("userfaultfd", Some(323), Some(282), Refuse),
    call("keyctl", Some(250), Some(219), Refuse),
    call("add_key", Some(248), Some(217), Refuse),
    call("request_key", Some(249), Some(218), Refuse),
    call("modify_ldt", Some(154), None, Refuse),
    call("lookup_dcookie", Some(212), Some(18), Refuse),
    call("memfd_secret", Some(447), Some(447), Refuse),
    call("fanotify_init", Some(300), Some(262), Refuse),
    call("fanotify_mark", Some(301), Some(263), Refuse),
    // Programs go on without it where the kernel does not have it.
    call("io_uring_setup", Some(425), Some(425), Absent),
    call("io_uring_enter", Some(426), Some(426), Absent),
    call("io_uring_register", Some(427), Some(427), Absent),
    // The machine itself. A user namespace has no say in most of these; nobody has to find out.
    call("reboot", Some(169), Some(142), Refuse),
    call("kexec_load", Some(246), Some(104), Refuse),
    call("kexec_file_load", Some(320), Some(294), Refuse),
    call("init_module", Some(175), Some(105), Refuse),
    call("finit_module", Some(313), Some(273), Refuse),
    call("delete_module", Some(176), Some(106), Refuse),
    call("create_module", Some(174), None, Refuse),
    call("get_kernel_syms", Some(177), None, Refuse),
    call("query_module", Some(178), None, Refuse),
    call("swapon", Some(167), Some(224), Refuse),
    call("swapoff", Some(168), Some(225), Refuse),
    call("acct", Some(163), Some(89), Refuse),
    call("quotactl", Some(179), Some(60), Refuse),
    call("quotactl_fd", Some(443), Some(443), Refuse),
    call("settimeofday", Some(164), Some(170), Refuse),
    call("clock_settime", Some(227), Some(112), Refuse),
    call("clock_adjtime", Some(305), Some(266), Refuse),
    call("adjtimex", Some(159), Some(171), Refuse),
    call("sethostname", Some(170), Some(161), Refuse),
    call("setdomainname", Some(171), Some(162), Refuse),
    call("iopl", Some(172), None, Refuse),
    call("ioperm", Some(173), None, Refuse),
    call("syslog", Some(103), Some(116), Refuse),
    call("nfsservctl", Some(180), Some(42), Refuse),
    call("vhangup", Some(153), Some(58), Refuse),
    call("uselib", Some(134), None, Refuse),
    call("ustat", Some(136), None, Refuse),
    call("sysfs", Some(139), None, Refuse),
    call("_sysctl", Some(156), None, Refuse),
    // Files by handle go past every path.
    call("open_by_handle_at", Some(304), Some(265), Refuse),
    call("name_to_handle_at", Some(303), Some(264), Refuse),
    // What is looked into, see `Verdict`.
    call("clone", Some(56), Some(220), CloneFlags),
    // Its flags lie in memory, where a filter can't look. The C library goes on with `clone`.
    call("clone3", Some(435), Some(435), Absent),
    call("socket", Some(41), Some(198), Socket),
    call("socketpair", Some(53), Some(199), Socket),
    call("ioctl", Some(16), Some(29), Ioctl),
    call("personality", Some(135), Some(92), Personality),
    call("memfd_create", Some(319), Some(279), Memfd),
    call("execve", Some(59), Some(221), Execve),
    call("execveat", Some(322), Some(281), Execveat),
    call("setsid", Some(112), Some(157), Session),
    call("setpgid", Some(109), Some(154), Group),
    call("prlimit64", Some(302), Some(261), First),
    call("sched_setaffinity", Some(203), Some(122), First),
    call("sched_setscheduler", Some(144), Some(119), First),
    call("sched_setparam", Some(142), Some(118), First),
    call("sched_setattr", Some(314), Some(274), First),
    call("migrate_pages", Some(256), Some(238), First),
    call("move_pages", Some(279), Some(239), First),
    call("setpriority", Some(141), Some(140), Second),
    call("ioprio_set", Some(251), Some(30), Second),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kernel's headers are installed (linux-libc-dev), the numbers are compared with them.
    #[test]
    fn the_numbers_are_the_kernels() {
        let headers = [
            (Architecture::X86_64, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
            (Architecture::Aarch64, "/usr/include/asm-generic/unistd.h"),
        ];
        for (architecture, path) in headers {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let number = |name: &str| {
                text.lines().find_map(|line| {
                    let (defined, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
                    (defined == name).then(|| number.trim().parse::<u32>().ok()).flatten()
                })
            };
            for call in CALLS {
                if let (Some(ours), Some(theirs)) = (call.number(architecture), number(call.name)) {
                    assert_eq!(ours, theirs, "{} on {architecture:?}", call.name);
                }
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_c_library() {
        let here = |name: &str| {
            let call = CALLS.iter().find(|call| call.name == name).unwrap();
            i64::from(call.number(Architecture::HERE).unwrap())
        };
        for (name, number) in [
            ("mount", libc::SYS_mount),
            ("ptrace", libc::SYS_ptrace),
            ("bpf", libc::SYS_bpf),
            ("clone", libc::SYS_clone),
            ("socket", libc::SYS_socket),
            ("ioctl", libc::SYS_ioctl),
            ("execve", libc::SYS_execve),
            ("execveat", libc::SYS_execveat),
            ("memfd_create", libc::SYS_memfd_create),
            ("prlimit64", libc::SYS_prlimit64),
            ("setsid", libc::SYS_setsid),
            ("open_by_handle_at", libc::SYS_open_by_handle_at),
            ("io_uring_setup", libc::SYS_io_uring_setup),
        ] {
            assert_eq!(here(name), number, "{name}");
        }
    }

    #[test]
    fn no_number_comes_twice_and_none_is_newer_than_the_newest() {
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let mut numbers: Vec<u32> = CALLS.iter().filter_map(|call| call.number(architecture)).collect();
            let count = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), count);
            assert!(numbers.last() <= Some(&NEWEST));
        }
    }
}
