//! The streams of `exec`: as they are written, to the byte, and bounded in memory.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Output, Stdio};

use super::{failed, printed};
use crate::support::{Ended, World, allow, binary, ended, started};

/// `portcullis exec ARGS` started by a shell, which can do to its streams what `Command` can't.
fn through_shell(world: &World, script: &str, args: &[&str]) -> Command {
    let given = world.command(["exec"].iter().chain(args));
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(binary()).args(given.get_args());
    shell.current_dir(world.workspace()).env_clear().stdin(Stdio::null());
    shell.envs(given.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

#[test]
fn output_is_passed_on_while_the_command_runs() {
    let world = World::allowing(&["sh"]);
    let mut child = started(&mut world.command(["exec", "sh", "-c", "echo one; read line; echo got $line"]));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "one\n");
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "two").unwrap();
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "got two\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn both_streams_are_exact_to_the_byte_and_apart() {
    let world = World::allowing(&["printf", "sh"]);
    let script = r"printf '\000\377\033[31m\r\nno newline'; printf '\376error' >&2; exit 3";
    let Output { status, stdout, stderr } = world.command(["exec", "sh", "-c", script]).output().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!((stdout, stderr), (b"\0\xff\x1b[31m\r\nno newline".to_vec(), b"\xfeerror".to_vec()));
}

#[test]
fn merged_streams_keep_the_order_in_which_they_were_written() {
    let world = World::allowing(&["sh"]);
    let ended = world.exec(&["--merge-stderr", "sh", "-c", "echo a; echo b >&2; echo c; echo d >&2"]);
    assert_eq!(ended, printed("a\nb\nc\nd\n"));
}

#[test]
fn large_output_is_passed_on_whole_and_kept_in_part() {
    const BYTES: usize = 20_000_000;
    let world = World::new(&format!("limits.output = \"1KB\"\n{}", allow("head")));
    let output = world.command(["exec", "head", "-c", &BYTES.to_string(), "/dev/zero"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.len() == BYTES && output.stdout.iter().all(|&byte| byte == 0));
    let outcome = world.records().into_iter().find(|record| record["type"] == "outcome").unwrap();
    assert_eq!((&outcome["stdout"]["total"], &outcome["stdout"]["kept"]), (&BYTES.into(), &1000.into()));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let world = World::allowing(&["yes"]);
    let mut child = started(&mut world.command(["exec", "yes"]));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((line.as_str(), output.status.code()), ("y\n", Some(141)));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_reader_that_does_not_read_holds_no_limit_up() {
    let world = World::allowing(&["yes"]);
    let mut child = started(&mut world.command(["exec", "--timeout", "100ms", "yes"]));
    assert_eq!(child.wait().unwrap().code(), Some(124));
}

#[test]
fn output_that_can_not_be_passed_on_is_a_failure() {
    let world = World::allowing(&["echo", "sh"]);
    for (args, name) in [(&["echo", "lost"][..], "output"), (&["sh", "-c", "echo lost >&2"], "error")] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = world.command(["exec"].iter().chain(args));
        if name == "output" {
            let message = "can't pass on the command's standard output, so a part is lost: \
                           No space left on device (os error 28) [shell.internal]";
            assert_eq!(ended(command.stdout(full)), failed(125, message));
        } else {
            assert_eq!(ended(command.stderr(full)), Ended { code: Some(125), ..printed("") });
        }
    }
}

#[test]
fn standard_input_is_forwarded_from_a_file_and_a_pipe() {
    let world = World::allowing(&["cat"]);
    let path = world.path().join("input");
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    fs::write(&path, &bytes).unwrap();
    let from_file = world.command(["exec", "cat"]).stdin(File::open(&path).unwrap()).output().unwrap();
    assert!(from_file.stdout == bytes && from_file.status.success());

    let mut child = started(&mut world.command(["exec", "cat"]));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let written = bytes.clone();
    let writer = std::thread::spawn(move || stdin.write_all(&written));
    let mut read = Vec::new();
    stdout.read_to_end(&mut read).unwrap();
    writer.join().unwrap().unwrap();
    assert!(read == bytes && child.wait().unwrap().success());
}

#[test]
fn input_that_nobody_ends_does_not_hold_a_command_up() {
    let world = World::allowing(&["true", "head"]);
    let mut child = started(&mut world.command(["exec", "true"]));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut child = started(&mut world.command(["exec", "head", "-c", "2"]));
    child.stdin.as_mut().unwrap().write_all(b"abcd").unwrap();
    let mut read = String::new();
    child.stdout.take().unwrap().read_to_string(&mut read).unwrap();
    assert_eq!((read.as_str(), child.wait().unwrap().code()), ("ab", Some(0)));
}

#[test]
fn closed_streams_are_as_good_as_dev_null() {
    let world = World::allowing(&["cat", "echo", "sh"]);
    let said = ["sh", "-c", "echo out; echo error >&2; exit 4"];
    assert_eq!(ended(&mut through_shell(&world, "exec \"$@\" <&-", &["cat"])), printed(""));
    let no_stdout = Ended { code: Some(4), stdout: String::new(), stderr: "error\n".to_owned() };
    assert_eq!(ended(&mut through_shell(&world, "exec \"$@\" >&-", &said)), no_stdout);
    let no_stderr = Ended { code: Some(4), ..printed("out\n") };
    assert_eq!(ended(&mut through_shell(&world, "exec \"$@\" 2>&-", &said)), no_stderr);
    let nothing = Ended { code: Some(4), ..printed("") };
    assert_eq!(ended(&mut through_shell(&world, "exec \"$@\" <&- >&- 2>&-", &said)), nothing);
    let denied = Ended { code: Some(126), ..printed("") };
    assert_eq!(ended(&mut through_shell(&world, "exec \"$@\" 2>&-", &["ls"])), denied);
}
