//! Which words belong to portcullis and which to the command, and what wrong ones are told.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::{assert_refused, failed, printed};
use crate::support::{Ended, World, component, ended};

#[test]
fn everything_after_the_program_belongs_to_it() {
    let world = World::allowing(&["printf"]);
    let all = "--policy\n--help\n--\n-v\n--\n-q\n";
    let words = ["printf", "%s\\n", "--policy", "--help", "--", "-v", "--", "-q"];
    assert_eq!(world.exec(&words), printed(all));
    assert_eq!(world.exec(&[&["--"], &words[..]].concat()), printed(all));
    assert_eq!(world.exec(&[&["--timeout", "5s", "--"], &words[..]].concat()), printed(all));
}

#[test]
fn everything_after_the_component_belongs_to_it() {
    let world = World::new("");
    let all = "hello\n--help\n--\n-v\n";
    assert_eq!(world.component("hello", &["--help", "--", "-v"]), printed(all));
    let hello = component("hello");
    assert_eq!(
        world.run([OsStr::new("run"), "--".as_ref(), hello.as_ref(), "--help".as_ref()]),
        printed("hello\n--help\n")
    );
}

#[test]
fn check_splits_as_exec_does() {
    let world = World::allowing(&["echo"]);
    for words in [&["check", "echo", "--json", "--"][..], &["check", "--", "echo", "--json", "--"]] {
        let Ended { code, stdout, .. } = world.run(words);
        assert_eq!((code, stdout.lines().next()), (Some(0), Some("allow  echo --json --")));
    }
}

#[test]
fn a_wrong_option_before_the_program_is_told_with_the_usage() {
    let world = World::allowing(&["true"]);
    let message = "unexpected argument '--bogus' found\n\n  \
                   tip: to pass '--bogus' as a value, use '-- --bogus'\n\n\
                   Usage: portcullis exec [OPTIONS] <PROGRAM> [ARGS]...\n\n\
                   For more information, try '--help'.\n\
                   [shell.usage]";
    assert_eq!(world.exec(&["--bogus", "true"]), failed(125, message));
    assert!(!world.state().exists(), "nothing was begun");
}

#[test]
fn every_wrong_command_line_gives_125_and_the_code() {
    let world = World::allowing(&["true"]);
    for (words, told) in [
        (&["exec"][..], "<PROGRAM>"),
        (&["run"], "<TOOL.wasm>"),
        (&["nonsense"], "unrecognized subcommand 'nonsense'"),
        (&["exec", "--timeout"], "--timeout <TIME>"),
        (&["exec", "--timeout", "5", "true"], "write a span of time such as 500ms, 30s or 5m"),
        (&["exec", "--cpu", "5", "true"], "write a span of time such as 500ms, 30s or 5m"),
        (&["check", "--memory", "lots", "true"], "write a number of bytes such as 4096, 64KiB or 1MB"),
        (&["exec", "--processes", "many", "true"], "invalid digit"),
        (&["exec", "--processes", "4294967296", "true"], "not in 0..=4294967295"),
        (&["exec", "--output", "lots", "true"], "write a number of bytes such as 4096, 64KiB or 1MB"),
        (&["exec", "--env", "NAME", "true"], "write NAME=VALUE"),
        (&["exec", "--format", "xml", "true"], "[possible values: passthrough, json, t, l, c]"),
        (&["exec", "--dry-run", "--format", "l", "true"], "--dry-run prints a decision"),
        (&["--durability", "never", "exec", "true"], "write `interval` or `record`"),
        (&["--color", "blue", "exec", "true"], "[possible values: auto, always, never]"),
        (&["-q", "-v", "exec", "true"], "cannot be used with"),
        (&["audit", "verify", "--head", "1"], "a number of records, ':', and 64 lower-case hexadecimal digits"),
        (&["completions", "cmd"], "[possible values: bash, elvish, fish, powershell, zsh]"),
    ] {
        let Ended { code, stdout, stderr } = world.run(words);
        assert_eq!((code, stdout.as_str()), (Some(125), ""), "{words:?}: {stderr}");
        assert!(stderr.starts_with("portcullis: ") && stderr.ends_with("[shell.usage]\n"), "{words:?}: {stderr}");
        assert!(stderr.contains(told), "{words:?}: {stderr}");
    }
}

#[test]
fn a_missing_command_is_told_below_the_help() {
    let world = World::new("");
    for words in [&[][..], &["policy"], &["audit"]] {
        let Ended { code, stdout, stderr } = world.run(words);
        assert_eq!((code, stdout.as_str()), (Some(125), ""));
        assert!(stderr.contains("\nUsage: portcullis"), "{stderr}");
        assert!(
            stderr.ends_with("\nportcullis: a command is missing; the help above lists them [shell.usage]\n"),
            "{stderr}"
        );
    }
}

#[test]
fn arguments_that_are_no_text_are_refused() {
    let world = World::allowing(&["echo"]);
    let message = "`a\u{fffd}b` is not Unicode text, and only text can be an argument [shell.usage]";
    let odd = OsStr::from_bytes(b"a\xffb");
    assert_eq!(ended(&mut world.command([OsStr::new("exec"), "echo".as_ref(), odd])), failed(125, message));
    assert_eq!(ended(&mut world.command([OsStr::new("exec"), odd])), failed(125, message));
    let hello = component("hello");
    assert_eq!(ended(&mut world.command([OsStr::new("run"), hello.as_ref(), odd])), failed(125, message));
    assert!(!world.journal().exists() || world.record_types() == ["segment"], "nothing was asked for");
}

#[test]
fn a_program_is_asked_for_by_its_name() {
    let world = World::allowing(&["true"]);
    assert_refused(&world.exec(&["/bin/true"]), 125, "shell.program.name");
    assert_refused(&world.exec(&[""]), 125, "shell.argv.empty");
    assert_refused(&world.exec(&["a\u{1b}[2J/b"]), 125, "shell.program.name");
}
