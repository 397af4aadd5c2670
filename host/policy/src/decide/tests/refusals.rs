//! What refusals say: to guests the rule and the argument, to people the file and the line as well.

use super::{RULES, allowed, decide, denied, git, policy};
use crate::{Decision, LimitRequest, Problem, Request};

/// A refusal for arguments: message, `at`, rule, advice.
#[track_caller]
fn assert_refused(problem: &Problem, at: Option<u32>, rule: Option<&str>, message: &str, advice: &str) {
    assert_eq!(problem.message, message);
    let rule_id = problem.rule.as_ref().map(crate::RuleId::as_str);
    assert_eq!((problem.at, rule_id, problem.advice.as_deref()), (at, rule, Some(advice)));
}

#[test]
fn the_nearest_rule_is_named_and_the_argument_where_it_stops() {
    let policy = policy(RULES);
    assert_refused(
        &denied(&policy, &git(["status", "-s"])),
        Some(0),
        Some("log"),
        "no rule allows `git` with these arguments: at argument 1, `status`, the nearest rule wants `log`",
        "to allow it, add a [[program.rule]] to the entry of 'git', or widen that rule \
         (/etc/secret-place/policy.toml:10)",
    );
    let policy = self::policy(
        r#"
[[program]]
name = "git"
[[program.rule]]
id = "b"
decision = "allow"
why = "w"
exact-arguments = ["log", "-n", "3"]
[[program.rule]]
id = "a"
decision = "ask"
why = "w"
leading-arguments = ["log", "-n", "4"]
[[program.rule]]
id = "no"
decision = "deny"
why = "w"
exact-arguments = ["log", "-n", "5", "6", "7"]
"#,
    );
    assert_refused(
        &denied(&policy, &git(["log", "-n", "5", "6"])),
        Some(2),
        Some("a"),
        "no rule allows `git` with these arguments: at argument 3, `5`, the nearest rule wants `4`",
        "to allow it, add a [[program.rule]] to the entry of 'git', or widen that rule \
         (/etc/secret-place/policy.toml:11)",
    );
    assert_refused(
        &denied(&policy, &git(["log", "-n", "3", "-p"])),
        Some(3),
        Some("b"),
        "no rule allows `git` with these arguments: at argument 4, `-p`, the nearest rule wants no further argument",
        "to allow it, add a [[program.rule]] to the entry of 'git', or widen that rule \
         (/etc/secret-place/policy.toml:6)",
    );
    assert_refused(
        &denied(&policy, &git(["log"])),
        None,
        Some("a"),
        "no rule allows `git` with these arguments: after the last one, the nearest rule wants `-n`",
        "to allow it, add a [[program.rule]] to the entry of 'git', or widen that rule \
         (/etc/secret-place/policy.toml:11)",
    );
}

#[test]
fn a_program_with_rules_that_deny_says_that_it_has_no_other() {
    let text = "[[program]]\nname = \"git\"\n[[program.rule]]\nid = \"no\"\ndecision = \"deny\"\nwhy = \"w\"\n";
    let policy = policy(&(text.to_owned() + "exact-arguments = [\"push\"]\n"));
    assert_refused(
        &denied(&policy, &git(["pull"])),
        None,
        None,
        "no rule allows `git`: it has rules that deny, and none that allows",
        "to allow a use of it, add a [[program.rule]] to the entry of 'git' (/etc/secret-place/policy.toml:3)",
    );
}

#[test]
fn people_are_told_what_to_change_and_where() {
    let policy = policy(RULES);
    for (request, shown) in [
        (
            Request::new("rm"),
            "no rule allows `rm`; to allow it, add a [[program]] named 'rm' with a rule \
             (/etc/secret-place/policy.toml) [shell.policy.unlisted]",
        ),
        (
            git(["log", "--output"]),
            "a rule denies this use of `git`: writes files; to allow it, change the rule or take it out \
             (/etc/secret-place/policy.toml:34) [rule no-output, shell.policy.rule]",
        ),
        (
            git(["push"]),
            "a person must approve this use of `git`: leaves the machine; nobody can be asked here; to let it run \
             unasked, change the rule's `decision` (/etc/secret-place/policy.toml:22) [rule push, \
             shell.approval.required]",
        ),
    ] {
        match decide(&policy, &request) {
            Decision::Ask(problem) | Decision::Deny(problem) => assert_eq!(problem.to_string(), shown),
            Decision::Allow(_) => panic!("this must not be allowed"),
        }
    }
}

/// Decision 15: guests see ids of rules, never files of the host or lines of the policy.
#[test]
fn guests_are_told_nothing_about_files_and_lines_and_people_are() {
    let policy = policy(RULES);
    let too_many = LimitRequest { processes: Some(0), ..LimitRequest::default() };
    let too_long = LimitRequest { wall: Some(std::time::Duration::MAX), ..LimitRequest::default() };
    let too_much = LimitRequest { output_bytes: Some(0), ..LimitRequest::default() };
    for request in [
        Request::new("rm"),
        git(["status"]),
        git(["log", "--output"]),
        git(["push"]),
        git(["log"]).env("A", "b"),
        git(["log"]).network(),
        git(["log"]).limits(too_many),
        git(["log"]).limits(too_long),
        git(["log"]).limits(too_much),
    ] {
        let (Decision::Ask(problem) | Decision::Deny(problem)) = decide(&policy, &request) else {
            panic!("this must not be allowed")
        };
        let message = &problem.message;
        assert!(!message.contains("policy.toml") && !message.contains('/'), "{message}");
        assert!(!message.contains("line") && !message.contains(".toml"), "{message}");
        assert!(problem.advice.as_ref().unwrap().contains("/etc/secret-place/policy.toml"), "{problem:?}");
    }
}

/// Derived from CVE-2021-42574 and CVE-2023-28486: what a guest sends comes back escaped, and not in full.
#[test]
fn hostile_text_is_escaped_and_cut() {
    let policy = policy(RULES);
    let problem = denied(&policy, &git(["\u{1b}[2Jlog\u{202e}\n"]));
    let message = "no rule allows `git` with these arguments: at argument 1, `\\u{1b}[2Jlog\\u{202e}\\n`, the nearest \
                   rule wants `log`";
    assert_eq!(problem.message, message);

    let problem = denied(&policy, &git([&"\u{202e}".repeat(40_000)]));
    assert!(problem.message.len() < 2500, "{}", problem.message.len());
    let problem = denied(&policy, &git(["log"]).env("\u{202e}".repeat(40_000), ""));
    assert!(problem.message.len() < 2500, "{}", problem.message.len());
}

/// A policy can come from a repository as well.
#[test]
fn hostile_text_of_a_policy_is_escaped() {
    let policy = policy(
        "[[program]]\nname = \"git\"\nrule = [{ id = \"a\", decision = \"deny\", why = \"\\u001B[2Jx\\u202E\" }]\n",
    );
    assert_eq!(denied(&policy, &git([])).message, r"a rule denies this use of `git`: \u{1b}[2Jx\u{202e}");
}

/// Looking at tens of thousands of arguments once is enough.
#[test]
fn as_many_arguments_as_a_request_can_have_are_judged() {
    let policy = policy(RULES);
    let arguments = vec!["log"; Request::MAX_ARGUMENTS];
    assert_eq!(allowed(&policy, &git([]).args(arguments)).arguments().len(), Request::MAX_ARGUMENTS);
    let arguments = vec!["x"; Request::MAX_ARGUMENTS];
    assert_eq!(denied(&policy, &git([]).args(arguments)).at, Some(0));
}
