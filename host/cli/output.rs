//! Printing: results on standard output, everything else on standard error, colours only where they are wanted.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use portcullis_policy::{Code, visible};

use crate::args::Color;
use crate::failure::Failure;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DOUBT: Style = AnsiColor::Yellow.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();

/// How much is said on standard error beside failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Voice {
    Quiet,
    Normal,
    Verbose,
}

impl Voice {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (false, false) => Self::Normal,
            (false, true) => Self::Verbose,
        }
    }

    /// Says something that most people want to know.
    pub(crate) fn say(self, text: &str) {
        if self >= Self::Normal {
            note(text);
        }
    }

    /// Says something that few people want to know.
    pub(crate) fn tell(self, text: &str) {
        if self >= Self::Verbose {
            note(text);
        }
    }
}

pub(crate) fn set_color(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Prints `portcullis: …` in red on standard error.
pub(crate) fn error(text: &str) {
    // Nobody is left to tell where standard error is closed.
    drop(writeln!(anstream::stderr(), "{BAD}portcullis:{BAD:#} {text}"));
}

fn note(text: &str) {
    drop(writeln!(anstream::stderr(), "portcullis: {text}"));
}

/// Writes a result to standard output.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(anstream::stdout());
    match write(&mut out).and_then(|()| out.flush()) {
        // `portcullis … | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result
            .map_err(|error| Failure::new(Code::Internal, anyhow::Error::new(error).context("can't write the result"))),
    }
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(|out| {
        serde_json::to_writer(&mut *out, value)?;
        writeln!(out)
    })
}

/// A command as a person would type it, with nothing in it that could deceive.
pub(crate) fn command_line<'a>(program: &'a str, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "@%+=:,./-_^~".contains(c);
    let word = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            visible(word).to_string()
        } else {
            format!("'{}'", visible(&word.replace('\'', r"'\''")))
        }
    };
    std::iter::once(program).chain(arguments).map(word).collect::<Vec<_>>().join(" ")
}
