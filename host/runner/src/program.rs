//! Finding a program's file, and knowing it again.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use portcullis_policy::{Identity, Script};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::elf;

/// What the policy's name of a program stands for.
#[derive(Debug)]
pub(crate) enum Resolution {
    Found(Arc<ProgramFile>),
    Missing,
    /// Why, to follow "it ".
    Unusable(String),
}

/// A program whose files are open: what was judged can be compared, and is what runs.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    identity: Identity,
    executable: OpenFile,
    script: Option<OpenFile>,
    digest: OnceLock<Option<String>>,
}

/// An open file and what it looked like when it was opened.
#[derive(Debug)]
struct OpenFile {
    path: String,
    descriptor: OwnedFd,
    seen: Fingerprint,
}

/// Changes whenever a file's content or mode does: nobody can set a change time back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    #[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            size: stat.st_size.into(),
            modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }
}

/// Longest `#!` line that Linux reads (`BINPRM_BUF_SIZE`).
const SHEBANG_BYTES: usize = 256;

impl ProgramFile {
    /// Looks a program up: the named file, else the first executable file of that name on the search path.
    pub(crate) fn resolve(name: &str, file: Option<&str>, search_path: &[String], workspace: &str) -> Resolution {
        let Some((executable, header)) = find(name, file, search_path) else { return Resolution::Missing };
        let (executable, header) = match header {
            Ok(header) => (executable, header),
            Err(why) => return Resolution::Unusable(why),
        };
        match header {
            // Not readable, and so no script: an interpreter could not read it either.
            None => Resolution::Found(Arc::new(Self::binary(executable))),
            Some(header) if header.starts_with(b"\x7fELF") => Resolution::Found(Arc::new(Self::binary(executable))),
            Some(header) if header.starts_with(b"#!") => {
                match Self::script(executable, &header, search_path, workspace) {
                    Ok(program) => Resolution::Found(Arc::new(program)),
                    Err(why) => Resolution::Unusable(why),
                }
            }
            // A shell would run it as a script of its own. No shell takes part here.
            Some(_) => Resolution::Unusable(format!(
                "{} is neither an ELF program nor a script with a `#!` line",
                executable.path
            )),
        }
    }

    fn binary(executable: OpenFile) -> Self {
        let identity = Identity::new(&executable.path, executable.seen.device, executable.seen.inode);
        Self { identity, executable, script: None, digest: OnceLock::new() }
    }

    fn script(script: OpenFile, header: &[u8], search_path: &[String], workspace: &str) -> Result<Self, String> {
        refuse_writable(&script, workspace)?;
        let (interpreter, argument) = interpreter(header).map_err(|why| format!("{}: {why}", script.path))?;
        // `/usr/bin/env X`: what runs is X, looked up where the policy looks programs up.
        let (interpreter, argument) = match (interpreter.rsplit('/').next(), argument) {
            (Some("env"), Some(program)) if !program.starts_with('-') && !program.contains(['=', ' ', '\t', '/']) => {
                (find(&program, None, search_path), None)
            }
            (Some("env"), argument) => {
                return Err(format!(
                    "{}: its `#!` line uses env as `env {}`, which can't be pinned",
                    script.path,
                    argument.unwrap_or_default()
                ));
            }
            (_, argument) => (find("", Some(&interpreter), search_path), argument),
        };
        let Some((interpreter, header)) = interpreter else {
            return Err(format!("the interpreter of {} is not installed", script.path));
        };
        if let Some(header) = header?
            && !header.starts_with(b"\x7fELF")
        {
            return Err(format!("the interpreter of {}, {}, is no ELF program", script.path, interpreter.path));
        }
        let identity = Identity {
            path: interpreter.path.clone(),
            device: interpreter.seen.device,
            inode: interpreter.seen.inode,
            script: Some(Script {
                path: script.path.clone(),
                device: script.seen.device,
                inode: script.seen.inode,
                interpreter_argument: argument,
            }),
        };
        Ok(Self { identity, executable: interpreter, script: Some(script), digest: OnceLock::new() })
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The file that is executed: the program, or the interpreter of the script.
    pub(crate) fn executable_path(&self) -> &str {
        &self.executable.path
    }

    /// The script, where it is one.
    pub(crate) fn script_path(&self) -> Option<&str> {
        self.script.as_ref().map(|script| script.path.as_str())
    }

    /// Both.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        [self.executable_path()].into_iter().chain(self.script_path())
    }

    /// The loader that the executed file asks for; `None` where it asks for none, or can't be read.
    pub(crate) fn loader(&self) -> Option<String> {
        self.executable.reopen().ok().and_then(|file| elf::loader(&file))
    }

    /// The descriptor to execute.
    pub(crate) fn executable(&self) -> BorrowedFd<'_> {
        self.executable.descriptor.as_fd()
    }

    /// Whether the files, and what their paths stand for, are still what they were.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.executable.is_unchanged() && self.script.as_ref().is_none_or(OpenFile::is_unchanged)
    }

    /// SHA-256, in hex, of the file that was judged: the script, or else the program. Read once, at the first call.
    /// `None` where it can't be read.
    pub(crate) fn sha256(&self) -> Option<&str> {
        let file = self.script.as_ref().unwrap_or(&self.executable);
        self.digest.get_or_init(|| file.sha256().ok()).as_deref()
    }
}

impl OpenFile {
    fn is_unchanged(&self) -> bool {
        let by_descriptor = rustix::fs::fstat(&self.descriptor).map(|stat| Fingerprint::of(&stat));
        let by_path = rustix::fs::stat(&self.path).map(|stat| Fingerprint::of(&stat));
        by_descriptor == Ok(self.seen) && by_path == Ok(self.seen)
    }

    fn reopen(&self) -> std::io::Result<File> {
        File::open(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    fn sha256(&self) -> std::io::Result<String> {
        let mut file = self.reopen()?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
                read => hasher.update(&buffer[..read]),
            }
        }
    }
}

/// An executable file, and its first bytes, or `None` where it can't be read, or why it can't be used.
type Opened = (OpenFile, Result<Option<Vec<u8>>, String>);

/// The named file, else the first of that name on the search path.
fn find(name: &str, file: Option<&str>, search_path: &[String]) -> Option<Opened> {
    match file {
        Some(file) => open_executable(file),
        None => search_path.iter().find_map(|directory| open_executable(&format!("{directory}/{name}"))),
    }
}

/// Opens a file as `execvp(3)` would take it: there, regular and executable by us. Others are passed over.
fn open_executable(path: &str) -> Option<Opened> {
    let descriptor = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&descriptor).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let executable = rustix::fs::accessat(rustix::fs::CWD, path, Access::EXEC_OK, AtFlags::EACCESS);
    if executable.is_err() {
        return None;
    }
    let link = rustix::fs::readlink(format!("/proc/self/fd/{}", descriptor.as_raw_fd()), Vec::new());
    let resolved = link.ok().and_then(|link| link.into_string().ok());
    let unicode = resolved.is_some();
    let file = OpenFile { path: resolved.unwrap_or_else(|| path.to_owned()), descriptor, seen: Fingerprint::of(&stat) };
    let header =
        if unicode { header(&file) } else { Err(format!("the path that {path} leads to is not Unicode text")) };
    Some((file, header))
}

fn header(file: &OpenFile) -> Result<Option<Vec<u8>>, String> {
    let mut header = Vec::with_capacity(SHEBANG_BYTES);
    match file.reopen().and_then(|file| file.take(SHEBANG_BYTES as u64).read_to_end(&mut header)) {
        Ok(_) => Ok(Some(header)),
        Err(error) if error.raw_os_error() == Some(Errno::ACCESS.raw_os_error()) => Ok(None),
        Err(error) => Err(format!("{} can't be read: {error}", file.path)),
    }
}

/// The interpreter and its one argument of a `#!` line, as `execve(2)` reads it.
fn interpreter(header: &[u8]) -> Result<(String, Option<String>), &'static str> {
    let line = header.strip_prefix(b"#!").unwrap_or(header);
    let end = match line.iter().position(|&byte| byte == b'\n') {
        Some(end) => end,
        // The whole file is that one line.
        None if header.len() < SHEBANG_BYTES => line.len(),
        None => return Err("its `#!` line is longer than 255 bytes"),
    };
    let line = std::str::from_utf8(&line[..end]).map_err(|_| "its `#!` line is not Unicode text")?;
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim_start_matches([' ', '\t']).to_owned())),
        None => (line, None),
    };
    if interpreter.starts_with('/') {
        Ok((interpreter.to_owned(), argument))
    } else {
        Err("the interpreter of its `#!` line is not an absolute path")
    }
}

/// A script is opened a second time, by its path, by its interpreter. Who can write to its directory, or rename one
/// above it, can put another in its place in between.
fn refuse_writable(script: &OpenFile, workspace: &str) -> Result<(), String> {
    let advice = "install it in a directory that only its owner can write";
    let path = Path::new(&script.path);
    if path.starts_with(workspace) {
        return Err(format!("{} is a script below the workspace, which commands can change; {advice}", script.path));
    }
    for (height, path) in path.ancestors().enumerate() {
        let shown = path.display();
        let mode = rustix::fs::stat(path).map_err(|errno| format!("{shown} can't be read: {errno}"))?.st_mode;
        // Further up, the sticky bit is enough: in `/tmp` nobody renames what belongs to another.
        let sticky = height > 1 && mode & 0o1000 != 0;
        if mode & 0o022 != 0 && !sticky {
            return Err(format!("{shown} can be written by others than its owner; {advice}"));
        }
    }
    Ok(())
}
