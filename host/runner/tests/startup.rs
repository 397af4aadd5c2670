//! From the approval to the program: which file is executed, with what, and what is said where the kernel refuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_policy::Request;
use portcullis_runner::{Running, StartError, Status, Streams, start};
use support::host::{case, host, passed};
use support::{Bench, LEVELS, allow, copied, executable, finish};

fn started(bench: &Bench, request: &Request) -> Result<Running, StartError> {
    let approved = bench.approve(request).unwrap();
    let receipt = bench.receipt(&approved);
    start(approved, receipt, Streams::default())
}

/// The kernel's answer to executing the program.
fn refused(bench: &Bench, request: &Request) -> io::Error {
    let error = started(bench, request).unwrap_err();
    let StartError::Execute { what: "execute the program", source, .. } = error else { panic!("{error:?}") };
    source
}

#[tokio::test]
async fn a_program_that_somebody_has_open_for_writing_is_refused_until_it_is_closed() {
    for level in LEVELS {
        let bench = Bench::made(level, &allow("tool", Some("FOLDER/tool")), |folder| {
            copied(Path::new("/bin/true"), &folder.join("tool"));
        });
        let writer = File::options().append(true).open(bench.folder().join("tool")).unwrap();
        assert_eq!(refused(&bench, &Request::new("tool")).kind(), io::ErrorKind::ExecutableFileBusy, "{level}");
        drop(writer);
        assert_eq!(bench.run(&Request::new("tool")).await.status, Status::Exited(0), "{level}");
    }
}

/// Another thread that starts a child right now has, for a moment, a copy of the descriptor that wrote the program.
#[tokio::test]
async fn a_program_that_was_written_just_now_runs_while_other_threads_start_children() {
    let over = AtomicBool::new(false);
    let end = OnDrop(&over);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(Command::new("true").status().unwrap().success());
                }
            });
        }
        let end = end;
        for _ in 0..100 {
            let bench = Bench::made("limits", &allow("tool", Some("FOLDER/tool")), |folder| {
                fs::copy("/bin/true", folder.join("tool")).unwrap();
                fs::set_permissions(folder.join("tool"), Permissions::from_mode(0o755)).unwrap();
            });
            drop(started(&bench, &Request::new("tool")).unwrap());
        }
        drop(end);
    });
}

/// Ends the others even where a check fails.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_program_whose_loader_is_missing_is_refused_and_starts_nothing() {
    let program = fs::read("/bin/true").unwrap();
    let Some(at) = program.windows(7).position(|bytes| bytes == b"/lib64/" || bytes == b"/lib/ld") else {
        return support::skip("/bin/true needs no loader here");
    };
    let mut changed = program;
    changed[at..at + 4].copy_from_slice(b"/non");
    for level in LEVELS {
        let bench = Bench::made(level, &allow("tool", Some("FOLDER/tool")), |folder| {
            executable(&folder.join("tool"), &changed);
        });
        assert_eq!(refused(&bench, &Request::new("tool")).kind(), io::ErrorKind::NotFound, "{level}");
    }
}

#[tokio::test]
async fn neither_the_commands_path_nor_its_directory_decides_which_program_runs() {
    for level in LEVELS {
        let rules = format!(
            "env.set.PATH = \"FOLDER/workspace\"\nprograms.path = [\"/usr/bin\", \"/bin\"]\n{}",
            allow("id", None)
        );
        let bench = Bench::made(level, &rules, |folder| {
            executable(&folder.join("workspace/id"), "#!/bin/sh\necho another\n");
        });
        let by_path = Command::new("id").env("PATH", bench.workspace()).output().unwrap();
        assert_eq!(by_path.stdout, b"another\n", "it works where the PATH decides");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(bench.text(&Request::new("id").args(["-u"])).await, format!("{own}\n"), "{level}");
    }
}

#[tokio::test]
async fn the_largest_argument_and_the_largest_environment_that_a_request_can_have_do_start() {
    let guests = "env.guest = [\"A\", \"B\", \"C\"]\n";
    for level in LEVELS {
        let bench = Bench::made(level, &format!("{guests}{}", allow("true", None)), |_| ());
        let largest = "x".repeat(Request::MAX_STRING_BYTES - 1);
        let variable = "x".repeat(Request::MAX_STRING_BYTES - "A=".len() - 1);
        let variables = |request: Request| request.env("A", &variable).env("B", &variable);
        let count = Request::MAX_ARGUMENT_BYTES / Request::MAX_STRING_BYTES;
        let request = variables(Request::new("true").args(vec![largest.clone(); count]));
        assert_eq!(bench.run(&request).await.status, Status::Exited(0), "{level}");
        for over in [
            Request::new("true").args([largest.clone() + "x"]),
            Request::new("true").args(vec![largest; count + 1]),
            Request::new("true").env("A", variable.clone() + "x"),
            variables(Request::new("true")).env("C", ""),
        ] {
            let code = over.validate().unwrap_err().code.as_str().to_owned();
            assert!(["shell.argv.too-large", "shell.env.too-large"].contains(&code.as_str()), "{code}");
        }
    }
}

/// The kernel gives arguments a quarter of the stack that a process may have.
#[tokio::test]
async fn arguments_that_are_too_long_for_this_hosts_stack_limit_are_refused_and_start_nothing() {
    let test = "arguments_that_are_too_long_for_this_hosts_stack_limit_are_refused_and_start_nothing";
    if case().is_none() {
        return passed(&mut host(&["sh", "-c", "ulimit -s 1024; exec \"$@\"", "sh"], test, "here"));
    }
    for level in LEVELS {
        let bench = Bench::at(level, &["true"]);
        let long = Request::new("true").args(vec!["x".repeat(100_000); 8]);
        assert_eq!(refused(&bench, &long).kind(), io::ErrorKind::ArgumentListTooLong, "{level}");
        assert_eq!(finish(started(&bench, &Request::new("true")).unwrap()).await.status, Status::Exited(0), "{level}");
    }
}
