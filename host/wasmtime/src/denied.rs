//! The paths that a policy denies, kept from a guest's own file access.
//!
//! The host serves a guest's preopened workspace itself, outside the kernel's confinement of commands, so what mounts
//! keep from commands has to be kept from the guest here. A view stands in front of `wasi:filesystem/types`: it finds
//! out what a call would touch, refuses what is denied, and leaves the work to the stock implementation.
//!
//! The model:
//!
//! 1. A path is walked part by part from the guest's descriptor, symbolic links included (`walk`). Every directory on
//!    the way is opened without following anything, and judged by the real path and the identity of *what was opened*.
//! 2. The stock implementation then gets that opened parent and one last name, and follows nothing. A command that
//!    swaps a directory for a link in between changes nothing: the parent is the one that was judged.
//! 3. What it opens is judged once more, before the guest has it and before a file is cut to length zero.
//!
//! What a denied path stands for is found out anew in every call (`snapshot`), so that it may appear, be a link, or
//! be reached by another name.

mod descriptor;
mod entry;
mod open;
mod snapshot;
mod view;
mod walk;

use std::fs::File;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use wasmtime_wasi::WasiView;

use snapshot::Snapshot;
pub(crate) use view::{DeniedPathsData, DeniedPathsView as View};

/// Paths of a workspace that its preopens keep from a guest, in whatever way it names them.
///
/// To the guest they exist and are not accessible: a listing of their directory shows them, and everything else that
/// touches them or what lies below answers `access`. Nothing can be created there, moved there or linked there. What
/// they need to stay where they are (a directory above, a link on the way) can't be moved, replaced or removed:
/// `busy`, or `access` where it is missing.
///
/// Without any path, calls go to the stock implementation as they are. A clone is the same object.
#[derive(Debug, Clone, Default)]
pub struct DeniedPaths {
    /// None: nothing is denied.
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    /// The workspace.
    root: File,
    /// Relative to the workspace, of names only.
    paths: Vec<String>,
}

impl DeniedPaths {
    /// Denies these paths of a workspace, as [`Policy::deny`](portcullis_policy::Policy::deny) has them: relative to
    /// it, in names without `.` and `..`. They need not exist.
    ///
    /// Give the same workspace to the guest as a preopen; a directory outside it can't be judged, and every use of it
    /// answers `access`.
    ///
    /// # Errors
    /// Where a path has another form, the workspace can't be opened, or /proc does not tell where open files are.
    pub fn new(workspace: &Path, paths: &[String]) -> io::Result<Self> {
        if paths.is_empty() {
            return Ok(Self::default());
        }
        let names_only = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if let Some(path) = paths.iter().find(|path| path.is_empty() || !names_only(path)) {
            let message = format!("`{path}` is not a relative path of names");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let shared = Shared { root: entry::directory(workspace)?, paths: paths.to_vec() };
        // What can't be enforced must not be promised.
        Snapshot::take(&shared)?;
        Ok(Self { shared: Some(Arc::new(shared)) })
    }

    /// Whether nothing is denied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.is_none()
    }
}

/// Gives access to the [`DeniedPaths`] of a store's data.
pub trait DeniedPathsView: WasiView {
    /// Borrows them.
    fn denied_paths(&mut self) -> &DeniedPaths;
}

#[cfg(test)]
mod tests;
