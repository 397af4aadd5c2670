//! A whole process: `portcullis run` of a small component, against a minimal host on the same library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::exec::component;
use crate::figure::{Figure, Goal};

/// `portcullis run hello.wasm` ÷ the example `minimal-host` on it; both compile it.
pub(crate) fn cold_run() -> Result<Figure, String> {
    let portcullis = PathBuf::from(env!("CARGO_BIN_EXE_portcullis"));
    let minimal = portcullis.with_file_name("examples").join("minimal-host");
    if !minimal.exists() {
        return Err(format!("{} is missing; run this through `cargo xtask bench`", minimal.display()));
    }
    let hello = component("hello")?;
    let hello = std::fs::canonicalize(hello).unwrap();
    let world = tempfile::tempdir().unwrap();
    let (home, workspace, policy) =
        (world.path().join("home"), world.path().join("work"), world.path().join("policy.toml"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(&policy, "version = 1\nconfinement.level = \"none\"\n").unwrap();
    let run = |program: &Path, arguments: &[&Path]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&workspace).env_clear().env("HOME", &home).stdin(Stdio::null());
        timed(&mut command)
    };
    let ours = || run(&portcullis, &["run".as_ref(), "--policy".as_ref(), &policy, &hello]);
    Ok(Figure::interleaved((3, 60), Some(Goal::Ratio(1.2)), ours, || run(&minimal, &[&hello])))
}

fn timed(command: &mut Command) -> Duration {
    let start = Instant::now();
    let output = command.output().unwrap();
    let time = start.elapsed();
    assert!(output.stdout.starts_with(b"hello"), "{}", String::from_utf8_lossy(&output.stderr));
    time
}
