//! What the denied paths stand for at this moment.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use super::Shared;
use super::entry::{self, Entry, Identity, MAX_LINKS, Part};

/// What is denied, by every name and identity that it has now. All paths are absolute and real.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    root: PathBuf,
    denied: Vec<PathBuf>,
    /// Directories and links on the way to what is denied: another thing in their place would be another way.
    on_the_way: Vec<PathBuf>,
    identities: Vec<Identity>,
}

impl Snapshot {
    /// Follows each denied path as a program that opens it would.
    pub(super) fn take(shared: &Shared) -> io::Result<Self> {
        let mut snapshot = Self { root: entry::real_path(&shared.root)?, ..Self::default() };
        for path in &shared.paths {
            snapshot.follow(shared, Path::new(path))?;
        }
        Ok(snapshot)
    }

    fn follow(&mut self, shared: &Shared, path: &Path) -> io::Result<()> {
        self.denied.push(self.root.join(path));
        let mut directory = shared.root.try_clone()?;
        let mut here = self.root.clone();
        let mut links = 0;
        let mut rest = entry::parts(path);
        while let Some(part) = rest.pop_front() {
            let name = match part {
                Part::Here => continue,
                Part::Up => {
                    directory = entry::above(&directory)?;
                    here = entry::real_path(&directory)?;
                    continue;
                }
                Part::Root => {
                    directory = entry::directory(Path::new("/"))?;
                    here = PathBuf::from("/");
                    continue;
                }
                Part::Name(name) => name,
            };
            let place = here.join(&name);
            match entry::entry(&directory, &name)? {
                Entry::Missing => {
                    self.denied.push(below(place, &rest));
                    return Ok(());
                }
                Entry::Link(target) => {
                    self.on_the_way.push(place);
                    links += 1;
                    if links > MAX_LINKS {
                        return Ok(());
                    }
                    entry::replace_link(&target, &mut rest);
                }
                Entry::Directory(next, _) => {
                    self.on_the_way.push(place);
                    here = entry::real_path(&next)?;
                    directory = next;
                }
                Entry::Other(identity) => {
                    if rest.is_empty() {
                        self.identities.push(identity);
                    }
                    self.denied.push(below(place, &rest));
                    return Ok(());
                }
            }
        }
        self.denied.push(here);
        self.identities.push(Identity::of(&directory)?);
        Ok(())
    }

    /// Where the workspace is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a place is in the workspace.
    pub(super) fn contains(&self, place: &Path) -> bool {
        place.starts_with(&self.root)
    }

    /// Whether a place is denied, or lies below one that is.
    pub(super) fn denies(&self, place: &Path) -> bool {
        self.denied.iter().any(|denied| place.starts_with(denied))
    }

    /// Whether a file is denied by its identity.
    pub(super) fn denies_identity(&self, identity: Identity) -> bool {
        self.identities.contains(&identity)
    }

    /// Whether something else at a place would change what the denied paths stand for.
    pub(super) fn needs(&self, place: &Path) -> bool {
        self.denied.iter().any(|denied| denied.starts_with(place)) || self.on_the_way.iter().any(|way| way == place)
    }
}

/// What a path with these parts left would be, as far as they are names.
fn below(mut place: PathBuf, rest: &VecDeque<Part>) -> PathBuf {
    for part in rest {
        match part {
            Part::Name(name) => place.push(name),
            Part::Here => {}
            Part::Up | Part::Root => break,
        }
    }
    place
}
