//! What only the host can know, handed to the decider as data.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Limits;

/// The host's answers to what a decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What the program's name stands for.
    pub program: ProgramFact,
    /// The host's values of the variables that the policy passes on (`env.pass`). Others are ignored.
    pub host_environment: BTreeMap<String, String>,
    /// Most bytes of each stream that this caller can be given, whatever the policy allows.
    pub output_ceiling: u64,
    /// Absolute path of the workspace, so that arguments may name paths in it in full; `None` = they may not.
    pub workspace: Option<String>,
}

impl Facts {
    /// Facts with an empty host environment and no workspace, for a caller that can be given all the output that a policy can allow.
    #[must_use]
    pub fn new(program: ProgramFact) -> Self {
        Self { program, host_environment: BTreeMap::new(), output_ceiling: Limits::MAX.output_bytes, workspace: None }
    }
}

/// What the name of a program stands for, resolved when the policy was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFact {
    /// This file.
    Found(Identity),
    /// No such file on the policy's search path.
    Missing,
    /// There is a file, and it can't be executed safely; the text says why, to follow "`name` ".
    Unusable(String),
}

/// The identity of a program: the file that was judged, and that must be the file that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Where it was found, symbolic links resolved. For people and records.
    pub path: String,
    /// Device number of the file.
    pub device: u64,
    /// Inode number of the file.
    pub inode: u64,
    /// For a script: the script; `path`, `device` and `inode` are then those of its interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

impl Identity {
    /// The identity of a program that is no script.
    #[must_use]
    pub fn new(path: impl Into<String>, device: u64, inode: u64) -> Self {
        Self { path: path.into(), device, inode, script: None }
    }
}

/// A script that an interpreter runs (`#!`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// Where it was found, symbolic links resolved.
    pub path: String,
    /// Device number of the file.
    pub device: u64,
    /// Inode number of the file.
    pub inode: u64,
    /// The argument that its `#!` line gives to the interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter_argument: Option<String>,
}
