//! What a rule that denies looks for.

use serde::Serialize;

use super::{Flags, Piece, Sink, Stop, Syntax, Why};

/// A subcommand or options that must not occur.
///
/// A rule that denies has to see every spelling, and can't know all options of the program. So it sees too much rather
/// than too little: a letter anywhere in a cluster, any beginning of a long name, a value that looks like the option,
/// and whatever stands behind `--`, which may be another option's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Occurrence {
    pub(crate) syntax: Syntax,
    pub(crate) subcommand: Vec<String>,
    /// Names of options, with dashes; empty = the subcommand is enough.
    pub(crate) names: Vec<String>,
}

impl Occurrence {
    /// Whether it occurs; tells in which arguments.
    pub(crate) fn read<'g, 'a>(&'g self, arguments: &'a [String], sink: &mut Sink<'_, 'g, 'a>) -> Result<(), Stop<'g>> {
        let mut occurs = self.names.is_empty();
        let has_subcommand = self.has_subcommand(arguments);
        for (index, argument) in arguments.iter().enumerate().filter(|_| has_subcommand) {
            let named = self.names.iter().any(|name| self.is_spelling(argument, name));
            occurs |= named;
            sink(index, argument, if named { Piece::Listed } else { Piece::Unjudged });
        }
        if occurs && has_subcommand { Ok(()) } else { Err(Stop { at: arguments.len(), why: Why::Absent(self) }) }
    }

    fn has_subcommand(&self, arguments: &[String]) -> bool {
        let mut rest = arguments;
        self.subcommand.iter().all(|word| match first_words(rest).find(|index| rest[*index] == *word) {
            Some(index) => {
                rest = &rest[index + 1..];
                true
            }
            None => false,
        })
    }

    fn is_spelling(&self, argument: &str, name: &str) -> bool {
        let Some(behind) = argument.strip_prefix('-').filter(|behind| !behind.is_empty()) else { return false };
        if name == Flags::NUMBER {
            return behind.starts_with(|c: char| c.is_ascii_digit());
        }
        let bare = name.trim_start_matches('-');
        if let Some(long) = behind.strip_prefix('-') {
            let given = long.split('=').next().unwrap_or_default();
            let is_long = name.starts_with("--") || self.syntax == Syntax::LongSingleDash;
            return is_long && !given.is_empty() && bare.starts_with(given);
        }
        match self.syntax {
            // One or two letters are names of their own: `-o` is no `-okdir`.
            Syntax::LongSingleDash => {
                let given = behind.split('=').next().unwrap_or_default();
                behind.starts_with(bare) || (given.len() > 2 && bare.starts_with(given))
            }
            Syntax::Gnu | Syntax::Posix | Syntax::None => !name.starts_with("--") && behind.contains(bare),
        }
    }
}

/// Indices at which the first operand may stand, whatever the options before it are: behind options, and behind their
/// values.
pub(crate) fn first_words(arguments: &[String]) -> impl Iterator<Item = usize> {
    let is_option = |index: usize| arguments.get(index).is_some_and(|argument| argument.starts_with('-'));
    // Reachable is what follows an option, or what follows that.
    let end = (0..).find(|index| *index > 0 && !is_option(index - 1) && (*index < 2 || !is_option(index - 2)));
    (0..end.unwrap_or(0).min(arguments.len())).filter(move |index| !is_option(*index))
}
