//! Loading native code from a folder: the one place of this crate where something must be true that the compiler can't
//! check, namely that bytes on disk are what wasmtime itself wrote.
//!
//! All that makes it true is here, so that it can be read in one go. Code is taken from a [`PrivateFolder`] only, which
//! is a descriptor of a directory that belongs to this process's user and that nobody else can enter; from a regular file in it that is
//! no link, has no second name, belongs to the same user and is closed to everybody else; and only where the file's
//! header has the digest of all that follows it. It is read into memory once, and what was compared is what is loaded:
//! nothing is mapped, so a file that is cut short meanwhile can't end the process.
//!
//! The digest finds what is torn, cut or flipped. It is no signature: who can write the folder can make one. That only
//! this user can is what the checks of owner and mode are for, and that none of the user's confined commands can is
//! what [`ComponentCache::open`](crate::ComponentCache::open) demands a confinement level for.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{Header, Key, Refused, Unsafe};

/// A directory of this process's user, closed to everybody else.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    directory: OwnedFd,
}

impl PrivateFolder {
    /// Makes a directory with mode 0700 where there is none, opens it, and checks what was opened.
    pub(crate) fn open(path: &Path) -> Result<Self, Unsafe> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => Unsafe::Kind,
            error => Unsafe::Io(error.into()),
        })?;
        let directory = File::from(directory);
        belongs_to_us_alone(&directory.metadata()?)?;
        Ok(Self { directory: directory.into() })
    }

    /// Loads what is kept under this key; `None` = nothing is.
    pub(crate) fn load(&self, engine: &Engine, key: &Key, most: u64) -> Result<Option<Component>, Refused> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.directory, key.file_name(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(Refused::Unsafe(Unsafe::Kind)),
            Err(error) => return Err(Refused::Unsafe(Unsafe::Io(error.into()))),
        };
        let metadata = file.metadata().map_err(Unsafe::Io)?;
        if !metadata.is_file() {
            return Err(Refused::Unsafe(Unsafe::Kind));
        }
        belongs_to_us_alone(&metadata)?;
        // Its other name may lie where commands can write. One without a name was just replaced or removed.
        if metadata.nlink() > 1 {
            return Err(Refused::Unsafe(Unsafe::Links(metadata.nlink())));
        }
        let bytes = read(&file, metadata.len(), most)?;
        let code = Header::check(&bytes, key)?;
        // SAFETY: the bytes must be what `Component::serialize` gave, unmodified. They lie in memory that nobody else
        // has, have the digest that their writer gave them, and come from a file that only this user can have written
        // (owner, mode and names were checked of the descriptors that they were read through); for this user, only
        // `ComponentCache` makes such files, of `serialize`'s result, for an engine of the same version and settings,
        // which the key stands for.
        let loaded = unsafe { Component::deserialize(engine, code) };
        let component = loaded.map_err(Refused::Wasmtime)?;
        // That it was used is what keeps it; where the time can't be set, it goes the earlier.
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let omit = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
        let times = rustix::fs::Timestamps { last_access: omit, last_modification: now };
        let _ = rustix::fs::futimens(&file, &times);
        Ok(Some(component))
    }
}

impl AsFd for PrivateFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Owner and mode; what an access list grants to others shows in the mode's bits for the group.
fn belongs_to_us_alone(metadata: &std::fs::Metadata) -> Result<(), Unsafe> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(Unsafe::Owner { owner: metadata.uid(), user });
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(Unsafe::Mode(metadata.mode() & 0o7777));
    }
    Ok(())
}

/// As many bytes as the file had when it was looked at; it is not ours to wonder why where it has fewer now.
fn read(file: &File, length: u64, most: u64) -> Result<Vec<u8>, Refused> {
    let length = usize::try_from(length).ok().filter(|_| length <= most).ok_or(Refused::TooLarge(length))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Refused::TooLarge(length as u64))?;
    while bytes.len() < length {
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => return Err(Refused::Cut),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Refused::Unsafe(Unsafe::Io(io::Error::from(error)))),
        }
    }
    Ok(bytes)
}
