//! Where a command runs and what it finds there; and what it leaves there, which is what it made itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use portcullis_policy::{Decision, Facts, Policy, Request};
use portcullis_runner::{Input, Status, Streams, Workspace, start};
use support::{Bench, LEVELS, allow, sh, skip};

/// Why a command does not start.
fn refusal(bench: &Bench, request: &Request) -> String {
    let approved = match bench.approve(request) {
        Ok(approved) => approved,
        Err(problem) => return problem.message,
    };
    let receipt = bench.receipt(&approved);
    start(approved, receipt, Streams::default()).unwrap_err().problem().message
}

#[tokio::test]
async fn a_command_that_removes_its_workspace_ends_and_the_next_ones_are_refused() {
    for level in LEVELS {
        let bench = Bench::at(level, &["sh"]);
        let outcome = bench.sh("cd /; rmdir \"$OLDPWD\" && echo gone").await;
        assert_eq!((outcome.status, outcome.stdout.bytes.as_slice()), (Status::Exited(0), b"gone\n".as_slice()));
        for _ in 0..3 {
            assert_eq!(
                refusal(&bench, &sh("true")),
                "the command was allowed and could not be started: can't enter the working directory: No such file \
                 or directory (os error 2)",
                "{level}"
            );
        }
        // Another directory in its place is another workspace.
        fs::create_dir(bench.workspace()).unwrap();
        let why = refusal(&bench, &sh("true"));
        assert!(why.contains("its path leads to another now"), "{level}: {why}");
    }
}

#[tokio::test]
async fn a_command_changes_no_others_directory_umask_or_variables() {
    for level in LEVELS {
        let bench = Bench::at(level, &["sh"]);
        fs::create_dir(bench.workspace().join("sub")).unwrap();
        let own = std::env::current_dir().unwrap();
        let script = "pwd -P; umask; echo ${MINE-unset}; cd sub; umask 077; export MINE=1; ulimit -f 1";
        let first = bench.text(&sh(script)).await;
        let workspace = fs::canonicalize(bench.workspace()).unwrap();
        assert_eq!(first, format!("{}\n0022\nunset\n", workspace.display()), "{level}");
        assert_eq!(bench.text(&sh(script)).await, first, "{level}");
        assert_eq!(std::env::current_dir().unwrap(), own);
    }
}

#[tokio::test]
async fn a_workspace_that_is_itself_a_link_is_what_it_leads_to() {
    let bench = Bench::allowing(&["pwd"]);
    let link = bench.folder().join("link");
    symlink(bench.workspace(), &link).unwrap();
    let resolved = fs::canonicalize(bench.workspace()).unwrap();
    let workspace = Workspace::open(&link).unwrap();
    assert_eq!(Path::new(workspace.path()), resolved);
    // The link may lead elsewhere by now: what was opened stays.
    fs::remove_file(&link).unwrap();
    symlink("/", &link).unwrap();
    let request = Request::new("pwd").args(["-P"]);
    let approved = bench.approve_in(&request, &workspace).unwrap();
    let receipt = bench.receipt(&approved);
    let outcome = support::finish(start(approved, receipt, Streams::default()).unwrap()).await;
    assert_eq!(outcome.stdout.bytes, format!("{}\n", resolved.display()).into_bytes());
}

/// Everything below a directory.
fn tree(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let below: Vec<PathBuf> = all.iter().filter(|path| path.is_dir()).flat_map(|path| tree(path)).collect();
    all.extend(below);
    all.sort();
    all
}

#[tokio::test]
async fn the_runner_leaves_no_file_of_its_own_in_any_folder() {
    for level in LEVELS {
        let bench = Bench::at(level, &["sh", "true"]);
        let before = tree(bench.folder());
        bench.text(&Request::new("true")).await;
        bench.sh("kill -9 $$").await;
        bench.feed(&sh("cat"), Input::Bytes(vec![0; 1 << 20])).await;
        let running = bench.start(&sh("sleep 1000; true"), Streams::default());
        running.canceller().cancel();
        support::finish(running).await;
        assert_eq!(tree(bench.folder()), before, "{level}");
    }
}

#[tokio::test]
async fn the_devices_that_every_program_expects_are_there() {
    for level in LEVELS {
        let script = "echo x >/dev/null && head -c 8 /dev/urandom | wc -c && head -c 8 /dev/zero | wc -c \
                      && test -r /proc/self/stat && echo | cat /dev/stdin && echo out >/dev/stdout && head -c 1 /dev/zero >/dev/full";
        let outcome = Bench::at(level, &["sh"]).sh(script).await;
        let said = String::from_utf8_lossy(&outcome.stdout.bytes).into_owned();
        assert_eq!((outcome.status, said.as_str()), (Status::Exited(1), "8\n8\n\nout\n"), "{level}");
        let stderr = outcome.stderr.unwrap().bytes;
        assert!(String::from_utf8_lossy(&stderr).contains("No space left on device"), "{level}");
    }
}

#[tokio::test]
async fn a_program_that_would_open_an_editor_or_ask_for_a_password_fails_and_does_not_wait() {
    let Ok(version) = std::process::Command::new("git").arg("--version").output() else {
        return skip("git is not installed");
    };
    assert!(version.status.success());
    for level in LEVELS {
        let bench = Bench::at(level, &["git", "sh"]);
        assert_eq!(
            bench.run(&Request::new("git").args(["init", "-q", "."])).await.status,
            Status::Exited(0),
            "{level}"
        );
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let commit = Request::new("git").args([who.as_slice(), &["commit", "--allow-empty"]].concat());
        // Not the wall-clock limit.
        let outcome = bench.run(&commit).await;
        assert!(matches!(outcome.status, Status::Exited(1..)), "{level}: {outcome:?}");
        let asked = bench.sh("read answer; echo \"<$answer>\"; read answer </dev/tty || exit 4").await;
        assert_eq!((asked.status, asked.stdout.bytes.as_slice()), (Status::Exited(4), b"<>\n".as_slice()), "{level}");
    }
}

/// Names that differ from one that guests may set in what a careless comparison overlooks, and names that hide another.
#[test]
fn a_variable_whose_name_is_almost_an_allowed_one_is_refused() {
    let head = "version = 1\nconfinement.level = \"none\"\nenv.guest = [\"MINE\"]\n";
    let policy = Policy::parse("policy.toml", &format!("{head}{}", allow("env", None))).unwrap();
    let bench = Bench::allowing(&["env"]);
    let decide = |name: &str| -> Result<(), String> {
        let request = Request::new("env").env(name, "x");
        let valid = request.validate().map_err(|problem| problem.code.as_str().to_owned())?;
        match policy.decide(&valid, &Facts::new(bench.programs.fact(valid.program()))) {
            Decision::Allow(_) => Ok(()),
            Decision::Ask(problem) | Decision::Deny(problem) => Err(problem.code.as_str().to_owned()),
        }
    };
    assert_eq!(decide("MINE"), Ok(()));
    for name in [
        "mine",
        "Mine",
        "MINE ",
        " MINE",
        "MINE\n",
        "\nMINE",
        "MINE\t",
        "\u{feff}MINE",
        "ＭＩＮＥ",
        "MİNE",
        "MINE\u{200b}",
    ]
    .into_iter()
    .chain([
        "MIN",
        "MINES",
        "MINE*",
        "*",
        "LD_PRELOAD",
        "ld_preload",
        "LD_PRELOAD ",
        "PATH",
        "BASH_FUNC_env%%",
        "MINE%%",
    ]) {
        assert_eq!(decide(name), Err("shell.env.policy".to_owned()), "{name:?}");
    }
    for name in ["", "=", "=MINE", "MINE=", "MINE=x\nLD_PRELOAD", "LD_PRELOAD=/x.so:", "MINE\0", "\0"] {
        assert_eq!(decide(name), Err("shell.env.name".to_owned()), "{name:?}");
    }
}
