//! Programs that have to be on the machine.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// Makes sure that these programs are there, each from the Debian package named beside it.
pub(crate) fn ensure(programs: &[(&str, &str)]) -> Result<()> {
    let missing = programs.iter().filter(|(program, _)| process::find(program).is_none());
    let (names, packages): (Vec<_>, Vec<_>) = missing.copied().unzip();
    if packages.is_empty() {
        return Ok(());
    }
    let (names, list) = (names.join(", "), packages.join(" "));
    if process::find("apt-get").is_none() {
        bail!("{names} not found; install what provides them (Debian's packages: {list})");
    }
    if !is_root()? {
        bail!("{names} not found; as root: apt-get install {list}");
    }
    process::step(&format!("installing {list}"), || {
        let apt = || {
            let mut apt = Command::new("apt-get");
            apt.args(["-qq", "-o", "DPkg::Lock::Timeout=300"]).env("DEBIAN_FRONTEND", "noninteractive");
            apt
        };
        process::output(apt().arg("update"))?;
        process::output(apt().args(["install", "-y", "--no-install-recommends"]).args(&packages)).map(drop)
    })
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(process::output(Command::new("id").arg("-u"))?.trim() == "0")
}
