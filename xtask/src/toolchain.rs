//! The compiler for the components.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{process, project};

/// The compiler's target: a component for WASI 0.2.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Says which way to take; the only value is `debian`.
const CHOICE: &str = "PORTCULLIS_WASI_TOOLCHAIN";

/// rustup waits for ever where its downloads are filtered.
const RUSTUP_TIME: Duration = Duration::from_secs(120);

/// A compiler that has [`TARGET`].
pub(crate) enum Toolchain {
    /// The one that builds the host too.
    Default,
    /// The one in this folder, made from Debian packages.
    Debian(PathBuf),
}

impl Toolchain {
    /// Finds the compiler, or makes one. Quiet where nothing is to do.
    pub(crate) fn ensure() -> Result<Self> {
        match env::var_os(CHOICE) {
            Some(choice) if choice == "debian" => return Self::debian(),
            Some(choice) if !choice.is_empty() => bail!("{CHOICE} knows only one value: debian"),
            Some(_) | None => {}
        }
        if default_has(TARGET) {
            return Ok(Self::Default);
        }
        let made_before = project::cache("wasi-toolchain")?.join(".stamp").exists();
        if !made_before && process::find("rustup").is_some() {
            let added = process::step(&format!("adding {TARGET} with rustup"), || {
                let mut rustup = Command::new("rustup");
                let added = process::succeeds_within(RUSTUP_TIME, rustup.args(["target", "add", TARGET]));
                added.then_some(()).context("rustup can't add it")
            });
            if added.is_ok() && default_has(TARGET) {
                return Ok(Self::Default);
            }
        }
        Self::debian()
    }

    fn debian() -> Result<Self> {
        let folder = project::cache("wasi-toolchain")?;
        let script = project::root().join("guest-examples/toolchain/debian-wasi-toolchain.sh");
        let made = process::step(&format!("making a compiler for {TARGET} from Debian packages (once)"), || {
            process::run(clean(&mut Command::new(&script)).arg(&folder).stdin(Stdio::null()))
        });
        match made {
            Ok(()) => Ok(Self::Debian(folder)),
            Err(error) => bail!(
                "no compiler for {TARGET}: `rustup target add {TARGET}` does not work here, and neither do \
                 Debian's packages ({error:#}). Make one of the two work, then try again"
            ),
        }
    }

    /// cargo with this compiler, in a guest workspace.
    pub(crate) fn cargo(&self, workspace: &Path) -> Command {
        let mut cargo = match self {
            Self::Default => process::cargo(),
            Self::Debian(folder) => {
                let mut cargo = Command::new(folder.join("bin/cargo"));
                cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env("RUSTC", folder.join("bin/rustc"));
                cargo
            }
        };
        clean(&mut cargo).current_dir(workspace).env("CARGO_TARGET_DIR", self.target_folder());
        cargo
    }

    /// Both guest workspaces build into one folder, since they share their dependencies; each compiler has its own.
    fn target_folder(&self) -> PathBuf {
        project::target().join(match self {
            Self::Default => "guests",
            Self::Debian(_) => "guests-debian",
        })
    }
}

/// Takes away what is meant for the host's compiler.
fn clean(command: &mut Command) -> &mut Command {
    let variables = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS"];
    variables.into_iter().fold(command, |command, variable| command.env_remove(variable))
}

/// Whether the compiler that builds the host has the standard library of this target.
pub(crate) fn default_has(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).stderr(Stdio::null());
    let Ok(output) = rustc.output() else {
        return false;
    };
    let files = fs::read_dir(String::from_utf8_lossy(&output.stdout).trim());
    let mut names = files.into_iter().flatten().flatten().map(|file| file.file_name());
    names.any(|name| name.to_string_lossy().starts_with("libstd-"))
}
