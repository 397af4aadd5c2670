//! Whole grammars, held against everyday uses of their programs and against escapes through them.
//!
//! `tests/policies/NAME.toml` speaks of the program `NAME`; `tests/data` holds the samples.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use portcullis_policy::{Decision, Facts, Identity, Policy, ProgramFact, Request};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Usage {
    r#use: Vec<Use>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    id: String,
    argv: Vec<String>,
    weight: u32,
    /// `ask` = nothing in the arguments makes it safe.
    policy: Option<String>,
    /// The arguments alone can't decide it.
    #[serde(default)]
    needs_fs: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Bypasses {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    argv: Vec<String>,
    correct: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

static POLICIES: LazyLock<BTreeMap<&str, Policy>> = LazyLock::new(|| {
    let texts = [
        ("git", include_str!("policies/git.toml")),
        ("rg", include_str!("policies/rg.toml")),
        ("sort", include_str!("policies/sort.toml")),
        ("uniq", include_str!("policies/uniq.toml")),
    ];
    let parsed = texts.map(|(program, text)| (program, Policy::parse(program, text)));
    parsed.map(|(program, policy)| (program, policy.unwrap_or_else(|error| panic!("{error}")))).into()
});

fn decide(argv: &[String], env: &BTreeMap<String, String>) -> Decision {
    let place = |argument: &String| argument.replace("@WS@", "/ws").replace("@OUT@", "/out");
    let request = Request::new(&argv[0]).args(argv[1..].iter().map(place));
    let request = env.iter().fold(request, |request, (name, value)| request.env(name, place(value)));
    let mut facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/program", 1, 2)));
    facts.workspace = Some("/ws".to_owned());
    POLICIES[argv[0].as_str()].decide(&request.validate().unwrap(), &facts)
}

#[test]
fn everyday_uses_are_allowed_and_none_that_a_person_should_see() {
    let usage: Usage = toml::from_str(include_str!("data/usage.toml")).unwrap();
    let mut wrong = Vec::new();
    for Use { id, argv, weight, policy, needs_fs } in usage.r#use {
        let decision = decide(&argv, &BTreeMap::new());
        let is_right = match policy.as_deref() {
            None if needs_fs => !matches!(decision, Decision::Allow(_)),
            None => matches!(decision, Decision::Allow(_)),
            Some(policy) => policy == "ask" && !matches!(decision, Decision::Allow(_)),
        };
        if !is_right {
            wrong.push(format!("{id} (weight {weight}): {argv:?}: {decision:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_escape_through_arguments_or_environment_is_allowed() {
    let bypasses: Bypasses = toml::from_str(include_str!("data/bypasses.toml")).unwrap();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for Case { id, argv, correct, env } in bypasses.case {
        let decision = decide(&argv, &env);
        let is_right = match correct.as_str() {
            "deny" | "ask" | "strip-env" => !matches!(decision, Decision::Allow(_)),
            "allow" => matches!(decision, Decision::Allow(_)),
            // Innocent by its arguments: confinement has to hold it.
            "confine" | "inert" => continue,
            other => panic!("{id}: unknown expectation {other}"),
        };
        judged += 1;
        if !is_right {
            wrong.push(format!("{id}: {argv:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged > 50, "{judged}");
}
