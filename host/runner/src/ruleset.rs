//! Landlock rulesets (`landlock(7)`): which files a command's processes may read, write and execute.
//!
//! A ruleset is built once for a sandbox and a kind of command, and enforced by the waiting process right before it
//! becomes the command. What the kernel's interface does not have yet it leaves out, newest first: the least that is
//! accepted has `REFER` and `TRUNCATE` (version 3).

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope, make_bitflags,
};
use rustix::fs::{FileType, Mode, OFlags};

/// The newest version that is used.
const NEWEST: ABI = ABI::V10;
/// The oldest that will do.
pub(crate) const OLDEST: u32 = 3;

/// What may be done below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Right {
    /// Files read and directories listed.
    pub(crate) read: bool,
    /// Directories listed only.
    pub(crate) list: bool,
    /// Files and directories changed, made and removed; not devices.
    pub(crate) write: bool,
    /// Programs executed.
    pub(crate) execute: bool,
    /// Devices written, and asked about themselves.
    pub(crate) device: bool,
}

impl Right {
    pub(crate) const READ: Self = Self { read: true, list: false, write: false, execute: false, device: false };

    fn access(self) -> BitFlags<AccessFs> {
        let none = BitFlags::<AccessFs>::empty();
        let when = |holds: bool, access: BitFlags<AccessFs>| if holds { access } else { none };
        when(self.read, make_bitflags!(AccessFs::{ReadFile | ReadDir}))
            | when(self.list, AccessFs::ReadDir.into())
            | when(self.execute, AccessFs::Execute.into())
            | when(self.device, make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev}))
            | when(
                self.write,
                make_bitflags!(AccessFs::{
                    WriteFile | Truncate | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym
                    | Refer | ResolveUnix
                }),
            )
    }
}

/// A ruleset in the making.
pub(crate) struct Rules {
    rules: Vec<(OwnedFd, BitFlags<AccessFs>)>,
}

impl Rules {
    pub(crate) fn new() -> Self {
        Self { rules: Vec::new() }
    }

    /// Gives a right at a path; nothing where nothing is there.
    pub(crate) fn path(&mut self, path: &str, right: Right) -> io::Result<()> {
        match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(place) => self.push(place, right),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::ACCESS) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Gives a right at an open place.
    pub(crate) fn open(&mut self, place: BorrowedFd<'_>, right: Right) -> io::Result<()> {
        self.push(place.try_clone_to_owned()?, right)
    }

    fn push(&mut self, place: OwnedFd, right: Right) -> io::Result<()> {
        let stat = rustix::fs::fstat(&place)?;
        let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        // The kernel refuses rights of directories for files.
        let access = if directory { right.access() } else { right.access() & AccessFs::from_file(NEWEST) };
        if !access.is_empty() {
            self.rules.push((place, access));
        }
        Ok(())
    }

    /// Builds it. `network` = TCP is not restricted.
    pub(crate) fn build(self, network: bool) -> io::Result<OwnedFd> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))
            .map_err(other)?
            .scope(Scope::from_all(NEWEST))
            .map_err(other)?;
        if !network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST)).map_err(other)?;
        }
        let mut ruleset = ruleset.create().map_err(other)?;
        for (place, access) in &self.rules {
            ruleset = ruleset.add_rule(PathBeneath::new(place.as_fd(), *access)).map_err(other)?;
        }
        let descriptor: Option<OwnedFd> = ruleset.into();
        let descriptor = descriptor.ok_or(io::ErrorKind::Unsupported)?;
        debug_assert!(descriptor.as_raw_fd() >= 0);
        Ok(descriptor)
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}
