//! What is a confined command's own: places for its temporary files, and in namespaces its root and /proc.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, Stat, StatxAttributes, StatxFlags};

use crate::guard::{Guard, GuardError};
use crate::view::{TEMPORARY, View, file_above};

/// Places that one sandbox has, and no other process.
#[derive(Debug)]
pub(crate) struct Own {
    tree: Option<OwnTree>,
    temporary: Vec<Temporary>,
    /// Removed at the end; where there is no tree of its own.
    directory: Option<Directory>,
}

/// Directories of a tree of its own.
#[derive(Debug)]
pub(crate) struct OwnTree {
    pub(crate) root: OwnedFd,
    pub(crate) proc: OwnedFd,
    pub(crate) etc: OwnedFd,
    pub(crate) dev: OwnedFd,
}

/// A file system in memory, as it was when it was made.
#[derive(Debug)]
struct Temporary {
    place: OwnedFd,
    files: u64,
    mode: u32,
}

/// A directory of the host's, with all that is in it.
#[derive(Debug)]
struct Directory {
    path: String,
    place: OwnedFd,
}

impl Own {
    /// What a guard's tree has.
    pub(crate) fn of(guard: &Guard) -> Result<Self, GuardError> {
        let temporary = TEMPORARY.iter().map(|path| Temporary::new(guard.open(path)?));
        let tree = OwnTree {
            root: guard.open("/")?,
            proc: guard.open("/proc")?,
            etc: guard.open("/etc")?,
            dev: guard.open("/dev")?,
        };
        Ok(Self { tree: Some(tree), temporary: temporary.collect::<Result<_, _>>()?, directory: None })
    }

    /// A directory of the host's, for want of a tree.
    pub(crate) fn directory() -> Result<Self, GuardError> {
        let failed = |error: &dyn std::fmt::Display| GuardError::new("make a directory for temporary files", &error);
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| failed(&error))?;
        let name = format!("portcullis-{:016x}", u64::from_ne_bytes(random));
        let path: PathBuf = std::env::temp_dir().join(name);
        let text = path.to_str().ok_or_else(|| failed(&"its path is not Unicode text"))?;
        rustix::fs::mkdir(&path, Mode::RWXU).map_err(|errno| failed(&errno))?;
        let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NOFOLLOW;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(place) => {
                let directory = Some(Directory { path: text.to_owned(), place });
                Ok(Self { tree: None, temporary: Vec::new(), directory })
            }
            Err(errno) => {
                let _left = std::fs::remove_dir(&path);
                Err(failed(&errno))
            }
        }
    }

    /// A tree of files of its own; `None` = it sees the host's.
    pub(crate) fn tree(&self) -> Option<&OwnTree> {
        self.tree.as_ref()
    }

    /// Where temporary files go.
    pub(crate) fn temporary(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let memory = self.temporary.iter().map(|temporary| temporary.place.as_fd());
        memory.chain(self.directory.iter().map(|directory| directory.place.as_fd()))
    }

    /// The path of that, where a command does not find it under `/tmp`.
    pub(crate) fn directory_path(&self) -> Option<&str> {
        self.directory.as_ref().map(|directory| directory.path.as_str())
    }

    /// Whether every denied path of a view shows what masks are made of: what lies on the root's own file system.
    pub(crate) fn masks(&self, view: &View) -> bool {
        let Some(OwnTree { root, .. }) = &self.tree else { return view.deny.is_empty() };
        let device = |path: &str| {
            let stat = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok();
            stat.map(|stat| stat.st_dev)
        };
        let own = device(".");
        let workspace = view.workspace.trim_start_matches('/');
        let is_pinned = |file: &Path| {
            let path = format!("{}", file.display());
            let path = path.trim_start_matches('/');
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            let found = rustix::fs::statx(root, path, flags, StatxFlags::BASIC_STATS);
            found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        };
        own.is_some()
            && view.deny.iter().all(|path| match file_above(Path::new(&view.workspace), path) {
                Some(file) => is_pinned(&file),
                None => device(&format!("{workspace}/{path}")) == own,
            })
    }

    /// Whether nothing is left there. What can't be looked at is not clean.
    pub(crate) fn is_clean(&self) -> bool {
        self.temporary.iter().all(Temporary::is_clean)
            && self
                .directory
                .iter()
                .all(|directory| std::fs::read_dir(&directory.path).is_ok_and(|mut entries| entries.next().is_none()))
    }
}

impl Temporary {
    fn new(place: OwnedFd) -> Result<Self, GuardError> {
        let failed = |errno: rustix::io::Errno| GuardError::new("look at a file system in memory", &errno);
        let (files, mode) = (files(&place).map_err(failed)?, mode(&place).map_err(failed)?);
        Ok(Self { place, files, mode })
    }

    fn is_clean(&self) -> bool {
        files(&self.place) == Ok(self.files) && mode(&self.place) == Ok(self.mode)
    }
}

/// How many files there are, directories included.
fn files(place: &OwnedFd) -> rustix::io::Result<u64> {
    let all = rustix::fs::fstatvfs(place)?;
    Ok(all.f_files.saturating_sub(all.f_ffree))
}

fn mode(place: &OwnedFd) -> rustix::io::Result<u32> {
    rustix::fs::fstat(place).map(|Stat { st_mode, .. }| st_mode)
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What a command has made unreadable stays.
        let _left = std::fs::remove_dir_all(&self.path);
    }
}
