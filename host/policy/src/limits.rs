//! Ceilings for one command.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::{Code, Problem};

/// The ceilings that hold for a command. Output beyond its ceiling is dropped from the middle, and counted; it
/// never ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Time from start to end. In JSON: whole nanoseconds.
    #[serde(rename = "wall_ns", serialize_with = "nanoseconds")]
    pub wall: Duration,
    /// Bytes kept of each stream.
    pub output_bytes: u64,
}

impl Limits {
    /// Row L2 and C2 of the field: a command gets 30 seconds unless the policy says otherwise.
    pub const DEFAULT_WALL: Duration = Duration::from_secs(30);
    /// 100 000 bytes of each stream are kept unless the policy says otherwise.
    pub const DEFAULT_OUTPUT_BYTES: u64 = 100_000;
    /// Longest wall-clock limit that a policy can give: 24 hours.
    pub const MAX_WALL: Duration = Duration::from_secs(24 * 3600);
    /// Most bytes of each stream that a policy can have kept: 256 MiB, as they are held in memory.
    pub const MAX_OUTPUT_BYTES: u64 = 256 << 20;

    /// The smaller of each ceiling.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), output_bytes: self.output_bytes.min(other.output_bytes) }
    }

    /// These ceilings, tightened as a request asks.
    pub(crate) fn tighten(self, request: &LimitRequest) -> Result<Self, Problem> {
        let LimitRequest { wall, cpu, output_bytes, memory_bytes, processes } = *request;
        let wall = match wall {
            Some(asked) if asked.is_zero() || asked > self.wall => {
                let message = format!(
                    "a wall-clock limit of {asked:?} was asked for; it must be more than zero and at most {:?}",
                    self.wall
                );
                return Err(Problem::new(Code::TimeoutPolicy, message));
            }
            asked => asked.unwrap_or(self.wall),
        };
        let output_bytes = match output_bytes {
            Some(asked) if asked == 0 || asked > self.output_bytes => {
                let message = format!(
                    "{asked} bytes of output were asked for; it must be more than zero and at most {}",
                    self.output_bytes
                );
                return Err(Problem::new(Code::LimitPolicy, message));
            }
            asked => asked.unwrap_or(self.output_bytes),
        };
        let unsupported =
            [(cpu.is_some(), "processor time"), (memory_bytes.is_some(), "memory"), (processes.is_some(), "processes")];
        if let Some((_, what)) = unsupported.into_iter().find(|(asked, _)| *asked) {
            let message = format!("this host can't limit {what}; leave that limit out of the request");
            return Err(Problem::new(Code::LimitUnsupported, message));
        }
        Ok(Self { wall, output_bytes })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { wall: Self::DEFAULT_WALL, output_bytes: Self::DEFAULT_OUTPUT_BYTES }
    }
}

/// Ceilings that a request asks for, to tighten the policy's. `None` = the policy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitRequest {
    /// Time from start to end.
    pub wall: Option<Duration>,
    /// Processor time of the tree. This host refuses it: it can't be enforced yet.
    pub cpu: Option<Duration>,
    /// Bytes kept of each stream.
    pub output_bytes: Option<u64>,
    /// Memory of the tree, in bytes. This host refuses it: it can't be enforced yet.
    pub memory_bytes: Option<u64>,
    /// Processes alive at once. This host refuses it: it can't be enforced yet.
    pub processes: Option<u32>,
}

fn nanoseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
