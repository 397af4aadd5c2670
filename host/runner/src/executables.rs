//! What the process tree of a command may execute.

use std::path::Path;

use portcullis_policy::Children;

use crate::program::{ProgramFile, Resolution};
use crate::view::SYSTEM;

/// Files and directories that may be executed, with the loaders that those need.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Executables {
    /// The program itself, what it is loaded by, and the same of each of its children.
    pub(crate) files: Vec<String>,
    /// Directories, all of whose files may be executed.
    pub(crate) directories: Vec<String>,
    /// Files that are only read: scripts.
    pub(crate) scripts: Vec<String>,
    pub(crate) children: Kin,
}

/// Which children a command may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kin {
    /// None that execute a program.
    None,
    /// Those that execute what is listed.
    Listed,
    Any,
}

/// Loaders that are taken for granted where a program can't be read.
const LOADERS: [&str; 5] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
    "/lib/ld-linux.so.2",
];

impl Executables {
    /// Of its files those that no directory holds which commands see anyway.
    pub(crate) fn outside(&self, read: &[String]) -> Vec<String> {
        let seen = |path: &str| {
            let mut places = SYSTEM.into_iter().chain(read.iter().map(String::as_str));
            places.any(|place| Path::new(path).starts_with(place))
        };
        let all = self.files.iter().chain(&self.scripts).chain(&self.directories);
        all.filter(|path| !seen(path)).cloned().collect()
    }

    /// Looks up what a program may execute; what is not installed can't be executed. Refuses children that commands
    /// could write: `writable` is where they write. Else why, to follow "it ".
    pub(crate) fn resolve(
        program: &ProgramFile,
        children: &Children,
        search_path: &[String],
        workspace: &str,
        writable: &[String],
    ) -> Result<Self, String> {
        let kin = match children {
            Children::None => Kin::None,
            Children::Listed(_) => Kin::Listed,
            Children::Any => Kin::Any,
        };
        let mut all = Self { files: Vec::new(), directories: Vec::new(), scripts: Vec::new(), children: kin };
        all.add(program);
        if let Children::Listed(items) = children {
            for item in items {
                all.add_child(item, search_path, workspace, writable)?;
            }
        }
        for list in [&mut all.files, &mut all.directories, &mut all.scripts] {
            list.sort();
            list.dedup();
        }
        Ok(all)
    }

    fn add_child(
        &mut self,
        item: &str,
        search_path: &[String],
        workspace: &str,
        writable: &[String],
    ) -> Result<(), String> {
        let path = std::fs::canonicalize(item).ok().filter(|_| item.starts_with('/'));
        let place = match &path {
            Some(path) if path.is_dir() => path.to_str().map(str::to_owned),
            _ => None,
        };
        let found = match &place {
            Some(directory) => {
                self.directories.push(directory.clone());
                vec![directory.clone()]
            }
            None => {
                let file = item.starts_with('/').then_some(item);
                match ProgramFile::resolve(item, file, search_path, workspace) {
                    Resolution::Found(child) => {
                        self.add(&child);
                        child.paths().map(str::to_owned).collect()
                    }
                    Resolution::Unusable(why) => {
                        return Err(format!("has the child `{item}`, which can't be used: {why}"));
                    }
                    Resolution::Missing => Vec::new(),
                }
            }
        };
        let places = || writable.iter().map(String::as_str).chain([workspace]);
        let within = |path: &str, place: &str| Path::new(path).starts_with(place);
        match found.iter().find(|path| places().any(|place| within(path, place) || within(place, path))) {
            Some(path) => Err(format!(
                "has the child `{item}` ({path}), which commands can change; name one elsewhere, or say children = \"any\""
            )),
            None => Ok(()),
        }
    }

    fn add(&mut self, program: &ProgramFile) {
        self.files.push(program.executable_path().to_owned());
        self.scripts.extend(program.script_path().map(str::to_owned));
        match program.loader() {
            Some(loader) => self.files.push(loader),
            None => self.files.extend(LOADERS.map(str::to_owned)),
        }
        if let Some(script) = program.script_path() {
            // A child that is a script is executed as one: the kernel asks for the right on both files.
            self.files.push(script.to_owned());
        }
    }
}
