//! A command from its start to its end.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_audit::IntentReceipt;
use portcullis_policy::{Code, Problem};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};
use tokio::io::AsyncWriteExt as _;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::drain::{self, Drain};
use crate::sys::{Ended, close_on_exec, wait, watch};
use crate::{Approved, Captured, Enforcement, Input, Outcome, StartError, Status, Streams, Usage};

/// How long a killed command may take to die (it may hang in the kernel) before its fate counts as unknown.
const REAP: Duration = Duration::from_secs(5);

/// A command that runs. Dropping it kills the command.
#[derive(Debug)]
#[must_use = "dropping it kills the command"]
pub struct Running {
    supervisor: JoinHandle<Outcome>,
    cancel: CancellationToken,
}

/// Starts an approved command whose intent is on record.
///
/// Must be called on a tokio runtime with its I/O and time drivers; a task of that runtime watches the command.
///
/// Every descriptor of this process above 2 becomes close-on-exec: what the host itself was started with must not
/// reach the command. (Rust opens everything so.)
///
/// # Errors
/// [`StartError`]: nothing was started, or it was killed at once.
pub fn start(approved: Approved, receipt: IntentReceipt, streams: Streams) -> Result<Running, StartError> {
    if receipt.subject() != &approved.digest() {
        return Err(StartError::WrongReceipt);
    }
    let Streams { input, stdout, stderr } = streams;
    let merged = approved.allowed().merge_stderr();
    let (stdin, feed) = input_pipe(input)?;
    let (stdout_ours, stdout_theirs) = output_pipe()?;
    let (stderr_ours, stderr_theirs) = if merged {
        (None, stdout_theirs.try_clone().map_err(StartError::Pipe)?)
    } else {
        let (ours, theirs) = output_pipe()?;
        (Some(ours), theirs)
    };

    close_on_exec().map_err(StartError::Descriptors)?;
    let mut command = command(&approved);
    command.stdin(stdin).stdout(stdout_theirs).stderr(stderr_theirs);
    let started = Instant::now();
    let child = command
        .spawn()
        .map_err(|source| StartError::Execute { path: approved.allowed().identity().path.clone(), source })?;
    // The write ends live in `command`: while it does, our read ends never see the end.
    drop(command);
    let process = Process::watch(Pid::from_child(&child)).map_err(StartError::Watch)?;

    let limits = approved.allowed().limits();
    let cancel = CancellationToken::new();
    let supervisor = Supervisor {
        process,
        started,
        wall: limits.wall,
        cancel: cancel.clone(),
        stdout: Drain::new(stdout_ours, stdout, limits.output_bytes),
        stderr: stderr_ours.map(|ours| Drain::new(ours, stderr, limits.output_bytes)),
    };
    let supervisor = tokio::spawn(supervisor.run(feed));
    Ok(Running { supervisor, cancel })
}

impl Running {
    /// Waits for the command's end.
    ///
    /// When this returns the command is reaped and its process group is dead.
    pub async fn wait(mut self) -> Outcome {
        match (&mut self.supervisor).await {
            Ok(outcome) => outcome,
            Err(_) => lost("the task that watched the command is gone; the command was killed"),
        }
    }

    /// What cancels the command: its outcome is then [`Status::Cancelled`], unless it ended first.
    #[must_use]
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn lost(why: &str) -> Outcome {
    Outcome {
        status: Status::Unknown(Problem::new(Code::Internal, why)),
        stdout: Captured::default(),
        stderr: None,
        usage: Usage::default(),
        enforcement: Enforcement::none(),
    }
}

/// The program by its descriptor, argv, environment and directory: exactly what was decided.
fn command(approved: &Approved) -> Command {
    let allowed = approved.allowed();
    let program = approved.program();
    // The kernel resolves the link before it closes the descriptor, so what runs is the open file.
    let mut command = Command::new(format!("/proc/self/fd/{}", program.executable().as_raw_fd()));
    match &allowed.identity().script {
        None => {
            command.arg0(allowed.program().as_str());
        }
        // As execve(2) would run it: the interpreter's path, its argument, the script's path.
        Some(script) => {
            command.arg0(&allowed.identity().path);
            command.args(&script.interpreter_argument).arg(&script.path);
        }
    }
    command
        .args(allowed.arguments())
        .env_clear()
        .envs(allowed.env().iter().map(|(name, value)| (name, value)))
        .current_dir(format!("/proc/self/fd/{}", approved.cwd().as_raw_fd()))
        .process_group(0);
    command
}

fn output_pipe() -> Result<(pipe::Receiver, OwnedFd), StartError> {
    let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| StartError::Pipe(errno.into()))?;
    Ok((pipe::Receiver::from_owned_fd(ours).map_err(StartError::Pipe)?, theirs))
}

/// What feeds a command's standard input.
struct Feed {
    pipe: pipe::Sender,
    input: Input,
}

fn input_pipe(input: Input) -> Result<(Stdio, Option<Feed>), StartError> {
    if matches!(input, Input::Empty) {
        return Ok((Stdio::null(), None));
    }
    let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| StartError::Pipe(errno.into()))?;
    let pipe = pipe::Sender::from_owned_fd(ours).map_err(StartError::Pipe)?;
    Ok((theirs.into(), Some(Feed { pipe, input })))
}

impl Feed {
    /// Writes until the input ends or the command reads no more. Neither is an error of the command's.
    async fn run(mut self) {
        match self.input {
            Input::Empty => {}
            Input::Bytes(bytes) => drop(self.pipe.write_all(&bytes).await),
            Input::Reader(mut reader) => drop(tokio::io::copy(&mut reader, &mut self.pipe).await),
        }
    }
}

/// A started process: killed when it is dropped unreaped.
struct Process {
    pid: Pid,
    ended: AsyncFd<OwnedFd>,
    reaped: bool,
}

impl Process {
    fn watch(pid: Pid) -> io::Result<Self> {
        match watch(pid) {
            Ok(ended) => Ok(Self { pid, ended, reaped: false }),
            Err(error) => {
                kill(pid);
                // It dies at once; should it hang in the kernel, a zombie is the lesser evil.
                let _zombie = wait(pid);
                Err(error)
            }
        }
    }

    async fn end(&self) {
        // Only a broken runtime fails here; the wall-clock limit still ends the command then.
        if self.ended.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn reap(&mut self) -> io::Result<Option<Ended>> {
        let ended = wait(self.pid)?;
        self.reaped = ended.is_some();
        Ok(ended)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            kill(self.pid);
            let _zombie = wait(self.pid);
        }
    }
}

/// Kills the command and the process group that it leads. It is not reaped yet, so neither can be another's.
fn kill(leader: Pid) {
    // Each fails only where nothing is left to kill.
    let _nothing_left = rustix::process::kill_process_group(leader, Signal::KILL);
    // A leader can leave its group for another of the host's session, setpgid(2).
    let _nothing_left = rustix::process::kill_process(leader, Signal::KILL);
}

struct Supervisor {
    process: Process,
    started: Instant,
    wall: Duration,
    cancel: CancellationToken,
    stdout: Drain,
    stderr: Option<Drain>,
}

impl Supervisor {
    /// Reads and feeds until the command ends or must end; kills what is left; reaps; reads the rest.
    async fn run(self, feed: Option<Feed>) -> Outcome {
        let Self { mut process, started, wall, cancel, mut stdout, mut stderr } = self;
        let over = CancellationToken::new();
        let (status, usage) = {
            let drains = async {
                tokio::join!(stdout.run(&over), async {
                    if let Some(stderr) = &mut stderr {
                        stderr.run(&over).await;
                    }
                });
            };
            // The feed stops with the command: nobody reads it then.
            let feed = async {
                if let Some(feed) = feed {
                    feed.run().await;
                }
                std::future::pending::<()>().await;
            };
            let limit = tokio::time::sleep_until((started + wall).into());
            tokio::pin!(drains, feed, limit);
            let mut drained = false;
            let killed = loop {
                tokio::select! {
                    () = process.end() => break None,
                    () = cancel.cancelled() => break Some(Status::Cancelled),
                    () = &mut limit => break Some(Status::WallExceeded),
                    () = &mut drains, if !drained => drained = true,
                    () = &mut feed => {}
                }
            };
            kill(process.pid);
            let ended = reap(&mut process).await;
            let usage = usage(started.elapsed(), ended.as_ref().ok());
            over.cancel();
            if !drained {
                // Whoever takes a copy may take their time, as they could with the command's own pipe. Not after a
                // limit.
                let enough = async {
                    if killed.is_none() {
                        cancel.cancelled().await;
                    }
                    tokio::time::sleep(drain::GRACE).await;
                };
                tokio::select! {
                    () = drains => {}
                    () = enough => {}
                }
            }
            (status(killed, &ended), usage)
        };
        Outcome {
            status,
            stdout: stdout.finish(),
            stderr: stderr.map(|stderr| stderr.finish()),
            usage,
            enforcement: Enforcement::none(),
        }
    }
}

async fn reap(process: &mut Process) -> Result<Ended, Problem> {
    let unknown = |why: &str| Problem::new(Code::Internal, format!("the command's end can't be known: {why}"));
    if tokio::time::timeout(REAP, process.end()).await.is_err() {
        return Err(unknown("it was killed and does not die"));
    }
    match process.reap() {
        Ok(Some(ended)) => Ok(ended),
        Ok(None) => Err(unknown("it ended and can't be waited for")),
        Err(error) => Err(unknown(&error.to_string())),
    }
}

fn status(killed: Option<Status>, ended: &Result<Ended, Problem>) -> Status {
    match (killed, ended) {
        (_, Err(problem)) => Status::Unknown(problem.clone()),
        // It exited by itself before the kill could reach it.
        (_, Ok(Ended { code: Some(code), .. })) => Status::Exited(*code),
        (Some(killed), Ok(_)) => killed,
        (None, Ok(Ended { signal: Some(signal), .. })) => Status::Signaled(*signal),
        (None, Ok(_)) => {
            Status::Unknown(Problem::new(Code::Internal, "the kernel gave neither an exit code nor a signal"))
        }
    }
}

fn usage(wall: Duration, ended: Option<&Ended>) -> Usage {
    Usage {
        wall,
        user: ended.map_or(Duration::ZERO, |ended| ended.user),
        system: ended.map_or(Duration::ZERO, |ended| ended.system),
        peak_memory_bytes: ended.map_or(0, |ended| ended.peak_memory_bytes),
        leftover_processes: None,
    }
}
