//! What changed in a directory.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Everything below a directory, by its path from there. Directories end in `/`; of a repository's own files only those
/// that say what it is.
pub(crate) type Snapshot = BTreeMap<String, u64>;

/// Looks at a directory, but not at these directly below it.
pub(crate) fn of(root: &Path, without: &[&str]) -> Snapshot {
    let mut all = Snapshot::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !without.contains(&name.as_str()) {
            add(&entry.path(), &name, &mut all);
        }
    }
    all
}

fn add(path: &Path, name: &str, all: &mut Snapshot) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let mut print = DefaultHasher::new();
    metadata.mode().hash(&mut print);
    if metadata.is_dir() {
        if says_what_it_is(name) {
            all.insert(format!("{name}/"), print.finish());
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            add(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), all);
        }
        return;
    }
    if metadata.is_symlink() {
        fs::read_link(path).ok().hash(&mut print);
    } else if metadata.is_file() {
        metadata.mtime_nsec().hash(&mut print);
        metadata.mtime().hash(&mut print);
        fs::read(path).ok().hash(&mut print);
    }
    if says_what_it_is(name) {
        all.insert(name.to_owned(), print.finish());
    }
}

fn says_what_it_is(path: &str) -> bool {
    let whole = format!("/{path}");
    let Some((_, below)) = whole.split_once("/.git/") else { return true };
    let worktree = below.strip_prefix("worktrees/").is_some_and(|name| !name.contains('/'));
    below == "HEAD" || below == "config" || below.starts_with("refs/") || worktree
}

/// What is new, other and gone.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) created: Vec<String>,
    pub(crate) modified: Vec<String>,
    pub(crate) removed: Vec<String>,
}

impl Changes {
    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let names = |all: &Snapshot, holds: &dyn Fn(&str, u64) -> bool| {
            all.iter().filter(|(name, print)| holds(name, **print)).map(|(name, _)| name.clone()).collect()
        };
        Self {
            created: names(after, &|name, _| !before.contains_key(name)),
            modified: names(after, &|name, print| before.get(name).is_some_and(|old| *old != print)),
            removed: names(before, &|name, _| !after.contains_key(name)),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let Self { created, modified, removed } = self;
        created.iter().chain(modified).chain(removed)
    }
}
