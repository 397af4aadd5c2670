//! The host's answers as lines of text.
//!
//! The first line is `KIND CODE`: `ok exited(0)`, `denied shell.policy.unlisted`, `invalid …`, `unavailable …`,
//! `cancelled`, `other …`; of a check `allow`, `ask CODE`, `deny CODE`, `other CODE`; of a split `words 2` or
//! `invalid …`. Lines `name=value` follow. Texts are quoted as Rust literals, so one line stays one line.

use crate::bindings::portcullis::shell::types::{Captured, Error, Limits, Outcome, Problem, Status, Verdict};

/// The first line of what came of a command.
pub(crate) fn headline(answer: &Result<Outcome, Error>) -> String {
    match answer {
        Ok(outcome) => format!("ok {}", status(&outcome.status)),
        Err(Error::Invalid(problem)) => format!("invalid {}", problem.code),
        Err(Error::Denied(problem)) => format!("denied {}", problem.code),
        Err(Error::Unavailable(problem)) => format!("unavailable {}", problem.code),
        Err(Error::Cancelled) => "cancelled".to_owned(),
        Err(Error::Other(problem)) => format!("other {}", problem.code),
    }
}

/// All lines of what came of a command.
pub(crate) fn lines(answer: &Result<Outcome, Error>) -> Vec<String> {
    let mut lines = vec![headline(answer)];
    match answer {
        Ok(outcome) => {
            lines.push(format!("stdout={}", captured(outcome.stdout.as_ref())));
            lines.push(format!("stderr={}", captured(outcome.stderr.as_ref())));
            let leftover = optional(outcome.usage.leftover_processes);
            lines.push(format!("wall={} leftover={leftover}", outcome.usage.wall));
            let enforcement = &outcome.enforcement;
            lines.push(format!("enforcement={:?} missing={:?}", enforcement.level, enforcement.missing));
            lines.push(format!("audit={:?}", outcome.audit));
            if let Status::Unknown(problem) | Status::Other(problem) = &outcome.status {
                lines.extend(details(problem));
            }
        }
        Err(Error::Invalid(problem) | Error::Denied(problem) | Error::Unavailable(problem) | Error::Other(problem)) => {
            lines.extend(details(problem));
        }
        Err(Error::Cancelled) => {}
    }
    lines
}

/// All lines of a verdict.
pub(crate) fn verdict(verdict: &Verdict) -> Vec<String> {
    let (kind, problem) = match verdict {
        Verdict::Allow(limits) => return vec!["allow".to_owned(), limit_line(limits)],
        Verdict::Ask(problem) => ("ask", problem),
        Verdict::Deny(problem) => ("deny", problem),
        Verdict::Other(problem) => ("other", problem),
    };
    let mut lines = vec![format!("{kind} {}", problem.code)];
    lines.extend(details(problem));
    lines
}

/// All lines of a split.
pub(crate) fn split(answer: &Result<Vec<String>, Problem>) -> Vec<String> {
    match answer {
        Ok(words) => {
            let mut lines = vec![format!("words {}", words.len())];
            lines.extend(words.iter().map(|word| format!("word={word:?}")));
            lines
        }
        Err(problem) => {
            let mut lines = vec![format!("invalid {}", problem.code)];
            lines.extend(details(problem));
            lines
        }
    }
}

fn status(status: &Status) -> String {
    match status {
        Status::Exited(code) => format!("exited({code})"),
        Status::Signaled(number) => format!("signaled({number})"),
        Status::WallExceeded => "wall-exceeded".to_owned(),
        Status::CpuExceeded => "cpu-exceeded".to_owned(),
        Status::MemoryExceeded => "memory-exceeded".to_owned(),
        Status::FileSizeExceeded => "file-size-exceeded".to_owned(),
        Status::Cancelled => "cancelled".to_owned(),
        Status::Unknown(problem) => format!("unknown({})", problem.code),
        Status::Other(problem) => format!("other({})", problem.code),
    }
}

/// `"text" total=4 gap=none`, or `none`. Of more than 4 KiB only the length is shown.
fn captured(stream: Option<&Captured>) -> String {
    let Some(stream) = stream else {
        return "none".to_owned();
    };
    let text = match stream.bytes.len() {
        0..=4096 => format!("{:?}", String::from_utf8_lossy(&stream.bytes)),
        length => format!("{length} bytes"),
    };
    let gap = stream.gap.map_or_else(|| "none".to_owned(), |gap| format!("{}+{}", gap.at, gap.missing));
    format!("{text} total={} gap={gap}", stream.total)
}

fn details(problem: &Problem) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(problem.rule.as_ref().map(|rule| format!("rule={rule:?}")));
    lines.extend(problem.at.map(|at| format!("at={at}")));
    lines.push(format!("message={:?}", problem.message));
    lines
}

fn limit_line(limits: &Limits) -> String {
    let Limits { wall, cpu, output_bytes, memory_bytes, processes } = limits;
    let [wall, cpu, output, memory] = [wall, cpu, output_bytes, memory_bytes].map(|limit| optional(*limit));
    format!("wall={wall} cpu={cpu} output={output} memory={memory} processes={}", optional(*processes))
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}
