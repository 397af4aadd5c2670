//! What `exec` prints at the end, where it does not pass output through.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_gate::{Captured, Done, Outcome, Problem, Status, Usage};
use portcullis_policy::ProblemKind;
use serde::Serialize;

use crate::args::Format;
use crate::exec::exit_code;
use crate::failure::Failure;
use crate::output;

/// Version of the JSON shapes below.
const SCHEMA: u32 = 1;

pub(crate) fn print(done: &Done, format: Format) -> Result<(), Failure> {
    let outcome = &done.outcome;
    match format {
        Format::Passthrough => Ok(()),
        Format::Json => output::print_json(&OutcomeJson::of(done)),
        Format::T => print_t(outcome),
        Format::L => output::pass(&text_l(outcome)),
        Format::C => output::print_json(&ResultC::of(outcome)),
    }
}

/// Row T9: success gives stripped standard output, failure stripped standard error. Stripped of everything, no line is
/// printed.
fn print_t(outcome: &Outcome) -> Result<(), Failure> {
    let line = |text: String| {
        let text = strip(&text);
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    };
    if outcome.status == Status::Exited(0) {
        let line = line(text(&outcome.stdout));
        return output::pass(&line);
    }
    output::pass_error(&line(outcome.stderr.as_ref().map(text).unwrap_or_default()));
    Ok(())
}

/// As Python's `str.strip()`, which takes four separators of ASCII for white space, too.
fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// Row L6: standard output, then standard error with each line marked, then the exit code unless it is 0. L3: a
/// notice where something is missing. L7: a timeout says 124 and how to ask for more.
fn text_l(outcome: &Outcome) -> String {
    let mut parts = Vec::new();
    let stdout = text(&outcome.stdout);
    if !stdout.is_empty() {
        parts.push(stdout);
    }
    let stderr = outcome.stderr.as_ref().map(text).unwrap_or_default();
    if !stderr.is_empty() {
        parts.extend(strip(&stderr).split('\n').map(|line| format!("[stderr] {line}")));
    }
    let mut all = if parts.is_empty() { "<no output>".to_owned() } else { parts.join("\n") };
    let missing: u64 =
        std::iter::once(&outcome.stdout).chain(&outcome.stderr).filter_map(|c| c.gap).map(|gap| gap.missing).sum();
    if missing > 0 {
        all = format!("{}\n\n... Output truncated: {missing} bytes are missing.", all.trim_end());
    }
    if outcome.status == Status::WallExceeded {
        all = format!(
            "{}\n\nThe command timed out; ask for more with --timeout, up to the policy's limit.",
            all.trim_end()
        );
    }
    match exit_code(&outcome.status) {
        0 if all.ends_with('\n') => all,
        0 => format!("{all}\n"),
        code => format!("{}\n\nExit code: {code}\n", all.trim_end()),
    }
}

/// Row C4.
#[derive(Serialize)]
struct ResultC {
    exit_code: i32,
    stdout: String,
    stderr: String,
}

impl ResultC {
    fn of(outcome: &Outcome) -> Self {
        Self {
            exit_code: exit_code(&outcome.status).into(),
            stdout: text(&outcome.stdout),
            stderr: outcome.stderr.as_ref().map(text).unwrap_or_default(),
        }
    }
}

fn text(captured: &Captured) -> String {
    String::from_utf8_lossy(&captured.bytes).into_owned()
}

/// `--format json`: everything, with streams as text where they are text.
#[derive(Serialize)]
struct OutcomeJson<'a> {
    schema: u32,
    audit: String,
    status: StatusJson<'a>,
    exit_code: u8,
    stdout: StreamJson<'a>,
    stderr: Option<StreamJson<'a>>,
    usage: UsageJson,
    enforcement: EnforcementJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StatusJson<'a> {
    Exited { code: u8 },
    Signaled { signal: u8 },
    WallExceeded,
    CpuExceeded,
    MemoryExceeded,
    FileSizeExceeded,
    Cancelled,
    Unknown { message: &'a str },
}

#[derive(Serialize)]
struct StreamJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    total: u64,
    gap: Option<GapJson>,
}

#[derive(Serialize)]
struct GapJson {
    at: u64,
    missing: u64,
}

#[derive(Serialize)]
struct UsageJson {
    wall_ns: u128,
    user_ns: u128,
    system_ns: u128,
    peak_memory_bytes: u64,
    leftover_processes: Option<u32>,
}

#[derive(Serialize)]
struct EnforcementJson<'a> {
    level: &'a str,
    missing: &'a [&'static str],
}

impl<'a> OutcomeJson<'a> {
    fn of(done: &'a Done) -> Self {
        let Done { audit, outcome } = done;
        let Outcome { status, stdout, stderr, usage, enforcement } = outcome;
        let Usage { wall, user, system, peak_memory_bytes, leftover_processes } = *usage;
        Self {
            schema: SCHEMA,
            audit: audit.to_string(),
            exit_code: exit_code(status),
            status: match status {
                Status::Exited(code) => StatusJson::Exited { code: *code },
                Status::Signaled(signal) => StatusJson::Signaled { signal: *signal },
                Status::WallExceeded => StatusJson::WallExceeded,
                Status::CpuExceeded => StatusJson::CpuExceeded,
                Status::MemoryExceeded => StatusJson::MemoryExceeded,
                Status::FileSizeExceeded => StatusJson::FileSizeExceeded,
                Status::Cancelled => StatusJson::Cancelled,
                Status::Unknown(problem) => StatusJson::Unknown { message: &problem.message },
            },
            stdout: StreamJson::of(stdout),
            stderr: stderr.as_ref().map(StreamJson::of),
            usage: UsageJson {
                wall_ns: wall.as_nanos(),
                user_ns: user.as_nanos(),
                system_ns: system.as_nanos(),
                peak_memory_bytes,
                leftover_processes,
            },
            enforcement: EnforcementJson { level: enforcement.level.as_str(), missing: &enforcement.missing },
        }
    }
}

impl<'a> StreamJson<'a> {
    fn of(captured: &'a Captured) -> Self {
        let text = std::str::from_utf8(&captured.bytes).ok();
        Self {
            text,
            base64: text.is_none().then(|| STANDARD.encode(&captured.bytes)),
            total: captured.total,
            gap: captured.gap.map(|gap| GapJson { at: gap.at, missing: gap.missing }),
        }
    }
}

/// A refusal as JSON.
#[derive(Serialize)]
struct RefusalJson<'a> {
    schema: u32,
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: ProblemKind,
    #[serde(flatten)]
    problem: &'a Problem,
}

pub(crate) fn print_problem(problem: &Problem) -> Result<(), Failure> {
    output::print_json(&RefusalJson { schema: SCHEMA, error: ErrorJson { kind: problem.kind(), problem } })
}
