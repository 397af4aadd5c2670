use super::*;

fn wrote(code: u8, stdout: &str, stderr: &str) -> Result<Output, Refusal> {
    let stream = |text: &str| Stream { head: text.as_bytes().to_vec(), ..Stream::default() };
    Ok(Output { ended: Ended::Exited(code), stdout: stream(stdout), stderr: stream(stderr) })
}

fn denied(message: &str) -> Result<Output, Refusal> {
    let [code, message] = ["shell.policy.denied", message].map(str::to_owned);
    Err(Refusal { verb: "the policy denies", code, message })
}

fn healthy(command: &Command) -> Result<Output, Refusal> {
    match command.label().as_str() {
        "git status" => wrote(0, "## main...origin/main\0 M new|file\0", ""),
        "git rev-list" => wrote(0, "2\n", ""),
        "git log" => wrote(0, "abc\x002026-01-02\0Ann\0second\nf00\x002026-01-01\0Bo\0first\n", ""),
        "git shortlog" => wrote(0, "     1\tAnn\n     1\tBo\n", ""),
        "git ls-tree" => wrote(0, "100644 blob aa 2048\ta.rs\x00100644 blob bb 1\tb.rs\0", ""),
        "git grep" => wrote(0, "a.rs\x003\n", ""),
        "wc" => wrote(1, "  70 ./a.rs\n 70 total\n", "wc: ./b.rs: No such file\n"),
        other => wrote(127, "", other),
    }
}

fn report(options: &Options, run: &dyn Fn(&Command) -> Result<Output, Refusal>) -> String {
    survey(options, run).iter().map(Section::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_whole_report() {
    let options = Options { commits: 1, top: 1 };
    let expected = "\
## Overview

- Branch: main, tracking origin/main
- Commits: 2

## Recent commits

| Date | Commit | Author | Subject |
| --- | --- | --- | --- |
| 2026-01-02 | abc | Ann | second |

## Authors

| Commits | Author |
| --- | --- |
| 1 | Ann |

_and 1 more_

## Working tree

| State | Path |
| --- | --- |
| ·M | new\\|file |

## Largest files

| Size | Lines | File |
| --- | --- | --- |
| 2.0 KiB | 70 | a.rs |

- 2.0 KiB in 2 regular files of the last commit

## TODO and FIXME

- 3 lines in 1 tracked file

| Lines | File |
| --- | --- |
| 3 | a.rs |
";
    assert_eq!(report(&options, &healthy), expected);
}

#[test]
fn a_denied_command_costs_only_its_section() {
    let run = |command: &Command| match command.label().as_str() {
        "git shortlog" => denied("no rule allows *this*"),
        _ => healthy(command),
    };
    let report = report(&Options::default(), &run);
    let note = "## Authors\n\n_not shown: the policy denies `git shortlog` (shell.policy.denied): no rule allows \\*this\\*_\n";
    assert!(report.contains(note), "{report}");
    assert!(report.contains("| 2026-01-01 | f00 | Bo | first |"), "{report}");
}

#[test]
fn where_everything_is_denied_nothing_is_shown() {
    let sections = survey(&Options::default(), &|_| denied("no"));
    assert_eq!(sections.iter().filter(|section| section.shows_something()).count(), 0);
}

#[test]
fn a_folder_that_is_no_repository_gets_gits_own_words() {
    let asked = std::cell::RefCell::new(Vec::new());
    let run = |command: &Command| {
        asked.borrow_mut().push(command.label());
        wrote(128, "", "fatal: not a git repository (or any of the parent directories): .git\n")
    };
    let report = report(&Options::default(), &run);
    assert_eq!(
        report,
        "## Overview\n\n_nothing to report on: fatal: not a git repository (or any of the parent directories): .git_\n"
    );
    assert_eq!(*asked.borrow(), ["git status"]);
}

#[test]
fn an_empty_repository_has_no_history_to_ask_for() {
    let run = |command: &Command| match command.label().as_str() {
        "git status" => wrote(0, "## No commits yet on main\0", ""),
        "git grep" => wrote(1, "", ""),
        other => wrote(128, "", other),
    };
    let expected = "## Overview\n\n- Branch: main, without any commit yet\n\n## Working tree\n\n- clean\n\n\
                    ## TODO and FIXME\n\n- 0 lines in 0 tracked files\n";
    assert_eq!(report(&Options::default(), &run), expected);
}

#[test]
fn stopped_failed_and_cut_commands_are_said_to_be_so() {
    let run = |command: &Command| match command.label().as_str() {
        "git log" => Ok(Output {
            ended: Ended::Stopped("ran out of time".to_owned()),
            stdout: Stream { head: b"abc\x002026-01-02\0Ann\0one\nf0".to_vec(), tail: Vec::new(), missing: 2048 },
            stderr: Stream::default(),
        }),
        "git shortlog" => wrote(128, "", "fatal: bad object HEAD\nmore\n"),
        _ => healthy(command),
    };
    let report = report(&Options::default(), &run);
    assert!(report.contains("_incomplete: `git log` ran out of time_\n"), "{report}");
    assert!(report.contains("_incomplete: 2.0 KiB of the output of `git log` were more than the limit keeps_\n"));
    assert!(report.contains("| 2026-01-02 | abc | Ann | one |\n"), "{report}");
    assert!(report.contains("_not shown: `git shortlog` exited with 128: fatal: bad object HEAD_\n"), "{report}");
}
