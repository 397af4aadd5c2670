//! What would be published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::files;
use crate::{process, project};

/// Every crate that is published lists its files; those that embed the contract have all of it; and each file that
/// the manifest speaks of is there.
pub(super) fn check() -> Result<Vec<String>> {
    let root = project::root();
    let mut metadata = process::cargo();
    metadata.current_dir(&root).args(["metadata", "--locked", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&process::output(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    for package in packages.iter().filter(|package| !package["publish"].is_array()) {
        let name = package["name"].as_str().context("a package without a name")?;
        let folder = package["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
        check_package(name, folder.context("a package without a folder")?, package)?;
    }
    Ok(Vec::new())
}

fn check_package(name: &str, folder: &Path, package: &Value) -> Result<()> {
    for field in ["description", "license", "repository"] {
        if package[field].as_str().is_none_or(str::is_empty) {
            bail!("{name} has no {field} in its Cargo.toml");
        }
    }
    let mut list = process::cargo();
    list.current_dir(folder).args(["package", "--quiet", "--list", "--allow-dirty", "--package", name]);
    let listed: BTreeSet<PathBuf> = process::output(&mut list)?.lines().map(PathBuf::from).collect();
    if let Some(readme) = package["readme"].as_str()
        && !listed.contains(Path::new("README.md"))
    {
        bail!("{name} speaks of {readme}, and would be published without it");
    }
    if folder.join("wit").is_dir() && folder != project::root() {
        let contract = project::root().join("wit");
        for file in files(&contract, "wit")? {
            let packaged = Path::new("wit").join(file.strip_prefix(&contract)?);
            if !listed.contains(&packaged) {
                bail!("{name} would be published without {}", packaged.display());
            }
        }
    }
    Ok(())
}
