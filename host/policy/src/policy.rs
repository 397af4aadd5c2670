//! The policy as it holds, once its file has been read: types and accessors.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names::VariableName;
use crate::rules::Rules;
use crate::{ArgumentPattern, Children, Effect, Level, Limits, Network, ProgramName, RuleId};

/// What a component's preopened workspace may do. It is served by the host, outside the kernel's confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestFiles {
    /// No preopen.
    None,
    /// Read and list. The default.
    #[default]
    Read,
    /// Read, write, create and delete.
    Write,
}

/// Ceilings of the component itself (`[component]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ComponentSettings {
    /// Linear memory of all its instances together, in bytes. Default 256 MiB, 64 KiB to 4 GiB.
    pub memory: u64,
    /// Wall-clock time of the whole session, host calls included. Default 10 minutes, at most 24 hours.
    pub wall: Duration,
    /// Time that the component itself may compute, host calls not billed. Default 60 seconds, at most 24 hours.
    pub compute: Duration,
}

impl Default for ComponentSettings {
    fn default() -> Self {
        Self { memory: 256 << 20, wall: Duration::from_secs(600), compute: Duration::from_secs(60) }
    }
}

/// Budgets of one session (`[session]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SessionSettings {
    /// Calls of `exec` and `check` together. Default 1 000, 1 to 1 000 000 000.
    pub calls: u64,
    /// Commands in flight at once; more wait their turn. Default 8, 1 to 1 024.
    pub concurrent: u64,
    /// Refused calls. Default 100, 1 to 1 000 000 000.
    pub denials: u64,
    /// Bytes of journal. Default 16 MiB, 1 MiB to 1 TiB.
    pub journal: u64,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { calls: 1000, concurrent: 8, denials: 100, journal: 16 << 20 }
    }
}

/// A policy, checked as a whole. Made by [`Policy::parse`] only.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) guest_files: GuestFiles,
    pub(crate) component: ComponentSettings,
    pub(crate) session: SessionSettings,
    pub(crate) level: Level,
    pub(crate) reach: Reach,
    pub(crate) search_path: Vec<String>,
    pub(crate) programs: BTreeMap<ProgramName, ProgramEntry>,
}

/// The files that commands can reach (`confinement.read`, `confinement.write`, `workspace.deny`); each list reduced.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
    pub(crate) deny: Vec<String>,
}

/// A program that the policy speaks of: an entry of its program table.
#[derive(Debug, Clone)]
pub struct ProgramEntry {
    pub(crate) name: ProgramName,
    pub(crate) line: usize,
    pub(crate) file: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
    pub(crate) children: Children,
    /// Read besides what every command may read.
    pub(crate) read: Vec<String>,
    /// Written instead of what every command may write, and within it; `None` = the same.
    pub(crate) write: Option<Vec<String>>,
    pub(crate) runs_workspace_code: bool,
    pub(crate) env: Environment,
    pub(crate) rules: Rules,
}

/// The variables of a program's commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    pub(crate) set: BTreeMap<VariableName, String>,
    pub(crate) pass: BTreeSet<VariableName>,
    pub(crate) guest: BTreeSet<VariableName>,
}

/// A rule of a program.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) id: RuleId,
    pub(crate) line: usize,
    pub(crate) effect: Effect,
    pub(crate) why: String,
    pub(crate) arguments: ArgumentPattern,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
    /// Within what the program may write; `None` = the same.
    pub(crate) write: Option<Vec<String>>,
    pub(crate) set: BTreeMap<VariableName, String>,
}

impl Policy {
    /// Where programs are looked up unless the policy says otherwise.
    pub const DEFAULT_SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
    /// Largest policy file, in bytes: 4 MiB.
    pub const MAX_BYTES: usize = 4 << 20;

    /// How messages call the policy's file, escaped as by [`visible`](crate::visible).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the policy's text, in lower-case hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What a component's preopen may do.
    #[must_use]
    pub fn guest_files(&self) -> GuestFiles {
        self.guest_files
    }

    /// Ceilings of the component itself.
    #[must_use]
    pub fn component(&self) -> ComponentSettings {
        self.component
    }

    /// Budgets of a session.
    #[must_use]
    pub fn session(&self) -> SessionSettings {
        self.session
    }

    /// The least confinement that the policy accepts.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// What commands may read besides the workspace and the system's directories: absolute paths (`confinement.read`).
    /// A program can have more.
    #[must_use]
    pub fn read(&self) -> &[String] {
        &self.reach.read
    }

    /// Where commands may write: paths relative to the workspace, then absolute ones (`confinement.write`). Programs and
    /// rules only narrow it.
    #[must_use]
    pub fn write(&self) -> &[String] {
        &self.reach.write
    }

    /// The absolute paths at which commands may write. A host must refuse those that contain what it protects, as it
    /// refuses such a workspace.
    pub fn absolute_writes(&self) -> impl Iterator<Item = &str> {
        self.reach.write.iter().map(String::as_str).filter(|path| path.starts_with('/'))
    }

    /// Paths, relative to the workspace, that neither a command nor a component may read, write or create
    /// (`workspace.deny`). The host serves a component's preopen outside the kernel's confinement, and has to keep them
    /// from it as well.
    #[must_use]
    pub fn deny(&self) -> &[String] {
        &self.reach.deny
    }

    /// Whether it can only be kept where commands have a mount namespace: it denies some path of the workspace.
    #[must_use]
    pub fn needs_mounts(&self) -> bool {
        !self.reach.deny.is_empty()
    }

    /// Absolute directories in which programs are looked up, first match first.
    #[must_use]
    pub fn search_path(&self) -> &[String] {
        &self.search_path
    }

    /// The programs that the policy speaks of, sorted by name.
    pub fn programs(&self) -> impl Iterator<Item = &ProgramEntry> {
        self.programs.values()
    }

    /// The rule of this id, if there is one.
    #[must_use]
    pub fn rule(&self, id: &RuleId) -> Option<&Rule> {
        self.programs().flat_map(|program| program.rules.iter()).find(|rule| rule.id == *id)
    }

    /// Names of the host's variables that some program gets a copy of, sorted, each once.
    #[must_use]
    pub fn passed_variables(&self) -> Vec<&str> {
        let names: BTreeSet<&VariableName> = self.programs().flat_map(|program| &program.env.pass).collect();
        names.into_iter().map(VariableName::as_str).collect()
    }
}

impl ProgramEntry {
    /// Its name, which is also the `argv[0]` of its commands.
    #[must_use]
    pub fn name(&self) -> &ProgramName {
        &self.name
    }

    /// The file that the policy names for it, absolute; `None` = looked up in [`Policy::search_path`].
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// What its commands may execute beside it: names of programs, and paths, for the host to look up.
    #[must_use]
    pub fn children(&self) -> &Children {
        &self.children
    }

    /// What its commands may read besides [`Policy::read`]: absolute paths.
    #[must_use]
    pub fn read(&self) -> &[String] {
        &self.read
    }

    /// Where its commands may write, if that is less than [`Policy::write`].
    #[must_use]
    pub fn write(&self) -> Option<&[String]> {
        self.write.as_deref()
    }

    /// Whether it runs code of the workspace, in its author's words: build scripts, tests, plugins. Whoever can write the
    /// workspace then has native code in this program's confinement.
    #[must_use]
    pub fn runs_workspace_code(&self) -> bool {
        self.runs_workspace_code
    }
}

impl Rule {
    /// Its line in the policy's file, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why it is there, in its author's words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}
