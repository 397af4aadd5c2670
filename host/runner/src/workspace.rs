//! The directory that commands work in.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use portcullis_policy::{Code, Problem, visible};
use rustix::fs::{Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::WorkspaceError;

/// An opened workspace: what was checked stays what is used, even if its path comes to mean something else.
#[derive(Debug)]
pub struct Workspace {
    path: String,
    directory: OwnedFd,
    identity: (u64, u64),
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::PATH);

impl Workspace {
    /// Opens a directory, symbolic links resolved.
    ///
    /// # Errors
    /// [`WorkspaceError`], for a directory that does not exist or whose path is no Unicode text.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::Open { path: path.to_owned(), source };
        let canonical = std::fs::canonicalize(path).map_err(failed)?;
        let directory = rustix::fs::open(&canonical, DIRECTORY, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        match canonical.into_os_string().into_string() {
            Ok(path) => {
                let stat = rustix::fs::fstat(&directory).map_err(|errno| failed(errno.into()))?;
                Ok(Self { path, directory, identity: identity(&stat) })
            }
            Err(path) => Err(WorkspaceError::NotUnicode { path: path.into() }),
        }
    }

    /// Its absolute path, symbolic links resolved.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its device and inode.
    pub(crate) fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Opens a directory of the workspace, and says which it is, by device and inode. No symbolic link leads out of it
    /// (`openat2(2)`, `RESOLVE_BENEATH`).
    pub(crate) fn open_below(&self, relative: &str) -> Result<(OwnedFd, (u64, u64)), Problem> {
        let relative = if relative.is_empty() { "." } else { relative };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        // EAGAIN: a rename raced with the look-up and the kernel could not be sure. Asking again is what it wants;
        // a bound keeps somebody who renames all the time from holding us here.
        for _ in 0..32 {
            match rustix::fs::openat2(self.directory.as_fd(), relative, DIRECTORY, Mode::empty(), resolve) {
                Ok(directory) => return identified(relative, directory),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(cwd_problem(relative, errno)),
            }
        }
        Err(cwd_problem(relative, Errno::AGAIN))
    }
}

#[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev.into(), stat.st_ino.into())
}

fn identified(relative: &str, directory: OwnedFd) -> Result<(OwnedFd, (u64, u64)), Problem> {
    let stat = rustix::fs::fstat(&directory).map_err(|errno| cwd_problem(relative, errno))?;
    Ok((directory, identity(&stat)))
}

fn cwd_problem(relative: &str, errno: Errno) -> Problem {
    let shown = visible(relative);
    match errno {
        Errno::XDEV => Problem::new(
            Code::CwdOutside,
            format!("the working directory `{shown}` leads out of the workspace; name a directory inside it"),
        ),
        Errno::NOENT | Errno::NOTDIR => Problem::new(
            Code::CwdMissing,
            format!("the working directory `{shown}` is no directory of the workspace; make it first"),
        ),
        errno => Problem::new(Code::CwdMissing, format!("the working directory `{shown}` can't be opened: {errno}")),
    }
}
