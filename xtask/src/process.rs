//! Running other programs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use anyhow::{Context, Result, bail};

/// How long a step may take before it says that it is under way.
const PATIENCE: Duration = Duration::from_secs(2);

/// cargo, as it was started for this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = [program].into_iter().chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Runs it, with this program's streams.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("can't start {}", shown(command)))?;
    succeeded(command, status)
}

/// Runs it, and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    command.stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("can't start {}", shown(command)))?;
    succeeded(command, output.status)?;
    String::from_utf8(output.stdout).with_context(|| format!("the output of {} is not text", shown(command)))
}

/// Runs it, hands over each line of its standard output as it comes, and says how it ended.
pub(crate) fn lines(command: &mut Command, mut line: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("can't start {}", shown(command)))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
            bytes.clear();
        }
    }
    Ok(child.wait()?)
}

/// Runs it silently for at most this long, and says whether it succeeded.
pub(crate) fn succeeds_within(limit: Duration, command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = silent.spawn() else {
        return false;
    };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if started.elapsed() < limit => thread::sleep(Duration::from_millis(50)),
            Ok(None) | Err(_) => {
                // Either may fail only because it has ended meanwhile.
                let _: [io::Result<()>; 2] = [child.kill(), child.wait().map(drop)];
                return false;
            }
        }
    }
}

/// Does something that may take long. Says so once it does, and then how long it took.
pub(crate) fn step<T>(what: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    let (done, is_done) = mpsc::channel::<()>();
    let announced = thread::scope(|scope| {
        let announcer = scope.spawn(move || {
            let slow = is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            if slow {
                eprintln!("xtask: {what} …");
            }
            slow
        });
        let result = act();
        drop(done);
        (result, announcer.join().unwrap_or(false))
    });
    let (result, slow) = announced;
    if slow {
        let outcome = if result.is_ok() { "done" } else { "failed" };
        eprintln!("xtask: {what}: {outcome} in {:.0} s", started.elapsed().as_secs_f64());
    }
    result
}

/// The file that this name stands for on the search path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("{} failed ({status}); its message is above", shown(command));
    }
    Ok(())
}
