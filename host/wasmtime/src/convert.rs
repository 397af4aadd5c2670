//! Between the contract's types and the gate's.

use std::time::Duration;

use portcullis_gate::{Captured, Done, Limits, Outcome, Problem, Request, Status, Stderr, Stdin, Usage, Verdict};
use portcullis_policy::{LimitRequest, ProblemKind};

use crate::bindings::types;

pub(crate) fn request(command: types::Command) -> Request {
    let types::Command { program, arguments, cwd, env, stdin, limits, network, merge_stderr, reason, call_id } =
        command;
    let types::Limits { wall, cpu, output_bytes, memory_bytes, processes } = limits;
    Request {
        program,
        arguments,
        cwd,
        env,
        stdin: match stdin {
            types::Stdin::Empty => Stdin::Empty,
            types::Stdin::Bytes(bytes) => Stdin::Bytes(bytes),
        },
        limits: LimitRequest {
            wall: wall.map(Duration::from_nanos),
            cpu: cpu.map(Duration::from_nanos),
            output_bytes,
            memory_bytes,
            processes,
        },
        network,
        stderr: if merge_stderr { Stderr::Merged } else { Stderr::Separate },
        reason,
        call_id,
    }
}

pub(crate) fn done(done: Done) -> types::Outcome {
    let Done { audit, outcome } = done;
    let Outcome { status, stdout, stderr, usage, enforcement } = outcome;
    types::Outcome {
        status: match status {
            Status::Exited(code) => types::Status::Exited(code),
            Status::Signaled(signal) => types::Status::Signaled(signal),
            Status::WallExceeded => types::Status::WallExceeded,
            Status::CpuExceeded => types::Status::CpuExceeded,
            Status::MemoryExceeded => types::Status::MemoryExceeded,
            Status::FileSizeExceeded => types::Status::FileSizeExceeded,
            Status::Cancelled => types::Status::Cancelled,
            Status::Unknown(cause) => types::Status::Unknown(problem(cause)),
        },
        stdout: Some(captured(stdout)),
        stderr: stderr.map(captured),
        usage: self::usage(usage),
        enforcement: types::Enforcement {
            level: enforcement.level.as_str().to_owned(),
            missing: enforcement.missing.into_iter().map(str::to_owned).collect(),
        },
        audit: audit.to_string(),
    }
}

fn captured(captured: Captured) -> types::Captured {
    let Captured { bytes, total, gap } = captured;
    types::Captured { bytes, total, gap: gap.map(|gap| types::Gap { at: gap.at, missing: gap.missing }) }
}

fn usage(usage: Usage) -> types::Usage {
    let Usage { wall, user, system, peak_memory_bytes, leftover_processes } = usage;
    types::Usage {
        wall: nanoseconds(wall),
        user: nanoseconds(user),
        system: nanoseconds(system),
        peak_memory_bytes,
        leftover_processes,
    }
}

pub(crate) fn error(cause: Problem) -> types::Error {
    match cause.kind() {
        ProblemKind::Invalid => types::Error::Invalid(problem(cause)),
        ProblemKind::Denied | ProblemKind::Approval => types::Error::Denied(problem(cause)),
        ProblemKind::Unavailable => types::Error::Unavailable(problem(cause)),
        ProblemKind::Cancelled => types::Error::Cancelled,
        ProblemKind::Failed => types::Error::Other(problem(cause)),
    }
}

/// Guests see the message and the rule's id; the advice names files of the host and stays behind.
pub(crate) fn problem(problem: Problem) -> types::Problem {
    let Problem { code, rule, message, at, advice: _ } = problem;
    types::Problem { code: code.as_str().to_owned(), rule: rule.map(|rule| rule.to_string()), message, at }
}

pub(crate) fn verdict(verdict: Verdict) -> types::Verdict {
    match verdict {
        Verdict::Allow(allowed) => {
            let Limits { wall, kernel, output_bytes } = allowed.limits();
            types::Verdict::Allow(types::Limits {
                wall: Some(nanoseconds(wall)),
                cpu: kernel.map(|kernel| nanoseconds(kernel.cpu)),
                output_bytes: Some(output_bytes),
                memory_bytes: kernel.map(|kernel| kernel.memory_bytes),
                processes: kernel.map(|kernel| kernel.processes),
            })
        }
        Verdict::Ask(cause) => types::Verdict::Ask(problem(cause)),
        Verdict::Deny(cause) => types::Verdict::Deny(problem(cause)),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
