//! A command from its start to its end.

use std::time::{Duration, Instant};

use portcullis_policy::{Code, Limits, Problem};
use tokio_util::sync::CancellationToken;

use crate::drain::{self, Drain};
use crate::feed::Feed;
use crate::process::Process;
use crate::sys::Ended;
use crate::{Enforcement, Outcome, Status, Usage};

/// How long a command that is asked to end (SIGTERM) may take before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// How often the processor time of the tree is looked at.
const TICK: Duration = Duration::from_millis(100);

pub(crate) struct Supervisor {
    pub(crate) process: Process,
    pub(crate) started: Instant,
    pub(crate) limits: Limits,
    pub(crate) enforcement: Enforcement,
    pub(crate) cancel: CancellationToken,
    pub(crate) stdout: Drain,
    pub(crate) stderr: Option<Drain>,
}

impl Supervisor {
    /// Reads and feeds until the command ends or must end; asks it to end, if it must; kills what is left; reaps; reads
    /// the rest.
    pub(crate) async fn run(self, feed: Option<Feed>) -> Outcome {
        let Self { mut process, started, limits, enforcement, cancel, mut stdout, mut stderr } = self;
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
            let wall = tokio::time::sleep_until((started + limits.wall).into());
            let mut ticks = tokio::time::interval_at((started + TICK).into(), TICK);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            tokio::pin!(drains, feed, wall);
            let mut drained = false;
            let cpu = limits.kernel.map(|kernel| kernel.cpu);
            let killed = loop {
                tokio::select! {
                    biased;
                    // What has ended by itself was neither cancelled nor too slow.
                    () = process.end() => break None,
                    () = cancel.cancelled() => break Some(Status::Cancelled),
                    () = &mut wall => break Some(Status::WallExceeded),
                    _ = ticks.tick(), if cpu.is_some() => if cpu.is_some_and(|most| process.cpu_time() > most) { break Some(Status::CpuExceeded) },
                    () = &mut drains, if !drained => drained = true,
                    () = &mut feed => {}
                }
            };
            let mut ended_itself = killed.is_none();
            if !ended_itself {
                process.terminate();
                let grace = tokio::time::sleep(GRACE);
                tokio::pin!(grace);
                // It may have last words.
                ended_itself = loop {
                    tokio::select! {
                        () = process.end() => break true,
                        () = &mut grace => break false,
                        () = &mut drains, if !drained => drained = true,
                    }
                };
            }
            let (ended, leftovers, memory_exceeded) = process.finish(ended_itself).await;
            let usage = usage(started.elapsed(), ended.as_ref().ok(), leftovers);
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
            (status(killed, &ended, memory_exceeded, limits), usage)
        };
        Outcome { status, stdout: stdout.finish(), stderr: stderr.map(Drain::finish), usage, enforcement }
    }
}

/// What ended the command. What the kernel does not tell is not claimed.
fn status(killed: Option<Status>, ended: &Result<Ended, Problem>, memory_exceeded: bool, limits: Limits) -> Status {
    let ended = match ended {
        Ok(ended) => ended,
        Err(problem) => return Status::Unknown(problem.clone()),
    };
    // We asked it to end: whatever it made of that, it did not end by itself.
    if let Some(killed) = killed {
        return killed;
    }
    // The kernel killed a process of the tree for its memory, and the command failed.
    if memory_exceeded && ended.code != Some(0) {
        return Status::MemoryExceeded;
    }
    match *ended {
        Ended { code: Some(code), .. } => Status::Exited(code),
        Ended { signal: Some(signal), .. } if i32::from(signal) == libc::SIGXFSZ => Status::FileSizeExceeded,
        Ended { signal: Some(signal), .. } if i32::from(signal) == libc::SIGXCPU => Status::CpuExceeded,
        // One that handles SIGXCPU gets SIGKILL a second later.
        Ended { signal: Some(signal), user, system, .. }
            if i32::from(signal) == libc::SIGKILL
                && limits.kernel.is_some_and(|kernel| user + system >= kernel.cpu) =>
        {
            Status::CpuExceeded
        }
        Ended { signal: Some(signal), .. } => Status::Signaled(signal),
        Ended { code: None, signal: None, .. } => {
            Status::Unknown(Problem::new(Code::Internal, "the kernel gave neither an exit code nor a signal"))
        }
    }
}

fn usage(wall: Duration, ended: Option<&Ended>, leftover_processes: Option<u32>) -> Usage {
    Usage {
        wall,
        user: ended.map_or(Duration::ZERO, |ended| ended.user),
        system: ended.map_or(Duration::ZERO, |ended| ended.system),
        peak_memory_bytes: ended.map_or(0, |ended| ended.peak_memory_bytes),
        leftover_processes,
    }
}
