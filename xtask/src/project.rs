//! Where things are.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map(Path::to_path_buf).unwrap_or(manifest)
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => env::current_dir().unwrap_or_else(|_| root()).join(folder),
        None => root().join("target"),
    }
}

/// The folder that the built components are in.
pub(crate) fn components() -> PathBuf {
    target().join("components")
}

/// The `portcullis` that cargo builds, in the profile of demo and tests.
pub(crate) fn portcullis() -> PathBuf {
    target().join("debug/portcullis")
}

/// Workspaces whose crates become components: the examples, and what the tests run.
pub(crate) fn guest_workspaces() -> [PathBuf; 2] {
    [root().join("guest-examples/rust"), root().join("tests/components")]
}

/// A folder for tools that serves every clone of the project: in `$XDG_CACHE_HOME`, else in `~/.cache`.
pub(crate) fn cache(name: &str) -> Result<PathBuf> {
    Ok(user_folder("XDG_CACHE_HOME", ".cache")?.join("portcullis-dev").join(name))
}

/// The folder that `variable` names, else this one in the home directory.
pub(crate) fn user_folder(variable: &str, in_home: &str) -> Result<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    set(variable)
        .or_else(|| Some(set("HOME")?.join(in_home)))
        .with_context(|| format!("neither HOME nor {variable} names a folder; set one of them"))
}
