//! Runs one approved native command: start, confine, cap, capture, kill, reap.
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
//! - A command starts with the environment that was decided and nothing else: no descriptors of the host's, default
//!   signals, its own session, no terminal, the input that it was given, else none.
//! - What it writes is read without end, and a bounded head and tail are kept; totals are exact.
//! - Starting it copies nothing of the host.
//! - When the outcome is there, the command is reaped and its whole process tree is dead. Dropping a [`Running`] kills
//!   it, and so does the host's death. (Not at [`Level::None`], which a policy has to want.)
//! - The kernel holds it to its limits, and from [`Level::Landlock`] on to what the policy lets it read, write and
//!   execute, without a network unless the policy gives one, without powers, and without system calls that could undo the
//!   rest. At [`Level::Full`] whatever else the host has is not even there: it has a tree of files, processes, temporary
//!   files and a network of its own.
//! - What it could not be held to is in the outcome's [`Enforcement`]; a level that the host can't reach
//!   ([`available_level`], [`confinement_problem`]) starts nothing.
//!
//! # What does not hold
//! - At [`Level::Full`] with a list of children: the loader of the listed programs runs any dynamic program that the command
//!   can read where nothing is written. Directories of programs can't be read then; others under `/usr/lib`, and those that
//!   the policy lets it read, can.
//! - Denied paths are names: a hard link made before has another. One that is not there is made while commands may run, an
//!   empty file or directory with the sticky bit, and stays if the host is killed. Who replaces a denied path outside,
//!   while a command runs, shows it to that command.
//! - At [`Level::Landlock`] a command sees all names, sizes and times, changes the attributes of files that the host's user
//!   owns, connects to Unix sockets by path (before version 9 of Landlock), and shares System V IPC with the host's user.
//!   With a list of children the loader runs programs of the workspace.
//! - At [`Level::Limits`] and below it reads, writes and reaches what the host's user can.
//! - Memory and number of processes of a tree are limited where the host has cgroups to give (version 1).
//!
//! Sandboxes are kept ready for commands that come: call [`settle`] before the process ends.
//!
//! # Elsewhere
//! Commands can be run on Linux only, on x86-64 and aarch64. The same items are there on every other system, so that hosts
//! build: there [`supported`] is an error, no program is usable, and an [`Approved`] or [`Running`] can't be made.

#![deny(unsafe_code)]

#[cfg(all(
    target_os = "linux",
    not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_pointer_width = "64",
        target_endian = "little"
    ))
))]
compile_error!(
    "on Linux, portcullis-runner is for x86-64 and aarch64 only (64-bit, little-endian): \
     its filters of system calls and its guards are written for these"
);

mod capability;
mod error;
mod outcome;
mod streams;

#[cfg(target_os = "linux")]
mod approved;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod deny;
#[cfg(target_os = "linux")]
mod drain;
#[cfg(target_os = "linux")]
mod elf;
#[cfg(target_os = "linux")]
mod enforcement;
#[cfg(target_os = "linux")]
mod executables;
#[cfg(target_os = "linux")]
mod feed;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod key;
#[cfg(target_os = "linux")]
mod own;
#[cfg(target_os = "linux")]
mod pipes;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod prepare;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod reach;
#[cfg(target_os = "linux")]
mod ruleset;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "system calls; every one is wrapped once, with its SAFETY comment")]
mod sys;
#[cfg(target_os = "linux")]
mod trial;
#[cfg(target_os = "linux")]
mod view;
#[cfg(target_os = "linux")]
mod workspace;

// On Linux for its own tests only.
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", expect(dead_code, unreachable_pub, reason = "others stand in these places here"))]
mod unsupported;

pub use capability::{Capability, reached_level};
pub use error::{GuardError, StartError, Unsupported, WorkspaceError};
pub use outcome::{Captured, Enforcement, Gap, Outcome, Status, Usage};
pub use portcullis_audit::IntentReceipt;
pub use portcullis_policy::Level;
pub use streams::{Input, Output, Streams};

#[cfg(target_os = "linux")]
pub use approved::{Approved, Programs};
#[cfg(target_os = "linux")]
pub use enforcement::{
    available_level, confinement_problem, expect_full_confinement, expectation_failed, level_for, supported,
};
#[cfg(target_os = "linux")]
pub use probe::probe;
#[cfg(target_os = "linux")]
pub use running::{Running, restore_child_signal, settle, start};
#[cfg(target_os = "linux")]
pub use workspace::Workspace;

#[cfg(not(target_os = "linux"))]
pub use unsupported::{
    Approved, Programs, Running, Workspace, available_level, confinement_problem, expect_full_confinement,
    expectation_failed, level_for, probe, restore_child_signal, settle, start, supported,
};
