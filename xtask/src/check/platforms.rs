//! What builds where commands can't be run, and on the other architecture where they can.

use anyhow::{Context, Result};

use crate::{process, project, toolchain};

/// Targets, and the crates that build for them. The journal's writer, which the gate needs, is Unix's.
const PLATFORMS: &[(&str, &[&str])] = &[
    ("aarch64-unknown-linux-gnu", &["portcullis-gate", "portcullis-runner"]),
    ("x86_64-apple-darwin", &["portcullis-gate", "portcullis-runner"]),
    ("x86_64-pc-windows-gnu", &["portcullis-audit", "portcullis-policy", "portcullis-runner"]),
];

/// Checks these crates for every target whose standard library is installed. Nothing is linked, so that is enough.
pub(super) fn check() -> Result<Vec<String>> {
    let mut skips = Vec::new();
    for (target, crates) in PLATFORMS {
        if !toolchain::default_has(target) {
            skips.push(format!("what builds for {target}: `rustup target add {target}` was not done here"));
            continue;
        }
        let mut clippy = process::cargo();
        clippy.current_dir(project::root()).args(["clippy", "--quiet", "--target", target]);
        for name in *crates {
            clippy.args(["--package", name]);
        }
        process::run(clippy.args(["--", "-D", "warnings"])).with_context(|| format!("{target} is broken"))?;
    }
    Ok(skips)
}
