//! System calls of children that share our memory, each wrapped once.
//!
//! Not those of the C library: it stores errors in the `errno` of the calling thread, and a child that shares our memory
//! shares that as well, with a thread of ours that may run at the same time.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr;

/// What the kernel answered instead of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Errno(pub(super) c_int);

/// What a system call came to.
pub(super) type Result<T = usize> = std::result::Result<T, Errno>;

/// A system call by its number; unused arguments are 0.
///
/// # Safety
/// As `syscall(2)`: every pointer among the arguments is what this call wants.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: c_long, arguments: [usize; 6]) -> Result {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: the kernel's convention for this architecture, syscall(2): it keeps all other registers. What the call
    // itself may touch is the caller's promise.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer(result)
}

/// A system call by its number; unused arguments are 0.
///
/// # Safety
/// As `syscall(2)`: every pointer among the arguments is what this call wants.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: c_long, arguments: [usize; 6]) -> Result {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    answer(result)
}

/// The kernel returns errors as the last 4095 values.
fn answer(result: isize) -> Result {
    match result {
        -4095..=-1 => Err(Errno(-result as c_int)),
        _ => Ok(result as usize),
    }
}

/// Ends this process and nothing else: no destructors, no `atexit`, which are the host's.
pub(super) fn exit(code: c_int) -> ! {
    loop {
        // SAFETY: exit_group(2) takes an integer.
        let _never = unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

pub(super) fn setns(descriptor: c_int, kinds: c_int) -> Result {
    // SAFETY: setns(2) takes integers.
    unsafe { call(libc::SYS_setns, [descriptor as usize, kinds as usize, 0, 0, 0, 0]) }
}

pub(super) fn setsid() -> Result {
    // SAFETY: setsid(2) takes nothing.
    unsafe { call(libc::SYS_setsid, [0; 6]) }
}

pub(super) fn umask(mask: u32) -> Result {
    // SAFETY: umask(2) takes an integer.
    unsafe { call(libc::SYS_umask, [mask as usize, 0, 0, 0, 0, 0]) }
}

/// Copies a descriptor; the copy stays open when a program is executed.
pub(super) fn dup3(source: c_int, target: c_int) -> Result {
    // SAFETY: dup3(2) takes integers.
    unsafe { call(libc::SYS_dup3, [source as usize, target as usize, 0, 0, 0, 0]) }
}

/// Closes all descriptors from one on, or with `CLOSE_RANGE_CLOEXEC` has them closed when a program is executed.
pub(super) fn close_range(first: c_int, last: c_int, flags: u32) -> Result {
    // SAFETY: close_range(2) takes integers. Where it closes, the descriptors are this process's own copies.
    unsafe { call(libc::SYS_close_range, [first as usize, last as usize, flags as usize, 0, 0, 0]) }
}

pub(super) fn write(descriptor: c_int, bytes: &[u8]) -> Result {
    // SAFETY: the kernel reads as many bytes as there are.
    unsafe { call(libc::SYS_write, [descriptor as usize, bytes.as_ptr().addr(), bytes.len(), 0, 0, 0]) }
}

/// `struct msghdr` of recvmsg(2), and all that it leads to.
pub(super) fn recvmsg(socket: c_int, message: &mut libc::msghdr) -> Result {
    // SAFETY: `message` is valid for reads and writes; what it leads to is its maker's promise (see `Message::receive`).
    unsafe { call(libc::SYS_recvmsg, [socket as usize, ptr::from_mut(message).addr(), 0, 0, 0, 0]) }
}

pub(super) fn set_limit(resource: c_int, soft: u64, hard: u64) -> Result {
    let both = [soft, hard];
    // SAFETY: `both` is a `struct rlimit64`: two 64-bit values; process 0 is this one; no old limit is asked for.
    unsafe { call(libc::SYS_prlimit64, [0, resource as usize, both.as_ptr().addr(), 0, 0, 0]) }
}

/// Opens a file as a path, to execute it; no symbolic link.
pub(super) fn open_program(path: &CStr) -> Result {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a string that ends in NUL; no mode is needed where nothing is created.
    unsafe { call(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr().addr(), flags as usize, 0, 0, 0]) }
}

/// Opens a file to read; it stays open when a program is executed.
pub(super) fn open_to_read(path: &CStr) -> Result {
    // SAFETY: a string that ends in NUL; no mode is needed where nothing is created.
    unsafe { call(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr().addr(), libc::O_RDONLY as usize, 0, 0, 0]) }
}

pub(super) fn open_directory(path: &CStr) -> Result {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a string that ends in NUL; no mode is needed where nothing is created.
    unsafe { call(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr().addr(), flags as usize, 0, 0, 0]) }
}

/// Opens a directory below another, without leaving it (`RESOLVE_BENEATH` of openat2(2)).
pub(super) fn open_below(directory: c_int, path: &CStr) -> Result {
    /// `struct open_how`.
    #[repr(C)]
    struct OpenHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const RESOLVE_NO_MAGICLINKS: u64 = 0x02;
    const RESOLVE_BENEATH: u64 = 0x08;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let how = OpenHow { flags: flags as u64, mode: 0, resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    let how: *const OpenHow = &raw const how;
    // SAFETY: a string that ends in NUL, and a `struct open_how` of the size that is given.
    unsafe {
        call(libc::SYS_openat2, [directory as usize, path.as_ptr().addr(), how.addr(), size_of::<OpenHow>(), 0, 0])
    }
}

/// Device and inode of an open file.
pub(super) fn identity(descriptor: c_int) -> Result<(u64, u64)> {
    // SAFETY: all zeroes is a valid `struct stat`: it is made of integers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is valid for writes, and on 64-bit machines the C library's is the kernel's own.
    unsafe { call(libc::SYS_fstat, [descriptor as usize, (&raw mut stat).addr(), 0, 0, 0, 0]) }?;
    #[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
    Ok((stat.st_dev.into(), stat.st_ino.into()))
}

pub(super) fn fchdir(directory: c_int) -> Result {
    // SAFETY: fchdir(2) takes an integer.
    unsafe { call(libc::SYS_fchdir, [directory as usize, 0, 0, 0, 0, 0]) }
}

/// Sets what a signal does: `SIG_DFL` or `SIG_IGN`.
pub(super) fn signal(signal: c_int, action: usize) -> Result {
    // `struct sigaction` of the kernel: the handler, no flags, an empty mask. Longer than any architecture's.
    let action: [usize; 4] = [action, 0, 0, 0];
    // SAFETY: the kernel reads one `struct sigaction` whose mask has 8 bytes.
    unsafe { call(libc::SYS_rt_sigaction, [signal as usize, action.as_ptr().addr(), 0, 8, 0, 0]) }
}

pub(super) fn unblock_signals() -> Result {
    let nothing: u64 = 0;
    // SAFETY: a set of 8 bytes, as the size says.
    unsafe { call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, (&raw const nothing).addr(), 0, 8, 0, 0]) }
}

/// The options of prctl(2) that take integers only.
pub(super) fn prctl(option: c_int, argument: usize) -> Result {
    // SAFETY: the callers' options take integers.
    unsafe { call(libc::SYS_prctl, [option as usize, argument, 0, 0, 0, 0]) }
}

/// Installs a seccomp filter.
pub(super) fn seccomp(instructions: &[libc::sock_filter]) -> Result {
    let program = libc::sock_fprog { len: instructions.len() as u16, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: the kernel reads the program and keeps a copy of its own.
    unsafe {
        call(libc::SYS_seccomp, [libc::SECCOMP_SET_MODE_FILTER as usize, 0, (&raw const program).addr(), 0, 0, 0])
    }
}

/// `umask(2)` applies to the modes of what is made.
pub(super) fn mkdir(path: &CStr, mode: u32) -> Result {
    // SAFETY: a string that ends in NUL.
    unsafe { call(libc::SYS_mkdirat, [libc::AT_FDCWD as usize, path.as_ptr().addr(), mode as usize, 0, 0, 0]) }
}

/// Opens a file that may be new.
pub(super) fn create(path: &CStr, mode: u32) -> Result {
    let flags = libc::O_CREAT | libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let arguments = [libc::AT_FDCWD as usize, path.as_ptr().addr(), flags as usize, mode as usize, 0, 0];
    // SAFETY: a string that ends in NUL.
    unsafe { call(libc::SYS_openat, arguments) }
}

pub(super) fn symlink(target: &CStr, path: &CStr) -> Result {
    // SAFETY: strings that end in NUL.
    unsafe {
        call(libc::SYS_symlinkat, [target.as_ptr().addr(), libc::AT_FDCWD as usize, path.as_ptr().addr(), 0, 0, 0])
    }
}

pub(super) fn chdir(path: &CStr) -> Result {
    // SAFETY: a string that ends in NUL.
    unsafe { call(libc::SYS_chdir, [path.as_ptr().addr(), 0, 0, 0, 0, 0]) }
}

pub(super) fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: u64, options: Option<&CStr>) -> Result {
    let options = options.map_or(0, |options| options.as_ptr().addr());
    // SAFETY: strings that end in NUL, or none.
    unsafe {
        call(
            libc::SYS_mount,
            [source.as_ptr().addr(), target.as_ptr().addr(), kind.as_ptr().addr(), flags as usize, options, 0],
        )
    }
}

/// Takes a copy of a mount and all below it.
pub(super) fn open_tree(path: &CStr) -> Result {
    const OPEN_TREE_CLONE: c_int = 1;
    const AT_RECURSIVE: c_int = 0x8000;
    let flags = OPEN_TREE_CLONE | AT_RECURSIVE | libc::O_CLOEXEC;
    // SAFETY: a string that ends in NUL.
    unsafe { call(libc::SYS_open_tree, [libc::AT_FDCWD as usize, path.as_ptr().addr(), flags as usize, 0, 0, 0]) }
}

/// Attaches a mount that [`open_tree`] took.
pub(super) fn move_mount(tree: c_int, path: &CStr) -> Result {
    const MOVE_MOUNT_F_EMPTY_PATH: usize = 4;
    let arguments =
        [tree as usize, c"".as_ptr().addr(), libc::AT_FDCWD as usize, path.as_ptr().addr(), MOVE_MOUNT_F_EMPTY_PATH, 0];
    // SAFETY: strings that end in NUL.
    unsafe { call(libc::SYS_move_mount, arguments) }
}

/// Sets attributes of the mount at a path, or of an open one with an empty path, and with `all` of those below it.
pub(super) fn mount_setattr(tree: c_int, path: &CStr, attributes: u64, all: bool) -> Result {
    /// `struct mount_attr`.
    #[repr(C)]
    struct MountAttr {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const AT_RECURSIVE: c_int = 0x8000;
    let attributes = MountAttr { set: attributes, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_EMPTY_PATH | if all { AT_RECURSIVE } else { 0 };
    let arguments = [
        tree as usize,
        path.as_ptr().addr(),
        flags as usize,
        (&raw const attributes).addr(),
        size_of::<MountAttr>(),
        0,
    ];
    // SAFETY: a string that ends in NUL, and a `struct mount_attr` of the size that is given.
    unsafe { call(libc::SYS_mount_setattr, arguments) }
}

pub(super) fn pivot_root(new: &CStr, old: &CStr) -> Result {
    // SAFETY: strings that end in NUL.
    unsafe { call(libc::SYS_pivot_root, [new.as_ptr().addr(), old.as_ptr().addr(), 0, 0, 0, 0]) }
}

/// Lets go of a mount at once, whoever uses it (`MNT_DETACH`).
pub(super) fn unmount(path: &CStr) -> Result {
    // SAFETY: a string that ends in NUL.
    unsafe { call(libc::SYS_umount2, [path.as_ptr().addr(), libc::MNT_DETACH as usize, 0, 0, 0, 0]) }
}

/// Gives up all capabilities: effective, permitted and inheritable.
pub(super) fn drop_capabilities() -> Result {
    /// `_LINUX_CAPABILITY_VERSION_3`, and process 0: this one.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    const NONE: [u32; 6] = [0; 6];
    // SAFETY: the header of version 3 and its two triples of 32 bits, as capset(2) reads them.
    unsafe { call(libc::SYS_capset, [HEADER.as_ptr().addr(), NONE.as_ptr().addr(), 0, 0, 0, 0]) }
}

/// Enforces a Landlock ruleset.
pub(super) fn landlock_restrict_self(ruleset: c_int) -> Result {
    // SAFETY: landlock_restrict_self(2) takes integers.
    unsafe { call(libc::SYS_landlock_restrict_self, [ruleset as usize, 0, 0, 0, 0, 0]) }
}

/// Executes an open file. `mark` lands in the register of the sixth argument, which the kernel does not read.
///
/// # Safety
/// Both lists end in a null pointer and lead to strings that end in NUL.
pub(super) unsafe fn execute(
    program: c_int,
    argv: *const *const c_char,
    env: *const *const c_char,
    mark: u64,
) -> Result {
    let empty: *const c_void = c"".as_ptr().cast();
    // SAFETY: the caller's promise; the path is empty, so the program is the descriptor itself.
    unsafe {
        call(
            libc::SYS_execveat,
            [program as usize, empty.addr(), argv.addr(), env.addr(), libc::AT_EMPTY_PATH as usize, mark as usize],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_from_results_and_errno_is_left_alone() {
        // SAFETY: takes no memory; a negative number is no descriptor.
        unsafe { libc::close(-1) };
        let before = std::io::Error::last_os_error().raw_os_error();
        assert_eq!(dup3(-1, 100), Err(Errno(libc::EBADF)));
        assert_eq!(fchdir(0xff_ffff), Err(Errno(libc::EBADF)));
        assert_eq!(open_directory(c"/nothing/here"), Err(Errno(libc::ENOENT)));
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), before);
        let root = open_directory(c"/").unwrap();
        let usr = open_below(root as c_int, c"usr").unwrap();
        assert_ne!(identity(usr as c_int), identity(root as c_int));
        assert_eq!(open_below(usr as c_int, c".."), Err(Errno(libc::EXDEV)));
        for opened in [root, usr] {
            close_range(opened as c_int, opened as c_int, 0).unwrap();
        }
    }
}
