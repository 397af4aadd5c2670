//! The journal's view of requests, decisions and outcomes.

use std::time::Duration;

use portcullis_audit as audit;
use portcullis_audit::{CallId, Hash};
use portcullis_policy::{Allowed, Network, Problem, ProblemKind, Request, Stderr, Stdin};
use portcullis_runner::{Approved, Captured, Enforcement, Outcome, Status, Usage};

use crate::Broken;

/// A digest that another crate gives as hex. Were it none, no record may claim that it was another.
pub(crate) fn hash(hex: &str) -> Result<Hash, Broken> {
    hex.parse().map_err(Broken::Digest)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn request(request: &Request) -> audit::Request {
    let Request { program, arguments, cwd, env, stdin, limits: _, network, stderr, reason, call_id } = request;
    audit::Request {
        program: program.clone(),
        arguments: arguments.clone(),
        cwd: cwd.clone(),
        env: env.clone(),
        stdin: match stdin {
            Stdin::Empty => audit::Stdin::Empty,
            Stdin::Bytes(bytes) => audit::Stdin::Bytes { bytes: bytes.len() as u64, sha256: Hash::of(bytes) },
            Stdin::Stream => audit::Stdin::Streamed,
        },
        network: *network,
        merge_stderr: *stderr == Stderr::Merged,
        reason: reason.clone(),
        call_id: call_id.clone(),
        omitted: None,
    }
    .bounded()
}

pub(crate) fn problem(problem: &Problem) -> audit::Problem {
    audit::Problem {
        kind: match problem.kind() {
            ProblemKind::Invalid => audit::ProblemKind::Invalid,
            ProblemKind::Denied => audit::ProblemKind::Denied,
            ProblemKind::Approval => audit::ProblemKind::Approval,
            ProblemKind::Unavailable => audit::ProblemKind::Unavailable,
            ProblemKind::Cancelled => audit::ProblemKind::Cancelled,
            ProblemKind::Failed => audit::ProblemKind::Failed,
        },
        code: problem.code.as_str().to_owned(),
        rule: problem.rule.as_ref().map(ToString::to_string),
        // People read the journal: they get the advice too.
        message: match &problem.advice {
            Some(advice) => format!("{}; {advice}", problem.message),
            None => problem.message.clone(),
        },
        at: problem.at,
    }
    .bounded()
}

pub(crate) fn intent(
    call: CallId,
    request: audit::Request,
    approved: &Approved,
    reached: portcullis_runner::Level,
) -> Result<audit::Intent, Broken> {
    let allowed: &Allowed = approved.allowed();
    let identity = allowed.identity();
    let limits = allowed.limits();
    let intent = audit::Intent {
        call,
        request,
        decision: Hash::from(approved.digest()),
        rules: allowed.rules().iter().map(ToString::to_string).collect(),
        program: audit::Program {
            name: allowed.program().to_string(),
            path: identity.path.clone(),
            device: identity.device,
            inode: identity.inode,
            sha256: approved.program_sha256().map(hash).transpose()?,
            script: identity.script.as_ref().map(|script| audit::Script {
                path: script.path.clone(),
                device: script.device,
                inode: script.inode,
            }),
        },
        cwd: if allowed.cwd().is_empty() { ".".to_owned() } else { allowed.cwd().to_owned() },
        env: allowed.env().to_vec(),
        env_omitted: None,
        limits: audit::Limits {
            wall_ns: nanoseconds(limits.wall),
            output_bytes: limits.output_bytes,
            cpu_ns: limits.kernel.map(|kernel| nanoseconds(kernel.cpu)),
            memory_bytes: limits.kernel.map(|kernel| kernel.memory_bytes),
            processes: limits.kernel.map(|kernel| kernel.processes),
            file_size_bytes: limits.kernel.map(|kernel| kernel.file_size_bytes),
            open_files: limits.kernel.map(|kernel| kernel.open_files),
        },
        network: allowed.network() == Network::Host,
        level: reached.as_str().to_owned(),
    };
    Ok(intent.bounded())
}

pub(crate) fn outcome(call: CallId, outcome: &Outcome) -> audit::Outcome {
    let Outcome { status, stdout, stderr, usage, enforcement } = outcome;
    let Enforcement { level, missing } = enforcement;
    audit::Outcome {
        call,
        status: match status {
            Status::Exited(code) => audit::Status::Exited { code: *code },
            Status::Signaled(signal) => audit::Status::Signaled { signal: *signal },
            Status::WallExceeded => audit::Status::WallExceeded,
            Status::CpuExceeded => audit::Status::CpuExceeded,
            Status::MemoryExceeded => audit::Status::MemoryExceeded,
            Status::FileSizeExceeded => audit::Status::FileSizeExceeded,
            Status::Cancelled => audit::Status::Cancelled,
            Status::Unknown(cause) => audit::Status::Unknown { problem: problem(cause) },
        },
        stdout: Some(stream(stdout)),
        stderr: stderr.as_ref().map(stream),
        usage: self::usage(*usage),
        level: level.as_str().to_owned(),
        missing: missing.iter().map(|&part| part.to_owned()).collect(),
    }
}

/// The outcome of a command whose intent is on record and that did not start.
pub(crate) fn start_failed(call: CallId, cause: &Problem) -> audit::Outcome {
    audit::Outcome {
        call,
        status: audit::Status::StartFailed { problem: problem(cause) },
        stdout: None,
        stderr: None,
        usage: usage(Usage::default()),
        level: portcullis_runner::Level::None.as_str().to_owned(),
        missing: Vec::new(),
    }
}

fn stream(captured: &Captured) -> audit::Stream {
    audit::Stream { total: captured.total, kept: captured.bytes.len() as u64, sha256: Hash::of(&captured.bytes) }
}

fn usage(usage: Usage) -> audit::Usage {
    let Usage { wall, user, system, peak_memory_bytes, leftover_processes } = usage;
    audit::Usage {
        wall_ns: nanoseconds(wall),
        user_ns: nanoseconds(user),
        system_ns: nanoseconds(system),
        peak_memory_bytes,
        leftover_processes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_digest_breaks_the_gate_and_is_not_recorded_as_another() {
        let hash_of_nothing = Hash::of(b"");
        assert_eq!(hash(&hash_of_nothing.to_string()).unwrap(), hash_of_nothing);
        for hex in
            ["", "0", &hash_of_nothing.to_string().to_uppercase(), &format!("{hash_of_nothing}0"), &"g".repeat(64)]
        {
            let error = hash(hex).unwrap_err();
            assert_eq!(error.code().as_str(), "shell.internal", "{hex}");
            assert!(matches!(error, Broken::Digest(_)), "{hex}");
        }
    }
}
