//! Native commands, asked for through `portcullis:shell`.

use std::fmt;

use bindings::portcullis::shell::shell_exec;
use bindings::portcullis::shell::types;

mod bindings {
    #![allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::allow_attributes_without_reason,
        reason = "generated code"
    )]
    wit_bindgen::generate!({
        path: "../../../wit",
        world: "portcullis:shell/imports",
    });
}

/// A command to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    program: String,
    arguments: Vec<String>,
    reason: String,
}

impl Command {
    /// `program`, by its name in the host's policy, with these arguments.
    pub(crate) fn new<A: AsRef<str>>(program: &str, arguments: &[A]) -> Self {
        let arguments = arguments.iter().map(|argument| argument.as_ref().to_owned()).collect();
        Self { program: program.to_owned(), arguments, reason: String::new() }
    }

    /// Why it is wanted. The host keeps it in its journal, and shows it to a person who is asked.
    pub(crate) fn reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.reason);
        self
    }

    /// What a reader needs to know it by: the program, and git's subcommand.
    pub(crate) fn label(&self) -> String {
        match self.arguments.first() {
            Some(subcommand) if self.program == "git" => format!("git {subcommand}"),
            Some(_) | None => self.program.clone(),
        }
    }

    /// Runs it to its end. However it ends, a command that started is an `Output`.
    pub(crate) fn output(&self) -> Result<Output, Refusal> {
        let limits = types::Limits { wall: None, cpu: None, output_bytes: None, memory_bytes: None, processes: None };
        let command = types::Command {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            cwd: None,
            env: Vec::new(),
            stdin: types::Stdin::Empty,
            limits,
            network: false,
            merge_stderr: false,
            reason: Some(self.reason.clone()).filter(|reason| !reason.is_empty()),
            call_id: None,
        };
        shell_exec::exec(&command).map(Output::from).map_err(Refusal::from)
    }
}

/// A command that was started, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// How it ended.
    pub(crate) ended: Ended,
    /// What it wrote to standard output.
    pub(crate) stdout: Stream,
    /// What it wrote to standard error.
    pub(crate) stderr: Stream,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with this exit code.
    Exited(u8),
    /// In another way; the rest of a sentence that begins with the command.
    Stopped(String),
}

/// What the host kept of one output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The bytes from the stream's beginning.
    pub(crate) head: Vec<u8>,
    /// The bytes from its end; empty where nothing is missing.
    pub(crate) tail: Vec<u8>,
    /// Number of bytes missing between the two.
    pub(crate) missing: u64,
}

impl Stream {
    /// Everything that was kept, as text; what is not UTF-8 shows as `U+FFFD`.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&[self.head.as_slice(), self.tail.as_slice()].concat()).into_owned()
    }
}

/// Why a command was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Who refused, and how: the beginning of a sentence that goes on with the command.
    pub(crate) verb: &'static str,
    /// The host's stable code for it.
    pub(crate) code: String,
    /// What, why, and the next step, in the host's words.
    pub(crate) message: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Stopped(how) => f.write_str(how),
        }
    }
}

impl From<types::Outcome> for Output {
    fn from(outcome: types::Outcome) -> Self {
        Self {
            ended: outcome.status.into(),
            stdout: outcome.stdout.map(Stream::from).unwrap_or_default(),
            stderr: outcome.stderr.map(Stream::from).unwrap_or_default(),
        }
    }
}

impl From<types::Status> for Ended {
    fn from(status: types::Status) -> Self {
        use types::Status;
        Self::Stopped(match status {
            Status::Exited(code) => return Self::Exited(code),
            Status::Signaled(number) => format!("was ended by signal {number}"),
            Status::WallExceeded => "ran out of time".to_owned(),
            Status::CpuExceeded => "ran out of processor time".to_owned(),
            Status::MemoryExceeded => "ran out of memory".to_owned(),
            Status::FileSizeExceeded => "wrote too large a file".to_owned(),
            Status::Cancelled => "was cancelled".to_owned(),
            Status::Unknown(problem) | Status::Other(problem) => {
                format!("ended in an unknown way ({}): {}", problem.code, problem.message)
            }
        })
    }
}

impl From<types::Captured> for Stream {
    fn from(captured: types::Captured) -> Self {
        let mut head = captured.bytes;
        let Some(gap) = captured.gap else {
            return Self { head, ..Self::default() };
        };
        let at = usize::try_from(gap.at).unwrap_or(head.len()).min(head.len());
        let tail = head.split_off(at);
        Self { head, tail, missing: gap.missing }
    }
}

impl From<types::Error> for Refusal {
    fn from(error: types::Error) -> Self {
        use types::Error;
        let (verb, problem) = match error {
            Error::Invalid(problem) => ("the host does not understand", problem),
            Error::Denied(problem) => ("the policy denies", problem),
            Error::Unavailable(problem) => ("the host can't run", problem),
            Error::Other(problem) => ("the host refuses", problem),
            Error::Cancelled => {
                let verb = "the host cancelled";
                return Self { verb, code: "shell.cancelled".to_owned(), message: String::new() };
            }
        };
        Self { verb, code: problem.code, message: problem.message }
    }
}
