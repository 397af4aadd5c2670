//! Builds the components.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::toolchain::{TARGET, Toolchain};
use crate::{process, project};

/// A core module without any content: what is no component must be refused with a clear message.
const CORE_MODULE: (&str, &[u8]) = ("core.wasm", b"\0asm\x01\0\0\0");

/// Folders of `guest-examples` that this module knows what to do with.
const KNOWN_FOLDERS: [&str; 2] = ["rust", "toolchain"];

/// `cargo xtask guests`.
pub(crate) fn run() -> Result<()> {
    build()?;
    println!("components: {}", project::components().display());
    Ok(())
}

/// Builds every component into `target/components`. Files that did not change stay untouched.
pub(crate) fn build() -> Result<()> {
    refuse_unknown_examples()?;
    let toolchain = Toolchain::ensure()?;
    let built: Vec<Vec<PathBuf>> = process::step("building the components", || {
        project::guest_workspaces().iter().map(|workspace| build_workspace(&toolchain, workspace)).collect()
    })?;
    let folder = project::components();
    fs::create_dir_all(&folder).with_context(|| format!("can't create {}", folder.display()))?;
    let (core_name, core_bytes) = CORE_MODULE;
    let mut names = BTreeSet::from([core_name.to_owned()]);
    write_if_changed(&folder.join(core_name), core_bytes)?;
    for file in built.concat() {
        let name = component_name(&file)?;
        let bytes = fs::read(&file).with_context(|| format!("can't read {}", file.display()))?;
        write_if_changed(&folder.join(&name), &bytes)?;
        if !names.insert(name.clone()) {
            bail!("two crates make {name}; rename one of them");
        }
    }
    remove_others(&folder, &names)
}

/// Builds one workspace, and returns the files of its components.
fn build_workspace(toolchain: &Toolchain, workspace: &Path) -> Result<Vec<PathBuf>> {
    let mut cargo = toolchain.cargo(workspace);
    cargo.args(["build", "--quiet", "--workspace", "--release", "--target", TARGET]);
    let messages = process::output(cargo.arg("--message-format=json-render-diagnostics"))?;
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = artifacts.flat_map(|message| match &message["filenames"] {
        Value::Array(files) => files.iter().filter_map(|file| file.as_str().map(PathBuf::from)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Vec::new(),
    });
    Ok(files.filter(|file| file.extension().is_some_and(|extension| extension == "wasm")).collect())
}

/// `repo-report.wasm`; cargo writes the name of a library with underscores.
fn component_name(file: &Path) -> Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{} has no name in UTF-8", file.display()))?;
    Ok(name.replace('_', "-"))
}

fn write_if_changed(file: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(file).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    fs::write(file, bytes).with_context(|| format!("can't write {}", file.display()))
}

/// A component whose crate is gone must not linger where a test could still find it.
fn remove_others(folder: &Path, names: &BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(|name| names.contains(name)) {
            fs::remove_file(entry.path()).with_context(|| format!("can't remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// An example that nothing builds would rot unseen.
fn refuse_unknown_examples() -> Result<()> {
    for entry in fs::read_dir(project::root().join("guest-examples"))? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() && !KNOWN_FOLDERS.iter().any(|known| name == *known) {
            let name = name.to_string_lossy();
            bail!("nothing builds guest-examples/{name}; teach it to xtask/src/guests.rs");
        }
    }
    Ok(())
}
