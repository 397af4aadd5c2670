//! Hosts that were started strangely: their commands start as everybody's do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use portcullis_policy::Request;
use portcullis_runner::{Input, StartError, Status, Streams, restore_child_signal, settle, start};
use support::host::{case, host, passed};
use support::{Bench, LEVELS, finish, has_namespaces, levels, sh, skip, until, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The sets of signals of a process, as the kernel tells them.
fn signals(status: &str) -> BTreeMap<String, u64> {
    let fields = status.lines().filter_map(|line| line.split_once(":\t"));
    let sets = fields.filter(|(name, _)| ["SigBlk", "SigIgn", "SigCgt"].contains(name));
    sets.map(|(name, value)| (name.to_owned(), u64::from_str_radix(value, 16).unwrap())).collect()
}

async fn command_signals(level: &str) -> BTreeMap<String, u64> {
    signals(&Bench::at(level, &["cat"]).text(&Request::new("cat").args(["/proc/self/status"])).await)
}

#[tokio::test]
async fn signals_that_the_host_blocks_and_ignores_are_not_blocked_and_ignored_in_commands() {
    let test = "signals_that_the_host_blocks_and_ignores_are_not_blocked_and_ignored_in_commands";
    if case().is_none() {
        // As nohup, a shell's `&` and many daemons leave them to what they start; TERM is blocked too.
        let ignored = "--ignore-signal=INT,QUIT,HUP,TERM,USR1,PIPE,TSTP,TTIN,TTOU,ALRM";
        return passed(&mut host(&["env", ignored, "--block-signal"], test, "here"));
    }
    let own = signals(&fs::read_to_string("/proc/thread-self/status").unwrap());
    let (int, term) = (1 << 1, 1 << 14);
    assert!(own["SigIgn"] & int != 0 && own["SigBlk"] & term != 0, "the host has what could be inherited: {own:x?}");
    for level in levels() {
        let none = ["SigBlk", "SigCgt", "SigIgn"].map(|name| (name.to_owned(), 0));
        assert_eq!(command_signals(level).await, BTreeMap::from(none), "{level}");
        // And so a limit asks it to end, and it does.
        let bench = Bench::at(level, &["sh"]);
        let running = bench
            .start(&sh("trap 'echo asked; exit' TERM; echo > ready; while :; do sleep 0.01; done"), Streams::default());
        until("the command", || bench.workspace().join("ready").exists()).await;
        running.canceller().cancel();
        let outcome = finish(running).await;
        assert_eq!(
            (outcome.status, outcome.stdout.bytes.as_slice()),
            (Status::Cancelled, b"asked\n".as_slice()),
            "{level}"
        );
    }
}

#[tokio::test]
async fn a_host_that_ignores_sigchld_starts_nothing_until_it_is_restored() {
    let test = "a_host_that_ignores_sigchld_starts_nothing_until_it_is_restored";
    if case().is_none() {
        return passed(&mut host(&["env", "--ignore-signal=CHLD"], test, "here"));
    }
    let benches = LEVELS.map(|level| Bench::at(level, &["sh"]));
    for bench in &benches {
        let approved = bench.approve(&sh("exit 3")).unwrap();
        let receipt = bench.receipt(&approved);
        let error = start(approved, receipt, Streams::default()).unwrap_err();
        assert!(matches!(error, StartError::ChildSignal), "{error:?}");
    }
    restore_child_signal().unwrap();
    for bench in &benches {
        assert_eq!(bench.sh("(exit 7); test $? = 7 && exit 3").await.status, Status::Exited(3));
    }
}

/// What a host may have in its environment: that loads code, names a descriptor, a collector, an agent or a secret, or
/// changes what programs say.
const HOSTS_OWN: [(&str, &str); 16] = [
    ("LISTEN_FDS", "1"),
    ("LISTEN_PID", "1"),
    ("NODE_CHANNEL_FD", "3"),
    ("NOTIFY_SOCKET", "/run/systemd/notify"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317"),
    ("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("BASH_ENV", "/nonexistent"),
    ("ENV", "/nonexistent"),
    ("BASH_FUNC_env%%", "() { echo shellshock; }"),
    ("PYTHONSTARTUP", "/nonexistent"),
    ("GIT_DIR", "/nonexistent"),
    ("SSH_AUTH_SOCK", "/nonexistent"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
    ("https_proxy", "http://localhost:3128"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "de_DE.UTF-8"),
];

#[tokio::test]
async fn nothing_of_the_hosts_environment_reaches_a_command() {
    let test = "nothing_of_the_hosts_environment_reaches_a_command";
    if case().is_none() {
        return passed(host(&[], test, "here").envs(HOSTS_OWN));
    }
    // A child gets them where nobody takes them away.
    let inherited = String::from_utf8(Command::new("env").arg("-0").output().unwrap().stdout).unwrap();
    for (name, value) in HOSTS_OWN {
        assert!(inherited.split('\0').any(|variable| variable == format!("{name}={value}")), "{name}");
    }
    for level in levels() {
        let text = Bench::at(level, &["env"]).text(&Request::new("env").args(["-0"])).await;
        assert_eq!(text, "PATH=/usr/bin:/bin\0", "{level}");
        // Not in the process either, where a shell might have dropped them.
        let text = Bench::at(level, &["cat"]).text(&Request::new("cat").args(["/proc/self/environ"])).await;
        assert_eq!(text, "PATH=/usr/bin:/bin\0", "{level}");
    }
}

#[tokio::test]
async fn a_host_without_standard_streams_runs_commands_with_theirs() {
    let test = "a_host_without_standard_streams_runs_commands_with_theirs";
    if case().is_none() {
        return passed(&mut host(&["sh", "-c", "exec \"$@\" <&- 2>&-", "sh"], test, "here"));
    }
    for level in levels() {
        let bench = Bench::at(level, &["sh"]);
        let outcome =
            bench.feed(&sh("cat; echo err >&2; ls /proc/self/fd | tr '\\n' ' '"), Input::Bytes(b"in ".to_vec())).await;
        let stderr = outcome.stderr.unwrap();
        // The fourth is the directory that `ls` reads.
        assert_eq!(
            (outcome.status, outcome.stdout.bytes.as_slice(), stderr.bytes.as_slice()),
            (Status::Exited(0), b"in 0 1 2 3 ".as_slice(), b"err\n".as_slice()),
            "{level}"
        );
    }
}

/// The kernel's signal at a parent's death comes at the death of the thread that started the child.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_lives_on_when_the_thread_that_started_it_ends() {
    for level in levels() {
        let (mut say, input) = tokio::io::duplex(64);
        let (output, mut hear) = tokio::io::duplex(64);
        let bench = Bench::at(level, &["cat"]);
        let runtime = tokio::runtime::Handle::current();
        let (running, thread) = std::thread::scope(|scope| {
            let starter = scope.spawn(|| {
                let _entered = runtime.enter();
                let streams =
                    Streams { input: Input::Reader(Box::new(input)), stdout: Some(Box::new(output)), stderr: None };
                (bench.start(&Request::new("cat"), streams), fs::read_link("/proc/thread-self").unwrap())
            });
            starter.join().unwrap()
        });
        // Joining may come a moment before the kernel has done with it.
        until("the thread's end", || !Path::new("/proc").join(&thread).exists()).await;
        say.write_all(b"alive\n").await.unwrap();
        let mut answer = [0; 6];
        within("the answer", hear.read_exact(&mut answer)).await.unwrap();
        assert_eq!(&answer, b"alive\n", "{level}");
        drop(say);
        assert_eq!(finish(running).await.status, Status::Exited(0), "{level}");
    }
}

/// What starts a host as pid 1; `None`, which is counted, where no PID namespace can be made for it.
fn as_pid_1() -> Option<Vec<&'static str>> {
    let user: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-current-user"] };
    let launcher = [&["unshare"], user, &["--pid", "--fork", "--kill-child", "--mount-proc"]].concat();
    let works = Command::new(launcher[0]).args(&launcher[1..]).arg("true").output().unwrap().status.success();
    if !works {
        skip("no PID namespace can be made here for a host");
    }
    works.then_some(launcher)
}

/// Children of this process, zombies too.
fn children() -> String {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap()).collect()
}

#[tokio::test]
async fn a_host_that_is_pid_1_keeps_statuses_and_no_zombies() {
    let test = "a_host_that_is_pid_1_keeps_statuses_and_no_zombies";
    if case().is_none() {
        let _alone = alone();
        if let Some(launcher) = as_pid_1() {
            passed(&mut host(&launcher, test, "here"));
        }
        return;
    }
    assert_eq!(std::process::id(), 1);
    let bench = Bench::at("limits", &["sh"]);
    if !has_namespaces(&bench.sh("true").await) {
        return;
    }
    for code in 0..20 {
        let orphans = format!("(sleep 0.001 &); (setsid sleep 1000 &); (exit 9) & exit {code}");
        assert_eq!(bench.sh(&orphans).await.status, Status::Exited(code));
    }
    settle();
    assert_eq!(children(), "");
}

#[tokio::test]
async fn a_host_that_is_pid_1_keeps_no_zombies_of_commands_without_namespaces_either() {
    let test = "a_host_that_is_pid_1_keeps_no_zombies_of_commands_without_namespaces_either";
    if case().is_none() {
        let _alone = alone();
        if let Some(launcher) = as_pid_1() {
            passed(&mut host(&launcher, test, "here"));
        }
        return;
    }
    let bench = Bench::at("none", &["sh"]);
    let outcome = bench.sh("sleep 1000 & exit 3").await;
    assert_eq!((outcome.status, children().as_str()), (Status::Exited(3), ""), "after {:?}", outcome.usage.wall);
}

/// Hosts with the process id 1 one after another: one of them clears away what has that id in its name.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a host that has this id has made in the cgroup file system and left there.
fn groups_of_pid_1(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .flat_map(|entry| match entry.file_name().to_str() {
            Some(name) if name.starts_with("portcullis-1-") => vec![entry.path()],
            _ => groups_of_pid_1(&entry.path()),
        })
        .collect()
}

#[tokio::test]
async fn a_host_with_the_process_id_of_one_that_was_killed_has_its_limits_all_the_same() {
    let test = "a_host_with_the_process_id_of_one_that_was_killed_has_its_limits_all_the_same";
    let bench = Bench::at("limits", &["true"]);
    let missing = bench.run(&Request::new("true")).await.enforcement.missing.join(" ");
    // In containers every host is pid 1; elsewhere ids come again.
    if let Some(file) = case() {
        fs::write(&file, missing).unwrap();
        // As a host does that is killed: whatever it has made stays.
        std::process::exit(0);
    }
    let _alone = alone();
    let Some(launcher) = as_pid_1() else { return };
    for name in ["first", "second"] {
        let file = bench.folder().join(name);
        assert!(host(&launcher, test, file.to_str().unwrap()).output().unwrap().status.success());
        assert_eq!(fs::read_to_string(file).unwrap(), missing, "the {name} host as pid 1");
    }
    for group in groups_of_pid_1(Path::new("/sys/fs/cgroup")) {
        fs::remove_dir(group).unwrap();
    }
}
