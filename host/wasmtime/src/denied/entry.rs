//! Looking at one name of a directory without following it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Most symbolic links on one way, as the kernel has it.
pub(super) const MAX_LINKS: usize = 40;

/// A handle on something, without the right to read it.
const HANDLE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a file is, by whatever name: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from_stat(&rustix::fs::fstat(file)?))
    }

    fn from_stat(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// What a name of a directory stands for.
#[derive(Debug)]
pub(super) enum Entry {
    Missing,
    /// And what it says.
    Link(PathBuf),
    /// Opened.
    Directory(File, Identity),
    Other(Identity),
}

/// Looks at a name of a directory.
pub(super) fn entry(directory: &File, name: &OsStr) -> io::Result<Entry> {
    let handle = match rustix::fs::openat(directory, name, HANDLE, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(Entry::Missing),
        Err(error) => return Err(error.into()),
    };
    let stat = rustix::fs::fstat(&handle)?;
    let file_type = FileType::from_raw_mode(stat.st_mode);
    if file_type == FileType::Symlink {
        // Of the handle, not of the name: the name may be another by now.
        let target = rustix::fs::readlinkat(&handle, c"", Vec::new())?;
        return Ok(Entry::Link(OsString::from_vec(target.into_bytes()).into()));
    }
    let identity = Identity::from_stat(&stat);
    Ok(if file_type == FileType::Directory {
        Entry::Directory(handle.into(), identity)
    } else {
        Entry::Other(identity)
    })
}

/// Opens a directory by the host's own path to it.
pub(super) fn directory(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// Opens the directory above.
pub(super) fn above(directory: &File) -> io::Result<File> {
    Ok(rustix::fs::openat(directory, c"..", HANDLE | OFlags::DIRECTORY, Mode::empty())?.into())
}

/// Where an open file is now. What was removed has ` (deleted)` at its end.
pub(super) fn real_path(file: &File) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// `/` at the beginning.
    Root,
    /// `..`
    Up,
    /// `.`, or a slash at the end: what is before must be a directory.
    Here,
    Name(OsString),
}

/// A path in parts. [`Part::Here`] stands at its end only.
pub(super) fn parts(path: &Path) -> VecDeque<Part> {
    let mut parts: VecDeque<Part> = path
        .components()
        .filter_map(|component| match component {
            Component::RootDir => Some(Part::Root),
            Component::ParentDir => Some(Part::Up),
            Component::Normal(name) => Some(Part::Name(name.to_owned())),
            // Prefixes are another system's.
            Component::CurDir | Component::Prefix(_) => None,
        })
        .collect();
    let bytes = path.as_os_str().as_bytes();
    if bytes == b"." || bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        parts.push_back(Part::Here);
    }
    parts
}

/// Puts a link's target in front of what is left of a path.
pub(super) fn replace_link(target: &Path, rest: &mut VecDeque<Part>) {
    let mut parts = parts(target);
    parts.append(rest);
    *rest = parts;
}
