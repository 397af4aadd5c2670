//! A throw-away folder for one run of one command.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

/// What nobody but its owner should learn.
const SECRET: &str = "SECRET-7f3a-CANARY\n";

/// Where the place lies that a command has no business in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Beside the workspace.
    Beside,
    /// In the workspace after all: what the command does there shows that it works.
    Within,
}

/// A workspace, what lies beside it, and room for the runner's own files.
#[derive(Debug)]
pub(crate) struct Folder {
    place: TempDir,
    workspace: PathBuf,
    outside: PathBuf,
    /// Placeholders and what they stand for.
    names: Vec<(&'static str, String)>,
}

impl Folder {
    pub(crate) fn new(outside: Outside, path: &str, port: u16) -> Result<Self> {
        let place = tempfile::Builder::new().prefix("portcullis-corpus-").tempdir()?;
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755))?;
        let root = fs::canonicalize(place.path())?;
        let workspace = root.join("ws");
        let outside = match outside {
            Outside::Beside => root.join("out"),
            Outside::Within => workspace.join("out"),
        };
        for folder in [&workspace, &outside.join("home"), &outside.join("cargo"), &root.join("own")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(outside.join("secret.txt"), SECRET)?;
        let names = vec![
            ("@WS@", text(&workspace)?),
            ("@OUT@", text(&outside)?),
            ("@PORT@", port.to_string()),
            ("@PATH@", path.to_owned()),
            ("@PPID@", std::process::id().to_string()),
        ];
        Ok(Self { place, workspace, outside, names })
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(crate) fn outside(&self) -> &Path {
        &self.outside
    }

    /// The harness's own corner.
    pub(crate) fn own(&self) -> PathBuf {
        self.place.path().join("own")
    }

    /// Puts values in the place of placeholders.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    pub(crate) fn fill_all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.fill(text)).collect()
    }

    /// A path in the workspace, unless it is absolute.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.workspace.join(self.fill(path))
    }

    /// The environment that every command has, with this in addition.
    pub(crate) fn environment(&self, more: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, String> = [
            ("PATH", "@PATH@"),
            ("HOME", "@OUT@/home"),
            ("CARGO_HOME", "@OUT@/cargo"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("TZ", "UTC"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("CARGO_TERM_COLOR", "never"),
            ("npm_config_update_notifier", "false"),
            ("npm_config_audit", "false"),
            ("npm_config_fund", "false"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), self.fill(value)))
        .collect();
        all.extend(more.iter().map(|(name, value)| (name.clone(), self.fill(value))));
        all.extend(managers().map(|(name, place)| (name.to_owned(), place)));
        all
    }
}

/// Variables that say where programs lie which stand for several versions, and those places.
pub(crate) fn managers() -> impl Iterator<Item = (&'static str, String)> {
    let home = std::env::var("HOME").unwrap_or_default();
    [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")].into_iter().filter_map(move |(name, usual)| {
        let place = std::env::var(name).unwrap_or_else(|_| format!("{home}/{usual}"));
        Path::new(&place).is_dir().then_some((name, place))
    })
}

/// The file that a program's name stands for, as for `execvp`: an empty place on the path is the current directory.
pub(crate) fn find(program: &str, path: &str, cwd: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        // Without `.` parts: that is what a policy wants of a path.
        return Some(cwd.join(program).components().collect()).filter(|file: &PathBuf| file.exists());
    }
    path.split(':').map(|place| cwd.join(place).join(program)).find(|file| {
        fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

fn text(path: &Path) -> Result<String> {
    Ok(path.to_str().context("the folder for temporary files has a name that is not text")?.to_owned())
}
