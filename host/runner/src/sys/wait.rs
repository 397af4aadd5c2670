//! `wait4(2)`: reaping one child together with what it used.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::process::Pid;

/// A reaped child.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// Exit code, where it exited.
    pub(crate) code: Option<u8>,
    /// Signal number, where a signal ended it.
    pub(crate) signal: Option<u8>,
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) peak_memory_bytes: u64,
}

/// Reaps a child that has ended; `None` if it still runs. Never blocks.
///
/// The caller must be the only one to reap it: a process id that was reaped can be another process's the next moment.
pub(crate) fn wait(child: Pid) -> io::Result<Option<Ended>> {
    wait4(child, libc::WNOHANG)
}

/// Reaps a child that has called `_exit` already: waits for the moment that the kernel needs to end it.
pub(super) fn reap_now(child: Pid) {
    let reaped = wait4(child, 0);
    debug_assert!(reaped.is_ok(), "{reaped:?}");
}

fn wait4(child: Pid, options: libc::c_int) -> io::Result<Option<Ended>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // A child that has not executed a program has no exit signal, and is waited for by __WALL only.
    let options = options | libc::__WALL;
    let reaped = loop {
        // SAFETY: `status` and `usage` are valid for writes of their types for the length of the call, and the
        // kernel keeps neither.
        let result = unsafe { libc::wait4(child.as_raw_pid(), &raw mut status, options, usage.as_mut_ptr()) };
        if result >= 0 {
            break result;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    };
    if reaped == 0 {
        return Ok(None);
    }
    // SAFETY: zeroed above, and all zeroes is a valid `rusage`: it is made of integers.
    let usage = unsafe { usage.assume_init() };
    Ok(Some(Ended {
        code: libc::WIFEXITED(status).then(|| u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX)),
        signal: libc::WIFSIGNALED(status).then(|| u8::try_from(libc::WTERMSIG(status)).unwrap_or(u8::MAX)),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        // Linux counts it in KiB, see getrusage(2).
        peak_memory_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024),
    }))
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
