//! Printing: results on standard output, everything else on standard error, colours only where they are wanted.

use std::fmt;
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

/// Writes a command's own words to standard error: no name before them, no code behind, nothing changed.
pub(crate) fn pass_error(text: &str) {
    drop(io::stderr().write_all(text.as_bytes()));
}

fn note(text: &str) {
    drop(writeln!(anstream::stderr(), "portcullis: {text}"));
}

/// Writes a result to standard output.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    finish(io::BufWriter::new(anstream::stdout()), write)
}

/// Writes a command's own words to standard output, nothing changed.
pub(crate) fn pass(text: &str) -> Result<(), Failure> {
    finish(io::stdout(), |out| out.write_all(text.as_bytes()))
}

fn finish(mut out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match write(&mut out).and_then(|()| out.flush()) {
        // `portcullis … | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result
            .map_err(|error| Failure::new(Code::Internal, anyhow::Error::new(error).context("can't write the result"))),
    }
}

/// Writes a row of details: a name, and what it is.
pub(crate) fn row(out: &mut dyn Write, name: &str, value: &dyn fmt::Display) -> io::Result<()> {
    writeln!(out, "  {DIM}{name:<13}{DIM:#}{value}")
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let line = json(value)?;
    print(|out| writeln!(out, "{line}"))
}

/// A value as one line of JSON in which nothing can drive a terminal or deceive a reader: what [`visible`] escapes is
/// escaped here as JSON has it.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let mut line = Vec::new();
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut line, VisibleJson));
    written.map_err(|error| Failure::new(Code::Internal, error))?;
    String::from_utf8(line).map_err(|error| Failure::new(Code::Internal, error))
}

struct VisibleJson;

impl serde_json::ser::Formatter for VisibleJson {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        for c in fragment.chars() {
            let mut bytes = [0; 4];
            let text = &*c.encode_utf8(&mut bytes);
            if (' '..='~').contains(&c) || visible(text).to_string() == text {
                out.write_all(text.as_bytes())?;
            } else {
                c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

/// A command as a person would type it, with nothing in it that could deceive.
pub(crate) fn command_line<'a>(program: &'a str, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "@%+=:,./-_".contains(c);
    let word = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            visible(word).to_string()
        } else {
            format!("'{}'", visible(&word.replace('\'', r"'\''")))
        }
    };
    std::iter::once(program).chain(arguments).map(word).collect::<Vec<_>>().join(" ")
}

/// A number of bytes as a person would write it.
pub(crate) fn size(bytes: u64) -> String {
    bytesize::ByteSize::b(bytes).display().iec().to_string()
}
