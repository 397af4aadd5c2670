//! System calls that no safe crate wraps as needed here: the only unsafe code of the runner.

mod descriptors;
mod pidfd;
mod wait;

pub(crate) use descriptors::close_on_exec;
pub(crate) use pidfd::watch;
pub(crate) use wait::{Ended, wait};
