//! What can go wrong with a component.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use portcullis_gate::Broken;
use portcullis_policy::{Code, visible};

/// A file that can't be run as a tool. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error("can't read the component `{}`", visible(&path.to_string_lossy()))]
    Read {
        /// As it was given.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It is larger than [`Tool::MAX_BYTES`](crate::Tool::MAX_BYTES).
    #[error("`{name}` has {bytes} bytes; a component has at most {most}")]
    TooLarge {
        /// The file's name.
        name: String,
        /// Its size.
        bytes: u64,
        /// The most.
        most: u64,
    },
    /// It is a core module.
    #[error(
        "`{name}` is a core WebAssembly module, not a component; build it for wasm32-wasip2, or make it a component \
         with `wasm-tools component new`"
    )]
    CoreModule {
        /// The file's name.
        name: String,
    },
    /// It is no WebAssembly at all, or broken.
    #[error("`{name}` is not a WebAssembly component")]
    NotAComponent {
        /// The file's name.
        name: String,
        /// What the validator says.
        #[source]
        source: wasmtime::Error,
    },
    /// It imports what the host does not offer.
    #[error(
        "`{name}` imports {imports}, which this host does not offer; it offers wasi:cli/imports@0.2 and portcullis:shell@0.1"
    )]
    Import {
        /// The file's name.
        name: String,
        /// The imports, quoted.
        imports: String,
        /// What the linker says.
        #[source]
        source: wasmtime::Error,
    },
    /// It has no `main`.
    #[error("`{name}` exports no wasi:cli/run, so there is nothing to run; build it as a program with a `main`")]
    NoMain {
        /// The file's name.
        name: String,
    },
}

impl LoadError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Read { .. } => Code::ComponentUnreadable,
            Self::TooLarge { .. } | Self::CoreModule { .. } | Self::NotAComponent { .. } => Code::ComponentInvalid,
            Self::Import { .. } => Code::ComponentImport,
            Self::NoMain { .. } => Code::ComponentExport,
        }
    }
}

/// A component that did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It trapped: a bug in it, or more than a host call may carry.
    #[error("the component trapped")]
    Trap(#[source] wasmtime::Error),
    /// It used up its computing time.
    #[error(
        "the component used up its {0:?} of computing time; raise `component.compute` in the policy if it needs more"
    )]
    Compute(Duration),
    /// The session's wall-clock limit ran out.
    #[error("the session's {0:?} ran out; raise `component.wall` in the policy if it needs more")]
    Deadline(Duration),
    /// It was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
    /// The workspace could not be given to it.
    #[error("can't give the workspace to the component")]
    Preopen(#[source] wasmtime::Error),
    /// The journal can't be written.
    #[error(transparent)]
    Broken(#[from] Broken),
}

impl RunError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Trap(_) => Code::ComponentTrap,
            Self::Compute(_) => Code::ComponentCompute,
            Self::Deadline(_) => Code::SessionDeadline,
            Self::Cancelled => Code::Cancelled,
            Self::Preopen(_) => Code::WorkspaceMissing,
            Self::Broken(broken) => broken.code(),
        }
    }
}
