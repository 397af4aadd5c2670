//! What a caller asks for, as it came. `validate.rs` checks it.

use crate::LimitRequest;

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
    /// `argv[1..]`.
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
}
