//! The file behind a journal: what the writer needs of it, and the real one.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// What the writer needs of a file. The real one is [`SegmentFile`]; the tests have one that fails on demand.
pub(crate) trait Store: Send + Sync + 'static {
    /// Waits until no other handle, of this or another process, holds the lock; takes it.
    fn lock(&self) -> io::Result<()>;
    /// Gives the lock back.
    fn unlock(&self);
    /// Length and number of names.
    fn state(&self) -> io::Result<State>;
    /// Largest length that this process may give the file, in bytes.
    fn limit(&self) -> u64;
    /// Appends with one system call; may write less.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Reads at an offset; may read less.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Waits until the content is on the disk.
    fn sync(&self) -> io::Result<()>;
    /// Waits until the file's name is on the disk.
    fn sync_directory(&self) -> io::Result<()>;
}

/// What can change about a file under a writer's feet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) length: u64,
    pub(crate) links: u64,
}

/// A segment and its directory, both opened and checked ([`crate::directory`]).
#[derive(Debug)]
pub(crate) struct SegmentFile {
    pub(crate) file: File,
    pub(crate) directory: File,
}

impl Store for SegmentFile {
    /// `flock` belongs to the open file, not to the process: it holds between threads and between two handles of
    /// one process, and closing some other descriptor does not lose it, as it does with POSIX record locks.
    fn lock(&self) -> io::Result<()> {
        retry(|| rustix::fs::flock(&self.file, FlockOperation::LockExclusive))
    }

    fn unlock(&self) {
        // Fails only for a descriptor that is not open or not a file, which this one is.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }

    fn state(&self) -> io::Result<State> {
        let metadata = self.file.metadata()?;
        Ok(State { length: metadata.len(), links: metadata.nlink() })
    }

    fn limit(&self) -> u64 {
        getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match (&self.file).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_all()
    }
}

/// Repeats a system call that a signal interrupted.
fn retry(mut call: impl FnMut() -> rustix::io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done.map_err(io::Error::from),
        }
    }
}
