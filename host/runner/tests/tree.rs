//! Confinement level `limits`: when an outcome is there, nothing of the command is alive.

mod support;

use std::fs;

use portcullis_policy::Request;
use portcullis_runner::{Status, Streams};
use support::{Bench, finish, has_namespaces, sh, unique_sleep, until, with_argument};

/// Shapes of processes that outlive the one that started them.
const ESCAPES: [(&str, &str); 4] = [
    ("a child in the background", "sleep SLEEP & "),
    ("a session of its own", "setsid sleep SLEEP & "),
    ("a daemon, forked twice", "(setsid sh -c 'sleep SLEEP & ' & ) ; "),
    ("one that ignores signals", "(trap '' HUP TERM INT; setsid sleep SLEEP) & "),
];

/// Whether commands are held by namespaces here, found out by one that does nothing.
async fn are_held(bench: &Bench) -> bool {
    has_namespaces(&bench.sh("true").await)
}

/// Waits until the escape is there, so that the command does not win a race against it.
fn script(escape: &str, sleep: &str) -> String {
    format!(
        "{} until grep -lzx {sleep} /proc/[0-9]*/cmdline >/dev/null 2>&1; do :; done; echo done",
        escape.replace("SLEEP", sleep)
    )
}

#[tokio::test]
async fn processes_that_outlive_their_command_unconfined_die_with_it() {
    for (what, escape) in ESCAPES {
        let sleep = unique_sleep();
        // Its output goes nowhere: whoever holds the pipe of it would hold us too.
        let mut unconfined = std::process::Command::new("sh");
        let unconfined = unconfined.args(["-c", &script(escape, &sleep)]).stdout(std::process::Stdio::null()).status();
        assert!(unconfined.unwrap().success(), "{what}");
        let alive = with_argument(&sleep);
        assert!(!alive.is_empty(), "{what} lives on where nothing holds it");
        for pid in alive {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }

        let sleep = unique_sleep();
        let bench = Bench::limited(&["sh"], "");
        let outcome = bench.sh(&script(escape, &sleep)).await;
        if !has_namespaces(&outcome) {
            return;
        }
        assert_eq!(
            (outcome.status, outcome.stdout.bytes.as_slice()),
            (Status::Exited(0), b"done\n".as_slice()),
            "{what}"
        );
        assert_eq!(with_argument(&sleep), Vec::<u32>::new(), "{what}");
        assert!(outcome.usage.leftover_processes.is_some_and(|left| left > 0), "{what}: {:?}", outcome.usage);
        assert!(outcome.usage.wall.as_secs() < 20, "{what}: {:?}", outcome.usage);
    }
}

#[tokio::test]
async fn a_command_that_leaves_nothing_is_said_to_leave_nothing() {
    let outcome = Bench::limited(&["sh"], "").sh("true | true; (true &) ; wait").await;
    if has_namespaces(&outcome) {
        // `(true &)` may or may not have ended yet.
        assert!(outcome.usage.leftover_processes.is_some_and(|left| left <= 1), "{:?}", outcome.usage);
    }
}

#[tokio::test]
async fn a_fork_bomb_ends_at_its_limit_and_leaves_nothing() {
    let marker = unique_sleep();
    let bench = Bench::limited(&["sh"], "wall = '1s', processes = 30");
    let bomb = format!("f() {{ f {marker} | f {marker} & }}; f; while :; do :; done");
    let outcome = bench.run(&Request::new("sh").args(["-c", &bomb, &marker])).await;
    assert_eq!(outcome.status, Status::WallExceeded);
    if has_namespaces(&outcome) {
        assert_eq!(with_argument(&marker), Vec::<u32>::new());
    }
}

#[tokio::test]
async fn a_stopped_command_ends_at_its_limit() {
    let outcome = Bench::limited(&["sh"], "wall = '300ms'").sh("echo before; kill -STOP $$; echo after").await;
    assert_eq!(outcome.status, Status::WallExceeded);
    assert!(outcome.stdout.bytes.starts_with(b"before\n"), "{outcome:?}");
}

#[tokio::test]
async fn a_command_is_asked_to_end_before_it_is_killed() {
    let bench = Bench::limited(&["sh"], "wall = '300ms'");
    let polite = bench.sh("trap 'echo last words; exit 0' TERM; while :; do sleep 0.01; done").await;
    assert_eq!((polite.status, polite.stdout.bytes.as_slice()), (Status::WallExceeded, b"last words\n".as_slice()));
    let stubborn = bench.sh("trap '' TERM; while :; do sleep 0.01; done").await;
    assert_eq!(stubborn.status, Status::WallExceeded);
}

#[tokio::test]
async fn a_dropped_command_leaves_nothing() {
    let (bench, sleep) = (Bench::limited(&["sh"], ""), unique_sleep());
    // Elsewhere there are no sessions for it to escape to.
    if !are_held(&bench).await {
        return;
    }
    let running = bench.start(&sh(&format!("setsid sleep {sleep} & sleep {sleep}")), Streams::default());
    until("both", || with_argument(&sleep).len() == 2).await;
    drop(running);
    until("their end", || with_argument(&sleep).is_empty()).await;
}

#[tokio::test]
async fn a_command_sees_only_its_own_processes() {
    let bench = Bench::limited(&["sh"], "");
    let host = std::process::id();
    let outcome = bench
        .sh(&format!("tr '\\0' ' ' < /proc/1/cmdline; echo; ls -d /proc/[0-9]* | wc -l; kill -0 {host} || echo no"))
        .await;
    if has_namespaces(&outcome) {
        let text = String::from_utf8(outcome.stdout.bytes).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        // The guard, the shell, `ls`, and `wc` where it has started by then.
        assert_eq!((lines[0], lines[2]), ("portcullis-guard", "no"));
        assert!(matches!(lines[1], "3" | "4"), "{lines:?}");
    }
}

#[tokio::test]
async fn a_command_that_kills_by_name_reaches_nothing_of_the_hosts() {
    let name = unique_sleep();
    let mut others = std::process::Command::new("sleep").arg(&name).spawn().unwrap();
    let found = std::process::Command::new("pgrep").args(["-f", &name]).output().unwrap();
    assert_eq!(found.stdout, format!("{}\n", others.id()).into_bytes(), "it is found where nothing forbids it");
    let outcome = Bench::limited(&["pkill"], "").run(&Request::new("pkill").args(["-KILL", "-f", &name])).await;
    let lives = with_argument(&name) == [others.id()];
    others.kill().unwrap();
    others.wait().unwrap();
    if has_namespaces(&outcome) {
        assert_eq!((outcome.status, lives), (Status::Exited(1), true), "1 = it found nobody");
    }
}

#[tokio::test]
async fn a_command_can_neither_end_its_guard_nor_outlive_it() {
    let bench = Bench::limited(&["sh"], "");
    // Without a PID namespace `kill -1` would end everything that this user runs, on the whole machine: nothing but the
    // command's own view of its processes decides whether it is tried.
    if !are_held(&bench).await {
        return;
    }
    let script = "[ \"$(tr -d '\\0' < /proc/1/cmdline)\" = portcullis-guard ] || exit 9
kill -9 1; kill -TERM 1; kill -9 -1; echo alive";
    let outcome = bench.sh(script).await;
    // `kill -1` spares the caller and pid 1.
    assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"alive\n".as_slice()));
}

#[tokio::test]
async fn a_command_has_no_terminal_a_plain_umask_and_its_own_session() {
    for bench in [
        Bench::limited(&["sh"], ""),
        Bench::new(&format!("env.set.PATH = \"/usr/bin:/bin\"\n{}", support::allow("sh", None))),
    ] {
        let outcome =
            bench.sh("(: < /dev/tty) 2>/dev/null || echo no terminal; umask; cut -d' ' -f1,5,6 /proc/$$/stat").await;
        let text = String::from_utf8(outcome.stdout.bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["no terminal", "0022"]);
        let [pid, group, session] = lines[2].split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert_eq!((group, session), (pid, pid));
    }
}

#[tokio::test]
async fn a_command_whose_directory_is_gone_is_refused_and_leaves_nothing() {
    let bench = Bench::limited(&["true"], "");
    fs::create_dir(bench.workspace().join("sub")).unwrap();
    let approved = bench.approve(&Request::new("true").cwd("sub")).unwrap();
    fs::remove_dir(bench.workspace().join("sub")).unwrap();
    let receipt = bench.receipt(&approved);
    let error = portcullis_runner::start(approved, receipt, Streams::default()).unwrap_err();
    assert!(error.to_string().contains("enter the working directory"), "{error}");
    let running = bench.start(&Request::new("true"), Streams::default());
    assert_eq!(finish(running).await.status, Status::Exited(0));
}

#[tokio::test]
async fn a_command_can_not_make_a_process_a_child_of_the_host() {
    // CLONE_PARENT makes a sibling: a process that no guard would see, and that nobody would reap.
    let script = "import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
SYS_clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
pid = libc.syscall(SYS_clone, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0: os._exit(0)
print('made' if pid > 0 else ctypes.get_errno())";
    let unconfined = std::process::Command::new("sh").arg("-c").arg(format!("python3 -c \"{script}\"; :")).output();
    assert_eq!(unconfined.unwrap().stdout, b"made\n", "it works where nothing forbids it");
    let bench = Bench::limited(&["python3"], "");
    assert_eq!(bench.text(&Request::new("python3").args(["-c", script])).await, "1\n", "EPERM");
}

#[tokio::test]
async fn what_a_command_leaves_is_not_there_for_the_next() {
    let bench = Bench::limited(&["sh", "ipcmk", "ipcs"], "");
    // Elsewhere it is the machine whose name would change.
    if !are_held(&bench).await {
        return;
    }
    let first = bench
        .sh("hostname changed 2>&1; mount -t tmpfs none /mnt 2>&1; ipcmk -M 64 >/dev/null; ipcs -m | grep -c 0x")
        .await;
    assert!(String::from_utf8_lossy(&first.stdout.bytes).ends_with("\n1\n"), "{first:?}");
    let next = bench.sh("hostname; grep -c ' /mnt ' /proc/mounts; ipcs -m | grep -c 0x").await;
    let text = String::from_utf8(next.stdout.bytes).unwrap();
    assert!(!text.contains("changed"), "{text}");
    assert!(text.ends_with("\n0\n0\n"), "{text}");
}
