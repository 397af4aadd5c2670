//! Writing an entry: beside its place, then moved there, so that nobody reads half of one.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::process::{Resource, getrlimit};

use super::{Key, NotKept, Seal};
use crate::compiled::PrivateFolder;

/// Begins the name of a file that is being written.
pub(crate) const PREFIX: &str = ".new-";

/// Writes an entry. It is not flushed to the disk: what a power failure tears is found by its digest.
pub(crate) fn write(folder: &PrivateFolder, key: &Key, code: &[u8], most: u64) -> Result<(), NotKept> {
    let bytes = (Seal::LENGTH as u64).saturating_add(code.len() as u64);
    if bytes > most {
        return Err(NotKept::TooLarge { bytes, most });
    }
    // Beyond that limit the kernel kills the process, and not the write.
    if let Some(most) = getrlimit(Resource::Fsize).current.filter(|most| bytes > *most) {
        return Err(NotKept::FileSize { bytes, most });
    }
    let name = temporary_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, &name, flags, Mode::RUSR | Mode::WUSR).map_err(|error| NotKept::Write(error.into()))?;
    let mut file = std::fs::File::from(file);
    let written = file.write_all(code).and_then(|()| file.write_all(&Seal::of(key, code)));
    let moved = written.and_then(|()| renameat(folder, &name, folder, key.file_name()).map_err(io::Error::from));
    moved.map_err(|error| {
        // What can't be removed now, a later sweep removes.
        let _ = unlinkat(folder, &name, AtFlags::empty());
        NotKept::Write(error)
    })
}

/// A name that no other writer has: processes of other PID namespaces may have the same id, hence the time.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{PREFIX}{}-{count}-{}", std::process::id(), now.as_nanos())
}
