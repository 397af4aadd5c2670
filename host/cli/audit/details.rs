//! Everything that the journal has about one call or session.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use portcullis_audit::{EndReason, Entry, Intent, Outcome, Problem, Record, Request, Stdin, Stored, Stream};
use portcullis_policy::{span, visible};

use super::table::{duration, ended, word};
use super::wanted::{Wanted, not_there};
use crate::failure::Failure;
use crate::output::{self, DIM, DOUBT, STRONG};

/// Prints the records of a call or a session for a person.
pub(super) fn print(entries: impl Iterator<Item = Result<Entry, Failure>>, id: &str) -> Result<(), Failure> {
    let wanted = Wanted::parse(id)?;
    let mut found = false;
    let mut open = Open::default();
    for entry in entries {
        let entry = entry?;
        let Stored::Known(record) = &entry.record else { continue };
        if wanted.fits(record) {
            found = true;
            open.follow(record);
            output::print(|out| explain(out, &entry, record))?;
        }
    }
    if !found {
        return Err(not_there(id));
    }
    output::print(|out| open.explain(out))
}

/// What began and has no end yet.
#[derive(Default)]
struct Open {
    session: bool,
    calls: BTreeSet<String>,
}

impl Open {
    fn follow(&mut self, record: &Record) {
        match record {
            Record::SessionStart(_) => self.session = true,
            Record::SessionEnd(_) => self.session = false,
            Record::Intent(intent) => drop(self.calls.insert(intent.call.to_string())),
            Record::Outcome(outcome) => drop(self.calls.remove(&outcome.call.to_string())),
            Record::Segment(_) | Record::TornTail(_) | Record::Check(_) | Record::Refusal(_) | Record::Repeated(_) => {}
        }
    }

    fn explain(&self, out: &mut dyn Write) -> io::Result<()> {
        const WHY: &str = "it still runs, or portcullis was killed";
        for call in &self.calls {
            writeln!(out, "{DOUBT}call {call} has no outcome{DOUBT:#}: {WHY}")?;
        }
        if self.session {
            writeln!(out, "{DOUBT}the session has no end{DOUBT:#}: {WHY}")?;
        }
        Ok(())
    }
}

fn explain(out: &mut dyn Write, entry: &Entry, record: &Record) -> io::Result<()> {
    let time = entry.time.strftime("%Y-%m-%d %H:%M:%S%.6f");
    writeln!(out, "{STRONG}{}{STRONG:#}  {DIM}record {}, {time} UTC{DIM:#}", record.kind(), entry.seq)?;
    let mut rows = Rows(out);
    match record {
        Record::Segment(_) | Record::TornTail(_) => Ok(()),
        Record::SessionStart(start) => {
            rows.row("session", &start.session)?;
            rows.row("caller", &visible(&start.caller.name))?;
            if let Some(digest) = &start.caller.digest {
                rows.row("digest", digest)?;
            }
            rows.row("workspace", &visible(&start.workspace))?;
            rows.row("policy", &start.policy)?;
            rows.row("process", &start.pid)
        }
        Record::SessionEnd(end) => {
            rows.row("session", &end.session)?;
            rows.row("calls", &end.calls)?;
            rows.row("refused", &end.denials)?;
            rows.row("ended", &reason(end.reason))
        }
        Record::Check(check) => {
            rows.row("call", &check.call)?;
            rows.request(&check.request)?;
            rows.row("verdict", &word(check.verdict).0)?;
            check.problem.as_ref().map_or(Ok(()), |problem| rows.problem(problem))
        }
        Record::Refusal(refusal) => {
            rows.row("call", &refusal.call)?;
            rows.request(&refusal.request)?;
            rows.problem(&refusal.problem)
        }
        Record::Repeated(repeated) => {
            rows.row("of", &repeated.of)?;
            rows.row("count", &repeated.count)
        }
        Record::Intent(intent) => rows.intent(intent),
        Record::Outcome(outcome) => rows.outcome(outcome),
    }
}

fn reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Closed => "by the caller",
        EndReason::Deadline => "at its deadline",
        EndReason::Cancelled => "cancelled",
        EndReason::Budget => "its budget was used up",
        EndReason::Failed => "the host or the component failed",
    }
}

struct Rows<'a>(&'a mut dyn Write);

impl Rows<'_> {
    fn row(&mut self, name: &str, value: &dyn std::fmt::Display) -> io::Result<()> {
        output::row(self.0, name, value)
    }

    fn request(&mut self, request: &Request) -> io::Result<()> {
        let Request { program, arguments, cwd, env, stdin, network, merge_stderr, reason, call_id, omitted } = request;
        self.row("program", &visible(program))?;
        for (index, argument) in arguments.iter().enumerate() {
            self.row(if index == 0 { "arguments" } else { "" }, &visible(argument))?;
        }
        if let Some(cwd) = cwd {
            self.row("directory", &visible(cwd))?;
        }
        for (name, value) in env {
            self.row("asked to set", &format_args!("{}={}", visible(name), visible(value)))?;
        }
        match stdin {
            Stdin::Empty => {}
            Stdin::Bytes { bytes, sha256 } => self.row("input", &format_args!("{bytes} bytes, SHA-256 {sha256}"))?,
            Stdin::Streamed => self.row("input", &"streamed")?,
        }
        if *network {
            self.row("network", &"asked for")?;
        }
        if *merge_stderr {
            self.row("stderr", &"merged into standard output")?;
        }
        if let Some(reason) = reason {
            self.row("reason", &visible(reason))?;
        }
        if let Some(id) = call_id {
            self.row("caller's id", &visible(id))?;
        }
        if let Some(omitted) = omitted {
            self.row(
                "left out",
                &format_args!("{} bytes of {} strings, SHA-256 {}", omitted.bytes, omitted.strings, omitted.sha256),
            )?;
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        let Problem { kind: _, code, rule, message, at } = problem;
        self.row("code", &visible(code))?;
        if let Some(rule) = rule {
            self.row("rule", &visible(rule))?;
        }
        if let Some(at) = at {
            // People count from one, as the message does.
            self.row("argument", &(u64::from(*at) + 1))?;
        }
        self.row("why", &visible(message))
    }

    fn intent(&mut self, intent: &Intent) -> io::Result<()> {
        self.row("call", &intent.call)?;
        self.request(&intent.request)?;
        self.row("rules", &visible(&intent.rules.join(", ")))?;
        self.row("file", &visible(&intent.program.path))?;
        if let Some(digest) = &intent.program.sha256 {
            self.row("SHA-256", digest)?;
        }
        if let Some(script) = &intent.program.script {
            self.row("script", &visible(&script.path))?;
        }
        for (name, value) in &intent.env {
            self.row("environment", &format_args!("{}={}", visible(name), visible(value)))?;
        }
        let limits = &intent.limits;
        self.row(
            "limits",
            &format_args!(
                "{}, {} bytes kept of each stream",
                span(Duration::from_nanos(limits.wall_ns)),
                limits.output_bytes
            ),
        )?;
        self.row("confinement", &visible(&intent.level))?;
        self.row("decision", &intent.decision)
    }

    fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.row("call", &outcome.call)?;
        let (word, style) = ended(&outcome.status);
        self.row("status", &format_args!("{style}{word}{style:#}"))?;
        let streams: [(&str, &Option<Stream>); 2] = [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)];
        for (name, stream) in streams {
            if let Some(stream) = stream {
                self.row(
                    name,
                    &format_args!("{} bytes, {} kept, SHA-256 {}", stream.total, stream.kept, stream.sha256),
                )?;
            }
        }
        let usage = &outcome.usage;
        let time = |ns| duration(Duration::from_nanos(ns));
        self.row(
            "took",
            &format_args!(
                "{}; CPU {} user, {} system",
                time(usage.wall_ns),
                time(usage.user_ns),
                time(usage.system_ns)
            ),
        )?;
        self.row("memory", &format_args!("{} KiB at most", usage.peak_memory_bytes / 1024))?;
        let missing = match outcome.missing.as_slice() {
            [] => String::new(),
            missing => format!("; missing: {}", missing.join(", ")),
        };
        self.row("confinement", &format_args!("{}{}", visible(&outcome.level), visible(&missing)))
    }
}
