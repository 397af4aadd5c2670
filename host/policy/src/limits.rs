//! Ceilings for one command.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::show::span;
use crate::{Code, Problem};

/// The ceilings that hold for a command. Output beyond its ceiling is dropped from the middle, and counted; it
/// never ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Time from start to end. In JSON: whole nanoseconds.
    #[serde(rename = "wall_ns", serialize_with = "nanoseconds")]
    pub wall: Duration,
    /// What the kernel holds the command to; `None` at confinement level `none`, where it holds it to nothing.
    #[serde(flatten)]
    pub kernel: Option<KernelLimits>,
    /// Bytes kept of each stream.
    pub output_bytes: u64,
}

/// The ceilings of a command that the kernel enforces, from confinement level `limits` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KernelLimits {
    /// Processor time, user and system, of the whole process tree. In JSON: whole nanoseconds.
    #[serde(rename = "cpu_ns", serialize_with = "nanoseconds")]
    pub cpu: Duration,
    /// Memory, in bytes: of the whole process tree where the host can count that, else of each process.
    pub memory_bytes: u64,
    /// Processes and threads alive at once in the process tree, where the host can count that.
    pub processes: u32,
    /// Size of any one file that is written, in bytes.
    pub file_size_bytes: u64,
    /// Descriptors that each process may have open.
    pub open_files: u32,
}

impl KernelLimits {
    /// What holds unless the policy says otherwise.
    pub const DEFAULT: Self = Self {
        cpu: Duration::from_secs(60),
        memory_bytes: 1 << 30,
        processes: 256,
        file_size_bytes: 1 << 30,
        open_files: 1024,
    };
    /// The most that a policy can give.
    pub const MAX: Self = Self {
        cpu: Duration::from_secs(7 * 24 * 3600),
        memory_bytes: 1 << 42,
        processes: 1 << 20,
        file_size_bytes: 1 << 50,
        open_files: 1 << 20,
    };

    fn min(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            processes: self.processes.min(other.processes),
            file_size_bytes: self.file_size_bytes.min(other.file_size_bytes),
            open_files: self.open_files.min(other.open_files),
        }
    }
}

impl Limits {
    /// What holds unless the policy says otherwise. 30 seconds and 100 000 bytes are rows C2 and L3 of the field.
    pub const DEFAULT: Self =
        Self { wall: Duration::from_secs(30), kernel: Some(KernelLimits::DEFAULT), output_bytes: 100_000 };
    /// The most that a policy can give. Output is held in memory.
    pub const MAX: Self =
        Self { wall: Duration::from_secs(24 * 3600), kernel: Some(KernelLimits::MAX), output_bytes: 256 << 20 };

    /// The smaller of each ceiling.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            kernel: match (self.kernel, other.kernel) {
                (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
                (ours, theirs) => ours.or(theirs),
            },
            output_bytes: self.output_bytes.min(other.output_bytes),
        }
    }

    /// These ceilings, tightened as a request asks.
    pub(crate) fn tighten(self, request: &LimitRequest) -> Result<Self, Problem> {
        let LimitRequest { wall, cpu, output_bytes, memory_bytes, processes } = *request;
        Ok(Self {
            wall: tightened(wall, self.wall, Duration::ZERO, Code::TimeoutPolicy, |most, asked| {
                let (asked, most) = (span(asked), span(most));
                format!("a wall-clock limit of {asked} was asked for; it must be more than zero and at most {most}")
            })?,
            output_bytes: tightened(output_bytes, self.output_bytes, 0, Code::LimitPolicy, |most, asked| {
                format!("{asked} bytes of output were asked for; it must be more than zero and at most {most}")
            })?,
            kernel: match self.kernel {
                Some(kernel) => Some(kernel.tighten(cpu, memory_bytes, processes)?),
                None if cpu.is_none() && memory_bytes.is_none() && processes.is_none() => None,
                None => {
                    let message = "the policy wants no confinement, so processor time, memory and processes can't be \
                                   limited; leave those limits out of the request";
                    return Err(Problem::new(Code::LimitUnsupported, message));
                }
            },
        })
    }
}

impl KernelLimits {
    fn tighten(
        self,
        cpu: Option<Duration>,
        memory_bytes: Option<u64>,
        processes: Option<u32>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            cpu: tightened(cpu, self.cpu, Duration::ZERO, Code::LimitPolicy, |most, asked| {
                let (asked, most) = (span(asked), span(most));
                format!("{asked} of processor time were asked for; it must be more than zero and at most {most}")
            })?,
            memory_bytes: tightened(memory_bytes, self.memory_bytes, 0, Code::LimitPolicy, |most, asked| {
                format!("{asked} bytes of memory were asked for; it must be more than zero and at most {most}")
            })?,
            processes: tightened(processes, self.processes, 0, Code::LimitPolicy, |most, asked| {
                format!("{asked} processes were asked for; it must be more than zero and at most {most}")
            })?,
            ..self
        })
    }
}

/// What was asked for, or the ceiling where nothing was; zero and more than the ceiling are refused, never clamped.
fn tightened<T: Copy + PartialOrd>(
    asked: Option<T>,
    most: T,
    zero: T,
    code: Code,
    message: impl FnOnce(T, T) -> String,
) -> Result<T, Problem> {
    match asked {
        Some(asked) if asked <= zero || asked > most => Err(Problem::new(code, message(most, asked))),
        asked => Ok(asked.unwrap_or(most)),
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Ceilings that a request asks for, to tighten the policy's. `None` = the policy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitRequest {
    /// Time from start to end.
    pub wall: Option<Duration>,
    /// Processor time of the tree.
    pub cpu: Option<Duration>,
    /// Bytes kept of each stream.
    pub output_bytes: Option<u64>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes alive at once.
    pub processes: Option<u32>,
}

fn nanoseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
