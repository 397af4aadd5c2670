//! `repo-report`, the example, under the policy that it comes with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

#[path = "repo_report/confined.rs"]
mod confined;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use support::lesser::doctor;
use support::{Ended, World, allow, guest_example};

/// A world with the example's own policy; on a machine that reaches less than `full`, with what it reaches.
fn world() -> World {
    let world = World::new("");
    fs::copy(guest_example("rust/repo-report/portcullis.toml"), world.policy()).unwrap();
    demand(&world, doctor()["level"].as_str().unwrap());
    world
}

/// Makes another level the least that the example's policy accepts.
fn demand(world: &World, level: &str) {
    let policy = fs::read_to_string(world.policy()).unwrap();
    let (before, rest) = policy.split_once("\nlevel = \"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    fs::write(world.policy(), format!("{before}\nlevel = \"{level}\"{after}")).unwrap();
}

/// git, as one fixed author on one fixed day, without the user's configuration.
fn git(directory: &Path, author: &str) -> Command {
    let mut git = Command::new("git");
    git.current_dir(directory).stdin(Stdio::null()).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), author).env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
        git.env(format!("GIT_{role}_DATE"), "2026-01-31T12:00:00Z");
    }
    git
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

fn commit(directory: &Path, author: &str, file: &str, content: &str, subject: &str) {
    let path = directory.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    run(git(directory, author).args(["add", "--", file]));
    run(git(directory, author).args(["commit", "--quiet", "-m", subject]));
}

/// A repository of two authors, with hostile names, a change and an untracked file.
fn repository(world: &World) {
    let directory = world.workspace();
    run(git(&directory, "Ada").args(["init", "--quiet", "-b", "main"]));
    commit(&directory, "Ada", "README.md", "# Read me\n\nTODO: write\n", "Add a readme");
    commit(
        &directory,
        "Ada",
        "src/main.rs",
        "fn main() {\n    // TODO one\n    // FIXME two\n}\n",
        "Add `main` | the <program>",
    );
    commit(&directory, "Bob *the* Builder", "-n", "1\n2\n3\n", "Name a file like an option");
    fs::write(directory.join("README.md"), "# Read me\n\nTODO: write more\n").unwrap();
    fs::write(directory.join("new_file"), "").unwrap();
}

/// Everything is on record: the journal verifies, and each intent has its outcome.
fn assert_recorded(world: &World, commands: usize) {
    let verified = world.run(["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(!verified.stdout.contains("without an"), "{verified:?}");
    let types = world.record_types();
    let count = |wanted| types.iter().filter(|found| *found == wanted).count();
    assert_eq!((count("intent"), count("outcome")), (commands, commands));
}

#[test]
fn a_repository_is_reported_on() {
    let world = world();
    repository(&world);
    let Ended { code, stdout, stderr } = world.component("repo-report", &[]);
    let expected = r"# Repository report

## Overview

- Branch: main
- Commits: 3

## Recent commits

| Date | Commit | Author | Subject |
| --- | --- | --- | --- |
| 2026-01-31 | HASH | Bob \*the\* Builder | Name a file like an option |
| 2026-01-31 | HASH | Ada | Add \`main\` \| the \<program\> |
| 2026-01-31 | HASH | Ada | Add a readme |

## Authors

| Commits | Author |
| --- | --- |
| 2 | Ada |
| 1 | Bob \*the\* Builder |

## Working tree

| State | Path |
| --- | --- |
| ·M | README.md |
| ?? | new\_file |

## Largest files

| Size | Lines | File |
| --- | --- | --- |
| 47 B | 4 | src/main.rs |
| 23 B | 3 | README.md |
| 6 B | 3 | -n |

- 76 B in 3 regular files of the last commit

## TODO and FIXME

- 3 lines in 2 tracked files

| Lines | File |
| --- | --- |
| 2 | src/main.rs |
| 1 | README.md |
";
    let log = git(&world.workspace(), "Ada").args(["log", "--format=%h"]).output().unwrap();
    let hashes = String::from_utf8(log.stdout).unwrap();
    let expected = hashes.lines().fold(expected.to_owned(), |text, hash| text.replacen("HASH", hash, 1));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, expected);
    assert_recorded(&world, 7);
}

#[test]
fn a_repository_without_commits_is_reported_on() {
    let world = world();
    run(git(&world.workspace(), "Ada").args(["init", "--quiet", "-b", "main"]));
    let expected = "# Repository report\n\n## Overview\n\n- Branch: main, without any commit yet\n\n## Working tree\n\n\
                    - clean\n\n## TODO and FIXME\n\n- 0 lines in 0 tracked files\n";
    let ended = world.component("repo-report", &[]);
    assert_eq!(ended, Ended { code: Some(0), stdout: expected.to_owned(), stderr: String::new() });
    assert_recorded(&world, 2);
}

#[test]
fn a_folder_that_is_no_repository_is_said_to_be_none() {
    let world = world();
    let Ended { code, stdout, stderr } = world.component("repo-report", &[]);
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
    let expected = "# Repository report\n\n## Overview\n\n_nothing to report on: fatal: not a git repository (or any ";
    // How far up git looked depends on what the command sees there.
    let up = stdout.strip_prefix(expected).and_then(|rest| rest.strip_suffix("_\n"));
    assert!(up.is_some_and(|up| !up.contains('\n')), "{stdout}");
    assert_recorded(&world, 1);
}

#[test]
fn without_git_in_the_policy_every_section_says_why_it_is_empty() {
    let world = World::new(&allow("wc"));
    repository(&world);
    let Ended { code, stdout, stderr } = world.component("repo-report", &[]);
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "nothing could be shown");
    let note = |command: &str| {
        format!("_not shown: the policy denies `git {command}` (shell.policy.unlisted): no rule allows \\`git\\`_\n")
    };
    let expected = [
        ("Overview", note("rev-list")),
        ("Recent commits", note("log")),
        ("Authors", note("shortlog")),
        ("Working tree", note("status")),
        ("Largest files", note("ls-tree")),
        ("TODO and FIXME", note("grep")),
    ]
    .iter()
    .fold("# Repository report\n".to_owned(), |mut text, (title, note)| {
        write!(text, "\n## {title}\n\n{note}").unwrap();
        text
    });
    assert_eq!(stdout, expected);
    assert_recorded(&world, 0);
}

#[test]
fn one_command_that_is_denied_costs_its_own_section_only() {
    let world = world();
    repository(&world);
    let policy = fs::read_to_string(world.policy()).unwrap();
    let rules: Vec<_> = policy.split("[[program.rule]]").filter(|rule| !rule.contains("\"git-authors\"")).collect();
    fs::write(world.policy(), rules.join("[[program.rule]]")).unwrap();
    let Ended { code, stdout, stderr } = world.component("repo-report", &["--commits", "1", "--top", "1"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let authors = stdout.split("## ").find(|section| section.starts_with("Authors\n")).unwrap();
    assert!(
        authors
            .starts_with("Authors\n\n_not shown: the policy denies `git shortlog` (shell.policy.arguments): no rule"),
        "{authors}"
    );
    assert!(!stdout.contains("Bob \\*the\\* Builder |\n") && stdout.contains("| ·M | README.md |"), "{stdout}");
    assert_recorded(&world, 6);
}

#[test]
fn a_repository_of_two_thousand_commits_is_counted_whole() {
    const COMMITS: usize = 2000;
    let world = world();
    let directory = world.workspace();
    run(git(&directory, "Ada").args(["init", "--quiet", "-b", "main"]));
    let mut stream = String::new();
    for number in 0..COMMITS {
        // Commits of twenty authors, each one file more; the later the author, the fewer the commits.
        let author = (0..20).find(|author| number % (author + 2) == 0).unwrap_or(19);
        let subject = format!("Commit {number}");
        let content = format!("TODO {number}\n{}", "line\n".repeat(number % 50));
        write!(
            stream,
            "commit refs/heads/main\ncommitter Author {author} <a{author}@example.org> {} +0000\ndata {}\n{subject}\n\
             M 100644 inline d{}/f{number}\ndata {}\n{content}\n",
            1_700_000_000 + number,
            subject.len(),
            number % 10,
            content.len()
        )
        .unwrap();
    }
    let mut import = git(&directory, "Ada");
    let mut import = import.args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    run(git(&directory, "Ada").args(["reset", "--quiet", "--hard"]));

    let Ended { code, stdout, stderr } = world.component("repo-report", &["--commits=3", "--top=2"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let without_hashes: String = stdout
        .lines()
        .map(|line| match line.split('|').collect::<Vec<_>>()[..] {
            [_, date, _, author, subject, _] if date.trim().starts_with("2023-") => {
                format!("|{date}|{author}|{subject}|\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let expected = "# Repository report

## Overview

- Branch: main
- Commits: 2000

## Recent commits

| Date | Commit | Author | Subject |
| --- | --- | --- | --- |
| 2023-11-14 | Author 19 | Commit 1999 |
| 2023-11-14 | Author 0 | Commit 1998 |
| 2023-11-14 | Author 19 | Commit 1997 |

## Authors

| Commits | Author |
| --- | --- |
| 1000 | Author 0 |
| 338 | Author 19 |

_and 7 more_

## Working tree

- clean

## Largest files

| Size | Lines | File |
| --- | --- | --- |
| 255 B | 50 | d9/f1049 |
| 255 B | 50 | d9/f1099 |

- 257.7 KiB in 2000 regular files of the last commit

## TODO and FIXME

- 2000 lines in 2000 tracked files

| Lines | File |
| --- | --- |
| 1 | d0/f0 |
| 1 | d0/f10 |

_and 1998 more_
";
    assert_eq!(without_hashes, expected);
    assert_recorded(&world, 7);
}
