//! The format of a collection of everyday commands. Keys that are not known are errors, see [`cases`](crate::cases).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::cases::{Schema, Step, parse};

/// A file of everyday commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseFile {
    /// Version of the format: 1.
    pub schema: Schema,
    /// The commands.
    #[serde(rename = "use")]
    pub uses: Vec<Use>,
    /// Lists of steps by name.
    #[serde(default)]
    pub fixtures: BTreeMap<String, Vec<Step>>,
    /// For policies; not used.
    #[serde(default, rename = "profiles")]
    pub _profiles: toml::Table,
    /// For policies; not used.
    #[serde(default, rename = "neutraliser")]
    pub _neutralisers: Vec<toml::Table>,
    /// Lines of several commands; not used.
    #[serde(default, rename = "pipeline")]
    pub _pipelines: Vec<toml::Table>,
}

/// An everyday command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Its name, unique.
    pub id: String,
    /// Its program.
    pub program: String,
    /// What is executed; the first is looked up.
    pub argv: Vec<String>,
    /// What a person would say it does.
    pub kind: Kind,
    /// Where, if not in the workspace itself.
    pub cwd: Option<String>,
    /// Variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What it reads, else nothing.
    pub stdin: Option<String>,
    /// Seconds that it may take.
    pub timeout: Option<u64>,
    /// What has to be there first.
    #[serde(default)]
    pub setup: Vec<Step>,
    /// What it does.
    #[serde(default)]
    pub expect: Expect,
    /// Whether that was seen.
    pub verified: bool,
    /// How usual it is: 1 to 5.
    pub weight: u8,
    /// For policies.
    #[serde(rename = "profile")]
    pub _profile: String,
    /// For policies.
    #[serde(default, rename = "policy")]
    pub _policy: Option<String>,
    /// For policies.
    #[serde(default, rename = "destructive")]
    pub _destructive: bool,
    /// For policies.
    #[serde(default, rename = "script")]
    pub _script: Option<String>,
    /// For policies.
    #[serde(default, rename = "needs_fs")]
    pub _needs_fs: bool,
    /// For policies.
    #[serde(default, rename = "lookalike")]
    pub _lookalike: Vec<String>,
    /// For policies.
    #[serde(default, rename = "features")]
    pub _features: Vec<String>,
    /// For people.
    #[serde(default, rename = "note")]
    pub _note: Option<String>,
}

/// What a person would say that a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It changes nothing.
    Read,
    /// It changes files of the workspace.
    WriteWorkspace,
    /// It builds.
    Build,
    /// It runs tests.
    Test,
    /// It talks to others.
    Network,
    /// It lays out sources.
    Format,
}

/// What a command does.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Its exit code.
    #[serde(default)]
    pub exit: i32,
    /// Part of its output.
    pub stdout_contains: Option<String>,
    /// No part of its output.
    pub stdout_lacks: Option<String>,
    /// Part of what it says about errors.
    pub stderr_contains: Option<String>,
    /// Paths that come to be, a directory with `/` at the end.
    #[serde(default)]
    pub creates: Vec<String>,
    /// Paths that change.
    #[serde(default)]
    pub modifies: Vec<String>,
    /// Paths that go.
    #[serde(default)]
    pub removes: Vec<String>,
    /// What another command, unconfined, says afterwards.
    pub after: Option<After>,
}

/// A command that looks at what another did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// It.
    pub argv: Vec<String>,
    /// Part of its output.
    pub stdout_contains: String,
}

/// Reads a file of everyday commands.
///
/// # Errors
/// The file can't be read, or says something that is not known.
pub fn read(path: &Path) -> Result<UseFile> {
    parse(path)
}
