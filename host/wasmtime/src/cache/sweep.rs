//! Keeping the cache small.

use std::io;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Stat, statat, unlinkat};
use rustix::io::Errno;

use super::{entry, write};
use crate::compiled::PrivateFolder;

/// A file that was begun so long ago, and is not in its place yet, is one that a crash left behind.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Removes the entries that were unused for longest, until the others have at most `most` bytes, and files that a crash
/// left behind. What it does not know it leaves alone.
pub(crate) fn sweep(folder: &PrivateFolder, most: u64) -> io::Result<()> {
    let mut entries = Vec::new();
    for file in Dir::read_from(folder)? {
        let file = file?;
        let Ok(name) = file.file_name().to_str() else { continue };
        let (is_entry, is_new) = (name.ends_with(entry::SUFFIX), name.starts_with(write::PREFIX));
        if !is_entry && !is_new {
            continue;
        }
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Another host sweeps too.
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            continue;
        }
        if is_entry {
            entries.push(Entry {
                used: used(&stat),
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                name: name.into(),
            });
        } else if is_abandoned(&stat) {
            remove(folder, name)?;
        }
    }
    entries.sort_unstable_by_key(|entry| entry.used);
    let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    for entry in entries {
        if bytes <= most {
            break;
        }
        remove(folder, &entry.name)?;
        bytes -= entry.bytes;
    }
    Ok(())
}

struct Entry {
    /// Since 1970, in seconds and nanoseconds.
    used: (i64, i64),
    bytes: u64,
    name: String,
}

/// A reader touches what it reads.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the fields' types differ between machines")]
fn used(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

fn is_abandoned(stat: &Stat) -> bool {
    let (seconds, _) = used(stat);
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    written.elapsed().is_ok_and(|age| age > ABANDONED)
}

fn remove(folder: &PrivateFolder, name: &str) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
