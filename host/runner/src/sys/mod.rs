//! System calls that no safe crate wraps as needed here: the only unsafe code of the runner.
//!
//! | file | what |
//! |---|---|
//! | `clone.rs` | starting a child that shares our memory until it executes a program |
//! | `stack.rs` | its stack |
//! | `child.rs` | its end |
//! | `spawn.rs` | what the command's process does before its program |
//! | `namespaces.rs` | the same for a guard, and the /proc of its namespaces |
//! | `guard.rs` | the guard's program itself |
//! | `filter.rs` | the seccomp filter for where there are no namespaces |
//! | `pidfd.rs`, `wait.rs` | watching and reaping |
//! | `features.rs`, `landlock.rs` | what the kernel has, for `probe` |
//! | `signals.rs` | whether the host ignores SIGCHLD |

mod child;
mod clone;
mod features;
mod filter;
mod guard;
mod landlock;
mod namespaces;
mod pidfd;
mod signals;
mod spawn;
mod stack;
mod wait;

pub(crate) use clone::Child;
pub(crate) use features::{has_close_range, seccomp_can_refuse};
pub(crate) use guard::file as guard_file;
pub(crate) use landlock::landlock_abi;
pub(crate) use namespaces::{GuardError, mount_proc, start_guard};
pub(crate) use pidfd::watch;
pub(crate) use signals::{child_signal_is_ignored, restore_child_signal};
pub(crate) use spawn::{Directory, ResourceLimit, Scope, Spawn, SpawnError, Step, Strings, spawn};
pub(crate) use wait::{Ended, wait};
