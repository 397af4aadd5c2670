//! What came of a command.

use std::time::Duration;

use portcullis_policy::Problem;

use crate::{Captured, Enforcement};

/// A command that was started, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What it wrote to standard output, and to standard error where that is merged.
    pub stdout: Captured,
    /// What it wrote to standard error; `None` where that is merged into standard output.
    pub stderr: Option<Captured>,
    /// What it used.
    pub usage: Usage,
    /// What the kernel held it to.
    pub enforcement: Enforcement,
}

/// How a command ended. An exit code is never made up: where the kernel gave none there is none here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this exit code.
    Exited(u8),
    /// By a signal that the runner did not send.
    Signaled(u8),
    /// Killed: its wall-clock limit ran out.
    WallExceeded,
    /// Killed: its whole tree used more processor time than its limit.
    CpuExceeded,
    /// It failed, and the kernel killed a process of its tree for its memory limit. Told only where the limit holds for
    /// the whole tree; elsewhere allocations fail, and what a program makes of that is its own.
    MemoryExceeded,
    /// Killed: it wrote a file larger than its limit.
    FileSizeExceeded,
    /// Killed: it was cancelled.
    Cancelled,
    /// It was started, and what became of it can't be known.
    Unknown(Problem),
}

/// What a command used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Time from start to end.
    pub wall: Duration,
    /// Processor time in user mode of the command and the children that it waited for.
    pub user: Duration,
    /// Processor time in the kernel, likewise.
    pub system: Duration,
    /// Largest resident memory of any one of these processes, in bytes.
    pub peak_memory_bytes: u64,
    /// Processes that were left when the command ended, and were killed. `None` = can't be told: there is no PID
    /// namespace, or the command was killed itself.
    pub leftover_processes: Option<u32>,
}
