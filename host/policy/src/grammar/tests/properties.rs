//! What holds for all grammars and arguments.

use proptest::prelude::*;

use super::owned;
use crate::grammar::{Place, Stop};
use crate::{Decision, Effect, Facts, Identity, Policy, ProgramFact, Request, Rule};

/// Keys of rules that allow or ask.
const GRAMMARS: &[&str] = &[
    "flags = { \"-a\" = {}, \"-o, --out\" = { value = \"path-write\" } }\npositionals = { type = \"text\", max = 2 }",
    "subcommand = \"s\"\nflags = { \"-a\" = { repeat = true }, \"--all\" = {} }\nconflicts = [[\"-a\", \"--all\"]]",
    "subcommand = [\"s\", \"t\"]\nbefore-subcommand = { flags = { \"-C\" = { value = \"path-read\" } } }",
    "syntax = \"posix\"\nflags = { \"-n\" = { value = \"int\" } }\npositionals = [{ type = \"text\", min = 1 }, { type = \"word\", min = 1, max = 1 }]",
    "syntax = \"none\"\npositionals = { type = \"word\" }",
    "syntax = \"long-single-dash\"\nflags = { \"-out\" = { value = \"text\" }, \"-NUMBER\" = { value = \"int\", max = 9 } }",
    "flags = { \"-a\" = {} }\nafter-double-dash = { flags = { \"-o\" = {} }, positionals = { type = \"text\" } }",
    "negative-numbers = true\npositionals = { type = \"int\" }\nflags = { \"-a\" = { value = \"text\", optional = true } }\nrequired = [\"-a\"]",
    "leading-arguments = [\"s\"]",
    "leading-arguments = [\"-a\", \"-o\"]",
    "exact-arguments = [\"-a\", \"x\", \"s\"]",
    "",
];

/// Keys of rules that deny.
const OCCURRENCES: &[&str] = &[
    "flags = { \"-a\" = {} }",
    "flags = { \"-o, --out\" = {} }",
    "subcommand = \"s\"",
    "subcommand = \"s\"\nflags = { \"--all\" = {} }",
    "syntax = \"long-single-dash\"\nflags = { \"-out\" = {} }",
    "leading-arguments = [\"s\", \"t\"]",
];

fn sketch() -> impl Strategy<Value = (Effect, &'static str)> {
    prop_oneof![
        3 => (prop::sample::select(&[Effect::Allow, Effect::Allow, Effect::Ask][..]), prop::sample::select(GRAMMARS)),
        1 => prop::sample::select(OCCURRENCES).prop_map(|keys| (Effect::Deny, keys)),
    ]
}

fn arguments() -> impl Strategy<Value = Vec<String>> {
    let tokens = &[
        "s", "t", "-a", "-aa", "-o", "-ox", "--out", "--out=x", "--ou", "-out", "--all", "--al", "-n", "-n3", "-3",
        "--", "-", "x", "../x", "/etc", "-C", "",
    ][..];
    let token = prop_oneof![8 => prop::sample::select(tokens).prop_map(str::to_owned), 1 => "[-=a-zé\u{202e}]{0,6}"];
    prop::collection::vec(token, 0..6)
}

fn policy(rules: &[(Effect, &str)]) -> Policy {
    let mut text = "version = 1\n[[program]]\nname = \"x\"\n".to_owned();
    for (number, (effect, keys)) in rules.iter().enumerate() {
        let effect = effect.as_str();
        text += &format!("[[program.rule]]\nid = \"r{number}\"\ndecision = \"{effect}\"\nwhy = \"w\"\n{keys}\n");
    }
    Policy::parse("policy.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn decide(policy: &Policy, arguments: &[String]) -> Decision {
    let facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/x", 1, 2)));
    policy.decide(&Request::new("x").args(arguments).validate().unwrap(), &facts)
}

fn strictness(decision: &Decision) -> u8 {
    match decision {
        Decision::Allow(_) => 0,
        Decision::Ask(_) => 1,
        Decision::Deny(_) => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Every rule that speaks of the arguments is found, and the strictest wins.
    #[test]
    fn the_verdict_is_that_of_the_strictest_rule_alone(rules in prop::collection::vec(sketch(), 1..6), arguments in arguments()) {
        let alone = rules.iter().map(|(effect, keys)| {
            // Alone, a rule that denies and one that does not fit come to the same: the other rule tells them apart.
            let decision = decide(&policy(&[(*effect, *keys), (Effect::Allow, "")]), &arguments);
            let silent = decide(&policy(&[(*effect, *keys)]), &arguments);
            match effect {
                Effect::Allow | Effect::Ask => Some(silent).filter(|decision| strictness(decision) < 2),
                Effect::Deny => Some(decision).filter(|decision| strictness(decision) == 2),
            }
        });
        let wanted = alone.flatten().map(|decision| strictness(&decision)).max().unwrap_or(2);
        prop_assert_eq!(strictness(&decide(&policy(&rules), &arguments)), wanted);
    }

    #[test]
    fn a_further_rule_never_widens_a_denial_by_a_rule(
        rules in prop::collection::vec(sketch(), 1..5),
        extra in sketch(),
        arguments in arguments(),
    ) {
        let before = decide(&policy(&rules), &arguments);
        let after = decide(&policy(&[rules, vec![extra]].concat()), &arguments);
        match before {
            Decision::Deny(problem) if problem.code == crate::Code::PolicyRule => {
                prop_assert!(matches!(after, Decision::Deny(_)));
            }
            Decision::Ask(_) => prop_assert!(!matches!(after, Decision::Allow(_))),
            Decision::Allow(_) | Decision::Deny(_) => {}
        }
    }

    /// The nearest rule is found without looking at each; looking at each comes to the same.
    #[test]
    fn the_nearest_rule_is_that_in_which_the_arguments_get_furthest(
        rules in prop::collection::vec(sketch(), 1..8),
        arguments in arguments(),
    ) {
        let policy = policy(&rules);
        let entry = policy.programs().next().unwrap();
        let place = Place { write: &[".".to_owned()], ..Place::default() };
        if !entry.rules.fitting(&arguments, &place).is_empty() {
            return Ok(());
        }
        let stops = entry.rules.iter().filter(|rule| rule.effect != Effect::Deny);
        let furthest = stops
            .map(|rule| (rule, rule.fits(&arguments, &place).unwrap_err()))
            .max_by(|(rule, a), (other, b)| a.at.cmp(&b.at).then_with(|| other.id.cmp(&rule.id)));
        let id = |found: Option<(&Rule, Stop<'_>)>| found.map(|(rule, stop)| (rule.id.clone(), stop.at));
        prop_assert_eq!(id(entry.nearest(&arguments, &place)), id(furthest));
    }

    /// Parts stand in order, are texts of their arguments, and of what is allowed nothing is left out.
    #[test]
    fn the_parsed_view_covers_what_was_decided(rules in prop::collection::vec(sketch(), 1..5), arguments in arguments()) {
        let policy = policy(&rules);
        let request = Request::new("x").args(&arguments);
        let facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/x", 1, 2)));
        let valid = request.validate().unwrap();
        let decision = policy.decide(&valid, &facts);
        let Some(parsed) = policy.parsed(&valid, &facts) else {
            return Ok(());
        };
        prop_assert!(parsed.parts.is_sorted_by_key(|part| part.argument));
        prop_assert!(parsed.parts.iter().all(|part| arguments[part.argument].contains(&part.text)));
        match decision {
            Decision::Allow(allowed) => {
                prop_assert!(allowed.rules().contains(&parsed.rule) && parsed.stopped.is_none());
                prop_assert!((0..arguments.len()).all(|index| parsed.parts.iter().any(|part| part.argument == index)));
            }
            Decision::Ask(problem) => prop_assert_eq!(problem.rule, Some(parsed.rule)),
            Decision::Deny(problem) => {
                prop_assert_eq!(problem.rule, Some(parsed.rule));
                let at = problem.at.and_then(|at| usize::try_from(at).ok());
                prop_assert_eq!(parsed.stopped.and_then(|stop| stop.argument), at);
            }
        }
    }
}

/// Looking at tens of thousands of arguments a few times is enough.
#[test]
fn as_many_arguments_as_a_request_can_have_are_judged() {
    let rules: Vec<(Effect, &str)> = GRAMMARS.iter().map(|keys| (Effect::Allow, *keys)).collect();
    let all: Vec<(Effect, &str)> = OCCURRENCES.iter().map(|keys| (Effect::Deny, *keys)).chain(rules).collect();
    let policy = policy(&all);
    for token in ["-a", "x", "--", "-o", "s", "-C"] {
        let _ = decide(&policy, &owned(&vec![token; Request::MAX_ARGUMENTS]));
    }
}
