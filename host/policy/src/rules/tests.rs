use proptest::prelude::*;

use crate::grammar::Place;
use crate::testing::{effect, pattern, rule_text, words};
use crate::{ArgumentPattern, Effect, Policy, Rule};

fn ids<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<&'a str> {
    let mut ids: Vec<&str> = rules.map(|rule| rule.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

proptest! {
    /// The rules that are found are those that one would find by trying each.
    #[test]
    fn finding_rules_and_trying_each_come_to_the_same(
        rules in prop::collection::vec((pattern(), effect()), 1..12),
        arguments in words(),
    ) {
        let mut text = "version = 1\n[[program]]\nname = \"git\"\n".to_owned();
        for (number, (pattern, effect)) in rules.iter().enumerate() {
            text += &rule_text(number, pattern, *effect);
        }
        let policy = Policy::parse("policy.toml", &text).unwrap();
        let rules = &policy.programs().next().unwrap().rules;
        let tried = ids(rules.iter().filter(|rule| rule.arguments.fits(&arguments, &Place::default()).is_ok()));
        prop_assert_eq!(ids(rules.fitting(&arguments, &Place::default()).into_iter()), tried);
    }

    /// Of the plain patterns, the one is found in which the arguments get furthest, and of several the smallest id.
    #[test]
    fn the_nearest_plain_pattern_is_found(
        rules in prop::collection::vec((pattern(), effect()), 1..40),
        arguments in words(),
    ) {
        let mut text = "version = 1\n[[program]]\nname = \"git\"\n".to_owned();
        text += &rule_text(99, &ArgumentPattern::Exact(vec!["d".to_owned()]), Effect::Allow);
        let silent = rules.iter().filter(|(pattern, _)| pattern.fits(&arguments, &Place::default()).is_err());
        for (number, (pattern, effect)) in silent.enumerate() {
            text += &rule_text(number, pattern, *effect);
        }
        let policy = Policy::parse("policy.toml", &text).unwrap();
        let entry = policy.programs().next().unwrap();
        let silent = entry.rules.iter().filter(|rule| rule.effect != Effect::Deny);
        let stops = silent.map(|rule| (rule, rule.fits(&arguments, &Place::default()).unwrap_err().at));
        let furthest = stops.max_by(|(rule, a), (other, b)| a.cmp(b).then_with(|| other.id.cmp(&rule.id)));
        let nearest = entry.nearest(&arguments, &Place::default());
        prop_assert_eq!(nearest.map(|(rule, stop)| (&rule.id, stop.at)), furthest.map(|(rule, at)| (&rule.id, at)));
    }
}
