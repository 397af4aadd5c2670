//! Requests for commands, honest and other.

use std::collections::BTreeMap;

use crate::answer;
use crate::bindings::portcullis::shell::shell_exec;
use crate::bindings::portcullis::shell::types::{Command, Limits, Stdin};
use crate::say;

/// A name that no policy lists.
pub(crate) const UNLISTED: &str = "portcullis-test-unlisted";

/// What a person's terminal or log must never see raw: colours, a new line, a bell, a text in another direction.
const CONTROL: &str = "a\u{1b}[31mred\u{202e}\r\n\u{7}\u{9b}b";

const NO_LIMITS: Limits = Limits { wall: None, cpu: None, output_bytes: None, memory_bytes: None, processes: None };

fn command<'a>(program: &'a str, arguments: &'a [&'a str]) -> Command<'a> {
    Command {
        program,
        arguments,
        cwd: None,
        env: &[],
        stdin: Stdin::Empty,
        limits: NO_LIMITS,
        network: false,
        merge_stderr: false,
        reason: None,
        call_id: None,
    }
}

fn run(command: Command<'_>) {
    answer::lines(&shell_exec::exec(command)).iter().for_each(|line| say(line));
}

/// Runs several requests, each under a line `# NAME`.
fn run_each<const N: usize>(requests: [(&str, Command<'_>); N]) {
    for (name, request) in requests {
        say(&format!("# {name}"));
        run(request);
    }
}

pub(crate) fn exec(program: &str, arguments: &[&str]) {
    run(command(program, arguments));
}

pub(crate) fn check(program: &str, arguments: &[&str]) {
    answer::verdict(&shell_exec::check(command(program, arguments))).iter().for_each(|line| say(line));
}

pub(crate) fn split(line: &str) {
    answer::split(&shell_exec::split(line)).iter().for_each(|line| say(line));
}

pub(crate) fn cwd(path: &str, program: &str, arguments: &[&str]) {
    run(Command { cwd: Some(path), ..command(program, arguments) });
}

pub(crate) fn env(name: &str, value: &str, program: &str, arguments: &[&str]) {
    run(Command { env: &[(name, value)], ..command(program, arguments) });
}

pub(crate) fn wall(nanoseconds: u64, program: &str, arguments: &[&str]) {
    run(Command { limits: Limits { wall: Some(nanoseconds), ..NO_LIMITS }, ..command(program, arguments) });
}

pub(crate) fn output(bytes: u64, program: &str, arguments: &[&str]) {
    run(Command { limits: Limits { output_bytes: Some(bytes), ..NO_LIMITS }, ..command(program, arguments) });
}

pub(crate) fn network(program: &str, arguments: &[&str]) {
    run(Command { network: true, ..command(program, arguments) });
}

pub(crate) fn merge(program: &str, arguments: &[&str]) {
    run(Command { merge_stderr: true, ..command(program, arguments) });
}

/// Prints the answer, and then `same=true` if all bytes came back.
pub(crate) fn stdin_echo(bytes: usize, program: &str) {
    let sent: Vec<u8> = (0..=u8::MAX).cycle().take(bytes).collect();
    let answer = shell_exec::exec(Command { stdin: Stdin::Bytes(&sent), ..command(program, &[]) });
    answer::lines(&answer).iter().for_each(|line| say(line));
    let came_back = answer.ok().and_then(|outcome| outcome.stdout);
    say(&format!("same={}", came_back.is_some_and(|stdout| stdout.bytes == sent)));
}

pub(crate) fn nul(program: &str) {
    let name = format!("{program}\0x");
    run_each([
        ("argument", command(program, &["fine", "a\0b"])),
        ("program", command(&name, &[])),
        ("cwd", Command { cwd: Some("a\0b"), ..command(program, &[]) }),
        ("env-name", Command { env: &[("A\0B", "value")], ..command(program, &[]) }),
        ("env-value", Command { env: &[("NAME", "a\0b")], ..command(program, &[]) }),
        ("reason", Command { reason: Some("a\0b"), ..command(program, &[]) }),
        ("call-id", Command { call_id: Some("a\0b"), ..command(program, &[]) }),
    ]);
}

pub(crate) fn control(program: &str) {
    run_each([
        ("argument", command(program, &[CONTROL])),
        ("program", command(CONTROL, &[])),
        ("reason", Command { reason: Some(CONTROL), ..command(program, &[]) }),
        ("call-id", Command { call_id: Some(CONTROL), ..command(program, &[]) }),
    ]);
}

/// 1024 times the same megabyte. The guest needs one; a host that copies before it counts needs them all.
pub(crate) fn big_arguments(program: &str) {
    let megabyte = "x".repeat(1 << 20);
    run(command(program, &[megabyte.as_str(); 1024]));
}

pub(crate) fn many_arguments(number: usize, program: &str) {
    run(command(program, &vec!["x"; number]));
}

pub(crate) fn many_env(number: usize, program: &str) {
    let names: Vec<String> = (0..number).map(|index| format!("V{index}")).collect();
    let env: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    run(Command { env: &env, ..command(program, &[]) });
}

/// Asks `number` times, and prints how often each answer came: `COUNT ANSWER`.
pub(crate) fn many(number: u64, program: &str) {
    let mut answers = BTreeMap::<String, u64>::new();
    for _ in 0..number {
        *answers.entry(answer::headline(&shell_exec::exec(command(program, &[])))).or_default() += 1;
    }
    say(&format!("calls {number}"));
    answers.iter().for_each(|(answer, count)| say(&format!("{count} {answer}")));
}
