//! What a command finds when it starts: exactly what was decided, and nothing of the host's.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd as _;

use portcullis_policy::Request;
use portcullis_runner::{Input, Streams};
use support::{Bench, allow, sh};

/// What the kernel says of a command.
async fn proc_status(bench: &Bench) -> BTreeMap<String, String> {
    let text = bench.text(&Request::new("cat").args(["/proc/self/status"])).await;
    let fields = text.lines().filter_map(|line| line.split_once(":\t"));
    fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn the_environment_is_what_was_decided_and_nothing_else() {
    let rules =
        format!("[env]\nset = {{ LANG = \"C.UTF-8\", EMPTY = \"\" }}\nguest = [\"MINE\"]\n{}", allow("env", None));
    let bench = Bench::new(&rules);
    assert!(std::env::vars_os().next().is_some(), "the host has variables that could leak");
    let request = Request::new("env").env("MINE", "a=b\nc ü");
    let text = bench.text(&request.args(["-0"])).await;
    assert_eq!(text, "EMPTY=\0LANG=C.UTF-8\0MINE=a=b\nc ü\0");

    let bare = Bench::allowing(&["env"]);
    assert_eq!(bare.text(&Request::new("env")).await, "");
}

#[tokio::test]
async fn argv_is_the_entrys_name_and_the_arguments_unchanged() {
    let bench = Bench::new(&allow("another-name", Some("/bin/cat")));
    let arguments = ["/proc/self/cmdline", "--", "-"];
    let text = bench.text(&Request::new("another-name").args(arguments)).await;
    assert_eq!(text, "another-name\0/proc/self/cmdline\0--\0-\0");

    let bench = Bench::allowing(&["printf"]);
    let hostile = ["", " ", "$(id)", "`id`", "; id", "a'b\"c", "*", "~", "\\", "\u{1b}[31m", "ü\u{202e}", "-n", "a\nb"];
    let text = bench.text(&Request::new("printf").args([["%s|"].as_slice(), &hostile].concat())).await;
    assert_eq!(text, hostile.map(|argument| format!("{argument}|")).concat());
}

#[tokio::test]
async fn only_the_three_standard_streams_are_open() {
    let bench = Bench::allowing(&["ls", "readlink"]);
    // Somebody started the host with a descriptor that is not close-on-exec, as `portcullis … 9<file` does.
    let file = fs::File::open("/etc/passwd").unwrap();
    let inherited = rustix::io::dup(&file).unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    // What a child of that host gets without the runner: the number is in use.
    let unconfined = std::process::Command::new("ls").arg("/proc/self/fd").output().unwrap();
    let leaked = inherited.as_raw_fd().to_string();
    assert!(String::from_utf8(unconfined.stdout).unwrap().lines().any(|line| line == leaked));

    // The last one is the directory that `ls` itself reads.
    assert_eq!(bench.text(&Request::new("ls").args(["/proc/self/fd"])).await, "0\n1\n2\n3\n");
    let links = bench.text(&Request::new("readlink").args(["/proc/self/fd/0", "/proc/self/fd/1"])).await;
    let [stdin, stdout] = links.lines().collect::<Vec<_>>()[..] else { panic!("{links}") };
    assert_eq!(stdin, "/dev/null");
    assert!(stdout.starts_with("pipe:"), "{stdout}");
}

#[tokio::test]
async fn a_command_leads_a_process_group_of_its_own() {
    let bench = Bench::allowing(&["sh"]);
    let text = bench.text(&sh("echo $$; cut -d' ' -f5 /proc/$$/stat")).await;
    let [pid, group] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!(pid, group);
    assert_ne!(group.parse::<i32>().unwrap(), rustix::process::getpgrp().as_raw_pid());
}

#[tokio::test]
async fn signals_are_as_a_program_expects_them() {
    let bench = Bench::allowing(&["cat"]);
    let status = proc_status(&bench).await;
    let number = |name: &str| u64::from_str_radix(&status[name], 16).unwrap();
    assert_eq!((number("SigBlk"), number("SigCgt")), (0, 0));
    // The host, being Rust, ignores SIGPIPE (13), which would survive the start of a program.
    let host = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = host.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    assert_ne!(u64::from_str_radix(ignored, 16).unwrap() & (1 << 12), 0);
    assert_eq!(number("SigIgn") & (1 << 12), 0);
}

#[tokio::test]
async fn a_working_directory_that_is_another_one_by_now_is_refused() {
    let bench = Bench::allowing(&["cat"]);
    let directory = bench.workspace().join("sub");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("file"), "the approved one").unwrap();
    let approved = bench.approve(&Request::new("cat").args(["file"]).cwd("sub")).unwrap();
    fs::rename(&directory, bench.workspace().join("elsewhere")).unwrap();
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("file"), "another one").unwrap();
    let receipt = bench.receipt(&approved);
    let error = portcullis_runner::start(approved, receipt, Streams::default()).unwrap_err();
    let message = error.problem().message;
    assert!(message.contains("its path leads to another now"), "{message}");
}

#[tokio::test]
async fn working_directories_stay_inside_the_workspace() {
    let bench = Bench::allowing(&["pwd"]);
    let workspace = bench.workspace();
    fs::create_dir_all(workspace.join("a/b")).unwrap();
    fs::write(workspace.join("file"), "").unwrap();
    for (link, target) in [("inside", "a/b"), ("outside", ".."), ("absolute", "/"), ("round", "round"), ("gone", "no")]
    {
        std::os::unix::fs::symlink(target, workspace.join(link)).unwrap();
    }
    let root = fs::canonicalize(&workspace).unwrap();
    for (asked, reached) in [(".", ""), ("a/b", "/a/b"), ("./a//b/", "/a/b"), ("inside", "/a/b")] {
        let text = bench.text(&Request::new("pwd").cwd(asked).args(["-P"])).await;
        assert_eq!(text, format!("{}{reached}\n", root.display()), "{asked}");
    }
    for (asked, code) in [
        ("outside", "shell.cwd.outside"),
        ("absolute", "shell.cwd.outside"),
        ("outside/workspace", "shell.cwd.outside"),
        ("round", "shell.cwd.missing"),
        ("gone", "shell.cwd.missing"),
        ("file", "shell.cwd.missing"),
        ("missing", "shell.cwd.missing"),
    ] {
        let problem = bench.approve(&Request::new("pwd").cwd(asked)).unwrap_err();
        assert_eq!(problem.code.as_str(), code, "{asked}: {}", problem.message);
    }
}

#[tokio::test]
async fn input_is_a_pipe_and_not_the_hosts() {
    let bench = Bench::allowing(&["readlink"]);
    let outcome = bench.feed(&Request::new("readlink").args(["/proc/self/fd/0"]), Input::Bytes(vec![1])).await;
    assert!(outcome.stdout.bytes.starts_with(b"pipe:"), "{outcome:?}");
}
