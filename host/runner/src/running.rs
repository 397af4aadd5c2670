//! Starting a command.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use portcullis_audit::IntentReceipt;
use portcullis_policy::{Code, Problem};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::PipeFlags;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::drain::Drain;
use crate::feed::Feed;
use crate::guard::above_stdio;
use crate::pool;
use crate::prepare::Prepared;
use crate::process::Process;
use crate::sandbox::Sandbox;
use crate::supervisor::Supervisor;
use crate::sys::{self, Child, SpawnError, Step};
use crate::{Approved, Captured, Enforcement, Input, Outcome, StartError, Status, Streams, Usage};

/// How often a program that somebody is writing at this moment is tried again (`ETXTBSY`): another thread that starts
/// a command holds the writer's descriptor for an instant.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// A command that runs. Dropping it kills the command and everything that it started.
#[derive(Debug)]
#[must_use = "dropping it kills the command"]
pub struct Running {
    supervisor: JoinHandle<Outcome>,
    cancel: CancellationToken,
}

/// Starts an approved command whose intent is on record.
///
/// Must be called on a tokio runtime with its I/O and time drivers; a task of that runtime watches the command. The
/// calling thread is suspended until the program is executed, which takes a fraction of a millisecond and does not
/// depend on the size of the host.
///
/// # Errors
/// [`StartError`]: nothing was started, or it was killed at once.
pub fn start(approved: Approved, receipt: IntentReceipt, streams: Streams) -> Result<Running, StartError> {
    if receipt.subject() != &approved.digest() {
        return Err(StartError::WrongReceipt);
    }
    if sys::child_signal_is_ignored() {
        return Err(StartError::ChildSignal);
    }
    let Streams { input, stdout, stderr } = streams;
    let (stdin, feed) = input_pipe(input)?;
    let (stdout_ours, stdout_theirs) = output_pipe()?;
    let (stderr_ours, stderr_theirs) = if approved.allowed().merge_stderr() {
        (None, above_stdio(stdout_theirs.try_clone().map_err(StartError::Pipe)?).map_err(pipe_error)?)
    } else {
        let (ours, theirs) = output_pipe()?;
        (Some(ours), theirs)
    };
    let limits = approved.allowed().limits();
    let mut sandbox = pool::take(approved.allowed().level()).map_err(StartError::Guard)?;

    let started = Instant::now();
    let child = spawn(&approved, &mut sandbox, [&stdin, &stdout_theirs, &stderr_theirs])?;
    // While we hold the write ends our read ends never see the end.
    drop((stdin, stdout_theirs, stderr_theirs));
    let enforcement = Enforcement::of(&sandbox);
    let process = Process::watch(child, sandbox).map_err(StartError::Watch)?;

    let cancel = CancellationToken::new();
    let supervisor = Supervisor {
        process,
        started,
        limits,
        enforcement,
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
    /// When this returns the command is reaped, and every process that it started is dead: by the end of its PID
    /// namespace, or, where the [`Enforcement`] misses `pid-namespace`, of its process group.
    pub async fn wait(mut self) -> Outcome {
        match (&mut self.supervisor).await {
            Ok(outcome) => outcome,
            Err(_) => lost("the task that watched the command is gone; the command was killed"),
        }
    }

    /// What cancels the command: it is asked to end, and killed if it does not. Its outcome is then
    /// [`Status::Cancelled`], unless it had ended already.
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

/// Sets SIGCHLD to its default, for a host that was started with it ignored (by `nohup`-like parents, or some init
/// systems): call it at the start of `main`, before other threads handle signals.
///
/// # Errors
/// The kernel's answer; it has none for this signal.
pub fn restore_child_signal() -> io::Result<()> {
    sys::restore_child_signal()
}

/// Waits until nothing of this crate is left beside this process: guards that were kept ready, and cgroups. Blocks for a
/// fraction of a millisecond as a rule, and for three seconds at most. Call it before a process ends that has run commands:
/// cgroups outlive their makers.
pub fn settle() {
    pool::settle();
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

fn spawn(approved: &Approved, sandbox: &mut Sandbox, stdio: [&OwnedFd; 3]) -> Result<Child, StartError> {
    let limits = approved.allowed().limits().kernel;
    sandbox.limit(limits);
    let prepared = Prepared::new(approved, sandbox).map_err(StartError::Nul)?;
    let order = prepared.order(approved, stdio.map(|descriptor| descriptor.as_fd()));
    let mut tries = 0;
    loop {
        match sandbox.start(&order, limits) {
            Ok(child) => return Ok(child),
            Err(SpawnError { step: Step::Execute, error })
                if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
            {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(SpawnError { step, error }) => {
                let path = approved.allowed().identity().path.clone();
                return Err(StartError::Execute { what: step.what(), path, source: error });
            }
        }
    }
}

fn pipe_error(errno: rustix::io::Errno) -> StartError {
    StartError::Pipe(errno.into())
}

fn output_pipe() -> Result<(pipe::Receiver, OwnedFd), StartError> {
    let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(pipe_error)?;
    let theirs = above_stdio(theirs).map_err(pipe_error)?;
    Ok((pipe::Receiver::from_owned_fd(ours).map_err(StartError::Pipe)?, theirs))
}

fn input_pipe(input: Input) -> Result<(OwnedFd, Option<Feed>), StartError> {
    if matches!(input, Input::Empty) {
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        return Ok((null.and_then(above_stdio).map_err(pipe_error)?, None));
    }
    let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(pipe_error)?;
    let theirs = above_stdio(theirs).map_err(pipe_error)?;
    let pipe = pipe::Sender::from_owned_fd(ours).map_err(StartError::Pipe)?;
    Ok((theirs, Some(Feed { pipe, input })))
}
