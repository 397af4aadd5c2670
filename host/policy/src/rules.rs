//! The rules of a program, arranged so that those that fit are found without looking at each.

use crate::Rule;

/// Rules in the order of the file, and sorted by what they say of arguments.
///
/// A policy can have thousands of rules with thousands of examples, so that looking at every rule for every example
/// would take minutes.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    list: Vec<Rule>,
    /// Indices of the list, sorted by [`ArgumentPattern::sort_key`](crate::ArgumentPattern::sort_key).
    sorted: Vec<usize>,
    /// Arguments that the longest pattern names.
    longest: usize,
}

impl Rules {
    pub(crate) fn new(list: Vec<Rule>) -> Self {
        let mut sorted: Vec<usize> = (0..list.len()).collect();
        sorted.sort_by_key(|index| list[*index].arguments.sort_key());
        let longest = list.iter().map(|rule| rule.arguments.sort_key().0.len()).max().unwrap_or(0);
        Self { list, sorted, longest }
    }

    /// In the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.list.iter()
    }

    /// Sorted by pattern; each with its place in the file's order.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (usize, &Rule)> {
        self.sorted.iter().map(|index| (*index, &self.list[*index]))
    }

    /// The rules that fit these arguments: those that want exactly them, and those that want a beginning of them.
    pub(crate) fn fitting<'a>(&'a self, arguments: &'a [String]) -> impl Iterator<Item = &'a Rule> {
        let most = self.longest.min(arguments.len());
        let leading = (0..=most).flat_map(move |length| self.of((&arguments[..length], false)));
        leading.chain(self.of((arguments, true)))
    }

    fn of(&self, key: (&[String], bool)) -> impl Iterator<Item = &Rule> {
        let key_of = |index: &usize| self.list[*index].arguments.sort_key();
        let start = self.sorted.partition_point(|index| key_of(index) < key);
        let rest = &self.sorted[start..];
        let end = rest.partition_point(|index| key_of(index) == key);
        rest[..end].iter().map(|index| &self.list[*index])
    }
}

#[cfg(test)]
mod tests;
