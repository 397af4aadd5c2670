//! What a waiting process is made for, and what it becomes.

use std::ffi::{CStr, c_int};
use std::os::fd::BorrowedFd;

#[cfg(test)]
use super::step::Step;
use super::strings::Strings;
use crate::seccomp::Filter;

/// What a waiting process is made for.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// Where its processes are.
    pub(crate) scope: Scope<'a>,
    /// `tasks` files of cgroups (version 1): to write a 0 there moves the writer in.
    pub(crate) cgroups: Vec<BorrowedFd<'a>>,
    pub(crate) powers: Powers,
    pub(crate) filter: Option<Filter>,
    /// What the filter wants to see when the program is executed.
    pub(crate) token: u64,
    /// The step that fails although it need not, in tests.
    #[cfg(test)]
    pub(crate) sabotage: Option<Step>,
}

/// What a command keeps of the powers of those who start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Powers {
    /// All.
    All,
    /// All but the administration of its namespaces: else root's programs could mount there, and rename the host, for
    /// those that come after it in the same namespaces.
    NoAdministration,
    /// All, and it gets no more by executing a program.
    NoMore,
    /// None, and it gets none by executing a program; not even root does.
    None,
}

/// Where a command's processes are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In the namespaces of this process, by its pidfd.
    Namespaces(BorrowedFd<'a>),
    /// In ours.
    Here,
}

/// What a waiting process becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) program: Program<'a>,
    pub(crate) argv: &'a Strings,
    /// `NAME=value`.
    pub(crate) env: &'a Strings,
    /// Descriptor 0 of the command; `None` = its own `/dev/null`.
    pub(crate) stdin: Option<BorrowedFd<'a>>,
    /// Descriptors 1 and 2.
    pub(crate) outputs: [BorrowedFd<'a>; 2],
    /// Where it starts.
    pub(crate) directory: Directory<'a>,
    pub(crate) limits: &'a [ResourceLimit],
    /// A Landlock ruleset. Without powers it can be enforced.
    pub(crate) ruleset: Option<BorrowedFd<'a>>,
}

/// What is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program<'a> {
    /// An open file of the host's.
    Open(BorrowedFd<'a>),
    /// What is at this path in the command's own tree of files, and has this device and inode. A file that is opened
    /// outside has the host's mount: by `/proc/self/exe` its attributes could be changed.
    Inside { path: &'a CStr, device: u64, inode: u64 },
}

/// A directory by its path, and what it must be: a path can come to mean something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directory<'a> {
    /// Absolute.
    pub(crate) workspace: &'a CStr,
    /// Below the workspace; no symbolic link leads out of it.
    pub(crate) relative: &'a CStr,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// A limit of `setrlimit(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResourceLimit {
    pub(crate) resource: c_int,
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}
