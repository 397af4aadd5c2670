//! Where commands may not work: in or around what they must never be able to change.

use std::path::{Component, Path, PathBuf};

use portcullis_policy::Policy;
use portcullis_runner::Workspace;

use crate::BuildError;

/// Checks that commands may work in a directory, as [`GateBuilder::build`](crate::GateBuilder::build) does it, and makes
/// nothing. A host calls it before it makes a journal, so that a refusal leaves nothing behind.
///
/// `protected` names what commands must never be able to change, the journal's directory among it. It need not exist.
/// Each is protected against a workspace that is it, contains it or lies in it; `/` and the home directory always
/// against one that is or contains them.
///
/// ```
/// use portcullis_gate::check_workspace;
/// # let folder = tempfile::tempdir()?;
/// # let (project, state) = (folder.path().join("project"), folder.path().join("state"));
/// # std::fs::create_dir(&project)?;
/// assert!(check_workspace(&project, [("the journal", state.join("journal"))]).is_ok());
/// let error = check_workspace(&project, [("the journal", project.join("journal"))]).unwrap_err();
/// assert_eq!(error.code().as_str(), "shell.workspace.forbidden");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`BuildError::Workspace`], [`BuildError::Forbidden`] or [`BuildError::Within`].
pub fn check_workspace(
    workspace: &Path,
    protected: impl IntoIterator<Item = (&'static str, PathBuf)>,
) -> Result<(), BuildError> {
    refuse_protected(&Workspace::open(workspace)?, protected)
}

/// Refuses a workspace that is, contains or lies in what is protected.
pub(crate) fn refuse_protected(
    workspace: &Workspace,
    protected: impl IntoIterator<Item = (&'static str, PathBuf)>,
) -> Result<(), BuildError> {
    let root = ("the root directory", PathBuf::from("/"));
    let home = std::env::home_dir().map(|home| ("the home directory", home));
    for (what, path) in [root].into_iter().chain(home) {
        refuse_around(workspace, what, &resolved(&path))?;
    }
    for (what, path) in protected {
        let place = resolved(&path);
        refuse_around(workspace, what, &place)?;
        if Path::new(workspace.path()).starts_with(&place) {
            return Err(BuildError::Within { workspace: workspace.path().to_owned(), what, around: place });
        }
    }
    Ok(())
}

/// Refuses a policy whose absolute places to write are, contain or lie in what is protected.
pub(crate) fn refuse_writes(
    policy: &Policy,
    protected: impl IntoIterator<Item = (&'static str, PathBuf)>,
) -> Result<(), BuildError> {
    if policy.absolute_writes().next().is_none() {
        return Ok(());
    }
    let root = ("the root directory", PathBuf::from("/"));
    let home = std::env::home_dir().map(|home| ("the home directory", home));
    let around: Vec<_> = [root].into_iter().chain(home).map(|(what, path)| (what, resolved(&path))).collect();
    let protected: Vec<_> = protected.into_iter().map(|(what, path)| (what, resolved(&path))).collect();
    for written in policy.absolute_writes() {
        let place = resolved(Path::new(written));
        let contains = around.iter().chain(&protected).find(|(_, inside)| inside.starts_with(&place));
        if let Some((what, inside)) =
            contains.or_else(|| protected.iter().find(|(_, around)| place.starts_with(around)))
        {
            let (path, policy) = (written.to_owned(), policy.name().to_owned());
            return Err(BuildError::ForbiddenWrite { path, what, place: inside.clone(), policy });
        }
    }
    Ok(())
}

fn refuse_around(workspace: &Workspace, what: &'static str, place: &Path) -> Result<(), BuildError> {
    if place.starts_with(workspace.path()) {
        let inside = place.to_owned();
        return Err(BuildError::Forbidden { workspace: workspace.path().to_owned(), what, inside });
    }
    Ok(())
}

/// Where a path leads, links resolved. What does not exist yet is judged by where it would be.
fn resolved(path: &Path) -> PathBuf {
    // Only a current directory that is gone has no absolute path; what is relative to it leads nowhere.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = absolute.ancestors().find_map(|there| Some((there, std::fs::canonicalize(there).ok()?)));
    let Some((there, place)) = there else { return absolute };
    let missing = absolute.strip_prefix(there).unwrap_or(Path::new(""));
    missing.components().fold(place, |mut place, component| {
        if component == Component::ParentDir {
            // Of a place without links: what does not exist would be made as a directory.
            place.pop();
            return place;
        }
        place.push(component);
        std::fs::canonicalize(&place).unwrap_or(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_is_where_it_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::os::unix::fs::symlink(root.join("real/deep"), root.join("link")).unwrap();
        for (path, leads) in [
            ("real", "real"),
            ("none/at/all", "none/at/all"),
            ("link", "real/deep"),
            ("link/none", "real/deep/none"),
            ("link/../none", "real/none"),
            ("none/../link/none", "real/deep/none"),
            ("real/./deep//none/", "real/deep/none"),
        ] {
            assert_eq!(resolved(&root.join(path)), root.join(leads), "{path}");
        }
        assert_eq!(resolved(Path::new("none")), std::env::current_dir().unwrap().canonicalize().unwrap().join("none"));
        assert_eq!(resolved(Path::new("/../..")), Path::new("/"));
    }
}
