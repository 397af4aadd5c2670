use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Mode, OFlags};

use super::*;
use crate::seccomp::{Execution, Filter, Purpose};
use crate::sys::order::{Directory, Powers, ResourceLimit};
use crate::sys::strings::Strings;
use crate::sys::wait::wait;

fn open(path: &str) -> OwnedFd {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

fn null() -> OwnedFd {
    rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

fn setup(powers: Powers, sabotage: Option<Step>) -> Setup<'static> {
    let purpose = Purpose { group: true, confine: true, network: false, execution: Execution::Once(5) };
    let filter = (powers != Powers::All).then(|| Filter::new(purpose));
    Setup { scope: Scope::Here, cgroups: Vec::new(), powers, filter, token: 5, sabotage }
}

fn parked(powers: Powers, sabotage: Option<Step>) -> Parked {
    park(setup(powers, sabotage), None).unwrap()
}

/// Starts `/bin/sh -c 'exit 7'` in `/`.
fn start(parked: Parked, relative: &str, limits: &[ResourceLimit]) -> Result<Child, SpawnError> {
    let (program, null) = (open("/bin/sh"), null());
    let argv = Strings::new(["sh", "-c", "exit 7"]).unwrap();
    let env = Strings::new(["A=b"]).unwrap();
    let root = std::fs::metadata("/").unwrap();
    let (workspace, relative) = (CString::new("/").unwrap(), CString::new(relative).unwrap());
    let order = Order {
        program: Program::Open(program.as_fd()),
        argv: &argv,
        env: &env,
        stdin: Some(null.as_fd()),
        outputs: [null.as_fd(); 2],
        directory: Directory { workspace: &workspace, relative: &relative, device: root.dev(), inode: root.ino() },
        limits,
        ruleset: None,
    };
    parked.order(&order).confirm().map(|(child, _)| child)
}

fn exit_code(child: &Child) -> Option<u8> {
    loop {
        if let Some(ended) = wait(child.pid).unwrap() {
            return ended.code;
        }
        let mut ends = [rustix::event::PollFd::new(&child.pidfd, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut ends, None).unwrap();
    }
}

fn is_gone(pid: Pid) -> bool {
    rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
}

#[test]
fn a_program_runs_with_whatever_powers() {
    for powers in [Powers::All, Powers::NoMore, Powers::None] {
        assert_eq!(exit_code(&start(parked(powers, None), ".", &[]).unwrap()), Some(7));
    }
}

#[test]
fn each_step_that_fails_is_named_and_leaves_no_process() {
    let limits = [ResourceLimit { resource: libc::RLIMIT_CORE as c_int, soft: 0, hard: 0 }];
    for step in Step::ALL {
        let parked = parked(Powers::None, Some(step));
        let pid = parked.pid();
        let result = start(parked, ".", &limits);
        // These happen elsewhere, or not here.
        let here = !matches!(
            step,
            Step::Stack
                | Step::Channel
                | Step::Clone
                | Step::Namespaces
                | Step::Cgroup
                | Step::OtherDirectory
                | Step::Ruleset
                | Step::Program
        );
        if here {
            let error = result.unwrap_err();
            assert_eq!((error.step, error.error.raw_os_error()), (step, Some(libc::EPERM)), "{}", step.what());
        } else {
            assert_eq!(exit_code(&result.unwrap()), Some(7), "{}", step.what());
        }
        assert!(is_gone(pid), "{}", step.what());
    }
}

#[test]
fn one_that_is_not_wanted_any_more_ends() {
    for powers in [Powers::All, Powers::NoMore, Powers::None] {
        let parked = parked(powers, None);
        let pid = parked.pid();
        assert!(!is_gone(pid));
        drop(parked);
        assert!(is_gone(pid));
    }
}

#[test]
fn one_whose_host_closes_the_channel_ends_by_itself() {
    let mut parked = parked(Powers::All, None);
    parked.channel = null();
    let mut ends = [rustix::event::PollFd::new(parked.pidfd.as_ref().unwrap(), rustix::event::PollFlags::IN)];
    rustix::event::poll(&mut ends, None).unwrap();
    assert_eq!(wait(parked.pid()).unwrap().unwrap().code, Some(0));
    parked.pidfd = None;
}

#[test]
fn one_that_is_killed_while_it_waits_is_an_error() {
    let parked = parked(Powers::All, None);
    rustix::process::pidfd_send_signal(parked.pidfd.as_ref().unwrap(), Signal::KILL).unwrap();
    let mut ends = [rustix::event::PollFd::new(parked.pidfd.as_ref().unwrap(), rustix::event::PollFlags::IN)];
    rustix::event::poll(&mut ends, None).unwrap();
    let pid = parked.pid();
    assert_eq!(start(parked, ".", &[]).unwrap_err().step, Step::Channel);
    assert!(is_gone(pid));
}

#[test]
fn while_it_waits_it_holds_no_descriptor_but_the_channel_and_nothing_to_read() {
    let _held = null();
    let parked = parked(Powers::All, None);
    let listed = || {
        let directory = std::fs::read_dir(format!("/proc/{}/fd", parked.pid().as_raw_pid())).unwrap();
        let mut names: Vec<_> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    // It gets there by itself, in its own time.
    while listed() != ["0", "3"] {
        assert!(!is_gone(parked.pid()));
        std::thread::yield_now();
    }
}

#[test]
fn a_stack_serves_one_after_another() {
    let mut stack = None;
    for _ in 0..3 {
        let parked = park(setup(Powers::All, None), stack).unwrap();
        let (program, null) = (open("/bin/true"), null());
        let strings = Strings::new(["true"]).unwrap();
        let root = std::fs::metadata("/").unwrap();
        let order = Order {
            program: Program::Open(program.as_fd()),
            argv: &strings,
            env: &strings,
            stdin: Some(null.as_fd()),
            outputs: [null.as_fd(); 2],
            directory: Directory { workspace: c"/", relative: c".", device: root.dev(), inode: root.ino() },
            limits: &[],
            ruleset: None,
        };
        let (child, back) = parked.order(&order).confirm().unwrap();
        assert_eq!(exit_code(&child), Some(0));
        stack = back;
        assert!(stack.is_some());
    }
}

#[test]
fn another_directory_than_the_one_that_was_checked_is_refused() {
    assert_eq!(start(parked(Powers::All, None), "usr", &[]).unwrap_err().step, Step::OtherDirectory);
}

#[test]
fn a_limit_that_the_kernel_refuses_is_an_error_of_its_step() {
    let wrong = [ResourceLimit { resource: libc::RLIMIT_CORE as c_int, soft: 1, hard: 0 }];
    let error = start(parked(Powers::All, None), ".", &wrong).unwrap_err();
    assert_eq!((error.step, error.error.raw_os_error()), (Step::Limit, Some(libc::EINVAL)));
}
