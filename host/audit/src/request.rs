//! What was asked for, and what was wrong with it.

use serde::{Deserialize, Serialize};

use crate::Hash;

/// What was asked for, as the caller gave it. Give it to a record only after [`Request::bounded`].
///
/// Everything here is Unicode text. A caller with other bytes (a command line on Unix) must refuse them or
/// encode them without loss: a lossy conversion makes two different commands look alike in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the program that was asked for.
    pub program: String,
    /// argv\[1..\], one string each, so that their boundaries stay visible.
    pub arguments: Vec<String>,
    /// Directory asked for; `None` = not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Environment variables asked for, in order: name and value.
    pub env: Vec<(String, String)>,
    /// What was to be read on standard input.
    pub stdin: Stdin,
    /// Whether the network was asked for.
    pub network: bool,
    /// Whether standard error was to go down the pipe of standard output.
    pub merge_stderr: bool,
    /// Why the command was wanted, in the caller's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The caller's own id for the call. Means nothing outside the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What [`Request::bounded`] left out; `None` = the request is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
}

/// What a command was to read on its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Stdin {
    /// End of file at once.
    Empty,
    /// A text known before the start. The bytes themselves are not recorded.
    Bytes {
        /// Their number.
        bytes: u64,
        /// Their SHA-256.
        sha256: Hash,
    },
    /// A stream that was passed on as it came: neither its length nor its bytes were known before the start.
    Streamed,
}

/// What was left out of a record to keep it bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// Bytes of text left out.
    pub bytes: u64,
    /// Strings left out wholly or in part.
    pub strings: u64,
    /// SHA-256 over every piece left out, in the order of the fields: one byte for the field (1 program,
    /// 2 argument, 3 directory, 4 variable's name, 5 variable's value, 6 reason, 7 call id), the piece's length
    /// in bytes (64 bits, big-endian), and its bytes. Where a value was bounded twice, 0 and the earlier digest
    /// follow.
    pub sha256: Hash,
}

/// A refusal or a failure: for programs (`kind`, `code`) and for people (`message`).
///
/// `message` may quote a guest: bound it with [`Problem::bounded`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// Stable dotted code, such as `shell.argv.empty`.
    pub code: String,
    /// Id of the policy rule that decided, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What, why, and the next step.
    pub message: String,
    /// Index into the request's `arguments` that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u32>,
}

/// The sorts of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The request itself is wrong.
    Invalid,
    /// The policy, or a person, said no.
    Denied,
    /// A person would have to approve, and did not.
    Approval,
    /// Allowed, but it could not be started.
    Unavailable,
    /// The call was cancelled before the start.
    Cancelled,
    /// The host failed.
    Failed,
}
