//! Rules that can both allow a command must not set a variable to different values.

use std::collections::BTreeMap;

use super::Span;
use crate::names::VariableName;
use crate::rules::Rules;
use crate::show::excerpt;
use crate::{Effect, PolicyError, Rule};

/// A rule, and the value that it pins.
type Pin<'a> = (usize, &'a Rule, &'a str);

/// Refuses two rules that overlap, don't deny, and pin a variable to different values. `spans` are those of the
/// rules' ids.
///
/// Sorted, the patterns that overlap are neighbours: all arguments that begin with `a` follow `a` itself. So it is
/// enough to keep, per variable, the chain of patterns that the last one lies in, and to compare with its end; the
/// chain agrees, or it would have been refused. Policies can be long, and this is not quadratic.
pub(super) fn check(rules: &Rules, spans: &[Span]) -> Result<(), PolicyError> {
    let mut chains: BTreeMap<&VariableName, Vec<Pin<'_>>> = BTreeMap::new();
    for (index, rule) in rules.sorted().filter(|(_, rule)| rule.effect != Effect::Deny) {
        for (name, value) in &rule.set {
            let chain = chains.entry(name).or_default();
            while chain.pop_if(|(_, outer, _)| !outer.arguments.overlaps(&rule.arguments)).is_some() {}
            let this = (index, rule, value.as_str());
            match chain.last() {
                Some(outer) if outer.2 != value => return Err(conflict(*outer, this, name, spans)),
                _ => chain.push(this),
            }
        }
    }
    Ok(())
}

fn conflict(one: Pin<'_>, other: Pin<'_>, name: &VariableName, spans: &[Span]) -> PolicyError {
    let ((_, earlier, _), (index, later, _)) = if one.0 < other.0 { (one, other) } else { (other, one) };
    let message = format!(
        "`{}` and `{}` (line {}) can both allow a command, and set `{}` to different values",
        later.id,
        earlier.id,
        earlier.line,
        excerpt(name.as_str())
    );
    let help = "set the variable for the whole program, or make the rules' arguments differ";
    PolicyError::new(spans.get(index).cloned().unwrap_or_default(), message).help(help)
}
