use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;
use rustix::fs::{Mode, OFlags};

use super::*;
use crate::sys::wait::wait;

fn open(path: &str) -> OwnedFd {
    let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
    rustix::io::fcntl_dupfd_cloexec(file, 10).unwrap()
}

fn null() -> OwnedFd {
    rustix::io::fcntl_dupfd_cloexec(rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()).unwrap(), 10).unwrap()
}

/// Starts `/bin/sh -c 'exit 7'` in `/`, with a step that fails where one is named.
fn start(scope: Scope<'_>, sabotage: Option<Step>, limits: &[ResourceLimit]) -> Result<Child, SpawnError> {
    let (program, null) = (open("/bin/sh"), null());
    let argv = Strings::new(["sh", "-c", "exit 7"]).unwrap();
    let env = Strings::new(["A=b"]).unwrap();
    let root = std::fs::metadata("/").unwrap();
    let (workspace, relative) = (CString::new("/").unwrap(), CString::new(".").unwrap());
    spawn(Spawn {
        program: program.as_fd(),
        argv: &argv,
        env: &env,
        stdio: [null.as_fd(); 3],
        directory: Directory { workspace: &workspace, relative: &relative, device: root.dev(), inode: root.ino() },
        limits,
        cgroups: &[],
        scope,
        sabotage,
    })
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

#[test]
fn a_program_runs_in_both_scopes_without_namespaces() {
    for scope in [Scope::Open, Scope::Group] {
        assert_eq!(exit_code(&start(scope, None, &[]).unwrap()), Some(7));
    }
}

#[test]
fn each_step_that_fails_is_named_and_leaves_no_process() {
    let limits = [ResourceLimit { resource: libc::RLIMIT_CORE as c_int, soft: 0, hard: 0 }];
    for step in Step::ALL {
        // These happen elsewhere, or not here.
        let here = !matches!(
            step,
            Step::Stack | Step::Clone | Step::Namespaces | Step::Cgroup | Step::OtherDirectory | Step::Capability
        );
        let result = start(Scope::Group, Some(step), &limits);
        if here {
            let error = result.unwrap_err();
            assert_eq!((error.step, error.error.raw_os_error()), (step, Some(libc::EPERM)), "{}", step.what());
        } else {
            assert_eq!(exit_code(&result.unwrap()), Some(7), "{}", step.what());
        }
    }
}

#[test]
fn another_directory_than_the_one_that_was_checked_is_refused() {
    let (program, null) = (open("/bin/true"), null());
    let strings = Strings::new(["true"]).unwrap();
    let (workspace, relative) = (CString::new("/").unwrap(), CString::new("usr").unwrap());
    let root = std::fs::metadata("/").unwrap();
    let error = spawn(Spawn {
        program: program.as_fd(),
        argv: &strings,
        env: &strings,
        stdio: [null.as_fd(); 3],
        directory: Directory { workspace: &workspace, relative: &relative, device: root.dev(), inode: root.ino() },
        limits: &[],
        cgroups: &[],
        scope: Scope::Open,
        sabotage: None,
    })
    .unwrap_err();
    assert_eq!(error.step, Step::OtherDirectory);
}

#[test]
fn a_limit_that_the_kernel_refuses_is_an_error_of_its_step() {
    let wrong = [ResourceLimit { resource: libc::RLIMIT_CORE as c_int, soft: 1, hard: 0 }];
    let error = start(Scope::Open, None, &wrong).unwrap_err();
    assert_eq!((error.step, error.error.raw_os_error()), (Step::Limit, Some(libc::EINVAL)));
}

proptest! {
    #[test]
    fn strings_reach_the_kernel_as_they_are_or_are_refused(strings: Vec<Vec<u8>>) {
        match Strings::new(strings.clone()) {
            Ok(made) => {
                let seen: Vec<Vec<u8>> = made.seen().into_iter().map(|string| string.to_bytes().to_vec()).collect();
                prop_assert_eq!(seen, strings);
            }
            Err(_) => prop_assert!(strings.iter().any(|string| string.contains(&0))),
        }
    }
}
