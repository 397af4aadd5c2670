//! The positive grammar of a program's arguments: what a rule lists may stand there, and nothing else.
//!
//! Parsing reads the arguments as the program itself would, under one of the conventions of [`Syntax`], and stops at
//! the first argument that the grammar does not know. What it knows is exact: no name is guessed and no abbreviation
//! resolved, since the program resolves those against all of its options, and the grammar lists only some.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod occurs;
mod parse;
mod paths;
mod pretty;
mod stop;
mod value;

pub use occurs::Occurrence;
pub(crate) use occurs::first_words;
pub(crate) use parse::{Piece, Sink};
pub(crate) use paths::Place;
pub(crate) use stop::{Stop, Why};
pub(crate) use value::{Expression, Value, ValueType};

/// How a program tells options from other arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Syntax {
    /// `getopt_long(3)`: clusters (`-rf`), values glued (`-n5`, `--jobs=4`) or apart, options and operands in any
    /// order, `--` ends the options. The default.
    #[default]
    Gnu,
    /// As `gnu`, and the first operand ends the options.
    Posix,
    /// Names of any length behind one dash, as `find`, `java` and Go programs have them: `-name x`, `-name=x`; no
    /// clusters.
    LongSingleDash,
    /// No options at all: every argument is an operand, also `--` and what begins with `-` (`echo`, `expr`).
    None,
}

/// What a rule says of all arguments of a command; made from the keys of a `[[program.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grammar {
    pub(crate) syntax: Syntax,
    /// Whether `-5` and `-1.5` are operands.
    pub(crate) negative_numbers: bool,
    /// What may stand before the subcommand.
    pub(crate) before: Section,
    /// The words that come first, one argument each.
    pub(crate) subcommand: Vec<String>,
    pub(crate) main: Section,
    /// What may follow `--`, if that is not more of the same operands.
    pub(crate) after: Option<Section>,
}

/// Options and operands that may be mixed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) flags: Flags,
    pub(crate) slots: Vec<Slot>,
}

/// Some operands of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    pub(crate) min: usize,
    pub(crate) max: usize,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Flag {
    /// Its first name, with dashes.
    pub(crate) name: String,
    pub(crate) value: Option<FlagValue>,
    pub(crate) repeat: bool,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FlagValue {
    pub(crate) value: Value,
    pub(crate) spelling: Spelling,
    /// It may be missing, and is then never the next argument.
    pub(crate) optional: bool,
}

/// Where the value of an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spelling {
    /// Wherever the syntax allows it.
    Any,
    /// In the same argument: `-n5`, `--jobs=4`.
    Glued,
    /// In the next argument.
    Apart,
}

/// The options of a section, found by any of their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Flags {
    list: Vec<Flag>,
    names: BTreeMap<String, usize>,
    /// Of each of these, at most one occurs.
    conflicts: Vec<Vec<usize>>,
    /// Of each of these, at least one occurs.
    required: Vec<Vec<usize>>,
}

impl Flags {
    /// Most options of a section.
    pub(crate) const MAX: usize = 512;
    /// The name that stands for `-` and digits, as in `head -5`.
    pub(crate) const NUMBER: &str = "-NUMBER";

    pub(crate) fn new(list: Vec<Flag>, names: BTreeMap<String, usize>) -> Self {
        Self { list, names, conflicts: Vec::new(), required: Vec::new() }
    }

    pub(crate) fn set_groups(&mut self, conflicts: Vec<Vec<usize>>, required: Vec<Vec<usize>>) {
        self.conflicts = conflicts;
        self.required = required;
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// First names, sorted, long ones first.
    fn shown(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.list.iter().map(|flag| flag.name.as_str()).collect();
        names.sort_unstable_by_key(|name| (!name.starts_with("--"), *name));
        names
    }
}

impl Section {
    /// The slot of the operand of this number, of so many.
    ///
    /// Each slot takes as many as it may, and leaves what later slots need: of `cp a b c`, `c` is the last slot's.
    fn slot(&self, number: usize, total: usize) -> Option<&Slot> {
        let mut needed: usize = self.slots.iter().map(|slot| slot.min).sum();
        let (mut first, mut left) = (0_usize, total);
        for slot in &self.slots {
            needed -= slot.min;
            let taken = left.saturating_sub(needed).min(slot.max);
            if number < first + taken {
                return Some(slot);
            }
            first += taken;
            left -= taken;
        }
        None
    }

    /// Whether an operand's slot depends on how many follow.
    fn needs_total(&self) -> bool {
        let flexible = self.slots.iter().position(|slot| slot.min != slot.max);
        flexible.is_some_and(|index| self.slots[index + 1..].iter().any(|slot| slot.min > 0))
    }
}

#[cfg(test)]
mod tests;
