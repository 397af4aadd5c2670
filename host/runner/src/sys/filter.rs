//! A seccomp filter that keeps a command in its session and process group, for where there are no PID namespaces.
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

pub(super) const STAY_IN_GROUP: [sock_filter; 10] = [
    statement(LOAD, ARCHITECTURE),
    jump(EQUAL, ARCH, 1, 0),
    // Another architecture's numbers mean other calls.
    statement(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
    statement(LOAD, NUMBER),
    jump(AT_LEAST, X32, 3, 0),
    jump(EQUAL, libc::SYS_setsid as u32, 2, 0),
    jump(EQUAL, libc::SYS_setpgid as u32, 2, 0),
    statement(RETURN, libc::SECCOMP_RET_ALLOW),
    statement(RETURN, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
    statement(RETURN, libc::SECCOMP_RET_ERRNO),
];
