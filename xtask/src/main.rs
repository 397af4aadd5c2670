//! The developer's commands: `cargo xtask …`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line that reports what it does")]

use std::process::ExitCode;

use anyhow::{Result, bail};

mod bench;
mod check;
mod corpus;
mod demo;
mod guests;
mod packages;
mod process;
mod project;
mod tally;
mod test;
mod toolchain;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  demo                    builds everything, and reports on this repository by a component, through a policy
  test                    all checks and all tests, as you and (where you are root) as nobody; what CI runs
  check [NAME…]           all checks, or these: fmt lints platforms docs wit examples
                          dependencies package
  guests                  builds the components into target/components
  bench [NAME…] [--json]  builds what the benches need, and runs them
  corpus --bypasses FILE --real | --usage FILE --real
                          runs a collection of attacks, or of everyday commands, for real; see below

Attacks are carried out, once unconfined: on a machine to throw away, say, or in namespaces of its own. The rest of
corpus: [--only ID,…] [--json] [--path DIR:…, before PATH] [--read DIR:…, for commands] [--portcullis FILE].

The components need the compiler target wasm32-wasip2. It is added by rustup, or, where its downloads can't be
reached, built from Debian packages. PORTCULLIS_WASI_TOOLCHAIN=debian asks for the second.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", arguments),
    };
    let takes_arguments = matches!(command, "check" | "bench" | "corpus");
    if let (false, Some(extra)) = (takes_arguments, rest.first()) {
        bail!("{command} takes no arguments, and got '{extra}'; see cargo xtask help");
    }
    match command {
        "demo" => demo::run(),
        "test" => test::run(),
        "check" => check::run(rest),
        "guests" => guests::run(),
        "bench" => bench::run(rest),
        "corpus" => corpus::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("unknown command '{other}'; see cargo xtask help"),
    }
}
