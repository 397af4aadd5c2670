//! Collections of commands, run for real: attacks that the confinement has to contain, and everyday uses that it must
//! not break.
//!
//! Each entry gets a throw-away folder with a workspace and, beside it, a place that a command has no business in. The
//! command runs there unconfined and under `portcullis exec`, by a policy that lets its program run with any arguments:
//! what a policy's rules would say of the arguments is not asked. What the command did is then looked at.
//!
//! Attacks are carried out, once unconfined. Do that with collections that you know, or on a machine to throw away.
//!
//! - [`cases`] and [`uses`] are the formats of the files.
//! - [`bypasses`] runs attacks, [`usage`] everyday commands; both return reports that print as a table and as JSON.

pub mod bypasses;
pub mod cases;
mod command;
mod confined;
mod folder;
mod observe;
mod setup;
mod snapshot;
pub mod usage;
pub mod uses;

pub use confined::Machine;
