//! Environment variables: the policy's, the host's, the guest's.

use std::collections::BTreeMap;

use super::{allowed, denial, denied, facts, git, grant, policy};
use crate::names::VariableName;
use crate::rules::Rules;
use crate::{Allowed, Code, Decision, Policy, ProblemKind, Request};

fn with_variables() -> Policy {
    policy(
        r#"
[env]
set = { LANG = "C.UTF-8", TZ = "UTC" }
pass = ["TZ", "TERM"]
guest = ["CI", "TZ", "TERM"]
[[program]]
name = "git"
env.guest = ["NO_COLOR"]
[[program.rule]]
id = "all"
decision = "allow"
why = "w"
[[program.rule]]
id = "log"
decision = "allow"
why = "w"
leading-arguments = ["log"]
env.set = { GIT_PAGER = "cat", LANG = "C" }
[[program.rule]]
id = "log-all"
decision = "allow"
why = "w"
leading-arguments = ["log", "--all"]
env.set = { GIT_PAGER = "cat", CI = "1" }
[[program]]
name = "wc"
rule = [{ id = "wc", decision = "allow", why = "w" }]
"#,
    )
}

fn env(allowed: &Allowed) -> Vec<(&str, &str)> {
    allowed.env().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn decide_on(host: &[(&str, &str)], request: &Request) -> Decision {
    let mut facts = facts();
    facts.host_environment = host.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    with_variables().decide(&request.validate().unwrap(), &facts)
}

/// Row L4: nothing of the host's environment reaches a command unless the policy says so.
#[test]
fn row_l4_the_environment_is_empty_unless_the_policy_says_otherwise() {
    let policy = policy("[[program]]\nname = \"git\"\nrule = [{ id = \"a\", decision = \"allow\", why = \"w\" }]\n");
    let mut facts = facts();
    facts.host_environment = BTreeMap::from([("AWS_SECRET_ACCESS_KEY".to_owned(), "x".to_owned())]);
    let request = git([]);
    assert_eq!(grant(policy.decide(&request.validate().unwrap(), &facts)).env(), []);
}

#[test]
fn the_policys_values_come_first_then_the_hosts() {
    let host = [("TZ", "Europe/Berlin"), ("TERM", "xterm"), ("SECRET", "x"), ("CI", "true")];
    let allowed = grant(decide_on(&host, &git([])));
    assert_eq!(env(&allowed), [("LANG", "C.UTF-8"), ("TERM", "xterm"), ("TZ", "UTC")]);
}

#[test]
fn all_rules_that_allow_set_their_variables() {
    let policy = with_variables();
    assert_eq!(env(&allowed(&policy, &git([]))), [("LANG", "C.UTF-8"), ("TZ", "UTC")]);
    let log = allowed(&policy, &git(["log"]));
    assert_eq!(env(&log), [("GIT_PAGER", "cat"), ("LANG", "C"), ("TZ", "UTC")]);
    let all = allowed(&policy, &git(["log", "--all"]));
    assert_eq!(env(&all), [("CI", "1"), ("GIT_PAGER", "cat"), ("LANG", "C"), ("TZ", "UTC")]);
}

#[test]
fn a_guest_sets_what_the_policy_leaves_to_it() {
    let policy = with_variables();
    let request = git([]).env("NO_COLOR", "1").env("CI", "");
    let allowed = allowed(&policy, &request);
    assert_eq!(env(&allowed), [("CI", ""), ("LANG", "C.UTF-8"), ("NO_COLOR", "1"), ("TZ", "UTC")]);
}

#[test]
fn a_guest_sets_nothing_else() {
    let policy = with_variables();
    for request in [
        git([]).env("LD_PRELOAD", "/tmp/x.so"),
        git([]).env("ci", "1"),
        git([]).env("CI ", "1"),
        git([]).env("LANG", "C.UTF-8"),
        Request::new("wc").env("NO_COLOR", "1"),
    ] {
        let problem = denied(&policy, &request);
        assert_eq!((problem.code, problem.kind()), (Code::EnvPolicy, ProblemKind::Denied), "{problem}");
        let message =
            format!("the environment variable `{}` may not be set for `{}`", request.env[0].0, request.program);
        assert_eq!(problem.message, message);
        let advice = "to let guests set it, add it to `env.guest` (/etc/secret-place/policy.toml)";
        assert_eq!(problem.advice.as_deref(), Some(advice));
    }
}

#[test]
fn a_guest_replaces_no_value_of_the_policy_a_rule_or_the_host() {
    let message = |name: &str| format!("the environment variable `{name}` is set already and can't be changed");
    let policy = with_variables();
    let problem = denied(&policy, &git([]).env("TZ", "UTC"));
    assert_eq!((problem.code, problem.message), (Code::EnvPolicy, message("TZ")));
    let problem = denied(&policy, &git(["log", "--all"]).env("CI", "1"));
    assert_eq!((problem.code, problem.message), (Code::EnvPolicy, message("CI")));

    let request = git([]).env("TERM", "dumb");
    assert_eq!(env(&grant(decide_on(&[], &request)))[1], ("TERM", "dumb"));
    let problem = denial(decide_on(&[("TERM", "xterm")], &request));
    assert_eq!((problem.code, problem.message), (Code::EnvPolicy, message("TERM")));
}

/// Such rules are refused when a policy is read; here they come from nowhere.
#[test]
fn rules_that_pin_different_values_allow_nothing() {
    let mut policy = with_variables();
    let entry = policy.programs.values_mut().next().unwrap();
    let mut rules: Vec<_> = entry.rules.iter().cloned().collect();
    rules[2].set.insert(VariableName::new("LANG").unwrap(), "en".to_owned());
    for rules in [rules.clone(), rules.into_iter().rev().collect()] {
        entry.rules = Rules::new(rules);
        let problem = {
            let request = git(["log", "--all"]);
            let entry = entry.clone();
            let policy = Policy { programs: BTreeMap::from([(entry.name.clone(), entry)]), ..with_variables() };
            denied(&policy, &request)
        };
        assert_eq!((problem.code, problem.kind()), (Code::PolicyAmbiguous, ProblemKind::Denied));
        let message = "the rules `log` and `log-all` both allow this, and set `LANG` to different values";
        assert_eq!(problem.message, message);
        assert_eq!(problem.rule.unwrap().as_str(), "log-all");
    }
}
