//! What a caller asks for, raw and then checked.

use std::collections::BTreeSet;

use crate::names::VariableName;
use crate::{Code, LimitRequest, Problem, ProgramName, visible};

/// A request as it came from a caller: nothing about it has been checked.
///
/// Build one with the methods below, then hand it to a gate, which calls [`Request::validate`] itself.
///
/// ```
/// use portcullis_policy::Request;
/// let request = Request::new("git").args(["log", "-n", "3"]).cwd("sub").env("NO_COLOR", "1");
/// assert_eq!(request.arguments, ["log", "-n", "3"]);
/// assert!(request.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Name of an entry of the policy's program table.
    pub program: String,
    /// argv[1..].
    pub arguments: Vec<String>,
    /// Directory below the workspace, relative; `None` = the workspace.
    pub cwd: Option<String>,
    /// Variables to set on top of the policy's.
    pub env: Vec<(String, String)>,
    /// What to feed to the command.
    pub stdin: Stdin,
    /// Ceilings to tighten.
    pub limits: LimitRequest,
    /// Whether the command needs the network.
    pub network: bool,
    /// Where standard error goes.
    pub stderr: Stderr,
    /// Why the command is wanted; for people and records.
    pub reason: Option<String>,
    /// The caller's own id for the call.
    pub call_id: Option<String>,
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// A stream that the host feeds while the command runs. Guests can't ask for it.
    Stream,
}

/// Where a command's standard error goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stderr {
    /// Its own stream.
    #[default]
    Separate,
    /// Down the same pipe as standard output, in the order written (`2>&1`).
    Merged,
}

impl Request {
    /// Most arguments.
    pub const MAX_ARGUMENTS: usize = 65_536;
    /// Most bytes of all arguments together, each with its end: below what Linux gives to `execve`.
    pub const MAX_ARGUMENT_BYTES: usize = 1 << 20;
    /// Most bytes of one argument or `NAME=value`, its end included: `MAX_ARG_STRLEN` of Linux, 128 KiB.
    pub const MAX_STRING_BYTES: usize = 128 << 10;
    /// Most variables.
    pub const MAX_VARIABLES: usize = 1024;
    /// Most bytes of all variables together.
    pub const MAX_VARIABLE_BYTES: usize = 256 << 10;
    /// Most bytes of standard input given as a value.
    pub const MAX_STDIN_BYTES: usize = 64 << 20;
    /// Longest working directory, in bytes (`PATH_MAX`).
    pub const MAX_CWD_BYTES: usize = 4096;
    /// Longest reason, in bytes.
    pub const MAX_REASON_BYTES: usize = 4096;
    /// Longest call id, in bytes.
    pub const MAX_CALL_ID_BYTES: usize = 256;

    /// A request for a program with no arguments, in the workspace, with empty input.
    #[must_use]
    pub fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I: IntoIterator<Item: Into<String>>>(mut self, arguments: I) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the working directory, relative to the workspace.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<String>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Gives bytes to the command's standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Asks for tighter limits.
    #[must_use]
    pub fn limits(mut self, limits: LimitRequest) -> Self {
        self.limits = limits;
        self
    }

    /// Sends standard error down the same pipe as standard output.
    #[must_use]
    pub fn merge_stderr(mut self) -> Self {
        self.stderr = Stderr::Merged;
        self
    }

    /// Says that the command needs the network.
    #[must_use]
    pub fn network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Says why the command is wanted.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Checks the form of the request. Nothing is decided here.
    ///
    /// # Errors
    /// A problem of kind [`Invalid`](crate::ProblemKind::Invalid), or `shell.cwd.outside` for a directory that
    /// leaves the workspace by its very text.
    pub fn validate(&self) -> Result<ValidRequest<'_>, Problem> {
        let program = self.valid_program()?;
        self.valid_arguments()?;
        let cwd = self.valid_cwd()?;
        let env = self.valid_env()?;
        self.valid_sizes()?;
        Ok(ValidRequest { request: self, program, cwd, env })
    }

    fn valid_program(&self) -> Result<ProgramName, Problem> {
        if self.program.is_empty() {
            return Err(Problem::new(Code::ArgvEmpty, "no program is named; give the name of one, such as `git`"));
        }
        if self.program.contains('\0') {
            return Err(Problem::new(Code::ArgvNul, "the program's name contains NUL, which no program can receive"));
        }
        ProgramName::new(&self.program).map_err(|problem| {
            // A hostile name can be as long as the guest likes.
            let shown: String = self.program.chars().take(64).collect();
            let message = format!("the program name `{}` {problem}", visible(&shown));
            Problem::new(Code::ProgramName, message)
        })
    }

    fn valid_arguments(&self) -> Result<(), Problem> {
        let too_large = |message| Problem::new(Code::ArgvTooLarge, message);
        if self.arguments.len() > Self::MAX_ARGUMENTS {
            let message = format!("{} arguments; at most {} can be given", self.arguments.len(), Self::MAX_ARGUMENTS);
            return Err(too_large(message));
        }
        let mut bytes = 0_usize;
        for (index, argument) in self.arguments.iter().enumerate() {
            bytes = bytes.saturating_add(argument.len() + 1);
            if argument.len() >= Self::MAX_STRING_BYTES {
                let message = format!(
                    "argument {index} has {} bytes; one argument has less than {}",
                    argument.len(),
                    Self::MAX_STRING_BYTES
                );
                return Err(too_large(message).at(index));
            }
            if argument.contains('\0') {
                let message = format!("argument {index} contains NUL, which no program can receive");
                return Err(Problem::new(Code::ArgvNul, message).at(index));
            }
        }
        if bytes > Self::MAX_ARGUMENT_BYTES {
            let message = format!("{bytes} bytes of arguments; at most {} can be given", Self::MAX_ARGUMENT_BYTES);
            return Err(too_large(message));
        }
        Ok(())
    }

    /// The directory with `.` and doubled slashes taken out; empty = the workspace.
    fn valid_cwd(&self) -> Result<String, Problem> {
        let Some(cwd) = &self.cwd else { return Ok(String::new()) };
        let invalid = |message: String| Problem::new(Code::CwdInvalid, message);
        if cwd.is_empty() {
            return Err(invalid("the working directory is empty; leave it out for the workspace itself".to_owned()));
        }
        if cwd.len() > Self::MAX_CWD_BYTES {
            return Err(invalid(format!(
                "the working directory has {} bytes; at most {} can be given",
                cwd.len(),
                Self::MAX_CWD_BYTES
            )));
        }
        if cwd.contains('\0') {
            return Err(Problem::new(Code::ArgvNul, "the working directory contains NUL"));
        }
        if cwd.starts_with('/') {
            return Err(invalid(format!(
                "the working directory `{}` is absolute; give one relative to the workspace",
                visible(cwd)
            )));
        }
        let parts: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            let message = format!(
                "the working directory `{}` contains `..`; name the directory from the workspace down",
                visible(cwd)
            );
            return Err(Problem::new(Code::CwdOutside, message));
        }
        Ok(parts.join("/"))
    }

    fn valid_env(&self) -> Result<Vec<(VariableName, &str)>, Problem> {
        if self.env.len() > Self::MAX_VARIABLES {
            let message =
                format!("{} environment variables; at most {} can be given", self.env.len(), Self::MAX_VARIABLES);
            return Err(Problem::new(Code::EnvTooLarge, message));
        }
        let mut bytes = 0_usize;
        let mut seen = BTreeSet::new();
        let mut valid = Vec::with_capacity(self.env.len());
        for (name, value) in &self.env {
            let size = name.len().saturating_add(value.len()).saturating_add(2);
            bytes = bytes.saturating_add(size);
            if size > Self::MAX_STRING_BYTES || bytes > Self::MAX_VARIABLE_BYTES {
                let message = format!(
                    "too many bytes of environment; one variable has at most {}, all together {}",
                    Self::MAX_STRING_BYTES,
                    Self::MAX_VARIABLE_BYTES
                );
                return Err(Problem::new(Code::EnvTooLarge, message));
            }
            let name = VariableName::new(name).map_err(|problem| Problem::new(Code::EnvName, problem))?;
            if value.contains('\0') {
                let message = format!("the value of `{}` contains NUL", visible(name.as_str()));
                return Err(Problem::new(Code::EnvValue, message));
            }
            if !seen.insert(name.clone()) {
                let message = format!("`{}` is given twice", visible(name.as_str()));
                return Err(Problem::new(Code::EnvName, message));
            }
            valid.push((name, value.as_str()));
        }
        Ok(valid)
    }

    fn valid_sizes(&self) -> Result<(), Problem> {
        if let Stdin::Bytes(bytes) = &self.stdin
            && bytes.len() > Self::MAX_STDIN_BYTES
        {
            let message =
                format!("{} bytes of standard input; at most {} can be given", bytes.len(), Self::MAX_STDIN_BYTES);
            return Err(Problem::new(Code::StdinTooLarge, message));
        }
        let texts =
            [("reason", &self.reason, Self::MAX_REASON_BYTES), ("call id", &self.call_id, Self::MAX_CALL_ID_BYTES)];
        for (what, text, most) in texts {
            let length = text.as_ref().map_or(0, String::len);
            if length > most {
                return Err(Problem::new(
                    Code::TextTooLarge,
                    format!("the {what} has {length} bytes; at most {most} can be given"),
                ));
            }
        }
        Ok(())
    }
}

/// A request whose form is right. Made by [`Request::validate`] only.
#[derive(Debug, Clone)]
pub struct ValidRequest<'a> {
    request: &'a Request,
    program: ProgramName,
    cwd: String,
    env: Vec<(VariableName, &'a str)>,
}

impl ValidRequest<'_> {
    /// The program asked for.
    #[must_use]
    pub fn program(&self) -> &ProgramName {
        &self.program
    }

    /// argv[1..].
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.request.arguments
    }

    pub(crate) fn cwd(&self) -> &str {
        &self.cwd
    }

    pub(crate) fn env(&self) -> &[(VariableName, &str)] {
        &self.env
    }

    pub(crate) fn request(&self) -> &Request {
        self.request
    }
}
