//! The one pipeline through which every native command goes: decide, record, run, record.
//!
//! A component, the command line and a Rust host all call [`Session::exec`]. There is no second path.
//!
//! # Example
//!
//! ```
//! use portcullis_audit::{Journal, Options};
//! use portcullis_gate::{Caller, Gate, Request};
//! use portcullis_policy::Policy;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let state = tempfile::tempdir()?;
//! # let workspace = tempfile::tempdir()?;
//! let policy = Policy::parse("policy.toml", r#"
//! version = 1
//! confinement.level = "limits"   # the least that is accepted; `full` where nothing is said
//! [[program]]
//! name = "echo"
//! [[program.rule]]
//! id = "echo"
//! decision = "allow"
//! why = "harmless"
//! "#)?;
//! let journal = Journal::open(&state.path().join("journal"), Options::default())?;
//! let gate = Gate::builder(policy, journal).workspace(workspace.path()).build()?;
//!
//! let session = gate.session(Caller::host("example"))?;
//! let done = session.exec(Request::new("echo").args(["hello"])).await?;
//! assert_eq!(done.outcome.stdout.bytes, b"hello\n");
//! gate.shut_down().await;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod budget;
mod builder;
mod caller;
mod error;
mod pipeline;
mod places;
mod records;
mod session;

pub use builder::{Gate, GateBuilder};
pub use caller::Caller;
pub use error::{Broken, BuildError, ExecError};
pub use pipeline::{Done, Verdict};
pub use places::check_workspace;
pub use session::{Session, SessionOptions};

pub use portcullis_audit::{CallId, EndReason, SessionId};
pub use portcullis_policy::{Limits, Problem, Request, Stderr, Stdin};
pub use portcullis_runner::{Captured, Enforcement, Gap, Input, Outcome, Status, Streams, Usage};
