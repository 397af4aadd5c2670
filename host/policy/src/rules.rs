//! The rules of a program, arranged so that those that fit are found without looking at each.

use std::collections::BTreeMap;

use crate::grammar::{Place, Stop, first_words};
use crate::names::VariableName;
use crate::{Effect, Rule};

mod near;

use near::Near;

/// Rules in the order of the file, and sorted by what they say of arguments.
///
/// A policy can have thousands of rules with thousands of examples, so that looking at every rule for every example
/// would take minutes.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    list: Vec<Rule>,
    /// Indices of the rules with plain patterns, sorted by
    /// [`ArgumentPattern::sort_key`](crate::ArgumentPattern::sort_key).
    sorted: Vec<usize>,
    /// Arguments that the longest plain pattern names.
    longest: usize,
    /// The others, by the first word of their subcommand.
    by_word: BTreeMap<String, Vec<usize>>,
    /// Those that have none.
    wordless: Vec<usize>,
    /// What the nearest rule is found by, where none fits.
    near: Near,
}

impl Rules {
    pub(crate) fn new(list: Vec<Rule>) -> Self {
        let key = |index: &usize| list[*index].arguments.sort_key();
        let (mut sorted, others): (Vec<usize>, Vec<usize>) = (0..list.len()).partition(|index| key(index).is_some());
        sorted.sort_by_key(key);
        let longest = sorted.iter().filter_map(key).map(|(words, _)| words.len()).max().unwrap_or(0);
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut wordless = Vec::new();
        for index in others {
            match list[index].arguments.first_word() {
                Some(word) => by_word.entry(word.to_owned()).or_default().push(index),
                None => wordless.push(index),
            }
        }
        let near = Near::new(&list);
        Self { list, sorted, longest, by_word, wordless, near }
    }

    /// In the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.list.iter()
    }

    /// Those with plain patterns, sorted by pattern, then the others; each with its place in the file's order.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (usize, &Rule)> {
        let others = self.by_word.values().flatten().chain(&self.wordless);
        self.sorted.iter().chain(others).map(|index| (*index, &self.list[*index]))
    }

    /// The rules that fit these arguments.
    pub(crate) fn fitting<'a>(&'a self, arguments: &[String], place: &Place<'_>) -> Vec<&'a Rule> {
        // Plain patterns: those that want exactly these, and those that want a beginning of them.
        let most = self.longest.min(arguments.len());
        let leading = (0..=most).flat_map(|length| self.of((&arguments[..length], false)));
        let mut fitting: Vec<&Rule> = leading.chain(self.of((arguments, true))).collect();
        // Grammars are tried; those of another subcommand need not be.
        let mut tried: Vec<&str> = Vec::new();
        let mut attempt = |indices: &[usize]| {
            let rules = indices.iter().map(|index| &self.list[*index]);
            fitting.extend(rules.filter(|rule| rule.fits(arguments, place).is_ok()));
        };
        if !self.by_word.is_empty() {
            for index in first_words(arguments) {
                let word = arguments[index].as_str();
                if let Some(rules) = self.by_word.get(word)
                    && !tried.contains(&word)
                {
                    tried.push(word);
                    attempt(rules);
                }
            }
        }
        attempt(&self.wordless);
        fitting
    }

    /// Rules among which the nearest is, for arguments that none fits.
    pub(crate) fn near(&self, arguments: &[String]) -> impl Iterator<Item = &Rule> {
        let plain = self.near.plain(&self.list, arguments);
        let of_word = first_words(arguments).filter_map(|index| self.by_word.get(&arguments[index])).flatten();
        let others = self.near.others().chain(&self.wordless);
        let indices = of_word.chain(others).copied().chain(plain);
        indices.map(|index| &self.list[index]).filter(|rule| rule.effect != Effect::Deny)
    }

    fn of(&self, key: (&[String], bool)) -> impl Iterator<Item = &Rule> {
        let key_of = |index: &usize| self.list[*index].arguments.sort_key();
        let start = self.sorted.partition_point(|index| key_of(index) < Some(key));
        let rest = &self.sorted[start..];
        let end = rest.partition_point(|index| key_of(index) == Some(key));
        rest[..end].iter().map(|index| &self.list[*index])
    }
}

impl Rule {
    /// Whether the rule speaks of these arguments; if not, where it stopped. The place is that of the program.
    pub(crate) fn fits(&self, arguments: &[String], place: &Place<'_>) -> Result<(), Stop<'_>> {
        self.arguments.fits(arguments, &self.place(place))
    }

    /// The program's place, with what this rule lets be written.
    pub(crate) fn place<'a>(&'a self, program: &Place<'a>) -> Place<'a> {
        Place { write: self.write.as_deref().unwrap_or(program.write), ..*program }
    }
}

/// Two rules that set a variable to different values.
pub(crate) struct Contradiction<'a> {
    pub(crate) one: &'a Rule,
    pub(crate) other: &'a Rule,
    pub(crate) name: &'a VariableName,
}

/// What rules set together.
pub(crate) fn pinned<'a>(rules: &[&'a Rule]) -> Result<BTreeMap<&'a VariableName, &'a str>, Contradiction<'a>> {
    let mut pinned: BTreeMap<&VariableName, (&Rule, &str)> = BTreeMap::new();
    for rule in rules {
        for (name, value) in &rule.set {
            if let Some((one, theirs)) = pinned.insert(name, (rule, value))
                && theirs != value
            {
                return Err(Contradiction { one, other: rule, name });
            }
        }
    }
    Ok(pinned.into_iter().map(|(name, (_, value))| (name, value)).collect())
}

#[cfg(test)]
mod tests;
