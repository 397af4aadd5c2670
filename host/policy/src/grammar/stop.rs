//! Where reading stopped, and what would have been allowed there.

use std::fmt::{self, Write as _};
use std::ops::Range;

use super::value::listed;
use super::{Flag, Occurrence, Section, Slot, Spelling, Value};
use crate::show::excerpt;

/// The first argument that a rule does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop<'g> {
    /// Index of the argument; the number of arguments where one is missing.
    pub(crate) at: usize,
    pub(crate) why: Why<'g>,
}

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why<'g> {
    /// This very argument must stand there.
    Word(&'g str),
    /// No further argument may stand there.
    Nothing,
    /// This part of the argument is no option of the section.
    Flag { section: &'g Section, part: Range<usize> },
    /// No operand of this number may stand there.
    TooMany { section: &'g Section },
    /// An operand is missing or has another form.
    Positional(&'g Value),
    /// The value of an option is missing or has another form.
    Value(&'g Flag, &'g Value),
    /// The option takes no value.
    NoValue(&'g Flag),
    /// The value must stand where this says.
    Spelling(&'g Flag, Spelling),
    /// The value of a short option begins with `=`.
    Equals(&'g Flag),
    /// The option occurs twice.
    Repeated(&'g Flag),
    /// The second occurs already.
    Conflict(&'g Flag, &'g Flag),
    /// One of these options of the section is missing.
    Required { section: &'g Section, group: &'g [usize] },
    /// A rule that denies does not see what it looks for.
    Absent(&'g Occurrence),
}

impl Stop<'_> {
    /// `at argument 2, `-nz`, in it `-z``, for people, who count from one.
    pub(crate) fn place(&self, arguments: &[String]) -> String {
        let Some(argument) = arguments.get(self.at) else { return "after the last one".to_owned() };
        let mut place = format!("at argument {}, `{}`", self.at + 1, excerpt(argument));
        if let Some(note) = self.note(argument) {
            place.push_str(", ");
            place.push_str(&note);
        }
        place
    }

    /// What about the argument is wrong, where the argument alone does not show it.
    fn note(&self, argument: &str) -> Option<String> {
        match &self.why {
            Why::Flag { section, part } => {
                let part = argument.get(part.clone()).unwrap_or_default();
                if !part.starts_with('-') {
                    return Some(format!("where `-{}` is not listed", excerpt(part)));
                }
                let is_beginning = |name: &&str| part.len() > 2 && name.starts_with(part);
                let full = section.flags.names.keys().map(String::as_str).find(is_beginning)?;
                Some(format!("which is no full name (`{full}` is one)"))
            }
            Why::Repeated(flag) => Some(format!("where `{}` stands a second time", flag.name)),
            Why::Conflict(flag, other) => Some(format!("where `{}` follows `{}`", flag.name, other.name)),
            Why::Word(_)
            | Why::Nothing
            | Why::TooMany { .. }
            | Why::Positional(_)
            | Why::Value(..)
            | Why::NoValue(_)
            | Why::Spelling(..)
            | Why::Equals(_)
            | Why::Required { .. }
            | Why::Absent(_) => None,
        }
    }
}

/// What would be allowed there, to follow "it wants ".
impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{}`", excerpt(word)),
            Self::Nothing => f.write_str("no further argument"),
            Self::Flag { section, part: _ } => options(f, section, &operands(&section.slots)),
            Self::TooMany { section } => options(f, section, ""),
            Self::Positional(value) => write!(f, "{value}"),
            Self::Value(flag, value) => write!(f, "{value} as the value of `{}`", flag.name),
            Self::NoValue(flag) => write!(f, "`{}` without a value", flag.name),
            Self::Spelling(flag, Spelling::Apart) => {
                write!(f, "the value of `{}` in an argument of its own", flag.name)
            }
            Self::Spelling(flag, Spelling::Glued | Spelling::Any) => {
                write!(f, "the value of `{}` in the same argument", flag.name)
            }
            Self::Equals(flag) => write!(f, "the value of `{}` without a `=` before it", flag.name),
            Self::Repeated(flag) => write!(f, "`{}` once at most", flag.name),
            Self::Conflict(flag, other) => write!(f, "`{}` or `{}`, not both", flag.name, other.name),
            Self::Required { section, group } => {
                let names: Vec<&str> = group.iter().map(|index| section.flags.list[*index].name.as_str()).collect();
                listed(f, "", &names)
            }
            Self::Absent(occurrence) => {
                let Occurrence { syntax: _, subcommand, names } = occurrence;
                if !subcommand.is_empty() {
                    write!(f, "the subcommand `{}`", excerpt(&subcommand.join(" ")))?;
                }
                match (subcommand.is_empty(), names.is_empty()) {
                    (_, true) => Ok(()),
                    (false, false) => listed(f, " with ", names),
                    (true, false) => listed(f, "", names),
                }
            }
        }
    }
}

/// "one of `-a` or `-b`, or any text": the options of a section, and these operands.
fn options(f: &mut fmt::Formatter<'_>, section: &Section, operands: &str) -> fmt::Result {
    let flags = section.flags.shown();
    if flags.is_empty() {
        return f.write_str(if operands.is_empty() { "no further argument" } else { operands });
    }
    listed(f, if flags.len() == 1 { "" } else { "one of " }, &flags)?;
    if operands.is_empty() { Ok(()) } else { write!(f, ", or {operands}") }
}

/// "a path in the workspace or any text": what operands a section has, whichever comes next.
fn operands(slots: &[Slot]) -> String {
    let mut text = String::new();
    for (index, slot) in slots.iter().filter(|slot| slot.max > 0).enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{}", if index == 0 { "" } else { " or " }, slot.value);
    }
    text
}
