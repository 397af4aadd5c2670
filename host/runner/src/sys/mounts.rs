//! Making a mount namespace's tree, step by step.
//!
//! A plan is data: paths and flags, made by `layout.rs`. The process that carries it out shares our memory, so it does
//! nothing but the system calls of `call.rs`.

use std::ffi::{CString, c_int};

use super::call::{self, Errno};

/// One step. Paths to which something is attached, and those that are made, are relative to the new root, which is the
/// current directory from [`Op::Root`] on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// Parts the tree from the host's: nothing that is mounted on either side shows on the other.
    Private,
    /// Parts it one way: what the host mounts shows, nothing goes back.
    Follow,
    /// Takes a copy of what is at an absolute path, with all mounts below, and gives it attributes (`mount_setattr(2)`).
    /// The copies are numbered from 0 in the order in which they are taken.
    Take {
        path: CString,
        attributes: u64,
        /// Device and inode that must be found there.
        expected: Option<(u64, u64)>,
    },
    /// Makes an empty file system in memory at an absolute path the new root, and the current directory.
    Root { path: CString },
    /// A directory.
    Directory { path: CString, mode: u32 },
    /// An empty file.
    File { path: CString, mode: u32 },
    /// A symbolic link.
    Link { target: CString, path: CString },
    /// An empty file system in memory.
    Memory { path: CString, options: CString, flags: u64 },
    /// A /proc of the new PID namespace.
    Proc { path: CString, flags: u64 },
    /// Attaches a copy that was taken.
    Attach { copy: usize, path: CString },
    /// Shows what is at one path of the new root at another too.
    Mask { source: CString, path: CString },
    /// Gives attributes to what is mounted there.
    Attributes { path: CString, attributes: u64 },
    /// Makes the new root the root, and lets go of the old one.
    Pivot,
}

impl Op {
    /// The act, to follow "can't ".
    pub(crate) fn what(&self) -> String {
        let shown = |path: &CString| path.to_string_lossy().into_owned();
        match self {
            Self::Private | Self::Follow => "part the mounts from the host's".to_owned(),
            Self::Take { path, .. } => format!("take {}", shown(path)),
            Self::Root { .. } => "mount a new root".to_owned(),
            Self::Directory { path, .. } | Self::File { path, .. } | Self::Link { path, .. } => {
                format!("make /{}", shown(path))
            }
            Self::Memory { path, .. } | Self::Proc { path, .. } | Self::Attach { path, .. } => {
                format!("mount /{}", shown(path).trim_start_matches('/'))
            }
            Self::Mask { path, .. } => format!("mask /{}", shown(path)),
            Self::Attributes { path, .. } => format!("set the attributes of {}", shown(path)),
            Self::Pivot => "change the root".to_owned(),
        }
    }
}

/// Most copies of one plan.
pub(crate) const MOST_COPIES: usize = 512;

/// Attributes of `mount_setattr(2)`.
pub(crate) const READ_ONLY: u64 = 1;
pub(crate) const NO_SETUID: u64 = 2;
pub(crate) const NO_DEVICES: u64 = 4;
pub(crate) const NO_EXEC: u64 = 8;

/// Carries out a plan, in a process that may mount. Where that fails: which step, and the kernel's answer.
pub(super) fn carry_out(plan: &[Op]) -> Result<(), (usize, Errno)> {
    let mut copies = [-1; MOST_COPIES];
    let mut taken = 0;
    for (index, op) in plan.iter().enumerate() {
        step(op, &mut copies, &mut taken).map_err(|errno| (index, errno))?;
    }
    Ok(())
}

fn step(op: &Op, copies: &mut [c_int; MOST_COPIES], taken: &mut usize) -> call::Result<()> {
    match op {
        Op::Private => call::mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_PRIVATE, None)?,
        Op::Follow => call::mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_SLAVE, None)?,
        Op::Take { path, attributes, expected } => {
            let copy = call::open_tree(path)? as c_int;
            if let Some(expected) = expected
                && call::identity(copy)? != *expected
            {
                return Err(Errno(libc::ESTALE));
            }
            if *attributes != 0 {
                call::mount_setattr(copy, c"", *attributes, true)?;
            }
            *copies.get_mut(*taken).ok_or(Errno(libc::E2BIG))? = copy;
            *taken += 1;
            0
        }
        Op::Root { path } => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV;
            call::mount(c"tmpfs", path, c"tmpfs", flags, Some(c"mode=0755,size=1m"))?;
            call::chdir(path)?
        }
        Op::Directory { path, mode } => there_already(call::mkdir(path, *mode))?,
        Op::File { path, mode } => {
            let file = call::create(path, *mode)? as c_int;
            call::close_range(file, file, 0)?
        }
        Op::Link { target, path } => there_already(call::symlink(target, path))?,
        Op::Memory { path, options, flags } => call::mount(c"tmpfs", path, c"tmpfs", *flags, Some(options))?,
        Op::Proc { path, flags } => call::mount(c"proc", path, c"proc", *flags, None)?,
        Op::Attach { copy, path } => {
            let copy = copies.get(*copy).copied().unwrap_or(-1);
            call::move_mount(copy, path)?
        }
        Op::Mask { source, path } => call::mount(source, path, c"none", libc::MS_BIND, None)?,
        Op::Attributes { path, attributes } => call::mount_setattr(libc::AT_FDCWD, path, *attributes, false)?,
        Op::Pivot => {
            // The old root ends up mounted on the new one, where it is let go of.
            call::pivot_root(c".", c".")?;
            call::unmount(c".")?;
            call::chdir(c"/")?
        }
    };
    Ok(())
}

fn there_already(made: call::Result) -> call::Result {
    match made {
        Err(Errno(libc::EEXIST)) => Ok(0),
        other => other,
    }
}
