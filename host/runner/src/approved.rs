//! What may run: a decision together with the opened file that it is about.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use portcullis_policy::{Allowed, Code, Policy, Problem, ProgramEntry, ProgramFact, ProgramName};

use crate::executables::Executables;
use crate::program::{ProgramFile, Resolution};
use crate::workspace::Workspace;

/// The programs of a policy, looked up once and held open.
#[derive(Debug)]
pub struct Programs {
    resolved: HashMap<ProgramName, Program>,
}

/// A program and what it may execute.
#[derive(Debug)]
struct Program {
    resolution: Resolution,
    /// `None` where it can't be used.
    executables: Option<Arc<Executables>>,
}

impl Programs {
    /// Looks up every program of a policy.
    ///
    /// One that is not installed, or can't be used, is no error here: only using it is.
    #[must_use]
    pub fn resolve(policy: &Policy, workspace: &Workspace) -> Self {
        let resolved =
            policy.programs().map(|entry| (entry.name().clone(), Program::resolve(policy, entry, workspace)));
        Self { resolved: resolved.collect() }
    }

    /// What a program's name stands for, for the decider.
    #[must_use]
    pub fn fact(&self, program: &ProgramName) -> ProgramFact {
        match self.resolved.get(program).map(|program| &program.resolution) {
            Some(Resolution::Found(file)) => ProgramFact::Found(file.identity().clone()),
            Some(Resolution::Unusable(why)) => ProgramFact::Unusable(why.clone()),
            Some(Resolution::Missing) | None => ProgramFact::Missing,
        }
    }

    /// Turns a decision into what can be run: checks that the file is still the one that was judged, and opens the
    /// working directory.
    ///
    /// # Errors
    /// `shell.program.changed`, `shell.cwd.outside`, `shell.cwd.missing`.
    pub fn approve(&self, allowed: Allowed, workspace: &Workspace) -> Result<Approved, Problem> {
        let Some(Program { resolution: Resolution::Found(file), executables: Some(executables) }) =
            self.resolved.get(allowed.program())
        else {
            return Err(changed(&allowed));
        };
        if file.identity() != allowed.identity() || !file.is_unchanged() {
            return Err(changed(&allowed));
        }
        let (cwd, directory) = workspace.open_below(allowed.cwd())?;
        Ok(Approved {
            digest: allowed.digest(),
            allowed,
            program: Arc::clone(file),
            executables: Arc::clone(executables),
            workspace: workspace.path().to_owned(),
            workspace_identity: workspace.identity(),
            directory,
            _cwd: cwd,
        })
    }
}

impl Program {
    fn resolve(policy: &Policy, entry: &ProgramEntry, workspace: &Workspace) -> Self {
        let (search_path, workspace) = (policy.search_path(), workspace.path());
        let file = match ProgramFile::resolve(entry.name().as_str(), entry.file(), search_path, workspace) {
            Resolution::Found(file) => file,
            resolution @ (Resolution::Missing | Resolution::Unusable(_)) => {
                return Self { resolution, executables: None };
            }
        };
        let writable: Vec<String> = policy.absolute_writes().map(str::to_owned).collect();
        match Executables::resolve(&file, entry.children(), search_path, workspace, &writable) {
            Ok(executables) => Self { resolution: Resolution::Found(file), executables: Some(Arc::new(executables)) },
            Err(why) => Self { resolution: Resolution::Unusable(why), executables: None },
        }
    }
}

fn changed(allowed: &Allowed) -> Problem {
    let message = format!("the file of `{}` is not the one that the policy was loaded with", allowed.program());
    let advice = format!("if the change of {} is right, start again", allowed.identity().path);
    Problem::new(Code::ProgramChanged, message).advise(advice)
}

/// A command that may run: the decision, its opened program and its opened working directory.
///
/// Made by [`Programs::approve`] only; it can't be stored or sent.
#[derive(Debug)]
pub struct Approved {
    allowed: Allowed,
    digest: [u8; 32],
    program: Arc<ProgramFile>,
    executables: Arc<Executables>,
    workspace: String,
    workspace_identity: (u64, u64),
    directory: (u64, u64),
    /// Keeps the directory's inode from being given to another.
    _cwd: OwnedFd,
}

impl Approved {
    /// The decision.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// The decision's digest, which the intent must be recorded for.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// SHA-256, in hex, of the program's file, or of the script. `None` where it can't be read.
    #[must_use]
    pub fn program_sha256(&self) -> Option<&str> {
        self.program.sha256()
    }

    pub(crate) fn program(&self) -> &ProgramFile {
        &self.program
    }

    /// What its process tree may execute.
    pub(crate) fn executables(&self) -> &Executables {
        &self.executables
    }

    /// Device and inode of the workspace.
    pub(crate) fn workspace_identity(&self) -> (u64, u64) {
        self.workspace_identity
    }

    /// Absolute path of the workspace.
    pub(crate) fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Device and inode of the working directory that was approved.
    pub(crate) fn directory(&self) -> (u64, u64) {
        self.directory
    }
}
