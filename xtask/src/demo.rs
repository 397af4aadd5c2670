//! Shows the whole way once: a component, a policy, native commands, a journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{guests, packages, process, project};

const POLICY: &str = "guest-examples/rust/repo-report/portcullis.toml";
/// The line of that policy which says how much confinement it wants.
const LEVEL: &str = "\nlevel = \"full\"";

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
    let level = level()?;
    let policy = policy(&level)?;
    let mut report = portcullis();
    // What follows the component belongs to it.
    report.arg("run").arg("--policy").arg(relative(&policy)).args(["--workspace", "."]).arg("--journal").arg(&journal);
    report.arg(relative(&project::components().join("repo-report.wasm")));
    // Without a repository the report says so and fails; what was recorded is then worth seeing all the same.
    let reported = show(&mut report);
    show(portcullis().args(["audit", "show"]).arg("--journal").arg(&journal))?;
    show(portcullis().args(["audit", "verify"]).arg("--journal").arg(&journal))?;
    reported?;
    println!("{NEXT}");
    println!("\nThe kernel held the commands to confinement level `{level}`: README.md says what that is.");
    Ok(())
}

/// The confinement level that this machine reaches.
fn level() -> Result<String> {
    // It ends with 1 where that is not all that there is.
    let doctor = portcullis().args(["doctor", "--json"]).stderr(Stdio::inherit()).output();
    let report: Value = serde_json::from_slice(&doctor.context("can't start portcullis")?.stdout)?;
    match &report["level"] {
        Value::String(level) => Ok(level.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            bail!("no command can be started on this machine; `portcullis doctor` says why")
        }
    }
}

/// The example's policy; where this machine reaches less than that wants, a copy that accepts it.
fn policy(level: &str) -> Result<PathBuf> {
    if level == "full" {
        return Ok(POLICY.into());
    }
    let text = fs::read_to_string(project::root().join(POLICY)).with_context(|| format!("can't read {POLICY}"))?;
    let accepting = text.replacen(LEVEL, &format!("\nlevel = \"{level}\""), 1);
    if accepting == text {
        bail!("{POLICY} does not say {}", LEVEL.trim());
    }
    let copy = project::target().join("demo.toml");
    fs::write(&copy, accepting).with_context(|| format!("can't write {}", copy.display()))?;
    println!(
        "\nThis machine confines commands to level `{level}` only; `portcullis doctor` says what is missing, and how to get \
         it.\nThe example's policy wants `full`, and would run nothing here. The demo takes a copy that accepts less:\n\n  \
         level = \"{level}\""
    );
    Ok(copy)
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
fn relative(path: &Path) -> &Path {
    path.strip_prefix(project::root()).unwrap_or(path)
}
