//! Limits and the death of whole process trees, from end to end: what a person or a script sees of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics, its helpers too")]

mod support;

#[path = "limits/doctor.rs"]
mod doctor;
#[path = "limits/exceeded.rs"]
mod exceeded;
#[path = "limits/levels.rs"]
mod levels;
#[path = "limits/trees.rs"]
mod trees;

use std::process::Command;

use serde_json::Value;
use support::lesser::{Lack, holds};
use support::{Ended, ended};

/// The one JSON object that a program printed.
fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Runs a command to its end where no user namespaces can be made.
fn ended_without_user_namespaces(command: &Command) -> Option<Ended> {
    Lack::UserNamespaces.of(command).map(|mut command| ended(&mut command))
}
