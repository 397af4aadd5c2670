//! Where a start can fail, and how that is said.

use std::io;

use super::call::{self, Errno};

/// A step on the way to a running program, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Stack,
    Channel,
    Clone,
    Namespaces,
    Session,
    Cgroup,
    Descriptors,
    Null,
    Signals,
    Capability,
    Filter,
    Order,
    Limit,
    Directory,
    OtherDirectory,
    Ruleset,
    Program,
    Inheritance,
    Mask,
    Execute,
}

impl Step {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 20] = [
        Self::Stack,
        Self::Channel,
        Self::Clone,
        Self::Namespaces,
        Self::Session,
        Self::Cgroup,
        Self::Descriptors,
        Self::Null,
        Self::Signals,
        Self::Capability,
        Self::Filter,
        Self::Order,
        Self::Limit,
        Self::Directory,
        Self::OtherDirectory,
        Self::Ruleset,
        Self::Program,
        Self::Inheritance,
        Self::Mask,
        Self::Execute,
    ];

    /// What could not be done, to follow "can't ".
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Stack => "map a stack",
            Self::Channel => "reach the process that is to become the command",
            Self::Clone => "start a process",
            Self::Namespaces => "enter the namespaces",
            Self::Session => "begin a session",
            Self::Cgroup => "enter the cgroup",
            Self::Descriptors => "close descriptors",
            Self::Null => "open /dev/null",
            Self::Program => "find the program that was checked (its path leads to another now)",
            Self::Signals | Self::Mask => "reset signals",
            Self::Capability => "give up administrative powers",
            Self::Filter => "install the seccomp filter",
            Self::Order => "connect standard streams",
            Self::Limit => "set a resource limit",
            Self::Directory => "enter the working directory",
            Self::OtherDirectory => "enter the working directory that was checked (its path leads to another now)",
            Self::Ruleset => "enforce the Landlock ruleset",
            Self::Inheritance => "keep descriptors from the program",
            Self::Execute => "execute the program",
        }
    }
}

/// A start that failed. Nothing is left of it.
#[derive(Debug)]
pub(crate) struct SpawnError {
    pub(crate) step: Step,
    pub(crate) error: io::Error,
}

impl SpawnError {
    /// There is no randomness for a token.
    pub(crate) fn no_token() -> Self {
        Self::new(Step::Filter, io::ErrorKind::Other)
    }

    /// The Landlock ruleset can't be built.
    pub(crate) fn no_ruleset(error: io::Error) -> Self {
        Self::new(Step::Ruleset, error)
    }

    pub(super) fn new(step: Step, error: impl Into<io::Error>) -> Self {
        Self { step, error: error.into() }
    }
}

/// A step of a child that failed, and the kernel's answer.
pub(super) type Failure = (Step, Errno);

/// Takes steps, and in tests lets one of them fail although it need not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    #[cfg(test)]
    pub(super) sabotage: Option<Step>,
}

impl Steps {
    pub(super) fn take<T>(self, step: Step, act: impl FnOnce() -> call::Result<T>) -> Result<T, Failure> {
        #[cfg(test)]
        if self.sabotage == Some(step) {
            return Err((step, Errno(libc::EPERM)));
        }
        act().map_err(|errno| (step, errno))
    }
}
