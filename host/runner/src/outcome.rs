//! What came of a command.

use std::time::Duration;

use portcullis_policy::{Level, Problem};

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

/// What was kept of a stream that a command wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The bytes kept: the head and then the tail, with nothing between them.
    pub bytes: Vec<u8>,
    /// Bytes that the command wrote, kept or not. Exact.
    pub total: u64,
    /// Where bytes are missing; `None` = everything was kept.
    pub gap: Option<Gap>,
}

/// The place in a captured stream where bytes are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Index into [`Captured::bytes`] before which they are missing.
    pub at: u64,
    /// Number of bytes missing there.
    pub missing: u64,
}

/// The confinement that was in force for a command: reported, never assumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The level reached.
    pub level: Level,
    /// What level [`Full`](Level::Full) has at its best and this command did not, one word each:
    ///
    /// | word | without it |
    /// |---|---|
    /// | `resource-limits` | only wall-clock time is limited |
    /// | `pid-namespace` | the command sees other processes; its own are held together by their process group, which a seccomp filter keeps them in |
    /// | `memory-of-tree` | the memory limit holds for each process, not for all together |
    /// | `processes-of-tree` | the number of processes is not limited |
    /// | `landlock`, `seccomp`, `capabilities` | files, programs, system calls and powers are those of the host's user |
    /// | `mount-namespace` | the command sees all files, though it can open only its own; it changes the attributes of others that its user owns, and before version 9 of Landlock connects to Unix sockets by path |
    /// | `network-namespace` | sockets are refused by family only, where the network is off |
    /// | `signal-scope` | Landlock is older than version 6: the command can signal other processes of its user |
    pub missing: Vec<&'static str>,
}
