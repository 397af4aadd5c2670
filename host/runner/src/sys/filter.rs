//! Seccomp filters that keep a command's processes where they can be found and ended. They guard the tree, not the
//! kernel: they are no allow-list of system calls.
//!
//! Where there are no PID namespaces a filter keeps a command in its session and process group.
//!
//! `setsid` fails with EPERM, as it does for every group leader; `setpgid` succeeds and does nothing, since job control
//! in shells takes a failure badly. So killing the group reaches every descendant.

use libc::sock_filter;

/// `AUDIT_ARCH_*` of the machine, from `linux/audit.h`.
const ARCH: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
/// Numbers from here on are x32's on x86-64, and belong to nobody elsewhere.
const X32: u32 = 0x4000_0000;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// Offsets into `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// First argument, lower half (both architectures are little-endian): the flags of `clone`.
const FIRST_ARGUMENT: u32 = 16;
const BITS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// A filter, as `seccomp(2)` takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter(&'static [sock_filter]);

impl Filter {
    /// For a command in a PID namespace.
    pub(super) fn below() -> Self {
        Self(&STAY_BELOW)
    }

    /// For a command that is held together by its process group.
    pub(super) fn in_group() -> Self {
        Self(&STAY_IN_GROUP)
    }

    pub(super) fn instructions(&self) -> &[sock_filter] {
        self.0
    }
}

/// In a PID namespace: no process becomes a child of the host's (`CLONE_PARENT`), where the guard does not see it and
/// nobody reaps it.
const STAY_BELOW: [sock_filter; 12] = [
    statement(LOAD, ARCHITECTURE),
    jump(EQUAL, ARCH, 1, 0),
    // Another architecture's numbers mean other calls.
    statement(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
    statement(LOAD, NUMBER),
    jump(AT_LEAST, X32, 6, 0),
    // `clone3` has its flags in memory, where a filter can't look; the C library goes on with `clone`.
    jump(EQUAL, libc::SYS_clone3 as u32, 4, 0),
    jump(EQUAL, libc::SYS_clone as u32, 0, 2),
    statement(LOAD, FIRST_ARGUMENT),
    jump(BITS, libc::CLONE_PARENT as u32, 2, 0),
    statement(RETURN, libc::SECCOMP_RET_ALLOW),
    statement(RETURN, ENOSYS),
    statement(RETURN, EPERM),
];

/// Without one: the same, and no process leaves the process group.
const STAY_IN_GROUP: [sock_filter; 15] = [
    statement(LOAD, ARCHITECTURE),
    jump(EQUAL, ARCH, 1, 0),
    statement(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
    statement(LOAD, NUMBER),
    jump(AT_LEAST, X32, 8, 0),
    jump(EQUAL, libc::SYS_setsid as u32, 7, 0),
    jump(EQUAL, libc::SYS_setpgid as u32, 7, 0),
    jump(EQUAL, libc::SYS_clone3 as u32, 4, 0),
    jump(EQUAL, libc::SYS_clone as u32, 0, 2),
    statement(LOAD, FIRST_ARGUMENT),
    jump(BITS, libc::CLONE_PARENT as u32, 2, 0),
    statement(RETURN, libc::SECCOMP_RET_ALLOW),
    statement(RETURN, ENOSYS),
    // What `setsid` and x32's calls get shares this with CLONE_PARENT.
    statement(RETURN, EPERM),
    statement(RETURN, libc::SECCOMP_RET_ERRNO),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter answers to a call, by the rules of the kernel's interpreter.
    fn answer(filter: &[sock_filter], number: i64, first: u32) -> u32 {
        let mut at = 0;
        let mut loaded = 0_u32;
        loop {
            let sock_filter { code, jt, jf, k } = filter[at];
            at += 1;
            match code {
                LOAD => {
                    loaded = [(NUMBER, number as u32), (ARCHITECTURE, ARCH), (FIRST_ARGUMENT, first)]
                        .into_iter()
                        .find(|(offset, _)| *offset == k)
                        .unwrap()
                        .1
                }
                RETURN => return k,
                EQUAL => at += usize::from(if loaded == k { jt } else { jf }),
                AT_LEAST => at += usize::from(if loaded >= k { jt } else { jf }),
                BITS => at += usize::from(if loaded & k != 0 { jt } else { jf }),
                _ => panic!("no such instruction"),
            }
        }
    }

    #[test]
    fn each_filter_answers_each_call_as_it_says() {
        const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
        let parent = libc::CLONE_PARENT as u32 | 17;
        for (number, first, below, group) in [
            (libc::SYS_read, 0, ALLOW, ALLOW),
            (libc::SYS_read, parent, ALLOW, ALLOW),
            (libc::SYS_clone, 17, ALLOW, ALLOW),
            (libc::SYS_clone, parent, EPERM, EPERM),
            (libc::SYS_clone3, 0, ENOSYS, ENOSYS),
            (libc::SYS_setsid, 0, ALLOW, EPERM),
            (libc::SYS_setpgid, 0, ALLOW, libc::SECCOMP_RET_ERRNO),
            (i64::from(X32) + 1, 0, EPERM, EPERM),
        ] {
            assert_eq!(answer(&STAY_BELOW, number, first), below, "{number} {first}");
            assert_eq!(answer(&STAY_IN_GROUP, number, first), group, "{number} {first}");
        }
    }
}
