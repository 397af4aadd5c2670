//! Running a command to its end, and not for ever.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process_group};

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` = it was killed, by us if it took too long.
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    _left: Left,
}

/// What a command left behind in its process group, until nobody looks at its end any more: a process that is on its
/// way to a session of its own is still in it.
#[derive(Debug)]
struct Left(Option<Pid>);

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // There need not be any.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

/// A command in a session of its own: no terminal, and all of it can be killed.
pub(crate) fn session(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setsid");
    command.arg("--").arg(program);
    command
}

/// Runs a command that [`session`] made. Its output goes to files in `folder`, since whatever it leaves behind may keep
/// pipes open.
pub(crate) fn run(command: &mut Command, stdin: Option<&str>, limit: Duration, folder: &Path) -> Result<Ended> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let input = if stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(input).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = command.spawn().context("can't start a command")?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pipe = child.stdin.take().zip(stdin.map(str::to_owned));
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        if let Some((mut pipe, text)) = pipe {
            // It need not read everything.
            let _closed = pipe.write_all(text.as_bytes());
        }
        let _nobody_waits = done.send(child.wait());
    });
    let left = Left(group);
    let (code, timed_out) = match is_done.recv_timeout(limit) {
        Ok(status) => (status?.code(), false),
        Err(_) => {
            drop(Left(group));
            (is_done.recv()??.code(), true)
        }
    };
    let text = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ended { code, timed_out, stdout: text(&out)?, stderr: text(&err)?, _left: left })
}
