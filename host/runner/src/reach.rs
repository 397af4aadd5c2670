//! Which files a confined command's processes may read, write and execute: the rules of its Landlock ruleset.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use crate::Approved;
use crate::executables::{Executables, Kin};
use crate::own::{Own, OwnTree};
use crate::ruleset::{Right, Rules};
use crate::view::{DEVICES, ETC, SYSTEM};

/// What a ruleset is made of. Equal ones, in one sandbox, have equal rulesets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Reach {
    workspace: String,
    read: Vec<String>,
    write: Vec<String>,
    executables: Executables,
    network: bool,
}

/// Directories of programs. Where it is listed what may be executed, other programs can't be read either: the loader
/// executes what it can read (`ld.so PROGRAM`).
const PROGRAMS: [&str; 11] = [
    "/usr/bin",
    "/usr/sbin",
    "/usr/games",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/libexec",
    "/usr/local/games",
    "/usr/lib/git-core",
    "/bin",
    "/sbin",
];

impl Reach {
    pub(crate) fn of(approved: &Approved, network: bool) -> Self {
        let confinement = approved.allowed().confinement();
        Self {
            workspace: approved.workspace().to_owned(),
            read: confinement.read.clone(),
            write: confinement.write.clone(),
            executables: approved.executables().clone(),
            network,
        }
    }

    /// Of a trial that reads one directory and executes nothing but the guard.
    pub(crate) fn trial(workspace: &str) -> Self {
        let executables = Executables { files: vec![], directories: vec![], scripts: vec![], children: Kin::None };
        Self { workspace: workspace.to_owned(), read: vec![], write: vec![], executables, network: false }
    }

    pub(crate) fn ruleset(&self, own: &Own) -> io::Result<OwnedFd> {
        let mut rules = Rules::new();
        let Executables { files, directories, scripts, children } = &self.executables;
        let execute = *children == Kin::Any;
        let read = Right { execute, ..Right::READ };
        let write = Right { write: true, ..read };
        let is_usr = |path: &&str| fs::canonicalize(path).is_ok_and(|real| *path != "/usr" && real.starts_with("/usr"));
        // What leads into /usr needs no rule of its own.
        let system = SYSTEM.into_iter().filter(|path| !is_usr(path));
        for path in system.chain(self.read.iter().map(String::as_str)) {
            if *children == Kin::Listed {
                without_programs(&mut rules, path)?;
            } else {
                rules.path(path, read)?;
            }
        }
        rules.path(&self.workspace, read)?;
        for path in &self.write {
            let place = Path::new(&self.workspace).join(path);
            rules.path(place.to_str().unwrap_or_default(), write)?;
        }
        let device = Right { device: true, ..Right::default() };
        match own.tree() {
            // What should not be there is not there. Every rule costs each command something.
            Some(OwnTree { root, proc, etc, dev }) => {
                rules.open(root.as_fd(), Right { list: true, ..Right::default() })?;
                rules.open(proc.as_fd(), Right::READ)?;
                rules.open(etc.as_fd(), Right::READ)?;
                rules.open(dev.as_fd(), device)?;
            }
            None => {
                // Of processes outside it tells no more than `ps` does: those can't be traced from within a ruleset.
                rules.path("/proc", Right::READ)?;
                for path in ETC {
                    rules.path(path, Right::READ)?;
                }
                for path in DEVICES {
                    rules.path(path, device)?;
                }
            }
        }
        for place in own.temporary() {
            rules.open(place, write)?;
        }
        for path in files.iter().chain(directories) {
            rules.path(path, Right { execute: true, ..Right::READ })?;
        }
        for path in scripts {
            rules.path(path, Right::READ)?;
        }
        rules.build(self.network)
    }
}

/// Everything below a place but programs, which can be listed only.
fn without_programs(rules: &mut Rules, path: &str) -> io::Result<()> {
    let listed = Right { list: true, ..Right::default() };
    let holds_programs = |path: &Path| PROGRAMS.iter().any(|place| Path::new(place).starts_with(path));
    let is_programs = |path: &Path| PROGRAMS.iter().any(|place| path.starts_with(place));
    // `/bin` is a link as a rule.
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if is_programs(&resolved) {
        return rules.path(path, listed);
    }
    if !holds_programs(&resolved) {
        return rules.path(path, Right::READ);
    }
    rules.path(path, listed)?;
    // A link leads to where it has rights, or has none.
    let entries =
        fs::read_dir(&resolved)?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    for entry in entries {
        if let Some(below) = entry.path().to_str() {
            without_programs(rules, below)?;
        }
    }
    Ok(())
}
