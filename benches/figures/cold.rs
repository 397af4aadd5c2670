//! A whole process: `portcullis run` of a small component, against a minimal host on the same library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_policy::Level;
use tempfile::TempDir;

use crate::exec::component;
use crate::figure::{Figure, Goal};

/// `portcullis run hello.wasm` ÷ the example `minimal-host` on it; both load what they compiled earlier.
pub(crate) fn cached_run() -> Result<Figure, String> {
    let bench = Bench::new("landlock")?;
    if portcullis_runner::available_level() < Level::Landlock {
        return Err("compiled components are kept only where commands are confined, and here they can't be".to_owned());
    }
    let compiled = bench.world.path().join("hello.cwasm");
    let text = bench.command(&bench.portcullis, &[&"-v", &"run", &"--policy", &bench.policy, &bench.hello]).output();
    assert!(String::from_utf8_lossy(&text.unwrap().stderr).contains("compiled, and kept in the cache"));
    let text = bench.command(&bench.portcullis, &[&"-v", &"run", &"--policy", &bench.policy, &bench.hello]).output();
    assert!(String::from_utf8_lossy(&text.unwrap().stderr).contains("loaded from the cache"));
    Ok(Figure::interleaved((10, 400), Some(Goal::Ratio(1.3)), || bench.ours(), || bench.minimal(&[&compiled])))
}

/// The same, and both compile it each time.
pub(crate) fn uncached_run() -> Result<Figure, String> {
    let bench = Bench::new("none")?;
    Ok(Figure::interleaved((3, 60), Some(Goal::Ratio(1.2)), || bench.ours(), || bench.minimal(&[])))
}

struct Bench {
    portcullis: PathBuf,
    minimal: PathBuf,
    hello: PathBuf,
    policy: PathBuf,
    world: TempDir,
}

impl Bench {
    fn new(level: &str) -> Result<Self, String> {
        let portcullis = PathBuf::from(env!("CARGO_BIN_EXE_portcullis"));
        let minimal = portcullis.with_file_name("examples").join("minimal-host");
        if !minimal.exists() {
            return Err(format!("{} is missing; run this through `cargo xtask bench`", minimal.display()));
        }
        let hello = std::fs::canonicalize(component("hello")?).unwrap();
        let world = tempfile::tempdir().unwrap();
        for folder in ["home", "work"] {
            std::fs::create_dir(world.path().join(folder)).unwrap();
        }
        let policy = world.path().join("policy.toml");
        std::fs::write(&policy, format!("version = 1\nconfinement.level = \"{level}\"\n")).unwrap();
        Ok(Self { portcullis, minimal, hello, policy, world })
    }

    fn command(&self, program: &Path, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments.iter().map(|argument| argument.as_ref()));
        command.current_dir(self.world.path().join("work")).env_clear().env("HOME", self.world.path().join("home"));
        command.stdin(Stdio::null());
        command
    }

    fn ours(&self) -> Duration {
        timed(&mut self.command(&self.portcullis, &[&"run", &"--policy", &self.policy, &self.hello]))
    }

    fn minimal(&self, further: &[&dyn AsRef<std::ffi::OsStr>]) -> Duration {
        timed(&mut self.command(&self.minimal, &[&[&self.hello as &dyn AsRef<std::ffi::OsStr>], further].concat()))
    }
}

fn timed(command: &mut Command) -> Duration {
    let start = Instant::now();
    let output = command.output().unwrap();
    let time = start.elapsed();
    assert!(output.stdout.starts_with(b"hello"), "{}", String::from_utf8_lossy(&output.stderr));
    time
}
