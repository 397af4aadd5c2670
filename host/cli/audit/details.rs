//! Everything that the journal has about one call or session.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use portcullis_audit::{CallId, Entry, Intent, Outcome, Problem, Record, Request, SessionId, Stdin, Stored, Stream};
use portcullis_policy::{Code, visible};
use serde::Serialize;

use super::table::{duration, ended};
use crate::failure::Failure;
use crate::output::{self, DIM, STRONG};

/// What an id names.
enum Wanted {
    Call(CallId),
    Session(SessionId),
}

impl Wanted {
    fn parse(id: &str) -> Result<Self, Failure> {
        let call = id.parse().map(Self::Call);
        call.or_else(|_| id.parse().map(Self::Session)).map_err(|_| {
            let message = format!("`{}` is no id of the journal; `portcullis audit show` lists them", visible(id));
            Failure::message(Code::Usage, message)
        })
    }

    fn fits(&self, record: &Record) -> bool {
        let (session, call) = match record {
            Record::Segment(_) | Record::TornTail(_) => return false,
            Record::SessionStart(start) => (start.session, None),
            Record::SessionEnd(end) => (end.session, None),
            Record::Check(check) => (check.call.session(), Some(check.call)),
            Record::Refusal(refusal) => (refusal.call.session(), Some(refusal.call)),
            Record::Repeated(repeated) => (repeated.session, Some(repeated.of)),
            Record::Intent(intent) => (intent.call.session(), Some(intent.call)),
            Record::Outcome(outcome) => (outcome.call.session(), Some(outcome.call)),
        };
        match self {
            Self::Call(wanted) => call == Some(*wanted),
            Self::Session(wanted) => session == *wanted,
        }
    }
}

fn not_there(id: &str) -> Failure {
    Failure::message(
        Code::JournalUnreadable,
        format!("the journal has no record of `{}`; `portcullis audit show` lists what it has", visible(id)),
    )
}

/// Prints the records of a call or a session for a person.
pub(super) fn print(entries: impl Iterator<Item = Result<Entry, Failure>>, id: &str) -> Result<(), Failure> {
    let wanted = Wanted::parse(id)?;
    let mut found = false;
    for entry in entries {
        let entry = entry?;
        let Stored::Known(record) = &entry.record else { continue };
        if wanted.fits(record) {
            found = true;
            output::print(|out| explain(out, &entry, record))?;
        }
    }
    if found { Ok(()) } else { Err(not_there(id)) }
}

/// One record as a line of JSON.
#[derive(Serialize)]
struct EntryJson<'a> {
    seq: u64,
    time: String,
    #[serde(flatten)]
    record: &'a Record,
}

/// Prints records as lines of JSON: those of an id, or the newest `most` (0 = all).
pub(super) fn print_json(
    entries: impl Iterator<Item = Result<Entry, Failure>>,
    id: Option<&str>,
    most: usize,
) -> Result<(), Failure> {
    let wanted = id.map(Wanted::parse).transpose()?;
    let mut newest = VecDeque::new();
    let mut found = false;
    for entry in entries {
        let entry = entry?;
        let line = match &entry.record {
            Stored::Known(record) if wanted.as_ref().is_none_or(|wanted| wanted.fits(record)) => {
                let json = EntryJson { seq: entry.seq, time: entry.time.to_string(), record };
                serde_json::to_string(&json).map_err(|error| Failure::new(Code::Internal, error))?
            }
            Stored::Unknown(unknown) if wanted.is_none() => unknown.line.clone(),
            Stored::Known(_) | Stored::Unknown(_) => continue,
        };
        found = true;
        if most == 0 {
            output::print(|out| writeln!(out, "{line}"))?;
        } else {
            newest.push_back(line);
            if newest.len() > most {
                newest.pop_front();
            }
        }
    }
    if let (Some(id), false) = (id, found) {
        return Err(not_there(id));
    }
    output::print(|out| newest.iter().try_for_each(|line| writeln!(out, "{line}")))
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
            rows.row("ended", &format_args!("{:?}", end.reason))
        }
        Record::Check(check) => {
            rows.row("call", &check.call)?;
            rows.request(&check.request)?;
            rows.row("verdict", &format_args!("{:?}", check.verdict))?;
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

struct Rows<'a>(&'a mut dyn Write);

impl Rows<'_> {
    fn row(&mut self, name: &str, value: &dyn std::fmt::Display) -> io::Result<()> {
        writeln!(self.0, "  {DIM}{name:<12}{DIM:#}{value}")
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
            self.row("argument", at)?;
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
                duration(Duration::from_nanos(limits.wall_ns)),
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
        self.row(
            "confinement",
            &format_args!("{}; missing: {}", visible(&outcome.level), visible(&outcome.missing.join(", "))),
        )
    }
}
