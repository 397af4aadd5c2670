//! Everything about the sources that can be checked without running the product.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::tally::Tally;
use crate::toolchain::Toolchain;
use crate::{process, project};

mod dependencies;
mod package;
mod platforms;
mod wit;

/// A check returns the reasons for what it had to skip.
type Check = fn() -> Result<Vec<String>>;

const CHECKS: &[(&str, Check)] = &[
    ("fmt", fmt),
    ("lints", lints),
    ("platforms", platforms::check),
    ("docs", docs),
    ("wit", wit::check),
    ("examples", examples),
    ("dependencies", dependencies::check),
    ("package", package::check),
];

/// `cargo xtask check`: all checks, or the named ones.
pub(crate) fn run(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| CHECKS.iter().all(|(known, _)| name != known)) {
        let known: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
        bail!("unknown check '{unknown}'; there are: {}", known.join(" "));
    }
    let tally = some(&|name| names.is_empty() || names.iter().any(|chosen| chosen == name));
    match tally.failed {
        0 => Ok(()),
        failed => bail!("{failed} of the checks failed; what to do is above, at each"),
    }
}

/// Runs all checks.
pub(crate) fn all() -> Tally {
    some(&|_| true)
}

/// Runs the chosen checks, each to its end, so that one run shows every failure.
fn some(chosen: &dyn Fn(&str) -> bool) -> Tally {
    let mut tally = Tally::default();
    for (name, check) in CHECKS.iter().filter(|(name, _)| chosen(name)) {
        let started = Instant::now();
        match process::step(&format!("checking {name}"), check) {
            Ok(skips) => {
                println!("check {name}: ok ({:.1} s)", started.elapsed().as_secs_f64());
                for reason in skips {
                    println!("SKIP: {reason}");
                    tally += Tally::skip(reason);
                }
            }
            Err(error) => {
                println!("check {name}: FAILED: {error:#}");
                tally += Tally::failure();
            }
        }
    }
    tally
}

/// Every workspace is formatted.
fn fmt() -> Result<Vec<String>> {
    for workspace in workspaces() {
        let mut cargo = process::cargo();
        process::run(cargo.current_dir(workspace).args(["fmt", "--all", "--check"])).context("run cargo fmt there")?;
    }
    Ok(Vec::new())
}

/// Every crate takes its workspace's lints, and none of them fires. The components are looked at as programs of this
/// machine, unit tests included: they have no code for WebAssembly alone.
fn lints() -> Result<Vec<String>> {
    for manifest in manifests()? {
        let text = fs::read_to_string(&manifest)?;
        if text.contains("[package]") && !text.contains("[lints]\nworkspace = true") {
            bail!("{} does not say `[lints] workspace = true`", manifest.display());
        }
    }
    let mut host = process::cargo();
    host.current_dir(project::root());
    let guests = project::guest_workspaces();
    let guests = guests.iter().map(|workspace| Toolchain::Default.cargo(workspace));
    for mut clippy in [host].into_iter().chain(guests) {
        clippy.args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]);
        process::run(&mut clippy)?;
    }
    Ok(Vec::new())
}

/// The documentation builds, and its links lead somewhere.
fn docs() -> Result<Vec<String>> {
    let mut cargo = process::cargo();
    cargo.current_dir(project::root()).args(["doc", "--quiet", "--no-deps", "--workspace"]);
    process::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Vec::new())
}

/// Every example has its policy, its text, and a test that names it.
fn examples() -> Result<Vec<String>> {
    let tests = files(&project::root().join("tests"), "rs")?;
    let tests = tests.iter().filter(|file| !file.starts_with(project::root().join("tests/components")));
    let tests = tests.map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?.concat();
    for manifest in files(&project::root().join("guest-examples"), "toml")? {
        let (Some(folder), true) = (manifest.parent(), manifest.ends_with("Cargo.toml")) else {
            continue;
        };
        if !fs::read_to_string(&manifest)?.contains("[package]") {
            continue;
        }
        for file in ["README.md", "portcullis.toml"] {
            if !folder.join(file).is_file() {
                bail!("{} has no {file}", folder.display());
            }
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !tests.contains(&*name) {
            bail!("no test in tests/*.rs names the example {name}; write one that runs it with its policy");
        }
    }
    Ok(Vec::new())
}

/// The host's workspace and those of the components.
fn workspaces() -> Vec<PathBuf> {
    [project::root()].into_iter().chain(project::guest_workspaces()).collect()
}

/// Every `Cargo.toml` of the project.
fn manifests() -> Result<Vec<PathBuf>> {
    let files = files(&project::root(), "toml")?;
    Ok(files.into_iter().filter(|file| file.ends_with("Cargo.toml")).collect())
}

/// Every file below `folder` with this extension, except what is built or hidden. Symbolic links are not followed.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("can't list {}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            let hidden = name == "target" || name.to_string_lossy().starts_with('.');
            if entry.file_type()?.is_dir() && !hidden {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|found| found == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
