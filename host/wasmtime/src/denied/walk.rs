//! From a guest's path to an opened directory and one name in it.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::Shared;
use super::entry::{self, Entry, Identity, MAX_LINKS, Part};
use super::snapshot::Snapshot;

/// Longest path, in bytes: `PATH_MAX` without its NUL.
const MAX_PATH: usize = 4095;

/// What becomes of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    /// The link itself is meant.
    Keep,
}

/// What a path leads to. It is not denied.
#[derive(Debug)]
pub(super) struct Found {
    /// The opened directory.
    pub(super) parent: File,
    /// One name in it, or `.`.
    pub(super) name: String,
    pub(super) standing: Standing,
}

/// How a place stands to the denied paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Free to be changed.
    Free,
    /// It can be used, and must stay what it is: a denied path leads through it.
    Needed,
}

/// Finds what a path stands for, from a directory that the guest has open. The last name need not exist.
///
/// # Errors
/// `access` where it, or a directory on the way, is denied; otherwise as the stock implementation: `not-permitted`
/// where it leads out of the directory.
pub(super) fn find(shared: &Shared, base: &File, path: &str, last: LastLink) -> Result<Found, ErrorCode> {
    let snapshot = snapshot(shared)?;
    let place = entry::real_path(base).map_err(|_| ErrorCode::Access)?;
    if !snapshot.contains(&place) {
        return Err(ErrorCode::Access);
    }
    find_within(&Walk { snapshot, within: place }, base, path, last)
}

/// Judges where a link in this directory would lead. One that leads nowhere, or out of the workspace, is no harm.
///
/// # Errors
/// `access` where it leads to a denied place.
pub(super) fn judge_target(shared: &Shared, directory: &File, target: &str) -> Result<(), ErrorCode> {
    let snapshot = snapshot(shared)?;
    let within = snapshot.root().to_owned();
    match find_within(&Walk { snapshot, within }, directory, target, LastLink::Follow) {
        Err(ErrorCode::Access) => Err(ErrorCode::Access),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn find_within(walk: &Walk, base: &File, path: &str, last: LastLink) -> Result<Found, ErrorCode> {
    if path.is_empty() {
        return Err(ErrorCode::NoEntry);
    }
    if path.len() > MAX_PATH {
        return Err(ErrorCode::NameTooLong);
    }
    let mut here = walk.enter(base.try_clone()?)?;
    let mut rest = entry::parts(Path::new(path));
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        let name = match part {
            Part::Root => return Err(ErrorCode::NotPermitted),
            Part::Here => continue,
            Part::Up => {
                here = walk.enter(entry::above(&here.directory)?)?;
                continue;
            }
            Part::Name(name) => name,
        };
        // By its name first: whether it exists is nobody's business.
        if walk.snapshot.denies(&here.place.join(&name)) {
            return Err(ErrorCode::Access);
        }
        let is_last = rest.is_empty();
        match entry::entry(&here.directory, &name)? {
            Entry::Link(target) if !is_last || last == LastLink::Follow => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(ErrorCode::Loop);
                }
                entry::replace_link(&target, &mut rest);
            }
            Entry::Directory(next, _) if !is_last => here = walk.enter(next)?,
            Entry::Missing if !is_last => return Err(ErrorCode::NoEntry),
            Entry::Other(_) if !is_last => return Err(ErrorCode::NotDirectory),
            Entry::Directory(_, identity) | Entry::Other(identity) if walk.snapshot.denies_identity(identity) => {
                return Err(ErrorCode::Access);
            }
            Entry::Missing | Entry::Link(_) | Entry::Directory(..) | Entry::Other(_) => {
                return walk.found(here.directory, Some(name));
            }
        }
    }
    walk.found(here.directory, None)
}

/// Judges what a guest has opened, or is about to list.
///
/// # Errors
/// `access` where it is denied.
pub(super) fn judge(shared: &Shared, file: &File) -> Result<(), ErrorCode> {
    let snapshot = snapshot(shared)?;
    let place = entry::real_path(file).map_err(|_| ErrorCode::Access)?;
    if !snapshot.contains(&place) || snapshot.denies(&place) || snapshot.denies_identity(Identity::of(file)?) {
        return Err(ErrorCode::Access);
    }
    Ok(())
}

/// Where it can't be found out what is denied, nothing is allowed.
fn snapshot(shared: &Shared) -> Result<Snapshot, ErrorCode> {
    Snapshot::take(shared).map_err(|_| ErrorCode::Access)
}

struct Walk {
    snapshot: Snapshot,
    /// The place that it must not leave.
    within: PathBuf,
}

/// A directory that a walk has come to.
struct Here {
    directory: File,
    place: PathBuf,
}

impl Walk {
    /// Every directory that a walk comes to is judged here, by what was opened.
    fn enter(&self, directory: File) -> Result<Here, ErrorCode> {
        let place = entry::real_path(&directory)?;
        if !place.starts_with(&self.within) {
            return Err(ErrorCode::NotPermitted);
        }
        if self.snapshot.denies(&place) || self.snapshot.denies_identity(Identity::of(&directory)?) {
            return Err(ErrorCode::Access);
        }
        Ok(Here { directory, place })
    }

    /// Judges the directory once more, where it is by now, together with the name.
    fn found(&self, directory: File, name: Option<OsString>) -> Result<Found, ErrorCode> {
        let Here { directory: parent, place } = self.enter(directory)?;
        let (place, name) = match name {
            Some(name) => (place.join(&name), name.into_string().map_err(|_| ErrorCode::IllegalByteSequence)?),
            None => (place, ".".to_owned()),
        };
        if self.snapshot.denies(&place) {
            return Err(ErrorCode::Access);
        }
        let standing = if self.snapshot.needs(&place) { Standing::Needed } else { Standing::Free };
        Ok(Found { parent, name, standing })
    }
}
