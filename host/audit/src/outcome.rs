//! What became of a command that was started.

use serde::{Deserialize, Serialize};

use crate::{CallId, Hash, Problem};

/// What became of a command that was started. Tied to its [`Intent`](crate::Intent) by `call`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The call.
    pub call: CallId,
    /// How it ended.
    pub status: Status,
    /// Its standard output; `None` = not captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Stream>,
    /// Its standard error; `None` = not captured, or merged into `stdout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
    /// What it used.
    pub usage: Usage,
    /// The confinement level that held.
    pub level: String,
    /// What level `full` has and this command did not.
    pub missing: Vec<String>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Status {
    /// By itself.
    Exited {
        /// Its exit code.
        code: u8,
    },
    /// By a signal that the host did not send.
    Signaled {
        /// The signal's number on the host's platform.
        signal: u8,
    },
    /// Killed: its wall-clock limit ran out.
    WallExceeded,
    /// Killed: its processor-time limit ran out.
    CpuExceeded,
    /// Killed: it used more memory than its limit.
    MemoryExceeded,
    /// Killed: it wrote a file larger than its limit.
    FileSizeExceeded,
    /// Killed: the call was cancelled.
    Cancelled,
    /// The intent was recorded, and then the start failed: nothing ran.
    StartFailed {
        /// Why.
        problem: Problem,
    },
    /// It was started, and what became of it can't be known.
    Unknown {
        /// Why.
        problem: Problem,
    },
}

/// One output stream. Its bytes are not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Bytes written by the command, kept or not. Exact.
    pub total: u64,
    /// Bytes kept and handed on.
    pub kept: u64,
    /// SHA-256 of the bytes kept.
    pub sha256: Hash,
}

/// What a command used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Time from start to end, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Largest resident memory of any one process, in bytes.
    pub peak_memory_bytes: u64,
    /// Processes left at the end, and killed; `None` = the host can't tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftover_processes: Option<u32>,
}
