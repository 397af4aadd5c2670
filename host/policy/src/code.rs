//! The stable codes of every refusal and failure.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a guest receives for a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WitCase {
    /// `error.invalid`: the request itself is wrong.
    Invalid,
    /// `error.denied`: the policy, or a person, said no.
    Denied,
    /// `error.unavailable`: allowed, but not possible.
    Unavailable,
    /// `error.cancelled`.
    Cancelled,
    /// The guest is trapped: the host is broken and nothing may run.
    Trap,
    /// The error of `split`.
    Split,
    /// No guest is running yet, or any more.
    Never,
}

/// What the command line exits with for a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// 125: portcullis failed.
    Failed,
    /// 126: denied, or it can't be executed.
    Denied,
    /// 127: the program is not there.
    NotFound,
    /// 130: cancelled.
    Cancelled,
}

impl Exit {
    /// The exit code, as `timeout(1)` and `docker run` use them.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Failed => 125,
            Self::Denied => 126,
            Self::NotFound => 127,
            Self::Cancelled => 130,
        }
    }
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $wit:ident, $exit:ident, $doc:literal;)*) => {
        /// A stable dotted code, such as `shell.argv.empty`. Programs match on it; every error message ends with it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The dotted text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What a guest receives.
            #[must_use]
            pub const fn wit_case(self) -> WitCase {
                match self { $(Self::$variant => WitCase::$wit,)* }
            }

            /// What the command line exits with.
            #[must_use]
            pub const fn exit(self) -> Exit {
                match self { $(Self::$variant => Exit::$exit,)* }
            }

            /// One sentence about it.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    ArgvEmpty = "shell.argv.empty", Invalid, Failed, "No program is named.";
    ArgvNul = "shell.argv.nul", Invalid, Failed, "The program, an argument or the directory contains NUL.";
    ArgvTooLarge = "shell.argv.too-large", Invalid, Failed, "Too many arguments, or too many bytes of them.";
    ProgramName = "shell.program.name", Invalid, Failed, "The program is not a plain file name.";
    CwdInvalid = "shell.cwd.invalid", Invalid, Failed, "The working directory is empty, absolute or too long.";
    EnvName = "shell.env.name", Invalid, Failed, "The name of an environment variable is empty, repeated, or contains `=` or NUL.";
    EnvValue = "shell.env.value", Invalid, Failed, "The value of an environment variable contains NUL.";
    EnvTooLarge = "shell.env.too-large", Invalid, Failed, "Too many environment variables, or too many bytes of them.";
    StdinTooLarge = "shell.stdin.too-large", Invalid, Failed, "The bytes for standard input are too many.";
    TextTooLarge = "shell.text.too-large", Invalid, Failed, "The reason or the call id is too long.";
    PolicyUnlisted = "shell.policy.unlisted", Denied, Denied, "The program has no entry in the policy.";
    PolicyArguments = "shell.policy.arguments", Denied, Denied, "The program has an entry, and no rule of it allows these arguments.";
    PolicyRule = "shell.policy.rule", Denied, Denied, "A rule denies these arguments.";
    PolicyAmbiguous = "shell.policy.ambiguous", Denied, Denied, "Several rules allow it and pin different values.";
    ApprovalRequired = "shell.approval.required", Denied, Denied, "A rule asks for a person's approval, and nobody can be asked.";
    CwdOutside = "shell.cwd.outside", Denied, Denied, "The working directory is not below the workspace.";
    EnvPolicy = "shell.env.policy", Denied, Denied, "The policy does not let guests set this environment variable.";
    TimeoutPolicy = "shell.timeout.policy", Denied, Denied, "The wall-clock limit asked for is zero or above the policy's.";
    LimitPolicy = "shell.limit.policy", Denied, Denied, "A limit asked for is zero or above the policy's.";
    NetworkPolicy = "shell.network.policy", Denied, Denied, "The network was asked for and the policy gives none.";
    LimitUnsupported = "shell.limit.unsupported", Unavailable, Failed, "A limit was asked for that does not hold at the policy's confinement level.";
    ProgramMissing = "shell.program.missing", Unavailable, NotFound, "The policy lists the program, and it is not installed.";
    ProgramChanged = "shell.program.changed", Unavailable, Denied, "The program's file is not the one that the policy was loaded with.";
    ProgramUnusable = "shell.program.unusable", Unavailable, Denied, "The program's file can't be executed, or not safely.";
    CwdMissing = "shell.cwd.missing", Unavailable, Failed, "The working directory does not exist.";
    StartFailed = "shell.start.failed", Unavailable, Failed, "The command was allowed and could not be started.";
    SessionCalls = "shell.session.calls", Unavailable, Failed, "The session has used up its calls.";
    SessionDenials = "shell.session.denials", Unavailable, Failed, "The session has used up its denials.";
    SessionJournal = "shell.session.journal", Unavailable, Failed, "The session has used up its share of the journal.";
    SessionClosed = "shell.session.closed", Unavailable, Failed, "The session is over.";
    Cancelled = "shell.cancelled", Cancelled, Cancelled, "The call was cancelled before the command started.";
    SplitQuotation = "shell.split.quotation", Split, Failed, "A quote of the command line is not closed.";
    SplitEscape = "shell.split.escape", Split, Failed, "The command line ends in a backslash.";
    JournalUnwritable = "shell.journal.unwritable", Trap, Failed, "The journal can't be written, so nothing may run.";
    JournalUnreadable = "shell.journal.unreadable", Never, Failed, "The journal can't be opened or read.";
    PolicyMissing = "shell.policy.missing", Never, Failed, "No policy was found.";
    PolicyUnreadable = "shell.policy.unreadable", Never, Failed, "The policy file can't be read.";
    PolicyInvalid = "shell.policy.invalid", Never, Failed, "The policy file is wrong.";
    PolicyUntrusted = "shell.policy.untrusted", Never, Failed, "The workspace's own policy is not trusted.";
    ConfinementLevel = "shell.confinement.level", Never, Failed, "This host can't confine commands as far as the policy demands.";
    WorkspaceMissing = "shell.workspace.missing", Never, Failed, "The workspace does not exist, or is no directory.";
    WorkspaceForbidden = "shell.workspace.forbidden", Never, Failed, "The workspace, or another place that commands may write, contains or lies in what they must never write.";
    StateUnsafe = "shell.state.unsafe", Never, Failed, "The directory for state can't be made, or is not the user's own.";
    ComponentUnreadable = "shell.component.unreadable", Never, Failed, "The component's file can't be read.";
    ComponentInvalid = "shell.component.invalid", Never, Failed, "The file is not a WebAssembly component.";
    ComponentImport = "shell.component.import", Never, Failed, "The component imports what this host does not offer.";
    ComponentExport = "shell.component.export", Never, Failed, "The component exports no `main`.";
    ComponentTrap = "shell.component.trap", Never, Failed, "The component trapped.";
    ComponentCompute = "shell.component.compute", Never, Failed, "The component used up its computing time.";
    SessionDeadline = "shell.session.deadline", Never, Failed, "The session's wall-clock limit ran out.";
    Usage = "shell.usage", Never, Failed, "The command line is wrong.";
    Internal = "shell.internal", Never, Failed, "Portcullis failed in a way that it has no better name for.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
