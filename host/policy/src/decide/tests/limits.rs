//! Limits and the network: rows X4 and X5.

use std::time::Duration;

use super::{allowed, denial, denied, facts, git, grant, policy, rule_ids};
use crate::{Code, Decision, LimitRequest, Limits, Network, Policy, ProblemKind, Request};

fn limited() -> Policy {
    policy(
        r#"
limits = { wall = "1h", output = "1MB" }
[[program]]
name = "git"
limits.wall = "60s"
[[program.rule]]
id = "b-any"
decision = "allow"
why = "w"
limits.output = "5000"
[[program.rule]]
id = "a-log"
decision = "allow"
why = "w"
leading-arguments = ["log"]
limits = { wall = "10s", output = "6000" }
"#,
    )
}

fn wall(time: Duration) -> LimitRequest {
    LimitRequest { wall: Some(time), ..LimitRequest::default() }
}

fn output(bytes: u64) -> LimitRequest {
    LimitRequest { output_bytes: Some(bytes), ..LimitRequest::default() }
}

#[test]
fn of_several_rules_that_allow_the_smallest_limits_hold() {
    let policy = limited();
    let one = allowed(&policy, &git(["status"]));
    assert_eq!(one.limits(), Limits { wall: Duration::from_secs(60), output_bytes: 5000 });
    let both = allowed(&policy, &git(["log"]));
    assert_eq!(both.limits(), Limits { wall: Duration::from_secs(10), output_bytes: 5000 });
    assert_eq!(rule_ids(&both), ["a-log", "b-any"]);
}

#[test]
fn row_x4_a_limit_of_zero_or_above_the_policys_is_refused() {
    let policy = limited();
    for (asked, shown) in [
        (Duration::ZERO, "0ns"),
        (Duration::from_nanos(10_000_000_001), "10.000000001s"),
        (Duration::MAX, "18446744073709551615.999999999s"),
    ] {
        let problem = denied(&policy, &git(["log"]).limits(wall(asked)));
        assert_eq!((problem.code.as_str(), problem.kind()), ("shell.timeout.policy", ProblemKind::Denied));
        let message = format!("a wall-clock limit of {shown} was asked for; it must be more than zero and at most 10s");
        assert_eq!(problem.message, message);
        let advice = "the ceilings stand under `limits` (/etc/secret-place/policy.toml:5)";
        assert_eq!(problem.advice.as_deref(), Some(advice));
    }
    for asked in [0, 5001, u64::MAX] {
        let problem = denied(&policy, &git(["log"]).limits(output(asked)));
        assert_eq!((problem.code.as_str(), problem.kind()), ("shell.limit.policy", ProblemKind::Denied));
        let message = format!("{asked} bytes of output were asked for; it must be more than zero and at most 5000");
        assert_eq!(problem.message, message);
    }
}

#[test]
fn row_x4_a_limit_up_to_the_policys_holds_as_asked() {
    let policy = limited();
    for asked in [Duration::from_nanos(1), Duration::from_secs(10)] {
        let limits = allowed(&policy, &git(["log"]).limits(wall(asked))).limits();
        assert_eq!(limits, Limits { wall: asked, output_bytes: 5000 });
    }
    for asked in [1, 5000] {
        let limits = allowed(&policy, &git(["log"]).limits(output(asked))).limits();
        assert_eq!(limits, Limits { wall: Duration::from_secs(10), output_bytes: asked });
    }
}

#[test]
fn limits_that_this_host_cant_enforce_are_refused_and_not_ignored() {
    let none = LimitRequest::default();
    for (asked, what) in [
        (LimitRequest { cpu: Some(Duration::from_secs(1)), ..none }, "processor time"),
        (LimitRequest { memory_bytes: Some(1 << 30), ..none }, "memory"),
        (LimitRequest { processes: Some(1), ..none }, "processes"),
    ] {
        let problem = denied(&limited(), &git(["log"]).limits(asked));
        assert_eq!((problem.code, problem.kind()), (Code::LimitUnsupported, ProblemKind::Unavailable));
        assert_eq!(problem.message, format!("this host can't limit {what}; leave that limit out of the request"));
        assert_eq!(problem.advice, None);
        // What the policy refuses is denied, whatever the host can do.
        let problem = denied(&limited(), &git(["log"]).limits(LimitRequest { wall: Some(Duration::ZERO), ..asked }));
        assert_eq!(problem.code, Code::TimeoutPolicy);
    }
}

#[test]
fn a_caller_is_given_no_more_output_than_it_can_take() {
    let policy = limited();
    let decide_for = |ceiling: u64, request: &Request| {
        let mut facts = facts();
        facts.output_ceiling = ceiling;
        policy.decide(&request.validate().unwrap(), &facts)
    };
    let kept = |decision: Decision| grant(decision).limits().output_bytes;
    assert_eq!(kept(decide_for(100, &git([]))), 100);
    assert_eq!(kept(decide_for(6000, &git([]))), 5000);
    assert_eq!(kept(decide_for(100, &git([]).limits(output(100)))), 100);
    let problem = denial(decide_for(100, &git([]).limits(output(101))));
    assert_eq!(problem.code, Code::LimitPolicy);
    let advice = "more than that can't be handed to this caller, whatever the policy says";
    assert_eq!(problem.advice.as_deref(), Some(advice));
}

fn networks(top: &str, program: &str, rules: [&str; 2]) -> Policy {
    let [any, log] = rules.map(|network| format!("network = \"{network}\""));
    policy(&format!(
        "confinement.network = \"{top}\"\n[[program]]\nname = \"git\"\nnetwork = \"{program}\"\n\
         [[program.rule]]\nid = \"any\"\ndecision = \"allow\"\nwhy = \"w\"\n{any}\n\
         [[program.rule]]\nid = \"log\"\ndecision = \"allow\"\nwhy = \"w\"\nleading-arguments = [\"log\"]\n{log}\n"
    ))
}

#[test]
fn row_x5_the_network_is_denied_where_the_policy_gives_none() {
    for policy in [limited(), networks("host", "none", ["none", "none"]), networks("host", "host", ["none", "host"])] {
        let problem = denied(&policy, &git(["log"]).network());
        assert_eq!((problem.code.as_str(), problem.kind()), ("shell.network.policy", ProblemKind::Denied));
        assert_eq!(problem.message, "`git` was asked to run with the network, and the policy gives it none");
    }
}

#[test]
fn of_several_rules_that_allow_the_least_network_holds() {
    let policy = networks("host", "host", ["host", "none"]);
    assert_eq!(allowed(&policy, &git(["fetch"]).network()).network(), Network::Host);
    assert_eq!(denied(&policy, &git(["log"]).network()).code, Code::NetworkPolicy);
}

#[test]
fn a_command_that_does_not_ask_for_the_network_does_not_get_it() {
    let policy = networks("host", "host", ["host", "host"]);
    assert_eq!(allowed(&policy, &git(["fetch"])).network(), Network::None);
}
