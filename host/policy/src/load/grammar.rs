//! From a rule's keys to the grammar of its arguments. A key that would do nothing is an error.

use serde_spanned::Spanned;

use super::Span;
use crate::file::{AfterTable, BeforeTable, FlagTables, Slots, Strings};
use crate::grammar::{Grammar, Occurrence, Section, Slot};
use crate::value::{Table, Word};
use crate::{ArgumentPattern, Effect, PolicyError, Request, Syntax};

mod flags;
mod values;

use flags::Reader;
pub(super) use values::Patterns;

/// The keys of a rule that make up its grammar, each with its place.
pub(super) struct Keys {
    pub(super) syntax: Option<Spanned<Word<Syntax>>>,
    pub(super) negative_numbers: Option<Spanned<bool>>,
    pub(super) before_subcommand: Option<Spanned<Table<BeforeTable>>>,
    pub(super) subcommand: Option<Spanned<Strings>>,
    pub(super) flags: Option<Spanned<FlagTables>>,
    pub(super) conflicts: Option<Spanned<Vec<Strings>>>,
    pub(super) required: Option<Spanned<Vec<Strings>>>,
    pub(super) positionals: Option<Spanned<Slots>>,
    pub(super) after_double_dash: Option<Spanned<Table<AfterTable>>>,
}

impl Keys {
    /// Where the first of them stands that the file has.
    pub(super) fn place(&self) -> Option<Span> {
        let Self {
            syntax,
            negative_numbers,
            before_subcommand,
            subcommand,
            flags,
            conflicts,
            required,
            positionals,
            after_double_dash,
        } = self;
        [
            syntax.as_ref().map(Spanned::span),
            negative_numbers.as_ref().map(Spanned::span),
            before_subcommand.as_ref().map(Spanned::span),
            subcommand.as_ref().map(Spanned::span),
            flags.as_ref().map(Spanned::span),
            conflicts.as_ref().map(Spanned::span),
            required.as_ref().map(Spanned::span),
            positionals.as_ref().map(Spanned::span),
            after_double_dash.as_ref().map(Spanned::span),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|span| span.start)
    }

    /// The pattern that they make, in a program of this syntax.
    pub(super) fn pattern(
        self,
        effect: Effect,
        program: Syntax,
        patterns: &Patterns,
    ) -> Result<ArgumentPattern, PolicyError> {
        match effect {
            Effect::Allow | Effect::Ask => {
                self.grammar(program, patterns).map(|grammar| ArgumentPattern::Grammar(Box::new(grammar)))
            }
            Effect::Deny => {
                self.occurrence(program, patterns).map(|occurrence| ArgumentPattern::Occurrence(Box::new(occurrence)))
            }
        }
    }

    fn grammar(self, program: Syntax, patterns: &Patterns) -> Result<Grammar, PolicyError> {
        let Self {
            syntax,
            negative_numbers,
            before_subcommand,
            subcommand,
            flags,
            conflicts,
            required,
            positionals,
            after_double_dash,
        } = self;
        let syntax = syntax.map_or(program, |syntax| syntax.into_inner().0);
        let subcommand = words(subcommand)?;
        let negatives = negative_numbers.as_ref().is_some_and(|negative| *negative.get_ref());
        let reader = Reader { patterns, syntax, negatives };
        if let Some(key) = &negative_numbers
            && syntax == Syntax::None
        {
            let message = "with `syntax = \"none\"` every argument is an operand, so this would do nothing";
            return Err(PolicyError::new(key.span(), message).help("leave it out"));
        }
        let before = match before_subcommand {
            None => Section::default(),
            Some(before) if subcommand.is_empty() => {
                let message = "`before-subcommand` needs a `subcommand` to stand before";
                return Err(PolicyError::new(before.span(), message).help("name it, or move the flags to `flags`"));
            }
            Some(before) => {
                let Table(BeforeTable { flags, conflicts, required }) = before.into_inner();
                Section { flags: reader.grouped(flags, conflicts, required)?, slots: Vec::new() }
            }
        };
        let flags = flags.map(Spanned::into_inner).unwrap_or_default();
        let main = Section { flags: reader.grouped(flags, conflicts, required)?, slots: slots(positionals, patterns)? };
        let after = match after_double_dash {
            None => None,
            Some(after) if syntax == Syntax::None => {
                let message = "with `syntax = \"none\"` a `--` is an operand like any other";
                return Err(PolicyError::new(after.span(), message).help("leave it out, or choose another syntax"));
            }
            Some(after) => {
                let span = after.span();
                let Table(AfterTable { flags, conflicts, required, positionals }) = after.into_inner();
                let positionals = positionals.map(|slots| Spanned::new(span, slots));
                Some(Section {
                    flags: reader.grouped(flags, conflicts, required)?,
                    slots: slots(positionals, patterns)?,
                })
            }
        };
        Ok(Grammar { syntax, negative_numbers: negatives, before, subcommand, main, after })
    }

    /// Of a rule that denies: it names a subcommand and options.
    fn occurrence(self, program: Syntax, patterns: &Patterns) -> Result<Occurrence, PolicyError> {
        let Self {
            syntax,
            negative_numbers,
            before_subcommand,
            subcommand,
            flags,
            conflicts,
            required,
            positionals,
            after_double_dash,
        } = self;
        let useless = [
            ("negative-numbers", negative_numbers.map(|key| key.span())),
            ("before-subcommand", before_subcommand.map(|key| key.span())),
            ("conflicts", conflicts.map(|key| key.span())),
            ("required", required.map(|key| key.span())),
            ("positionals", positionals.map(|key| key.span())),
            ("after-double-dash", after_double_dash.map(|key| key.span())),
        ];
        for (key, span) in useless {
            if let Some(span) = span {
                let message = format!("`{key}` would do nothing in a rule that denies");
                let help = "such a rule names a `subcommand`, or `flags` that deny wherever they occur, or both";
                return Err(PolicyError::new(span, message).help(help));
            }
        }
        let place = syntax.as_ref().map(Spanned::span);
        let syntax = syntax.map_or(program, |syntax| syntax.into_inner().0);
        let subcommand = words(subcommand)?;
        let flags = flags.map(Spanned::into_inner).unwrap_or_default();
        if subcommand.is_empty() && flags.is_empty() {
            let message = "the rule names neither a subcommand nor a flag, so it would deny everything";
            let help = "name one, or leave all keys about arguments out to deny everything";
            return Err(PolicyError::new(place.unwrap_or_default(), message).help(help));
        }
        let flags = Reader { patterns, syntax, negatives: false }.denied(flags)?;
        Ok(Occurrence { syntax, subcommand, names: flags })
    }
}

/// The words of a subcommand.
fn words(key: Option<Spanned<Strings>>) -> Result<Vec<String>, PolicyError> {
    let Some(key) = key else { return Ok(Vec::new()) };
    let span = key.span();
    let Strings(words) = key.into_inner();
    let bad = |word: &str| word.is_empty() || word.starts_with('-') || word.contains('\0');
    if words.is_empty() || words.iter().any(|word| bad(word.get_ref())) {
        let message = "a subcommand is one or several words that do not begin with `-`";
        return Err(PolicyError::new(span, message).help("write \"status\", or [\"stash\", \"list\"]"));
    }
    Ok(words.into_iter().map(Spanned::into_inner).collect())
}

/// Operands.
fn slots(key: Option<Spanned<Slots>>, patterns: &Patterns) -> Result<Vec<Slot>, PolicyError> {
    const MAX: usize = 16;
    let Some(key) = key else { return Ok(Vec::new()) };
    let span = key.span();
    let Slots(tables) = key.into_inner();
    if tables.len() > MAX {
        let message = format!("at most {MAX} kinds of operands can be listed");
        return Err(PolicyError::new(span, message).help("give some of them one type"));
    }
    let mut slots = Vec::with_capacity(tables.len());
    for table in tables {
        let place = if table.span().is_empty() { span.clone() } else { table.span() };
        let Table(table) = table.into_inner();
        let (value, min, max) = values::operand(table, patterns)?;
        let most = Request::MAX_ARGUMENTS as u64;
        let count = |count: Option<u64>, unset: usize| match count {
            None => Some(unset),
            Some(count) => usize::try_from(count).ok().filter(|_| count <= most),
        };
        let (Some(min), Some(max)) = (count(min, 0), count(max, usize::MAX)) else {
            let message = format!("a command has at most {most} arguments");
            return Err(PolicyError::new(place, message).help("ask for fewer"));
        };
        if min > max || max == 0 {
            let message = "no number of operands is at least `min`, at most `max` and more than zero";
            return Err(PolicyError::new(place, message).help("correct one of them, or leave the operand out"));
        }
        slots.push(Slot { value, min, max });
    }
    Ok(slots)
}
