//! The user's own directories: state, configuration, and the journal in them.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use portcullis_audit::{Durability, Journal, Options};
use portcullis_policy::Code;

use crate::failure::Failure;
use crate::output;

/// Which journal, as the command line says.
#[derive(Debug)]
pub(crate) struct JournalChoice {
    /// As `--journal` names it.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) durability: Durability,
}

impl JournalChoice {
    pub(crate) fn directory(&self) -> Result<PathBuf, Failure> {
        match self.named() {
            Some(directory) => Ok(directory),
            None => Ok(state_directory()?.join("journal")),
        }
    }

    fn named(&self) -> Option<PathBuf> {
        self.directory.clone().or_else(|| named_by("PORTCULLIS_JOURNAL"))
    }

    pub(crate) fn open(&self) -> Result<Journal, Failure> {
        let directory = self.directory()?;
        if self.named().is_none() {
            make_private(&state_directory()?)?;
        }
        let options = Options { durability: self.durability, ..Options::default() };
        Journal::open(&directory, options).map_err(|error| Failure::new(Code::JournalUnreadable, error))
    }
}

/// The path in a variable. An empty one counts as unset, as scripts have it.
pub(crate) fn named_by(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// `$XDG_STATE_HOME/portcullis`: trust, journal. Nothing that a command may write.
pub(crate) fn state_directory() -> Result<PathBuf, Failure> {
    base("XDG_STATE_HOME", ".local/state")
}

/// `$XDG_CACHE_HOME/portcullis`.
pub(crate) fn cache_directory() -> Result<PathBuf, Failure> {
    base("XDG_CACHE_HOME", ".cache")
}

/// `$XDG_CONFIG_HOME/portcullis`: the user's own policy.
pub(crate) fn config_directory() -> Result<PathBuf, Failure> {
    base("XDG_CONFIG_HOME", ".config")
}

/// As the XDG Base Directory Specification says: the variable where it holds an absolute path, else the default.
fn base(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    let named = named_by(variable).filter(|path| path.is_absolute());
    let base =
        named.or_else(|| std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(below_home)));
    base.map(|base| base.join("portcullis")).ok_or_else(|| {
        let message = format!("there is no home directory; set HOME, or {variable} to an absolute path");
        Failure::message(Code::StateUnsafe, message)
    })
}

/// Makes a directory that is the user's alone, or checks that it is.
pub(crate) fn make_private(directory: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let context =
            format!("can't make the directory {}; set XDG_STATE_HOME to one that can be written", directory.display());
        Failure::new(Code::StateUnsafe, anyhow::Error::new(error).context(context))
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    check_private(directory, &std::fs::symlink_metadata(directory).map_err(failed)?)
}

/// Replaces a file in a private directory as a whole; makes the directory where there is none.
pub(crate) fn write_private(file: &Path, text: &str) -> Result<(), Failure> {
    let Some(directory) = file.parent() else { return Ok(()) };
    make_private(directory)?;
    let failed = |error: std::io::Error| {
        Failure::new(Code::StateUnsafe, anyhow::Error::new(error).context(format!("can't write {}", file.display())))
    };
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let mut options = std::fs::File::options();
    let opened = options.write(true).create_new(true).mode(0o600).open(&new).map_err(failed)?;
    let written = std::io::Write::write_all(&mut &opened, text.as_bytes()).and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _left = std::fs::remove_file(&new);
    }
    written.map_err(failed)
}

fn check_private(directory: &Path, metadata: &Metadata) -> Result<(), Failure> {
    let user = rustix::process::geteuid().as_raw();
    let elsewhere = "set XDG_STATE_HOME to a directory of your own";
    let unsafe_because = if metadata.is_symlink() {
        Some(format!("it is a symbolic link; {elsewhere}"))
    } else if !metadata.is_dir() {
        Some(format!("it is no directory; {elsewhere}"))
    } else if metadata.uid() != user {
        Some(format!("it belongs to user {}, not to you ({user}); {elsewhere}", metadata.uid()))
    } else if metadata.mode() & 0o077 != 0 {
        Some(format!(
            "others can enter it (mode {:o}); see that nobody changed what is in it, then run `{}`",
            metadata.mode() & 0o7777,
            output::command_line("chmod", ["700", &directory.display().to_string()])
        ))
    } else {
        None
    };
    match unsafe_because {
        Some(why) => {
            Err(Failure::message(Code::StateUnsafe, format!("{} can't be trusted: {why}", directory.display())))
        }
        None => Ok(()),
    }
}
