//! What holds for all policies and requests.

use std::time::Duration;

use proptest::prelude::*;

use super::{decide, git};
use crate::grammar::Place;
use crate::testing::{effect, pattern, rule_text, words};
use crate::{ArgumentPattern, Decision, Effect, LimitRequest, Policy, Request, paths};

/// A rule without its id: what it fits, what it does, what it narrows.
#[derive(Debug, Clone)]
struct Sketch {
    number: usize,
    pattern: ArgumentPattern,
    effect: Effect,
    wall: Option<u64>,
    network: bool,
    write: Option<&'static str>,
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let one = (pattern(), effect(), prop::option::of(1..30_u64), any::<bool>(), write());
    prop::collection::vec(one, 1..8).prop_map(|sketches| {
        let numbered = sketches.into_iter().enumerate();
        numbered
            .map(|(number, (pattern, effect, wall, network, write))| Sketch {
                number,
                pattern,
                effect,
                wall,
                network,
                write,
            })
            .collect()
    })
}

/// What a rule lets commands write; lists that have something in common and others.
fn write() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(&["", "\".\"", "\"a\"", "\"a/b\", \"c\"", "\"c\", \"/x/y\"", "\"/x\""][..]))
}

fn policy(sketches: &[Sketch]) -> Policy {
    let mut text =
        "version = 1\nconfinement = { network = \"host\", write = [\".\", \"/x\"] }\n[[program]]\nname = \"git\"\n"
            .to_owned();
    for Sketch { number, pattern, effect, wall, network, write } in sketches {
        text += &rule_text(*number, pattern, *effect);
        if *effect != Effect::Deny {
            text += &wall.map_or_else(String::new, |wall| format!("limits.wall = \"{wall}s\"\n"));
            text += if *network { "" } else { "network = \"none\"\n" };
            text += &write.map_or_else(String::new, |write| format!("write = [{write}]\n"));
        }
    }
    Policy::parse("policy.toml", &text).unwrap()
}

fn request(arguments: &[String], network: bool, wall: Option<u64>) -> Request {
    let limits = LimitRequest { wall: wall.map(Duration::from_secs), ..LimitRequest::default() };
    Request { network, ..git([]).args(arguments).limits(limits) }
}

/// Allow < ask < deny.
fn strictness(decision: &Decision) -> u8 {
    match decision {
        Decision::Allow(_) => 0,
        Decision::Ask(_) => 1,
        Decision::Deny(_) => 2,
    }
}

/// The decision without what names places in the file.
fn without_places(decision: Decision) -> Decision {
    match decision {
        Decision::Allow(mut allowed) => {
            allowed.policy.clear();
            Decision::Allow(allowed)
        }
        Decision::Ask(mut problem) => {
            problem.advice = None;
            Decision::Ask(problem)
        }
        Decision::Deny(mut problem) => {
            problem.advice = None;
            Decision::Deny(problem)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_order_of_rules_does_not_matter(
        (rules, shuffled) in sketches().prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        arguments in words(),
        network in any::<bool>(),
        wall in prop::option::of(0..35_u64),
    ) {
        let request = request(&arguments, network, wall);
        prop_assert_eq!(
            without_places(decide(&policy(&rules), &request)),
            without_places(decide(&policy(&shuffled), &request)),
        );
    }

    #[test]
    fn a_further_rule_that_denies_never_widens(rules in sketches(), extra in pattern(), arguments in words()) {
        let request = request(&arguments, false, None);
        let before = decide(&policy(&rules), &request);
        let mut more = rules.clone();
        let fits = extra.fits(&arguments, &Place::default()).is_ok();
        more.push(Sketch { number: rules.len(), pattern: extra, effect: Effect::Deny, wall: None, network: true, write: None });
        let after = decide(&policy(&more), &request);
        prop_assert!(strictness(&after) >= strictness(&before));
        prop_assert!(!fits || matches!(after, Decision::Deny(_)));
        if let (Decision::Allow(before), Decision::Allow(after)) = (before, after) {
            prop_assert_eq!((before.limits(), before.rules(), before.confinement()), (after.limits(), after.rules(), after.confinement()));
        }
    }

    #[test]
    fn no_further_rule_allows_what_a_rule_denies_or_asks_about(
        rules in sketches(),
        extra in (pattern(), effect(), prop::option::of(1..30_u64), any::<bool>(), write()),
        arguments in words(),
    ) {
        let request = request(&arguments, false, None);
        let fitting = rules.iter().filter(|rule| rule.pattern.fits(&arguments, &Place::default()).is_ok());
        let strictest = fitting.map(|rule| rule.effect).max();
        let (pattern, effect, wall, network, write) = extra;
        let mut more = rules.clone();
        more.push(Sketch { number: rules.len(), pattern, effect, wall, network, write });
        match (strictest, decide(&policy(&more), &request)) {
            (Some(Effect::Deny), decision) => prop_assert!(matches!(decision, Decision::Deny(_))),
            (Some(Effect::Ask), decision) => prop_assert!(!matches!(decision, Decision::Allow(_))),
            (Some(Effect::Allow) | None, _) => {}
        }
    }

    /// A further rule that allows what was allowed already can only take away.
    #[test]
    fn what_is_allowed_gets_no_more_from_a_further_rule(
        rules in sketches(),
        extra in (pattern(), prop::option::of(1..30_u64), any::<bool>(), write()),
        arguments in words(),
        network in any::<bool>(),
    ) {
        let request = request(&arguments, network, None);
        let (pattern, wall, rule_network, write) = extra;
        let mut more = rules.clone();
        more.push(Sketch { number: rules.len(), pattern, effect: Effect::Allow, wall, network: rule_network, write });
        if let (Decision::Allow(before), Decision::Allow(after)) =
            (decide(&policy(&rules), &request), decide(&policy(&more), &request))
        {
            prop_assert!(after.limits().wall <= before.limits().wall);
            prop_assert!(after.network() <= before.network());
            let (before, after) = (&before.confinement().write, &after.confinement().write);
            prop_assert!(after.iter().all(|path| before.iter().any(|outer| paths::is_within(path, outer))));
        }
    }

    #[test]
    fn the_verdict_is_that_of_the_strictest_rule_that_fits(rules in sketches(), arguments in words()) {
        let fitting = rules.iter().filter(|rule| rule.pattern.fits(&arguments, &Place::default()).is_ok());
        let wanted = fitting.map(|rule| rule.effect).max().unwrap_or(Effect::Deny);
        let decision = decide(&policy(&rules), &request(&arguments, false, None));
        prop_assert_eq!(strictness(&decision), wanted as u8);
    }

    /// Limits never exceed the policy's, and zero never runs (row X4).
    #[test]
    fn limits_are_only_tightened(rules in sketches(), arguments in words(), wall in prop::option::of(0..35_u64)) {
        let policy = policy(&rules);
        if let Decision::Allow(allowed) = decide(&policy, &request(&arguments, false, wall)) {
            let rules: Vec<_> = allowed.rules().iter().map(|id| policy.rule(id).unwrap()).collect();
            prop_assert!(rules.iter().all(|rule| allowed.limits().wall <= rule.limits.wall));
            prop_assert!(!allowed.limits().wall.is_zero());
            prop_assert!(wall.is_none_or(|wall| allowed.limits().wall == Duration::from_secs(wall)));
        }
    }
}
