//! The same tests as a user without rights.
//!
//! Such a user can't look into root's home, where the sources and cargo's files may be. So everything is built as
//! root, and what the tests need is copied to a folder that is open to all:
//!
//! ```text
//! bin/portcullis   components/*.wasm   data/…   docs/…   guest-examples/…/portcullis.toml   tests/NAME-HASH
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{count, open_to_all};
use crate::tally::Tally;
use crate::{process, project};

/// Tells the tests where everything is.
const ROOT: &str = "PORTCULLIS_TEST_ROOT";

/// The user and group called nobody.
const NOBODY: u32 = 65534;

/// Runs every test program of the host's workspace as nobody.
pub(super) fn test(scratch: &Path) -> Result<Tally> {
    let root = scratch.join("root");
    let programs = lay_out(&root)?;
    let mut tally = Tally::default();
    for (number, program) in programs.iter().enumerate() {
        println!("\n     Running {} as nobody", program.file_name().unwrap_or_default().to_string_lossy());
        let own = scratch.join(format!("home-{number}"));
        tally += count(&mut command(program, &root, &own)?, &scratch.join("nobody-skips"))?;
    }
    Ok(tally)
}

/// The test program in a fresh home, with an environment that says nothing of root's.
fn command(program: &Path, root: &Path, own: &Path) -> Result<Command> {
    for folder in [own.to_path_buf(), own.join("tmp")] {
        fs::create_dir(&folder)?;
        chown(&folder, Some(NOBODY), Some(NOBODY)).with_context(|| format!("can't give away {}", folder.display()))?;
    }
    let mut command = Command::new("setpriv");
    let user = NOBODY.to_string();
    command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups", "--"]).arg(program);
    command.current_dir(own).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("RUST_BACKTRACE", "1");
    command.env("HOME", own).env("TMPDIR", own.join("tmp")).env(ROOT, root);
    Ok(command)
}

/// Copies what the tests need, and returns the test programs.
fn lay_out(root: &Path) -> Result<Vec<PathBuf>> {
    for folder in ["", "bin", "tests"] {
        fs::create_dir(root.join(folder))?;
    }
    copy(&project::portcullis(), &root.join("bin/portcullis"))?;
    copy_tree(&project::components(), &root.join("components"), &|_| true)?;
    copy_tree(&project::root().join("tests/data"), &root.join("data"), &|_| true)?;
    copy_tree(&project::root().join("docs"), &root.join("docs"), &|_| true)?;
    fs::copy(project::root().join("README.md"), root.join("README.md")).context("can't copy README.md")?;
    let is_policy = |file: &Path| file.file_name().is_some_and(|name| name == "portcullis.toml");
    copy_tree(&project::root().join("guest-examples"), &root.join("guest-examples"), &is_policy)?;

    let mut programs = Vec::new();
    for program in test_programs()? {
        let place = root.join("tests").join(program.file_name().context("a test program without a name")?);
        copy(&program, &place)?;
        programs.push(place);
    }
    open_tree(root)?;
    Ok(programs)
}

/// The test programs of the host's workspace; they are built by now.
fn test_programs() -> Result<BTreeSet<PathBuf>> {
    let mut cargo = process::cargo();
    cargo.current_dir(project::root());
    cargo.args(["test", "--quiet", "--no-run", "--workspace", "--message-format=json-render-diagnostics"]);
    let messages = process::output(&mut cargo)?;
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = artifacts.filter(|artifact| artifact["profile"]["test"] == Value::Bool(true));
    Ok(tests.filter_map(|artifact| artifact["executable"].as_str().map(PathBuf::from)).collect())
}

/// The same file at another place; a link where it can be one, since debug builds are large.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).with_context(|| format!("can't copy {}", from.display()))?;
    }
    Ok(())
}

/// Copies the files that are wanted, with their folders. What is built or hidden stays.
fn copy_tree(from: &Path, to: &Path, wanted: &dyn Fn(&Path) -> bool) -> Result<()> {
    fs::create_dir(to).with_context(|| format!("can't create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("can't list {}", from.display()))? {
        let entry = entry?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            if entry.file_name() != "target" {
                copy_tree(&path, &place, wanted)?;
            }
        } else if wanted(&path) {
            fs::copy(&path, &place).with_context(|| format!("can't copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Lets everybody read, and run what is a program, whatever the umask is.
fn open_tree(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if path.is_dir() {
        open_to_all(path, 0o755)?;
        for entry in fs::read_dir(path)? {
            open_tree(&entry?.path())?;
        }
        return Ok(());
    }
    let mode = fs::metadata(path)?.permissions().mode();
    open_to_all(path, if mode & 0o100 == 0 { 0o644 } else { 0o755 })
}
