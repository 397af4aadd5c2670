//! What is about to be started: the record that must exist before a command does.

use serde::{Deserialize, Serialize};

use crate::{CallId, Hash, Omitted, Request};

/// What is about to be started, in full. Written before the start: no intent, no command.
///
/// An intent without an [`Outcome`](crate::Outcome) reads as "started, outcome unknown", never as "not run".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The call.
    pub call: CallId,
    /// What was asked for; bounded.
    pub request: Request,
    /// Digest of the decision that allowed it. Equals the subject of the [`IntentReceipt`](crate::IntentReceipt).
    pub decision: Hash,
    /// Ids of the rules that allowed it.
    pub rules: Vec<String>,
    /// The file that will be executed.
    pub program: Program,
    /// Directory that it will run in: the host's absolute path.
    pub cwd: String,
    /// The whole environment that it will get, in order: name and value.
    pub env: Vec<(String, String)>,
    /// What [`Intent::bounded`] left out of `env`; `None` = it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_omitted: Option<Omitted>,
    /// The limits that will hold.
    pub limits: Limits,
    /// Whether it will have the network.
    pub network: bool,
    /// The confinement level that it will start at: `full`, `landlock`, `limits` or `none`.
    pub level: String,
}

/// The file that is executed, by identity and not only by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Name of the entry in the program table; the command's argv\[0\].
    pub name: String,
    /// The host's absolute path, symbolic links resolved.
    pub path: String,
    /// Device number of the file that was judged.
    pub device: u64,
    /// Inode number of the file that was judged.
    pub inode: u64,
    /// SHA-256 of the file's content; `None` = the policy does not pin it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Hash>,
    /// The script, where the file above is an interpreter; `None` = the file is the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

/// A script that an interpreter is executed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The host's absolute path, symbolic links resolved.
    pub path: String,
    /// Device number of the script that was judged.
    pub device: u64,
    /// Inode number of the script that was judged.
    pub inode: u64,
}

/// Ceilings for one command. `None` = not limited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end, in nanoseconds.
    pub wall_ns: u64,
    /// Bytes kept of each output stream.
    pub output_bytes: u64,
    /// Processor time of the process tree, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Memory of the process tree, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads alive at once in the process tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Largest file it may write, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
    /// Descriptors that each process may have open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u32>,
}
