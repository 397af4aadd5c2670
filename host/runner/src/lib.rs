//! Runs one approved native command: start, cap, capture, kill, reap.
//!
//! Nothing here decides anything. [`start`] takes an [`Approved`], which only [`Programs::approve`] makes, from a
//! decision of the policy and the very file that was judged; and an [`IntentReceipt`], which only a journal makes,
//! once the intent is recorded. Running a command that was not judged, or not recorded, does not compile.
//!
//! ```text
//! Policy ──Programs::resolve──▶ Programs ──fact──▶ decide ──▶ Allowed ──approve──▶ Approved ──┐
//!                                                             Journal ──▶ IntentReceipt ─────┴─start──▶ Running ──▶ Outcome
//! ```
//!
//! # What holds
//! - No shell takes part. The file that was judged is the file that is executed: it is opened when the policy is
//!   loaded, compared before each start, and executed by its descriptor. A script runs as its interpreter, on its path.
//! - A command starts with the environment that was decided and nothing else, in its own process group, with the
//!   input that it was given, else none, and with no other descriptor of the host's.
//! - What it writes is read without end, and a bounded head and tail are kept; totals are exact. Who gets a copy gets
//!   all of it, however slowly they take it, unless the command is killed at a limit or cancelled.
//! - When the outcome is there, the command is reaped and its process group is dead. Dropping a [`Running`] kills it.
//!
//! # What does not hold
//! The kernel does not confine commands: [`available_level`] is [`Level::None`], and every [`Outcome`] says so in its
//! [`Enforcement`]. A process that leaves the process group (`setsid`) outlives its command.
//!
//! Linux only.

#![deny(unsafe_code)]

mod approved;
mod capture;
mod drain;
mod enforcement;
mod error;
mod outcome;
mod program;
mod running;
mod streams;
#[allow(unsafe_code, reason = "system calls; every one is wrapped once, with its SAFETY comment")]
mod sys;
mod workspace;

pub use approved::{Approved, Programs};
pub use capture::{Captured, Gap};
pub use enforcement::{Enforcement, available_level};
pub use error::{StartError, WorkspaceError};
pub use outcome::{Outcome, Status, Usage};
pub use portcullis_audit::IntentReceipt;
pub use portcullis_policy::Level;
pub use running::{Running, start};
pub use streams::{Input, Output, Streams};
pub use workspace::Workspace;
