//! Denied paths that do not exist yet: something has to be there for a mask to lie on, else a command could make them.
//!
//! What is missing is made, empty, and removed when no sandbox of any process needs it: each that does holds a shared
//! lock (`flock(2)`) on it. Removing one that a mask lies on would take the mask away.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

use crate::view::{View, ViewError, deny_error, file_above};

/// Placeholders that sandboxes of this process need, with their locks.
static HELD: Mutex<BTreeMap<PathBuf, OwnedFd>> = Mutex::new(BTreeMap::new());
/// How often a placeholder that vanishes between making and locking it is made again.
const TRIES: u32 = 16;
/// What tells a placeholder, whoever made it: it is empty and has the sticky bit.
const STICKY: u32 = 0o1000;

/// Makes every denied path of a view exist.
pub(crate) fn hold(view: &View) -> Result<(), ViewError> {
    let workspace = Path::new(&view.workspace);
    for path in &view.deny {
        let whole = workspace.join(path);
        if file_above(workspace, path).is_some() {
            // Nothing can be made below a file; it is pinned instead.
            continue;
        }
        let mut above: Vec<&Path> = whole.ancestors().skip(1).take_while(|place| *place != workspace).collect();
        above.reverse();
        for place in above {
            hold_one(place, true)?;
        }
        // What hooks lie in is a directory; of others nobody knows, and a file is in nobody's way.
        hold_one(&whole, path.ends_with("/hooks"))?;
    }
    Ok(())
}

fn hold_one(path: &Path, directory: bool) -> Result<(), ViewError> {
    let failed = |cause: &dyn std::fmt::Display| deny_error(path, &cause.to_string());
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES {
        make(path, directory).map_err(|error| failed(&error))?;
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&error)),
        };
        if metadata.file_type().is_symlink() {
            return Err(failed(&"it is a symbolic link; name what it leads to"));
        }
        let locked = held.get(path).is_some_and(|lock| is_same(lock, path));
        // What is not marked is the user's own and stays.
        if locked || metadata.mode() & STICKY == 0 {
            return Ok(());
        }
        if let Some(lock) = lock(path)
            && is_same(&lock, path)
        {
            held.insert(path.to_owned(), lock);
            return Ok(());
        }
    }
    Err(failed(&"somebody removes it again and again"))
}

/// Makes it, unless something is there already.
fn make(path: &Path, directory: bool) -> std::io::Result<()> {
    let made = if directory {
        rustix::fs::mkdir(path, Mode::from_raw_mode(0o1755))
    } else {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR | Mode::SVTX).map(drop)
    };
    match made {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn lock(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(file)
}

#[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
fn is_same(file: &OwnedFd, path: &Path) -> bool {
    let opened = rustix::fs::fstat(file).ok().map(|stat| (u64::from(stat.st_dev), u64::from(stat.st_ino)));
    let there = fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    opened.is_some() && opened == there
}

/// Removes the placeholders that nobody needs any more. No sandbox of this process may be left.
pub(crate) fn release() {
    let held = std::mem::take(&mut *HELD.lock().unwrap_or_else(PoisonError::into_inner));
    // Inner ones first.
    for (path, lock) in held.into_iter().rev() {
        let alone = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        let Ok(stat) = rustix::fs::fstat(&lock) else { continue };
        if !alone || stat.st_mode & STICKY == 0 || !is_same(&lock, &path) {
            continue;
        }
        // A directory is removed only while it is empty; a file is not, once somebody has written into it.
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let _in_use = fs::remove_dir(&path);
        } else if stat.st_size == 0 {
            let _in_use = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(workspace: &Path, deny: &[&str]) -> View {
        let identity = fs::metadata(workspace).map(|metadata| (metadata.dev(), metadata.ino())).unwrap();
        View {
            workspace: workspace.to_str().unwrap().to_owned(),
            identity,
            read: vec![],
            programs: vec![],
            write: vec![],
            deny: deny.iter().map(|&path| path.to_owned()).collect(),
            executable: false,
        }
    }

    /// One test, since what is held is the whole process's.
    #[test]
    fn what_is_missing_is_there_until_nobody_needs_it_and_what_is_the_users_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::write(root.join("own"), "").unwrap();
        hold(&view(&root, &[".git/hooks", ".env", "own"])).unwrap();
        hold(&view(&root, &[".env"])).unwrap();
        assert!(root.join(".git/hooks").is_dir() && root.join(".env").is_file());

        // Another process needs one of them.
        let other = lock(&root.join(".env")).unwrap();
        release();
        assert!(!root.join(".git").exists() && root.join(".env").exists() && root.join("own").exists());
        drop(other);
        hold(&view(&root, &[".env"])).unwrap();
        release();
        assert!(!root.join(".env").exists() && root.join("own").exists());

        // One that was written into is the user's.
        hold(&view(&root, &[".env"])).unwrap();
        fs::write(root.join(".env"), "A=b").unwrap();
        release();
        assert_eq!(fs::read_to_string(root.join(".env")).unwrap(), "A=b");

        std::os::unix::fs::symlink("own", root.join("link")).unwrap();
        let error = hold(&view(&root, &["link"])).unwrap_err();
        assert!(error.to_string().contains("it is a symbolic link"), "{error}");
    }
}
