//! Where no rule fits: which come near, found without looking at each.

use crate::{Effect, Rule};

/// Rules that don't deny, by how far arguments get in them. Of equals, only the one with the smallest id is of interest.
#[derive(Debug, Clone)]
pub(super) struct Near {
    /// Indices of the rules with plain patterns, sorted by their words. `smallest[k][i]` is the rule with the smallest id
    /// of the 2^k that begin at the i-th of `smallest[0]`.
    smallest: Vec<Vec<usize>>,
    /// Those that let options stand before the subcommand.
    before: Vec<usize>,
    /// Of those that don't: without their subcommand, nothing gets into one of them.
    subcommand: Option<usize>,
}

impl Near {
    pub(super) fn new(list: &[Rule]) -> Self {
        let silent = list.iter().enumerate().filter(|(_, rule)| rule.effect != Effect::Deny);
        let (mut plain, mut before, mut subcommand) = (Vec::new(), Vec::new(), None::<usize>);
        for (index, rule) in silent {
            if rule.arguments.sort_key().is_some() {
                plain.push(index);
            } else if rule.arguments.has_before() {
                before.push(index);
            } else if rule.arguments.first_word().is_some() {
                subcommand = Some(subcommand.map_or(index, |other| smaller(list, index, other)));
            }
        }
        plain.sort_by_key(|index| words(list, *index));
        let mut smallest = vec![plain];
        while let Some(row) = smallest.last() {
            let width = 1 << (smallest.len() - 1);
            if row.len() <= width {
                break;
            }
            let next = row.iter().zip(&row[width..]).map(|(one, other)| smaller(list, *one, *other)).collect();
            smallest.push(next);
        }
        Self { smallest, before, subcommand }
    }

    /// The plain pattern of which the arguments have the longest beginning.
    pub(super) fn plain(&self, list: &[Rule], arguments: &[String]) -> Option<usize> {
        let sorted = self.smallest.first()?;
        // In this order, a neighbour of the arguments' own place has it.
        let place = sorted.partition_point(|index| words(list, *index) < arguments);
        let neighbours = [place.checked_sub(1), Some(place)].into_iter().flatten().filter_map(|at| sorted.get(at));
        let common = |index: &usize| words(list, *index).iter().zip(arguments).take_while(|(a, b)| a == b).count();
        let beginning = &arguments[..neighbours.map(common).max()?];
        let start = sorted.partition_point(|index| words(list, *index) < beginning);
        let count = sorted[start..].partition_point(|index| words(list, *index).starts_with(beginning));
        let level = count.checked_ilog2()?;
        let row = self.smallest.get(usize::try_from(level).ok()?)?;
        Some(smaller(list, *row.get(start)?, *row.get(start + count - (1 << level))?))
    }

    /// Those of a subcommand that may be near without it.
    pub(super) fn others(&self) -> impl Iterator<Item = &usize> {
        self.before.iter().chain(&self.subcommand)
    }
}

/// The words of a plain pattern.
fn words(list: &[Rule], index: usize) -> &[String] {
    list[index].arguments.sort_key().map_or(&[], |(words, _)| words)
}

/// Of two rules, the one with the smaller id.
fn smaller(list: &[Rule], one: usize, other: usize) -> usize {
    if list[one].id <= list[other].id { one } else { other }
}
