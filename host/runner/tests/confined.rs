//! What is there for a confined command, and what is not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs;

use portcullis_policy::Request;
use portcullis_runner::{Level, Status, available_level};
use support::{Bench, skip};

/// Whether this machine confines commands; without, it can't be tested that it does.
fn confines(level: Level) -> bool {
    let there = available_level() >= level;
    if !there {
        skip(&format!("no level {level} here: {}", portcullis_runner::confinement_problem().unwrap_or_default()));
    }
    there
}

/// A program that may be run with any arguments, with these keys.
fn program(name: &str, keys: &str) -> String {
    format!(
        "[[program]]\nname = \"{name}\"\n{keys}\n[[program.rule]]\nid = \"{name}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
    )
}

fn full(head: &str, programs: &str) -> Bench {
    Bench::made("full", &format!("env.set.PATH = \"/usr/bin:/bin\"\n{head}\n{programs}"), |folder| {
        fs::write(folder.join("outside"), "a secret").unwrap();
    })
}

/// Standard output of a script that succeeds.
async fn output(bench: &Bench, script: &str) -> String {
    let outcome = bench.sh(script).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(outcome.status, Status::Exited(0), "{script}: {}", text(&outcome.stderr.unwrap().bytes));
    text(&outcome.stdout.bytes)
}

#[tokio::test]
async fn a_command_sees_its_workspace_and_the_system_and_nothing_else() {
    if !confines(Level::Full) {
        return;
    }
    let bench = full("", &program("sh", "children = \"any\""));
    let outside = bench.folder().join("outside");
    assert_eq!(output(&bench, "pwd").await.trim(), bench.workspace().to_str().unwrap());
    assert_eq!(output(&bench, "echo a > new && cat new").await, "a\n");
    assert_eq!(fs::read_to_string(bench.workspace().join("new")).unwrap(), "a\n");
    assert_eq!(output(&bench, &format!("test -e {} || echo none", outside.display())).await, "none\n");
    assert_eq!(output(&bench, "ls /home /root /sys /var/lib /srv 2>/dev/null; true").await, "");
    assert_eq!(output(&bench, "ls /etc/shadow /etc/sudoers 2>/dev/null; true").await, "");
    assert_eq!(output(&bench, "touch /usr/x /etc/x /x 2>/dev/null; true").await, "");
    assert_eq!(output(&bench, "echo a > /tmp/a; cat /tmp/a; echo b > /dev/null").await, "a\n");
    // What one command leaves in /tmp the next does not find.
    assert_eq!(output(&bench, "find /tmp /dev/shm -type f -not -path '*/workspace/*'").await, "");
}

#[tokio::test]
async fn a_command_has_no_powers_and_gets_none() {
    if !confines(Level::Landlock) {
        return;
    }
    let bench = Bench::made("landlock", &program("sh", "children = \"any\"\nenv.set.PATH = \"/usr/bin:/bin\""), |_| ());
    let status = output(&bench, "cat /proc/self/status").await;
    for (name, value) in [
        ("CapInh", "0000000000000000"),
        ("CapPrm", "0000000000000000"),
        ("CapEff", "0000000000000000"),
        ("CapAmb", "0000000000000000"),
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
    ] {
        assert!(status.contains(&format!("{name}:\t{value}\n")), "{name}: {status}");
    }
}

#[tokio::test]
async fn a_command_executes_what_its_policy_lists() {
    if !confines(Level::Landlock) {
        return;
    }
    let try_all = "for p in /usr/bin/true /usr/bin/id /usr/bin/env; do $p >/dev/null 2>&1 && echo $p; done; true";
    for (children, runs) in [
        ("\"none\"", ""),
        ("[\"true\"]", "/usr/bin/true\n"),
        ("[\"true\", \"/usr/bin/env\"]", "/usr/bin/true\n/usr/bin/env\n"),
        ("\"any\"", "/usr/bin/true\n/usr/bin/id\n/usr/bin/env\n"),
    ] {
        let bench = Bench::made("landlock", &program("sh", &format!("children = {children}")), |_| ());
        assert_eq!(output(&bench, try_all).await, runs, "{children}");
    }
}

#[tokio::test]
async fn denied_paths_are_not_there_and_can_not_be_made() {
    if !confines(Level::Full) {
        return;
    }
    let bench = Bench::made(
        "full",
        &format!(
            "env.set.PATH = \"/usr/bin:/bin\"\nworkspace.deny = [\".env\", \".git/hooks\", \"deep/er/secret\"]\n{}",
            program("sh", "children = \"any\"")
        ),
        |folder| {
            fs::create_dir_all(folder.join("workspace/deep/er")).unwrap();
            fs::write(folder.join("workspace/deep/er/secret"), "a secret").unwrap();
        },
    );
    for script in [
        "cat deep/er/secret",
        "mv deep away",
        "mv deep/er away",
        "rm -r deep",
        "ln deep/er/secret copy",
        "echo a > .env",
        "mv new .env",
        "ln -sf new .env",
        "rm .env",
        "mkdir .git/hooks/x",
        "mv .git away",
        "echo a > .git/hooks/pre-commit",
    ] {
        let outcome = bench.sh(&format!("touch new; {script}")).await;
        assert_ne!(outcome.status, Status::Exited(0), "{script}");
        assert!(!String::from_utf8_lossy(&outcome.stdout.bytes).contains("secret"), "{script}");
    }
    assert_eq!(output(&bench, "echo a > .git/config; cat .git/config").await, "a\n");
    assert_eq!(fs::read_to_string(bench.workspace().join("deep/er/secret")).unwrap(), "a secret");
    portcullis_runner::settle();
    assert!(!bench.workspace().join(".env").exists());
}

#[tokio::test]
async fn what_a_command_does_to_its_empty_input_the_next_does_not_see() {
    for level in ["none", "limits", "full"].into_iter().take(if confines(Level::Full) { 3 } else { 2 }) {
        let bench = Bench::made(level, &program("python3", "file = \"/usr/bin/python3\""), |_| ());
        let script = "import fcntl, os\n\
                      before = fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK\n\
                      fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)\n\
                      print(before, os.ttyname(0) if os.isatty(0) else os.read(0, 1))";
        for _ in 0..3 {
            assert_eq!(bench.text(&Request::new("python3").args(["-c", script])).await, "0 b''\n", "{level}");
        }
    }
}

#[tokio::test]
async fn commands_write_where_the_policy_says() {
    if !confines(Level::Landlock) {
        return;
    }
    for level in if confines(Level::Full) { vec!["landlock", "full"] } else { vec!["landlock"] } {
        let rules = format!("confinement.write = [\"target\"]\n{}", program("sh", "children = \"none\""));
        let bench = Bench::made(level, &rules, |folder| fs::create_dir(folder.join("workspace/target")).unwrap());
        output(&bench, "echo a > target/a").await;
        let outcome = bench.sh("echo a > a").await;
        assert_ne!(outcome.status, Status::Exited(0));
        assert!(!bench.workspace().join("a").exists());
    }
}

#[tokio::test]
async fn a_command_without_a_network_has_none() {
    if !confines(Level::Landlock) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("import socket\ns = socket.create_connection((\"127.0.0.1\", {port}))\ns.send(b\"x\")");
    let request = || Request::new("python3").args(["-c", &connect]);
    let named = "file = \"/usr/bin/python3\"";
    let with = format!("confinement.network = \"host\"\n{}", program("python3", named));
    let with = Bench::made("landlock", &with, |_| ());
    let without = Bench::made("landlock", &program("python3", named), |_| ());
    assert_ne!(without.run(&request()).await.status, Status::Exited(0));
    let asked = request().network();
    assert_eq!(with.run(&asked).await.status, Status::Exited(0));
}

#[tokio::test]
async fn a_program_that_lies_elsewhere_is_all_that_is_seen_of_that_place() {
    if !confines(Level::Full) {
        return;
    }
    let rules = format!(
        "{}{}",
        program("own-true", "file = \"FOLDER/bin/own-true\""),
        program("sh", "children = [\"FOLDER/bin/own-true\"]")
    );
    let bench = Bench::made("full", &rules, |folder| {
        fs::create_dir(folder.join("bin")).unwrap();
        support::copied("/usr/bin/true".as_ref(), &folder.join("bin/own-true"));
        fs::write(folder.join("bin/other"), "a secret").unwrap();
    });
    assert_eq!(bench.run(&Request::new("own-true")).await.status, Status::Exited(0));
    let bin = bench.folder().join("bin");
    let script = format!("{0}/own-true && read -r line < {0}/other || echo none", bin.display());
    assert_eq!(output(&bench, &script).await, "none\n");
}

#[tokio::test]
async fn a_listed_child_that_commands_could_replace_makes_its_program_unusable() {
    let rules = program("sh", "children = [\"FOLDER/workspace/tool\"]");
    let bench = Bench::made("landlock", &rules, |folder| {
        support::copied("/usr/bin/true".as_ref(), &folder.join("workspace/tool"));
    });
    let problem = bench.approve(&support::sh("true")).unwrap_err();
    assert_eq!(problem.code.as_str(), "shell.program.unusable", "{problem:?}");
    assert!(format!("{problem:?}").contains("which commands can change"), "{problem:?}");
}

#[tokio::test]
async fn what_the_user_replaces_between_two_commands_is_masked_again() {
    if !confines(Level::Full) {
        return;
    }
    let rules = format!("workspace.deny = [\".env\"]\n{}", program("sh", "children = \"none\""));
    let bench = Bench::made("full", &rules, |_| ());
    let env = bench.workspace().join(".env");
    for round in 0..4 {
        let new = bench.workspace().join("new");
        fs::write(&new, format!("secret {round}")).unwrap();
        fs::rename(&new, &env).unwrap();
        assert_ne!(bench.sh("read -r line < .env && echo \"$line\"").await.status, Status::Exited(0), "{round}");
    }
}

/// As in a linked worktree or a submodule.
#[tokio::test]
async fn a_file_where_a_denied_path_would_lie_below_stays_that_file() {
    if !confines(Level::Full) {
        return;
    }
    let bench = Bench::made(
        "full",
        &format!("env.set.PATH = \"/usr/bin:/bin\"\n{}", program("sh", "children = \"any\"")),
        |folder| fs::write(folder.join("workspace/.git"), "gitdir: elsewhere\n").unwrap(),
    );
    for _ in 0..2 {
        assert_eq!(output(&bench, "cat .git").await, "gitdir: elsewhere\n");
        for script in ["echo a > .git", "mv .git away", "rm .git", "touch new && mv new .git"] {
            assert_ne!(bench.sh(script).await.status, Status::Exited(0), "{script}");
        }
    }
    assert_eq!(fs::read_to_string(bench.workspace().join(".git")).unwrap(), "gitdir: elsewhere\n");
}
