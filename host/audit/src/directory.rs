//! A journal's directory and segment: made, opened, and checked by descriptor.
//!
//! Who can write a journal can rewrite it, so both must belong to this user and be closed to everybody else.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::JournalError;
use crate::segments::{FIRST_SEGMENT, only_first};
use crate::store::SegmentFile;

const DIRECTORY_MODE: u32 = 0o700;
const SEGMENT_MODE: u32 = 0o600;

/// Opens the segment in `path`; makes what is missing.
pub(crate) fn open(path: &Path) -> Result<SegmentFile, JournalError> {
    // Without a trailing slash, which would make O_NOFOLLOW follow.
    let path: PathBuf = path.components().collect();
    let directory = match open_directory(&path) {
        Err(Errno::NOENT) => {
            create(&path).map_err(|source| JournalError::CreateDirectory { path: path.clone(), source })?;
            open_directory(&path)
        }
        opened => opened,
    }
    .map_err(|error| JournalError::OpenDirectory { path: path.clone(), source: error.into() })?;
    check(&directory, &path, DIRECTORY_MODE)?;
    only_first(&path)?;
    let segment = path.join(FIRST_SEGMENT);
    let file = open_segment(&directory)
        .map_err(|error| JournalError::OpenSegment { path: segment.clone(), source: error.into() })?;
    check(&file, &segment, SEGMENT_MODE)?;
    Ok(SegmentFile { file, directory })
}

fn open_directory(path: &Path) -> rustix::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}

/// CLOEXEC keeps the lock out of the commands that the host starts.
fn open_segment(directory: &File) -> rustix::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(directory, FIRST_SEGMENT, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Makes the directory and its missing parents, each closed to others and each brought to the disk.
fn create(path: &Path) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    let parent = if parent.as_os_str() == OsStr::new("") { Path::new(".") } else { parent };
    let make = || match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => File::open(parent)?.sync_all(),
    };
    match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && parent != path => {
            create(parent)?;
            make()
        }
        made => made,
    }
}

/// Checks what was opened: not what a path names a moment later.
fn check(file: &File, path: &Path, mode: u32) -> Result<(), JournalError> {
    let path = path.to_owned();
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(source) => return Err(JournalError::Read { path, source }),
    };
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(JournalError::Owner { path, owner: metadata.uid(), user });
    }
    if mode == SEGMENT_MODE && !metadata.is_file() {
        return Err(JournalError::NotAFile { path });
    }
    // Set-group-id comes down from a parent directory and opens nothing.
    let found = metadata.mode() & 0o777;
    if found != mode {
        return Err(JournalError::Mode { path, mode: found, expected: mode });
    }
    if mode == SEGMENT_MODE && metadata.nlink() != 1 {
        return Err(JournalError::Links { path, links: metadata.nlink() });
    }
    Ok(())
}
