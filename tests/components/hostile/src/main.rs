//! Asks its host for what it should not get. The first argument picks the behaviour; `HELP` lists them.
//!
//! Every answer of the host is printed in a form that a test can compare; see `answer`.

use std::io::Write;
use std::process::ExitCode;

mod answer;
mod asks;
mod bindings {
    #![allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::allow_attributes_without_reason,
        reason = "generated code"
    )]
    wit_bindgen::generate!({
        path: "../../../wit",
        world: "portcullis:shell/imports",
        // What is sent is borrowed: the same megabyte can then stand in a list a thousand times.
        ownership: Borrowing { duplicate_if_necessary: false },
    });
}
mod files;
mod resources;

const HELP: &str = "\
Usage: hostile BEHAVIOUR

commands
  exec PROGRAM [ARGUMENT…]             runs it
  check PROGRAM [ARGUMENT…]            asks what would become of it
  split LINE                           splits a command line into words
  cwd PATH [PROGRAM [ARGUMENT…]]       runs it in this folder (default program: pwd)
  env NAME VALUE PROGRAM [ARGUMENT…]   runs it with this variable
  wall NANOSECONDS PROGRAM [ARGUMENT…] runs it with this request for a wall-clock limit
  output BYTES PROGRAM [ARGUMENT…]     runs it with this request for an output limit
  network PROGRAM [ARGUMENT…]          runs it with a request for the network
  merge PROGRAM [ARGUMENT…]            runs it with standard error merged into standard output
  stdin-echo BYTES [PROGRAM]           feeds it this many bytes (default program: cat), and compares what comes back
requests that are wrong or too large
  unlisted                             a program that no policy lists
  empty                                a program without a name
  nul [PROGRAM]                        NUL in every text of a request in turn
  control [PROGRAM]                    control characters in argument, program, reason and call id in turn
  big-arguments [PROGRAM]              arguments of 1 GiB in all
  many-arguments N [PROGRAM]           N short arguments
  many-env N [PROGRAM]                 N variables
  million N [PROGRAM]                  N requests (default program: one that no policy lists)
  million-allowed PROGRAM N            N requests for this program
resources
  loop                                 computes for ever
  poll                                 waits for ever
  alloc                                allocates until it can't
files, network, environment
  fifo PATH | read PATH | write PATH   opens a file and reads, or writes, through WASI
  connect                              connects to 127.0.0.1, port 1
  list-env                             prints its own environment
  exit CODE                            ends with this code
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match behave(&words) {
        Some(code) => code,
        None => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}

/// Does what the words say; none where they make no sense.
fn behave(words: &[&str]) -> Option<ExitCode> {
    match *words {
        ["exec", program, ref arguments @ ..] => asks::exec(program, arguments),
        ["check", program, ref arguments @ ..] => asks::check(program, arguments),
        ["split", line] => asks::split(line),
        ["cwd", path] => asks::cwd(path, "pwd", &[]),
        ["cwd", path, program, ref arguments @ ..] => asks::cwd(path, program, arguments),
        ["env", name, value, program, ref arguments @ ..] => asks::env(name, value, program, arguments),
        ["wall", ns, program, ref arguments @ ..] => asks::wall(ns.parse().ok()?, program, arguments),
        ["output", bytes, program, ref arguments @ ..] => asks::output(bytes.parse().ok()?, program, arguments),
        ["network", program, ref arguments @ ..] => asks::network(program, arguments),
        ["merge", program, ref arguments @ ..] => asks::merge(program, arguments),
        ["stdin-echo", bytes] => asks::stdin_echo(bytes.parse().ok()?, "cat"),
        ["stdin-echo", bytes, program] => asks::stdin_echo(bytes.parse().ok()?, program),

        ["unlisted"] => asks::exec(asks::UNLISTED, &[]),
        ["empty"] => asks::exec("", &[]),
        ["nul"] => asks::nul("true"),
        ["nul", program] => asks::nul(program),
        ["control"] => asks::control("true"),
        ["control", program] => asks::control(program),
        ["big-arguments"] => asks::big_arguments("true"),
        ["big-arguments", program] => asks::big_arguments(program),
        ["many-arguments", n] => asks::many_arguments(n.parse().ok()?, "true"),
        ["many-arguments", n, program] => asks::many_arguments(n.parse().ok()?, program),
        ["many-env", n] => asks::many_env(n.parse().ok()?, "true"),
        ["many-env", n, program] => asks::many_env(n.parse().ok()?, program),
        ["million", n] => asks::many(n.parse().ok()?, asks::UNLISTED),
        ["million", n, program] | ["million-allowed", program, n] => asks::many(n.parse().ok()?, program),

        ["loop"] => resources::compute(),
        ["poll"] => resources::wait(),
        ["alloc"] => resources::allocate(),

        ["fifo" | "read", path] => files::read(path),
        ["write", path] => files::write(path),
        ["connect"] => files::connect(),
        ["list-env"] => files::list_environment(),
        ["exit", code] => std::process::exit(code.parse().ok()?),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Prints a line that arrives even if the host ends the component right after it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody to tell where standard output is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
