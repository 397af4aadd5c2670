//! `portcullis check`: the decision and why; nothing runs.

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;

use portcullis_gate::{Caller, EndReason, Gate, Verdict};
use portcullis_policy::{Allowed, Identity, KernelLimits, Level, Limits, Network, Problem, ProblemKind, span, visible};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, BAD, DOUBT, GOOD, STRONG, Voice};
use crate::state::JournalChoice;
use crate::{exec, set_up};

/// Exit code for a rule that asks.
const ASK: u8 = 10;
/// Exit code for a denial of any kind.
const DENY: u8 = 126;

pub(crate) fn check(
    request: &args::Request,
    gate: &args::Gate,
    journal: &JournalChoice,
    voice: Voice,
    json: bool,
) -> Result<u8, Failure> {
    let request = exec::request(request)?;
    let gate = set_up::gate(gate, journal, voice)?;
    let session = gate.session(Caller::cli())?;
    let verdict = session.check(&request)?;
    session.close(EndReason::Closed)?;
    let command = output::command_line(&request.program, request.arguments.iter().map(String::as_str));
    if json {
        output::print_json(&VerdictJson::of(&gate, &verdict))?;
    } else {
        output::print(|out| explain(out, &gate, &command, &verdict))?;
    }
    Ok(match verdict {
        Verdict::Allow(_) => 0,
        Verdict::Ask(_) => ASK,
        Verdict::Deny(_) => DENY,
    })
}

fn explain(out: &mut dyn Write, gate: &Gate, command: &str, verdict: &Verdict) -> io::Result<()> {
    match verdict {
        Verdict::Allow(allowed) => {
            writeln!(out, "{GOOD}allow{GOOD:#}  {STRONG}{command}{STRONG:#}")?;
            explain_allowed(out, gate, allowed)
        }
        Verdict::Ask(problem) => explain_problem(out, command, problem, "ask", DOUBT),
        Verdict::Deny(problem) => explain_problem(out, command, problem, "deny", BAD),
    }
}

fn explain_problem(
    out: &mut dyn Write,
    command: &str,
    problem: &Problem,
    word: &str,
    style: anstyle::Style,
) -> io::Result<()> {
    writeln!(out, "{style}{word}{style:#}  {STRONG}{command}{STRONG:#}")?;
    let mut row = |name: &str, value: &str| output::row(out, name, &value);
    row("why", &problem.message)?;
    if let Some(advice) = &problem.advice {
        row("next step", advice)?;
    }
    if let Some(rule) = &problem.rule {
        row("rule", rule.as_str())?;
    }
    row("code", problem.code.as_str())
}

fn explain_allowed(out: &mut dyn Write, gate: &Gate, allowed: &Allowed) -> io::Result<()> {
    let policy = gate.policy();
    let mut row = |name: &str, value: &str| output::row(out, name, &value);
    for id in allowed.rules() {
        match policy.rule(id) {
            Some(rule) => row("rule", &format!("{id} ({}:{}): {}", policy.name(), rule.line(), visible(rule.why())))?,
            None => row("rule", id.as_str())?,
        }
    }
    let Identity { path, script, .. } = allowed.identity();
    match script {
        None => row("file", &visible(path).to_string())?,
        Some(script) => row("file", &format!("{} (run by {})", visible(&script.path), visible(path)))?,
    }
    if let Some(other) = other_in_path(allowed) {
        row(
            "note",
            &format!("your PATH has another one first: {}; the policy's `programs.path` decides", visible(&other)),
        )?;
    }
    let below = if allowed.cwd().is_empty() { String::new() } else { format!("/{}", allowed.cwd()) };
    row("directory", &visible(&format!("{}{below}", gate.workspace())).to_string())?;
    let Limits { wall, kernel, output_bytes } = allowed.limits();
    row("limits", &format!("{}, {output_bytes} bytes kept of each stream", span(wall)))?;
    if let Some(KernelLimits { cpu, memory_bytes, processes, file_size_bytes, open_files }) = kernel {
        let cpu = span(cpu);
        row("", &format!("{cpu} of processor time, {} of memory, {processes} processes", output::size(memory_bytes)))?;
        row("", &format!("files of {}, {open_files} open at once", output::size(file_size_bytes)))?;
    }
    row(
        "network",
        match allowed.network() {
            Network::None => "none",
            Network::Host => "the host's",
        },
    )?;
    let env: Vec<String> =
        allowed.env().iter().map(|(name, value)| format!("{}={}", visible(name), visible(value))).collect();
    row("environment", if env.is_empty() { "empty" } else { &env[0] })?;
    for variable in env.iter().skip(1) {
        row("", variable)?;
    }
    row(
        "confinement",
        &match allowed.level() {
            level @ (Level::None | Level::Limits) => format!("{level} (the policy wants no more)"),
            level @ (Level::Landlock | Level::Full) => {
                format!("{} (the policy accepts {level} or better)", portcullis_runner::level_for(level))
            }
        },
    )
}

/// The file that the caller's own PATH would pick, where it is another one.
fn other_in_path(allowed: &Allowed) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let judged = allowed
        .identity()
        .script
        .as_ref()
        .map_or((allowed.identity().device, allowed.identity().inode), |script| (script.device, script.inode));
    let first = std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(allowed.program().as_str()))
        .find_map(|file| {
            std::fs::metadata(&file).ok().filter(|m| m.is_file() && m.mode() & 0o111 != 0).map(|m| (file, m))
        });
    let (file, metadata) = first?;
    ((metadata.dev(), metadata.ino()) != judged).then(|| file.display().to_string())
}

/// The verdict as JSON.
#[derive(Serialize)]
struct VerdictJson<'a> {
    schema: u32,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a Allowed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confinement: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ProblemKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a Problem>,
    policy: &'a str,
}

impl<'a> VerdictJson<'a> {
    fn of(gate: &'a Gate, verdict: &'a Verdict) -> Self {
        let (word, allowed, problem) = match verdict {
            Verdict::Allow(allowed) => ("allow", Some(allowed.as_ref()), None),
            Verdict::Ask(problem) => ("ask", None, Some(problem)),
            Verdict::Deny(problem) => ("deny", None, Some(problem)),
        };
        Self {
            schema: 1,
            verdict: word,
            allowed,
            confinement: allowed.map(|allowed| portcullis_runner::level_for(allowed.level()).as_str()),
            kind: problem.map(Problem::kind),
            problem,
            policy: gate.policy().name(),
        }
    }
}
