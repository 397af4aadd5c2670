use super::*;
use crate::{Children, Level, ProblemKind, Request, RuleId};

mod environment;
mod limits;
mod properties;
mod reach;
mod refusals;

fn policy(text: &str) -> Policy {
    Policy::parse("/etc/secret-place/policy.toml", &format!("version = 1\n{text}")).unwrap()
}

fn facts() -> Facts {
    Facts::new(ProgramFact::Found(Identity::new("/usr/bin/git", 1, 2)))
}

fn decide(policy: &Policy, request: &Request) -> Decision {
    policy.decide(&request.validate().unwrap(), &facts())
}

fn git<const N: usize>(arguments: [&str; N]) -> Request {
    Request::new("git").args(arguments)
}

#[track_caller]
fn grant(decision: Decision) -> Allowed {
    match decision {
        Decision::Allow(allowed) => *allowed,
        Decision::Ask(problem) | Decision::Deny(problem) => panic!("this must be allowed: {problem}"),
    }
}

#[track_caller]
fn denial(decision: Decision) -> Problem {
    match decision {
        Decision::Deny(problem) => problem,
        Decision::Allow(allowed) => panic!("this must be denied: {allowed:?}"),
        Decision::Ask(problem) => panic!("this must be denied: {problem}"),
    }
}

#[track_caller]
fn allowed(policy: &Policy, request: &Request) -> Allowed {
    grant(decide(policy, request))
}

#[track_caller]
fn denied(policy: &Policy, request: &Request) -> Problem {
    denial(decide(policy, request))
}

fn rule_ids(allowed: &Allowed) -> Vec<&str> {
    allowed.rules().iter().map(RuleId::as_str).collect()
}

const RULES: &str = r#"
[confinement]
level = "landlock"

[[program]]
name = "git"

[[program.rule]]
id = "log"
decision = "allow"
why = "the commits"
leading-arguments = ["log"]

[[program.rule]]
id = "log-three"
decision = "allow"
why = "some commits"
exact-arguments = ["log", "-n", "3"]

[[program.rule]]
id = "push"
decision = "ask"
why = "leaves the machine"
leading-arguments = ["push"]

[[program.rule]]
id = "no-force"
decision = "deny"
why = "rewrites what others have"
leading-arguments = ["push", "--force"]

[[program.rule]]
id = "no-output"
decision = "deny"
why = "writes files"
leading-arguments = ["log", "--output"]
"#;

#[test]
fn what_is_allowed_is_described_in_every_detail() {
    let policy = policy(RULES);
    let request = git(["log", "-n", "3"]).cwd("./sub//dir").merge_stderr();
    let allowed = allowed(&policy, &request);
    assert_eq!(allowed.program().as_str(), "git");
    assert_eq!(allowed.identity(), &Identity::new("/usr/bin/git", 1, 2));
    assert_eq!(allowed.arguments(), ["log", "-n", "3"]);
    assert_eq!(allowed.cwd(), "sub/dir");
    assert_eq!(allowed.env(), []);
    assert!(allowed.merge_stderr());
    assert_eq!(allowed.limits(), Limits::default());
    assert_eq!(allowed.network(), Network::None);
    let confinement = Confinement {
        network: Network::None,
        children: Children::None,
        read: Vec::new(),
        write: vec![".".to_owned()],
        deny: Vec::new(),
    };
    assert_eq!(allowed.confinement(), &confinement);
    assert_eq!(allowed.level(), Level::Landlock);
    assert_eq!(rule_ids(&allowed), ["log", "log-three"]);
    assert_eq!(allowed.policy(), policy.digest());
}

/// Row C1: what no policy speaks of does not run. Row T2: nor does it when a shell would have made a command of it.
#[test]
fn rows_c1_and_t2_the_default_is_deny() {
    let empty = policy("");
    let problem = denied(&empty, &git(["status"]));
    assert_eq!((problem.code, problem.kind()), (Code::PolicyUnlisted, ProblemKind::Denied));
    assert_eq!(problem.message, "no rule allows `git`");

    let policy = policy(RULES);
    assert_eq!(denied(&policy, &Request::new("rm")).code, Code::PolicyUnlisted);
    assert_eq!(denied(&policy, &Request::new("Git")).code, Code::PolicyUnlisted);
    assert_eq!(denied(&policy, &git([])).code, Code::PolicyArguments);
    assert_eq!(denied(&policy, &git(["status"])).code, Code::PolicyArguments);
    assert_eq!(denied(&policy, &git(["-c", "alias.log=!sh", "log"])).code, Code::PolicyArguments);
    assert_eq!(denied(&policy, &git(["log;id"])).code, Code::PolicyArguments);
    // An operator is an argument like any other, and git's own business.
    assert_eq!(allowed(&policy, &git(["log", "&&", "$(id)"])).arguments(), ["log", "&&", "$(id)"]);
}

#[test]
fn the_strictest_rule_that_fits_wins() {
    let policy = policy(RULES);
    assert_eq!(rule_ids(&allowed(&policy, &git(["log", "-n", "4"]))), ["log"]);

    let problem = denied(&policy, &git(["log", "--output", "x"]));
    assert_eq!((problem.code, problem.rule.as_ref().map(RuleId::as_str)), (Code::PolicyRule, Some("no-output")));
    assert_eq!(problem.message, "a rule denies this use of `git`: writes files");

    let problem = denied(&policy, &git(["push", "--force"]));
    assert_eq!(problem.rule.as_ref().map(RuleId::as_str), Some("no-force"));
}

#[test]
fn a_rule_that_asks_gives_ask() {
    let Decision::Ask(problem) = decide(&policy(RULES), &git(["push", "origin"])) else { panic!("it must ask") };
    assert_eq!((problem.code, problem.kind()), (Code::ApprovalRequired, ProblemKind::Approval));
    assert_eq!(problem.rule.as_ref().map(RuleId::as_str), Some("push"));
    assert_eq!(problem.message, "a person must approve this use of `git`: leaves the machine");
}

#[test]
fn among_equally_strict_rules_the_smallest_id_is_named() {
    let rule = |id: &str| format!("[[program.rule]]\nid = \"{id}\"\ndecision = \"deny\"\nwhy = \"w\"\n");
    for order in [["a", "b", "c"], ["c", "b", "a"]] {
        let text = "[[program]]\nname = \"git\"\n".to_owned() + &order.map(rule).concat();
        assert_eq!(denied(&policy(&text), &git([])).rule.unwrap().as_str(), "a");
    }
}

#[test]
fn a_program_that_is_allowed_and_not_there_is_unavailable() {
    let policy = policy(RULES);
    let judge = |request: &Request, program: ProgramFact| {
        denial(policy.decide(&request.validate().unwrap(), &Facts::new(program)))
    };
    let problem = judge(&git(["log"]), ProgramFact::Missing);
    assert_eq!((problem.code, problem.kind()), (Code::ProgramMissing, ProblemKind::Unavailable));
    assert_eq!(problem.message, "`git` is allowed and not installed");

    let why = "`/usr/bin/git` can be written by others".to_owned();
    let problem = judge(&git(["log"]), ProgramFact::Unusable(why.clone()));
    assert_eq!((problem.code, problem.kind()), (Code::ProgramUnusable, ProblemKind::Unavailable));
    assert_eq!((problem.message.as_str(), problem.advice), ("`git` is allowed and can't be used", Some(why)));

    // What is not allowed is denied, installed or not.
    for request in [git(["status"]), git(["log"]).network(), git(["log"]).env("A", "b")] {
        let problem = judge(&request, ProgramFact::Missing);
        assert_eq!(problem.kind(), ProblemKind::Denied, "{problem}");
    }
}

#[test]
fn a_missing_program_is_looked_for_where_the_policy_says() {
    let missing = |text: &str| {
        let rule = "[[program.rule]]\nid = \"all\"\ndecision = \"allow\"\nwhy = \"w\"\n";
        let policy = policy(&format!("[[program]]\nname = \"git\"\n{text}\n{rule}"));
        let request = git([]);
        denial(policy.decide(&request.validate().unwrap(), &Facts::new(ProgramFact::Missing))).advice.unwrap()
    };
    assert_eq!(missing(""), "install it in a directory of `programs.path`, or name its `file`");
    assert_eq!(missing("file = \"/opt/git\""), "the policy names /opt/git for it; install it or correct `file`");
}
