//! Runs the benches.

use anyhow::Result;

use crate::{guests, process, project};

/// `cargo xtask bench`: the arguments go to the benches as they are.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    guests::build()?;
    // The baseline of a figure about whole processes.
    let mut baseline = process::cargo();
    process::run(baseline.current_dir(project::root()).args([
        "build",
        "--quiet",
        "--release",
        "--example",
        "minimal-host",
    ]))?;
    let mut bench = process::cargo();
    bench.current_dir(project::root()).args(["bench", "--bench", "figures", "--"]).args(arguments);
    process::run(bench.env("PORTCULLIS_TEST_COMPONENTS", project::components()))
}
