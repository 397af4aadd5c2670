//! Reports on the git repository in the workspace, in Markdown.
//!
//! An ordinary WASI command: it can't start a program by itself. Each fact comes from a native command that it
//! asks its host for, and that the host's policy allows (`portcullis.toml`).

use std::io::{self, Write};
use std::process::ExitCode;

use command::Command;
use options::{HELP, Options};

mod command;
mod git;
mod options;
mod report;
mod survey;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => print_report(&options),
        Ok(None) => print(HELP, ExitCode::SUCCESS),
        Err(mistake) => {
            eprintln!("repo-report: {mistake}; see --help");
            ExitCode::FAILURE
        }
    }
}

fn print_report(options: &Options) -> ExitCode {
    let sections = survey::survey(options, &Command::output);
    let shown = sections.iter().any(report::Section::shows_something);
    let report = sections.iter().fold("# Repository report\n".to_owned(), |text, section| format!("{text}\n{section}"));
    print(&report, if shown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(text: &str, code: ExitCode) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => code,
        Err(error) => {
            eprintln!("repo-report: can't write the report: {error}");
            ExitCode::FAILURE
        }
    }
}
