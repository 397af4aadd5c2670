//! Shows the whole way once: a component, a policy, native commands, a journal.

use std::process::Command;

use anyhow::Result;

use crate::{guests, packages, process, project};

const POLICY: &str = "guest-examples/rust/repo-report/portcullis.toml";

const NEXT: &str = "
What you saw: a WebAssembly component asked for native commands, and the policy allowed these and nothing else.
Now take a rule out of the policy, and run the demo again: that section will say who refused it, and why.
  policy   guest-examples/rust/repo-report/portcullis.toml
  source   guest-examples/rust/repo-report/src/main.rs";

/// `cargo xtask demo`.
pub(crate) fn run() -> Result<()> {
    packages::ensure(&[("git", "git")])?;
    process::step("building portcullis (minutes, the first time)", || {
        process::run(process::cargo().current_dir(project::root()).args([
            "build",
            "--quiet",
            "--package",
            "portcullis",
        ]))
    })?;
    guests::build()?;

    // Outside the workspace: what a command could write is no place for a journal.
    let journal = project::user_folder("XDG_STATE_HOME", ".local/state")?.join("portcullis-demo/journal");
    let mut report = portcullis();
    // What follows the component belongs to it.
    report.args(["run", "--policy", POLICY, "--workspace", "."]).arg("--journal").arg(&journal);
    report.arg(relative(&project::components().join("repo-report.wasm")));
    // Without a repository the report says so and fails; what was recorded is then worth seeing all the same.
    let reported = show(&mut report);
    show(portcullis().args(["audit", "show"]).arg("--journal").arg(&journal))?;
    show(portcullis().args(["audit", "verify"]).arg("--journal").arg(&journal))?;
    reported?;
    println!("{NEXT}");
    Ok(())
}

fn portcullis() -> Command {
    let mut portcullis = Command::new(project::portcullis());
    portcullis.current_dir(project::root());
    portcullis
}

fn show(command: &mut Command) -> Result<()> {
    println!("\n$ {}", process::shown(command));
    process::run(command)
}

/// The path as one would type it in the repository.
fn relative(path: &std::path::Path) -> &std::path::Path {
    path.strip_prefix(project::root()).unwrap_or(path)
}
