//! System calls that no safe crate wraps as needed here: the only unsafe code of the runner.
//!
//! | file | what |
//! |---|---|
//! | `call.rs` | the system calls of children that share our memory |
//! | `clone.rs` | starting such a child |
//! | `stack.rs` | its stack |
//! | `park.rs` | making a process that waits to become a command, and telling it to |
//! | `command.rs` | what that process does |
//! | `order.rs` | what it is made for, and what it becomes |
//! | `message.rs` | the message that it waits for |
//! | `step.rs` | where that can fail |
//! | `strings.rs` | argv and environment |
//! | `namespaces.rs` | starting a guard, and mounting in its namespaces |
//! | `mounts.rs` | the steps of that |
//! | `guard.rs` | the guard's program itself |
//! | `pidfd.rs`, `wait.rs` | watching and reaping |
//! | `features.rs`, `landlock.rs` | what the kernel has, for `probe` |
//! | `signals.rs` | whether the host ignores SIGCHLD |

mod call;
mod clone;
mod command;
mod features;
mod guard;
mod landlock;
mod message;
pub(crate) mod mounts;
mod namespaces;
mod order;
mod park;
mod pidfd;
mod signals;
mod stack;
mod step;
mod strings;
mod wait;

pub(crate) use clone::Child;
pub(crate) use features::{has_close_range, seccomp_can_refuse};
pub(crate) use guard::file as guard_file;
pub(crate) use landlock::landlock_abi;
pub(crate) use namespaces::{GuardError, GuardStep, mount, start_guard};
pub(crate) use order::{Directory, Order, Powers, Program, ResourceLimit, Scope, Setup};
pub(crate) use park::{Ordered, Parked, park};
pub(crate) use pidfd::watch;
pub(crate) use signals::{child_signal_is_ignored, restore_child_signal};
pub(crate) use stack::Stack;
pub(crate) use step::{SpawnError, Step};
pub(crate) use strings::Strings;
pub(crate) use wait::{Ended, wait};
