//! What a confined command sees of the host's files: a tree of its own, made of mounts.
//!
//! Whatever is not named here is not there for a command: homes, state, sockets of other programs, other processes.
//!
//! | place | what | changed by commands |
//! |---|---|---|
//! | `/usr`, `/bin`, `/lib`, … | the host's | no |
//! | `/etc` | files that libraries and tools look up; no secrets | no |
//! | `/proc` | of the command's own PID namespace; what tells about the machine's memory or keys is masked | no |
//! | `/dev` | `null`, `zero`, `full`, `random`, `urandom`, `fd`, `stdin` …; no terminals | what is written is gone |
//! | `/tmp`, `/dev/shm` | empty, in memory, this command's | yes |
//! | the workspace, under its own path | the host's | as the policy says |
//! | the policy's `read` and `write` | the host's | as the policy says |
//! | the policy's `deny` | an empty directory or an unreadable file | no |

use std::collections::BTreeSet;
use std::ffi::{CString, NulError};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};

use crate::sys::mounts::{MOST_COPIES, NO_DEVICES, NO_EXEC, NO_SETUID, Op, READ_ONLY};

/// What the tree is made for. Equal views have equal trees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View {
    /// Absolute, no symbolic links.
    pub(crate) workspace: String,
    /// Its device and inode.
    pub(crate) identity: (u64, u64),
    /// Absolute.
    pub(crate) read: Vec<String>,
    /// Files, and directories of files, that are executed or are scripts, and lie in none of these places. Absolute.
    pub(crate) programs: Vec<String>,
    /// Absolute, or below the workspace; `.` is the workspace.
    pub(crate) write: Vec<String>,
    /// Below the workspace.
    pub(crate) deny: Vec<String>,
    /// Whether files can be executed that lie where commands write.
    pub(crate) executable: bool,
}

/// A tree that can't be made as the policy wants it.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ViewError {
    /// A place that commands may write does not exist.
    #[error("`{path}`, which commands may write, can't be used: {cause}; make it, or take it out of `write`")]
    Write {
        /// The place.
        path: String,
        /// The kernel's answer.
        cause: String,
    },
    /// A place that commands may write is a link out of the workspace.
    #[error("`{path}`, which commands may write, leads out of the workspace; name the place itself in `write`")]
    Outside {
        /// The place.
        path: String,
    },
    /// A denied path can't be masked.
    #[error("`{path}`, which is denied, can't be masked: {cause}")]
    Deny {
        /// The path.
        path: String,
        /// What is in the way.
        cause: String,
    },
    /// More places than a tree can have.
    #[error("the policy names more places to read, write and deny than a command can have ({MOST_COPIES})")]
    TooMany,
    /// A path contains NUL.
    #[error("a path of the policy contains NUL")]
    Nul,
}

impl From<NulError> for ViewError {
    fn from(_: NulError) -> Self {
        Self::Nul
    }
}

/// Directories of the system, read-only; where one is a symbolic link it is one for commands too.
pub(crate) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// What libraries and tools look up in /etc. No passwords, keys or host configuration beyond that.
pub(crate) const ETC: [&str; 44] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/bash_completion.d",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java-17-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Devices that commands have.
pub(crate) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What /proc tells about the machine rather than about the command's processes, to those who are root.
const MASKED: [&str; 14] = [
    "/proc/acpi",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/pagetypeinfo",
    "/proc/sched_debug",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/proc/vmallocinfo",
];

/// What files in memory may take.
const MEMORY: &str = "mode=1777,size=512m,nr_inodes=65536";
/// The directory that the new root is put on meanwhile: there on every system.
const BASE: &str = "/usr";
/// Where masks come from.
const VOID: &str = ".masked";
/// Below it lies what is shared with nobody.
pub(crate) const TEMPORARY: [&str; 2] = ["/tmp", "/dev/shm"];

/// The plan for a tree that is the host's but for a /proc of its own.
pub(crate) fn host() -> Vec<Op> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    vec![Op::Follow, Op::Proc { path: c"/proc".into(), flags }]
}

impl View {
    /// The plan for its tree. Denied paths must be there, see [`deny`](crate::deny).
    pub(crate) fn plan(&self) -> Result<Vec<Op>, ViewError> {
        let mut tree = Tree::default();
        tree.system()?;
        tree.devices()?;
        tree.memory("/tmp", self.executable)?;
        tree.memory("/dev/shm", false)?;
        tree.link("/tmp", "/var/tmp")?;
        tree.directory("/run")?;
        for bind in self.binds()? {
            tree.bind(&bind)?;
        }
        tree.proc()?;
        for path in &self.deny {
            if file_above(Path::new(&self.workspace), path).is_some() {
                continue;
            }
            let path = Path::new(&self.workspace).join(path);
            let metadata = fs::symlink_metadata(&path).map_err(|error| deny_error(&path, &error.to_string()))?;
            tree.mask(&text(&path)?, metadata.is_dir())?;
        }
        tree.finish()
    }

    /// What is the host's, outer places before inner ones.
    fn binds(&self) -> Result<Vec<Bind>, ViewError> {
        let mut binds = Vec::new();
        let inner = NO_SETUID | NO_DEVICES | if self.executable { 0 } else { NO_EXEC };
        for path in self.programs.iter().cloned().chain(self.read.iter().flat_map(|path| places(path))) {
            if let Some(bind) = Bind::new(&path, READ_ONLY | NO_SETUID | NO_DEVICES) {
                binds.push(bind);
            }
        }
        let whole = self.write.iter().any(|path| path == ".");
        let identity = Some(self.identity);
        let attributes = inner | if whole { 0 } else { READ_ONLY };
        binds.push(Bind { path: self.workspace.clone(), attributes, identity, directory: true });
        let workspace = Path::new(&self.workspace);
        let mut writable = vec![];
        for path in self.write.iter().filter(|path| *path != ".") {
            let place = workspace.join(path);
            let resolved = fs::canonicalize(&place)
                .map_err(|error| ViewError::Write { path: path.clone(), cause: error.to_string() })?;
            if !path.starts_with('/') && !resolved.starts_with(workspace) {
                return Err(ViewError::Outside { path: path.clone() });
            }
            let identity = match resolved.strip_prefix(workspace) {
                // A command that runs now may put a link in its place: what is looked at must be found again.
                Ok(below) => identity_below(workspace, below),
                Err(_) => fs::metadata(&resolved).map(|metadata| (metadata.dev(), metadata.ino(), metadata.is_dir())),
            };
            let (device, inode, directory) =
                identity.map_err(|error| ViewError::Write { path: path.clone(), cause: error.to_string() })?;
            let identity = Some((device, inode));
            binds.push(Bind { path: text(&resolved)?, attributes: inner, identity, directory });
            writable.push(resolved);
        }
        // What lies above a denied path is pinned by a mount: renaming it would get round the mask.
        let files: BTreeSet<PathBuf> = self.deny.iter().filter_map(|path| file_above(workspace, path)).collect();
        for place in &files {
            let bind = Bind::new(&text(place)?, inner | READ_ONLY);
            binds.push(bind.ok_or_else(|| deny_error(place, "it is gone"))?);
        }
        let above: BTreeSet<PathBuf> = self.deny.iter().flat_map(|path| above(workspace, path)).collect();
        let above = above.into_iter().filter(|place| !files.iter().any(|file| place.starts_with(file)));
        for place in above {
            let below = place.strip_prefix(workspace).unwrap_or(&place);
            let found = identity_below(workspace, below);
            let Some((device, inode, true)) = found.ok() else {
                return Err(deny_error(&place, "what lies above it is no directory; name the path that it leads to"));
            };
            if !writable.contains(&place) {
                let may_write = whole || writable.iter().any(|written| place.starts_with(written));
                let attributes = inner | if may_write { 0 } else { READ_ONLY };
                let identity = Some((device, inode));
                binds.push(Bind { path: text(&place)?, attributes, identity, directory: true });
            }
        }
        // A stable sort: of equal paths the later holds.
        binds.sort_by_key(|bind| Path::new(&bind.path).components().count());
        Ok(binds)
    }
}

/// Device and inode of a place in the workspace that no symbolic link leads to, and whether it is a directory.
#[allow(clippy::useless_conversion, reason = "the widths of stat's fields differ between architectures")]
fn identity_below(workspace: &Path, below: &Path) -> std::io::Result<(u64, u64, bool)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let directory = rustix::fs::open(workspace, flags | OFlags::DIRECTORY, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let place = rustix::fs::openat2(&directory, below, flags, Mode::empty(), resolve)?;
    let stat = rustix::fs::fstat(&place)?;
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    Ok((stat.st_dev.into(), stat.st_ino.into(), is_directory))
}

/// The directories between the workspace and a path in it.
fn above(workspace: &Path, path: &str) -> Vec<PathBuf> {
    let whole = workspace.join(path);
    whole.ancestors().skip(1).take_while(|place| *place != workspace).map(Path::to_owned).collect()
}

/// The file that stands where a directory above a path of the workspace would be: `.git` of a linked worktree. Nothing can
/// be below it; pinned and read-only it stays what it is.
pub(crate) fn file_above(workspace: &Path, path: &str) -> Option<PathBuf> {
    above(workspace, path)
        .into_iter()
        .find(|place| fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_file()))
}

/// The place itself, or for `/` what lies there and is not a command's own.
fn places(path: &str) -> Vec<String> {
    if path != "/" {
        return vec![path.to_owned()];
    }
    let own = ["/proc", "/dev", "/tmp", "/run"];
    let entries = fs::read_dir("/").into_iter().flatten().flatten();
    let paths = entries.filter_map(|entry| entry.path().into_os_string().into_string().ok());
    paths.filter(|path| !own.contains(&path.as_str())).collect()
}

pub(crate) fn deny_error(path: &Path, cause: &str) -> ViewError {
    ViewError::Deny { path: path.display().to_string(), cause: cause.to_owned() }
}

fn text(path: &Path) -> Result<String, ViewError> {
    path.to_str().map(str::to_owned).ok_or_else(|| deny_error(path, "its name is not Unicode text"))
}

/// A place of the host's that is shown under its own path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bind {
    path: String,
    attributes: u64,
    identity: Option<(u64, u64)>,
    directory: bool,
}

impl Bind {
    /// `None` where nothing is there, or what is there can't be looked at.
    fn new(path: &str, attributes: u64) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let identity = Some((metadata.dev(), metadata.ino()));
        Some(Self { path: path.to_owned(), attributes, identity, directory: metadata.is_dir() })
    }
}

/// A plan in the making.
#[derive(Debug, Default)]
struct Tree {
    /// Copies of what is the host's, taken before the new root hides some of it.
    copies: Vec<Op>,
    rest: Vec<Op>,
    /// Places under which the host's files are shown: mount points are there already.
    shown: Vec<PathBuf>,
    made: BTreeSet<PathBuf>,
}

impl Tree {
    fn system(&mut self) -> Result<(), ViewError> {
        for path in SYSTEM {
            match fs::read_link(path) {
                Ok(target) => self.link(&text(&target)?, path)?,
                Err(_) => self.bind_if_there(path, READ_ONLY | NO_SETUID | NO_DEVICES)?,
            }
        }
        for path in ETC {
            self.bind_if_there(path, READ_ONLY | NO_SETUID | NO_DEVICES | NO_EXEC)?;
        }
        Ok(())
    }

    fn devices(&mut self) -> Result<(), ViewError> {
        for path in DEVICES {
            // Devices are written all the same.
            self.bind_if_there(path, READ_ONLY | NO_SETUID | NO_EXEC)?;
        }
        for (target, path) in [("fd", "fd"), ("fd/0", "stdin"), ("fd/1", "stdout"), ("fd/2", "stderr")] {
            self.link(&format!("/proc/self/{target}"), &format!("/dev/{path}"))?;
        }
        Ok(())
    }

    fn proc(&mut self) -> Result<(), ViewError> {
        self.directory("/proc")?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RDONLY;
        self.rest.push(Op::Proc { path: relative("/proc")?, flags });
        self.shown.push("/proc".into());
        for path in MASKED {
            if let Ok(metadata) = fs::symlink_metadata(path) {
                self.mask(path, metadata.is_dir())?;
            }
        }
        Ok(())
    }

    fn memory(&mut self, path: &str, executable: bool) -> Result<(), ViewError> {
        self.directory(path)?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV | if executable { 0 } else { libc::MS_NOEXEC };
        self.rest.push(Op::Memory { path: relative(path)?, options: CString::new(MEMORY)?, flags });
        Ok(())
    }

    fn bind_if_there(&mut self, path: &str, attributes: u64) -> Result<(), ViewError> {
        match Bind::new(path, attributes) {
            Some(bind) => self.bind(&bind),
            None => Ok(()),
        }
    }

    fn bind(&mut self, bind: &Bind) -> Result<(), ViewError> {
        let copy = self.copies.len();
        if copy >= MOST_COPIES {
            return Err(ViewError::TooMany);
        }
        let Bind { path, attributes, identity, directory } = bind;
        self.copies.push(Op::Take { path: CString::new(path.as_str())?, attributes: *attributes, expected: *identity });
        if *directory {
            self.directory(path)?;
        } else {
            self.file(path)?;
        }
        self.rest.push(Op::Attach { copy, path: relative(path)? });
        self.shown.push(path.into());
        Ok(())
    }

    /// Puts something empty over what is there.
    fn mask(&mut self, path: &str, directory: bool) -> Result<(), ViewError> {
        let source = CString::new(format!("{VOID}/{}", if directory { "directory" } else { "file" }))?;
        self.rest.push(Op::Mask { source, path: relative(path)? });
        self.rest
            .push(Op::Attributes { path: relative(path)?, attributes: READ_ONLY | NO_SETUID | NO_DEVICES | NO_EXEC });
        Ok(())
    }

    fn link(&mut self, target: &str, path: &str) -> Result<(), ViewError> {
        self.parents(path)?;
        self.rest.push(Op::Link { target: CString::new(target)?, path: relative(path)? });
        Ok(())
    }

    fn file(&mut self, path: &str) -> Result<(), ViewError> {
        self.parents(path)?;
        if self.is_new(Path::new(path)) {
            self.rest.push(Op::File { path: relative(path)?, mode: 0o444 });
        }
        Ok(())
    }

    fn directory(&mut self, path: &str) -> Result<(), ViewError> {
        self.parents(path)?;
        if self.is_new(Path::new(path)) {
            self.rest.push(Op::Directory { path: relative(path)?, mode: 0o755 });
        }
        Ok(())
    }

    fn parents(&mut self, path: &str) -> Result<(), ViewError> {
        let mut all: Vec<&Path> =
            Path::new(path).ancestors().skip(1).filter(|place| *place != Path::new("/")).collect();
        all.reverse();
        for place in all {
            if self.is_new(place) {
                self.rest.push(Op::Directory { path: relative(&text(place)?)?, mode: 0o755 });
            }
        }
        Ok(())
    }

    /// Whether it has to be made; at the first question only.
    fn is_new(&mut self, path: &Path) -> bool {
        !self.shown.iter().any(|shown| path.starts_with(shown)) && self.made.insert(path.to_owned())
    }

    fn finish(self) -> Result<Vec<Op>, ViewError> {
        let mut plan = vec![Op::Private];
        plan.extend(self.copies);
        plan.push(Op::Root { path: CString::new(BASE)? });
        let path = |name: &str| CString::new(format!("{VOID}{name}"));
        plan.push(Op::Directory { path: path("")?, mode: 0o755 });
        plan.push(Op::Directory { path: path("/directory")?, mode: 0o555 });
        plan.push(Op::File { path: path("/file")?, mode: 0 });
        plan.extend(self.rest);
        plan.push(Op::Pivot);
        plan.push(Op::Attributes { path: CString::new("/")?, attributes: READ_ONLY });
        Ok(plan)
    }
}

/// Relative to the new root.
fn relative(path: &str) -> Result<CString, NulError> {
    CString::new(path.trim_start_matches('/'))
}

#[cfg(test)]
#[path = "view/tests.rs"]
mod tests;
