//! One way to start `portcullis` in a world of its own: home, state, workspace and policy in a fresh folder.

#![allow(dead_code, clippy::unwrap_used, reason = "each test program uses a part; a test that can't go on panics")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

pub(crate) mod lesser;

/// A policy's beginning: commands are not confined, where a test is not about confinement.
pub(crate) const HEAD: &str = "version = 1\nconfinement.level = \"none\"\n";

/// A folder with a home, an empty workspace and a policy outside it.
pub(crate) struct World {
    folder: TempDir,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Exit code; `None` = killed by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A world whose policy is [`HEAD`] and this text.
    pub(crate) fn new(rules: &str) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.home()).unwrap();
        fs::create_dir(world.workspace()).unwrap();
        fs::write(world.policy(), format!("{HEAD}{rules}")).unwrap();
        world
    }

    /// A world whose policy lets these programs run with any arguments.
    pub(crate) fn allowing(programs: &[&str]) -> Self {
        Self::new(&programs.iter().map(|program| allow(program)).collect::<String>())
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/state/portcullis")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.state().join("journal")
    }

    /// The journal's lines.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.journal().join("00000000000000000000.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The types of the journal's records, in order.
    pub(crate) fn record_types(&self) -> Vec<String> {
        self.records().iter().map(|record| record["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    pub(crate) fn policy(&self) -> PathBuf {
        self.path().join("policy.toml")
    }

    /// `portcullis ARGS` in the workspace, with no policy named.
    pub(crate) fn bare<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(self.workspace()).env_clear();
        command.env("HOME", self.home()).env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
        command
    }

    /// `portcullis SUBCOMMAND ARGS` in the workspace, under this world's policy.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.bare(args);
        command.env("PORTCULLIS_POLICY", self.policy());
        command
    }

    /// Runs `portcullis ARGS` under this world's policy to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ended {
        ended(&mut self.command(args))
    }

    /// Runs `portcullis exec ARGS`.
    pub(crate) fn exec(&self, args: &[&str]) -> Ended {
        self.run([&["exec"], args].concat())
    }

    /// Runs a component of the tests: `portcullis run NAME.wasm ARGS`.
    pub(crate) fn component(&self, name: &str, args: &[&str]) -> Ended {
        let mut all = vec![OsStr::new("run").to_owned(), component(name).into_os_string()];
        all.extend(args.iter().map(|arg| OsStr::new(arg).to_owned()));
        self.run(all)
    }
}

/// A program table that allows a program with any arguments.
pub(crate) fn allow(program: &str) -> String {
    format!(
        "[[program]]\nname = \"{program}\"\n[[program.rule]]\nid = \"{program}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
    )
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts a command with piped streams.
pub(crate) fn started(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The program under test.
pub(crate) fn binary() -> PathBuf {
    root().map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_portcullis")), |root| root.join("bin/portcullis"))
}

/// A component that the tests run; `cargo xtask guests` builds them.
pub(crate) fn component(name: &str) -> PathBuf {
    let folder = root().map_or_else(
        || Path::new(env!("CARGO_BIN_EXE_portcullis")).ancestors().nth(2).unwrap().join("components"),
        |root| root.join("components"),
    );
    let path = folder.join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `cargo xtask guests`", path.display());
    path
}

/// A file of `guest-examples`.
pub(crate) fn guest_example(path: &str) -> PathBuf {
    root().unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR"))).join("guest-examples").join(path)
}

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    root().map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name),
        |root| root.join("data").join(name),
    )
}

/// Where everything was copied to for a run as another user.
fn root() -> Option<PathBuf> {
    std::env::var_os("PORTCULLIS_TEST_ROOT").map(PathBuf::from)
}

/// Says that a test can't run here, where it is counted.
pub(crate) fn skip(reason: &str) {
    if let Some(path) = std::env::var_os("PORTCULLIS_TEST_SKIPS") {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "SKIP: {reason}").unwrap();
    }
}

impl World {
    /// A world whose policy wants level `limits`, sets these limits (`wall = "1s", cpu = "1s"`), and lets these programs
    /// run with any arguments.
    pub(crate) fn limited(programs: &[&str], limits: &str) -> Self {
        let world = Self::allowing(programs);
        let head = format!("version = 1\nconfinement.level = \"limits\"\nlimits = {{ {limits} }}\n");
        let rules = programs.iter().map(|program| allow(program)).collect::<String>();
        fs::write(world.policy(), head + &rules).unwrap();
        world
    }
}
