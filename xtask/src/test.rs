//! All checks and all tests; what CI runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tally::Tally;
use crate::toolchain::Toolchain;
use crate::{check, guests, packages, process, project};

mod nobody;

/// Programs that the tests run, and the packages they are in.
const PROGRAMS: &[(&str, &str)] =
    &[("git", "git"), ("python3", "python3"), ("setpriv", "util-linux"), ("mkfifo", "coreutils"), ("pgrep", "procps")];

/// Tests append `SKIP: reason` to the file that this variable names.
const SKIPS: &str = "PORTCULLIS_TEST_SKIPS";

/// `cargo xtask test`.
pub(crate) fn run() -> Result<()> {
    packages::ensure(PROGRAMS)?;
    guests::build()?;
    let mut tally = check::all();
    let scratch = Scratch::new()?;

    println!("\n== tests");
    let mut tests = process::cargo();
    tests.current_dir(project::root()).args(["test", "--workspace", "--no-fail-fast"]);
    tally += count(&mut tests, &scratch.0.join("skips"))?;

    println!("\n== unit tests of the components, on this machine");
    for workspace in project::guest_workspaces() {
        let mut tests = Toolchain::Default.cargo(&workspace);
        tally += count(tests.args(["test", "--quiet", "--workspace", "--no-fail-fast"]), &scratch.0.join("skips"))?;
    }

    println!("\n== tests as nobody");
    if packages::is_root()? {
        tally += nobody::test(&scratch.0)?;
    } else {
        let reason = "the tests as another user: only root can become one";
        println!("SKIP: {reason}");
        tally += Tally::skip(reason);
    }

    println!();
    tally.skips.iter().for_each(|reason| println!("SKIP: {reason}"));
    println!("{tally}");
    match tally.failed {
        0 => Ok(()),
        _ => bail!("something failed; see above"),
    }
}

/// Runs a test program, or cargo that runs several. Shows their output, and counts their results.
fn count(command: &mut Command, skips: &Path) -> Result<Tally> {
    fs::write(skips, "").with_context(|| format!("can't write {}", skips.display()))?;
    open_to_all(skips, 0o666)?;
    let mut tally = Tally::default();
    let status = process::lines(command.env(SKIPS, skips), |line| {
        println!("{line}");
        tally.read_result(line);
    })?;
    if !status.success() && tally.failed == 0 {
        println!("{} ended with {status}", process::shown(command));
        tally += Tally::failure();
    }
    tally.read_skips(&fs::read_to_string(skips)?);
    Ok(tally)
}

/// Sets the mode, whatever the umask is.
fn open_to_all(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).with_context(|| format!("can't change the mode of {}", path.display()))
}

/// A folder that everybody can read, gone in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("portcullis-xtask-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("can't create {}", folder.display()))?;
        open_to_all(&folder, 0o755)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("xtask: can't remove {}: {error}", self.0.display());
        }
    }
}
