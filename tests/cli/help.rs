//! Help, manual pages, completions and the version.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::{Ended, World, binary, skip};

const EVERYWHERE: [&str; 6] = ["--journal", "--durability", "--color", "-q, --quiet", "-v, --verbose", "-h, --help"];
const GATE: [&str; 2] = ["--policy", "--workspace"];
const REQUEST: [&str; 10] = [
    "--cwd",
    "--env",
    "--timeout",
    "--cpu",
    "--memory",
    "--processes",
    "--output",
    "--network",
    "--merge-stderr",
    "--reason",
];

/// Every command with its own options.
fn commands() -> Vec<(&'static [&'static str], Vec<&'static str>)> {
    vec![
        (&[], vec!["-V, --version"]),
        (&["run"], GATE.to_vec()),
        (&["exec"], [&GATE[..], &REQUEST, &["--format", "--dry-run"]].concat()),
        (&["check"], [&GATE[..], &REQUEST, &["--json"]].concat()),
        (&["init"], vec!["--workspace"]),
        (&["doctor"], vec!["--json"]),
        (&["policy"], vec![]),
        (&["policy", "trust"], vec![]),
        (&["audit"], vec![]),
        (&["audit", "show"], vec!["-n, --count", "--json"]),
        (&["audit", "verify"], vec!["--head", "--json"]),
        (&["completions"], vec![]),
        (&["man"], vec!["--directory"]),
    ]
}

/// The options that a help text lists.
fn listed(help: &str) -> Vec<&str> {
    let names = help.lines().map(str::trim_start).filter(|line| line.starts_with('-') && !line.starts_with("- "));
    let mut names: Vec<&str> = names
        .map(|line| {
            line.split([' ', '<']).take(2).fold("", |all, word| {
                let end = line.find(word).map_or(0, |start| start + word.len());
                if word.starts_with('-') { &line[..end] } else { all }
            })
        })
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn help_lists_every_option_of_every_command_and_no_other() {
    let world = World::new("");
    for (command, own) in commands() {
        let mut expected = [&own[..], &EVERYWHERE].concat();
        expected.sort_unstable();
        for option in ["-h", "--help"] {
            let Ended { code, stdout, stderr } = world.run([command, &[option]].concat());
            assert_eq!((code, stderr.as_str()), (Some(0), ""));
            assert_eq!(listed(&stdout), expected, "{command:?} {option}");
        }
    }
}

#[test]
fn help_fits_into_80_columns_and_tells_the_exit_codes() {
    let world = World::new("");
    for (command, _) in commands() {
        let Ended { stdout, .. } = world.run([command, &["--help"]].concat());
        let codes = stdout.split_once("Exit codes:\n").map(|(_, codes)| codes);
        let with_codes = [&[][..], &["run"], &["exec"], &["check"], &["doctor"], &["audit", "verify"]];
        assert_eq!(codes.is_some(), with_codes.contains(&command), "{command:?}");
        let widest = codes.unwrap_or_default().lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap_or(0) <= 80, "{command:?}: a table that is wrapped can't be read");
    }
    let verify = world.run(["audit", "verify", "--help"]).stdout;
    for code in [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 125] {
        assert!(verify.contains(&format!("\n  {code:<3} ")), "{code}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let expected = format!("portcullis {}\n", env!("CARGO_PKG_VERSION"));
    for option in ["-V", "--version"] {
        assert_eq!(World::new("").run([option]), super::printed(expected.as_str()));
    }
}

#[test]
fn help_into_a_pipe_that_closes_is_no_failure() {
    let world = World::new("");
    let mut command = Command::new("sh");
    command.args(["-c", "{ \"$0\" --help; echo $? >&2; } | true"]).arg(binary()).current_dir(world.workspace());
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "0\n");
}

#[test]
fn completions_are_scripts_that_their_shells_can_read() {
    let world = World::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let Ended { code, stdout, stderr } = world.run(["completions", shell]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        for option in ["merge-stderr", "durability", "dry-run", "processes"] {
            assert!(stdout.contains(option), "{shell} knows nothing of {option}");
        }
        if !["bash", "zsh", "fish"].contains(&shell) {
            continue;
        }
        let started = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(mut child) = started else {
            skip(&format!("completions for {shell}: it is not installed"));
            continue;
        };
        child.stdin.take().unwrap().write_all(stdout.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_manual_has_a_page_for_every_command_and_renders() {
    let world = World::new("");
    let directory = world.path().join("man");
    let all = world.run(["man", "--directory", directory.to_str().unwrap()]);
    assert_eq!(all, super::printed(""));
    let mut pages: Vec<String> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let mut expected: Vec<String> =
        commands().iter().map(|(command, _)| format!("{}.1", [&["portcullis"], *command].concat().join("-"))).collect();
    expected.sort();
    assert_eq!(pages, expected);

    let page = world.run(["man"]).stdout;
    assert_eq!(page, fs::read_to_string(directory.join("portcullis.1")).unwrap());
    for page in pages {
        let groff =
            Command::new("groff").args(["-man", "-Tutf8", "-P-cbou", "-ww"]).arg(directory.join(&page)).output();
        let Ok(output) = groff else { return skip("the manual pages: groff is not installed") };
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{page}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("SYNOPSIS") && text.contains("portcullis"), "{page}: {text}");
    }
}
