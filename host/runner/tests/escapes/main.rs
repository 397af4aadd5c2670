//! Attacks on what a confined command must not reach.
//!
//! Each attack is a small program. It is run twice: at level `none`, where it must work, which shows that the program
//! is right and that this machine has what it needs; and at level `full`, where nothing of what it is after may happen
//! and it must be told so, by an error or a signal.
//!
//! An attack that no machine of this kind can show (no such device, no such rights) is skipped, and that is counted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

#[path = "../support/mod.rs"]
mod support;

mod arena;
mod attack;
mod host;

/// One test for each attack.
macro_rules! attacks {
    ($($(#[$doc:meta])* $name:ident => $attack:expr;)*) => {
        $($(#[$doc])* #[tokio::test] async fn $name() { $attack.run(stringify!($name)).await; })*
    };
}

mod administration;
mod attributes;
mod capabilities;
mod denied;
mod descriptors;
mod execution;
mod files;
mod kernel;
mod leftovers;
mod links;
mod namespaces;
mod network;
mod proc;
mod processes;
mod readable;
mod replaced;
mod shared_network;
mod writable;
