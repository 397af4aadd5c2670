//! Loading native code from a folder: the one place of this crate where something must be true that the compiler can't
//! check, namely that bytes on disk are what wasmtime itself wrote.
//!
//! All that makes it true is here, so that it can be read in one go. Code is taken from a [`PrivateFolder`] only, which
//! is a descriptor of a directory that belongs to this process's user and that nobody else can enter; from a regular
//! file in it that is no link, has no second name, belongs to the same user and is closed to everybody else; and only
//! where the code has the digest that stands behind it. Then the opened file is mapped: the code of an interpreter is
//! tens of megabytes, and what is mapped is neither copied nor held twice.
//!
//! The digest finds what is torn, cut or flipped. It is no signature: who can write the folder can make one, and who can
//! write a mapped file can change it or cut it off under the process. That only this user can is what the checks of
//! owner and mode are for; that none of the user's confined commands can is what
//! [`ComponentCache::open`](crate::ComponentCache::open) demands a confinement level for; and this crate itself never
//! writes a file that is in its place, but moves another one there.

use std::fs::{DirBuilder, File};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{Key, Refused, Seal, Unsafe};

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
        check_seal(&file, metadata.len(), most, key)?;
        let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the file must be what `Component::serialize` gave, unmodified, as long as the component lives. It was
        // written by this user (owner, mode and names were checked of the descriptors that it was opened through, and
        // this path leads to the very file), has the digest that its writer gave it, and only `ComponentCache` makes
        // such files: of `serialize`'s result, for an engine of the same version and settings, which the key stands
        // for. What stands behind the code is no part of any section, so wasmtime does not look at it. Nobody writes the
        // file again, since entries are replaced as a whole.
        let loaded = unsafe { Component::deserialize_file(engine, opened) };
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

/// Compares a file's code with the digest behind it.
fn check_seal(file: &File, length: u64, most: u64, key: &Key) -> Result<(), Refused> {
    if length > most {
        return Err(Refused::TooLarge(length));
    }
    let code_length = length.checked_sub(Seal::LENGTH as u64).ok_or(Refused::Cut)?;
    let mut seal = [0; Seal::LENGTH];
    file.read_exact_at(&mut seal, code_length).map_err(Unsafe::Io)?;
    let expected = Seal::digest(&seal, key, code_length)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    let mut left = code_length;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        file.read_exact_at(&mut buffer[..part], code_length - left).map_err(Unsafe::Io)?;
        digest.update(&buffer[..part]);
        left -= part as u64;
    }
    if digest.finalize()[..] != *expected {
        return Err(Refused::Changed);
    }
    Ok(())
}

/// Bytes that are read at once: they stay in the processor's cache until they are digested.
const BUFFER: usize = 64 << 10;
