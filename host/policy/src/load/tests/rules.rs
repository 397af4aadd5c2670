//! Rules, and what they say together.

use proptest::prelude::*;

use super::{assert_fails, assert_report, error, rule};
use crate::grammar::Place;
use crate::testing::{effect, pattern, rule_text};
use crate::{Effect, Policy};

#[test]
fn an_empty_why() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
rule = [{ id = "a", decision = "allow", why = " \t" }]
"#,
        r#"error: say why: it is shown with the policy, in records, and to guests that the rule stops
 --> policy.toml:4:47
  |
4 | rule = [{ id = "a", decision = "allow", why = " \t" }]
  |                                               ^^^^^
  |
  = help: write a few words, such as "shows what changed""#,
    );
}

#[test]
fn an_unknown_decision() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
rule = [{ id = "a", decision = "permit", why = "w" }]
"#,
        r#"error: unknown value `permit`, expected one of `allow`, `ask`, `deny`
 --> policy.toml:4:32
  |
4 | rule = [{ id = "a", decision = "permit", why = "w" }]
  |                                ^^^^^^^^"#,
    );
}

#[test]
fn a_rule_id_with_capitals() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
rule = [{ id = "Status", decision = "allow", why = "w" }]
"#,
        r#"error: the rule id `Status` is not 1 to 64 of a-z, 0-9, `-`, `.`, `/`, `_`
 --> policy.toml:4:16
  |
4 | rule = [{ id = "Status", decision = "allow", why = "w" }]
  |                ^^^^^^^^"#,
    );
}

#[test]
fn an_empty_rule_id() {
    assert_fails(
        r#"version = 1
[[program]]
name = "git"
rule = [{ id = "", decision = "allow", why = "w" }]
"#,
        (4, 16),
        "the rule id `` is not 1 to 64 of a-z, 0-9, `-`, `.`, `/`, `_`",
    );
}

#[test]
fn a_rule_id_given_twice_in_a_program() {
    assert_report(
        &rule(
            r#"[[program.rule]]
id = "status"
decision = "ask"
why = "w"
"#,
        ),
        r#"error: the rule id `status` is already taken, in line 5
 --> policy.toml:9:6
  |
9 | id = "status"
  |      ^^^^^^^^
  |
  = help: ids are unique in a policy, since records and guests know a rule by its id"#,
    );
}

#[test]
fn a_rule_id_given_twice_in_a_policy() {
    assert_fails(
        &rule(
            r#"[[program]]
name = "wc"
[[program.rule]]
id = "status"
decision = "ask"
why = "w"
"#,
        ),
        (11, 6),
        "the rule id `status` is already taken, in line 5",
    );
}

#[test]
fn both_kinds_of_arguments() {
    assert_report(
        &rule(
            r#"leading-arguments = ["log"]
exact-arguments = ["status"]
"#,
        ),
        r#"error: a rule has either `leading-arguments` or `exact-arguments`, not both
 --> policy.toml:9:19
  |
9 | exact-arguments = ["status"]
  |                   ^^^^^^^^^^
  |
  = help: leave one out, or write two rules"#,
    );
}

#[test]
fn arguments_in_one_string() {
    assert_fails(
        &rule("leading-arguments = \"status -s\""),
        (8, 21),
        "invalid type: string \"status -s\", expected a list in `[` and `]`",
    );
}

#[test]
fn an_argument_that_is_a_number() {
    assert_fails(&rule("exact-arguments = [\"-n\", 20]"), (8, 26), "invalid type: integer `20`, expected a string");
}

#[test]
fn an_argument_with_nul() {
    assert_fails(
        &rule(r#"exact-arguments = ["a\u0000"]"#),
        (8, 20),
        "no argument contains NUL, so the rule would never fit",
    );
}

#[test]
fn a_rules_limit_above_its_program() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
limits.wall = "10s"
[[program.rule]]
id = "status"
decision = "allow"
why = "w"
limits.wall = "10001ms"
"#,
        r#"error: at most 10s can be given here
 --> policy.toml:9:15
  |
9 | limits.wall = "10001ms"
  |               ^^^^^^^^^
  |
  = help: raise the limit of the table above first, or ask for less here"#,
    );
}

#[test]
fn a_rules_network_above_its_program() {
    assert_report(
        &rule("network = \"host\""),
        r#"error: a rule can't give more network than its program has
 --> policy.toml:8:11
  |
8 | network = "host"
  |           ^^^^^^
  |
  = help: give it in [confinement] first, and take it away where it is not needed"#,
    );
}

#[test]
fn nul_in_a_value_that_a_rule_sets() {
    assert_fails(
        &rule(r#"env.set = { A = "\u0000" }"#),
        (8, 17),
        "the value of a variable can't contain NUL, which no program can receive",
    );
}

#[test]
fn limits_in_a_rule_that_denies() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
[[program.rule]]
id = "push"
decision = "deny"
why = "w"
limits.wall = "1s"
"#,
        r#"error: `push` denies, so `limits`, `network`, `write` and `env` would do nothing in it
 --> policy.toml:5:6
  |
5 | id = "push"
  |      ^^^^^^
  |
  = help: leave them out"#,
    );
}

#[test]
fn rules_that_overlap_and_set_a_variable_differently() {
    assert_report(
        &rule(
            r#"env.set = { LANG = "C" }
leading-arguments = ["log"]
[[program.rule]]
id = "log-all"
decision = "ask"
why = "w"
env.set = { LANG = "en" }
exact-arguments = ["log", "--all"]
"#,
        ),
        r#"error: `log-all` and `status` (line 5) can both allow a command, and set `LANG` to different values
  --> policy.toml:11:6
   |
11 | id = "log-all"
   |      ^^^^^^^^^
   |
   = help: set the variable for the whole program, or make the rules' arguments differ"#,
    );
}

#[test]
fn a_rule_id_is_at_most_64_bytes() {
    let with = |length: usize| rule("").replace("\"status\"", &format!("\"{}\"", "a".repeat(length)));
    assert!(Policy::parse("policy.toml", &with(64)).is_ok());
    assert_eq!(error(&with(65)).line(), 5);
}

#[test]
fn pins_that_can_never_meet_or_agree_are_fine() {
    let second = |decision: &str, arguments: &str, value: &str| {
        rule(&format!(
            "leading-arguments = [\"log\"]\nenv.set = {{ LANG = \"C\" }}\n[[program.rule]]\nid = \"second\"\n\
             decision = \"{decision}\"\nwhy = \"w\"\n{arguments}\n{value}"
        ))
    };
    for text in [
        second("allow", "leading-arguments = [\"show\"]", "env.set = { LANG = \"en\" }"),
        second("allow", "exact-arguments = []", "env.set = { LANG = \"en\" }"),
        second("allow", "leading-arguments = [\"log\", \"-n\"]", "env.set = { LANG = \"C\" }"),
        second("allow", "", "env.set = { TZ = \"UTC\" }"),
        second("deny", "leading-arguments = [\"log\", \"--output\"]", ""),
    ] {
        Policy::parse("policy.toml", &text).unwrap();
    }
}

proptest! {
    /// The check sorts; this looks at every pair.
    #[test]
    fn pins_are_refused_exactly_when_two_rules_overlap_and_differ(
        rules in prop::collection::vec((pattern(), effect(), prop::option::of(0..2_u8)), 1..8),
    ) {
        let mut text = "version = 1\n[[program]]\nname = \"git\"\n".to_owned();
        for (index, (pattern, effect, pin)) in rules.iter().enumerate() {
            text += &rule_text(index, pattern, *effect);
            match pin {
                Some(value) if *effect != Effect::Deny => text += &format!("env.set = {{ A = \"{value}\" }}\n"),
                _ => {}
            }
        }
        let conflict = rules.iter().enumerate().any(|(index, (a, effect, pin))| {
            rules[..index].iter().any(|(b, other_effect, other_pin)| {
                let neither_denies = *effect != Effect::Deny && *other_effect != Effect::Deny;
                neither_denies && a.overlaps(b) && pin.is_some() && other_pin.is_some() && pin != other_pin
            })
        });
        let refused = Policy::parse("policy.toml", &text).is_err_and(|error| error.message().contains("can both allow"));
        prop_assert_eq!(refused, conflict, "{}", text);
    }

    /// Overlap means that some arguments fit both.
    #[test]
    fn patterns_overlap_exactly_when_some_arguments_fit_both(a in pattern(), b in pattern()) {
        let fit_both = |arguments: &[String]| a.fits(arguments, &Place::default()).is_ok() && b.fits(arguments, &Place::default()).is_ok();
        // If any list fits both, one of the lists that the patterns name does.
        let witnesses = [a.sort_key().unwrap().0, b.sort_key().unwrap().0];
        prop_assert_eq!(a.overlaps(&b), witnesses.into_iter().any(fit_both));
        prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
    }
}
