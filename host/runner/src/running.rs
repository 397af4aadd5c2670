//! Starting a command.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_audit::IntentReceipt;
use portcullis_policy::{Code, Problem};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::key::Key;
use crate::pipes::pipes;
use crate::pool;
use crate::prepare::Prepared;
use crate::process::Process;
use crate::reach::Reach;
use crate::supervisor::Supervisor;
use crate::sys::{self, SpawnError, Step};
use crate::{
    Approved, Captured, Enforcement, Outcome, StartError, Status, Streams, Usage, confinement_problem, level_for,
};

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
    let allowed = approved.allowed();
    let limits = allowed.limits();
    let available = level_for(allowed.level());
    if available < allowed.level() {
        let why = confinement_problem().unwrap_or_default();
        return Err(StartError::Level { wanted: allowed.level(), available, why });
    }
    let (theirs, ours) = pipes(streams, allowed.merge_stderr())?;
    let key = Arc::new(Key::of(&approved));
    let reach = key.confined.as_ref().map(|confined| Reach::of(&approved, confined.network));
    let mut sandbox = pool::take(&key, reach.as_ref()).map_err(StartError::Guard)?;
    sandbox.limit(limits.kernel);
    let prepared = Prepared::new(&approved, &sandbox).map_err(StartError::Nul)?;
    let ruleset = reach.as_ref().map_or(Ok(None), |reach| sandbox.ruleset(reach));
    let ruleset = ruleset.map_err(|error| start_error(&approved, SpawnError::no_ruleset(error)))?;
    let order = prepared.order(&approved, &theirs, ruleset.as_ref().map(|ruleset| ruleset.as_fd()));

    let started = Instant::now();
    let mut ordered = sandbox.order(&order).map_err(|error| start_error(&approved, error))?;
    // While the program is being loaded.
    let (feed, stdout, stderr) = ours.register(limits.output_bytes)?;
    let cancel = CancellationToken::new();
    let mut tries = 0;
    let child = loop {
        match sandbox.confirm(ordered, limits.kernel) {
            Ok(child) => break child,
            Err(SpawnError { step: Step::Execute, error })
                if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
            {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
                ordered = sandbox.order(&order).map_err(|error| start_error(&approved, error))?;
            }
            Err(error) => return Err(start_error(&approved, error)),
        }
    };
    drop(theirs);
    let enforcement = Enforcement::of(&sandbox);
    let process = Process::watch(child, sandbox).map_err(StartError::Watch)?;
    let supervisor = Supervisor { process, started, limits, enforcement, cancel: cancel.clone(), stdout, stderr };
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

fn start_error(approved: &Approved, SpawnError { step, error }: SpawnError) -> StartError {
    let path = approved.allowed().identity().path.clone();
    StartError::Execute { what: step.what(), path, source: error }
}
