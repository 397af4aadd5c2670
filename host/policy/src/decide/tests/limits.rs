//! Limits and the network: rows X4 and X5.

use std::time::Duration;

use super::{allowed, denial, denied, facts, git, grant, policy, rule_ids};
use crate::{Code, Decision, KernelLimits, LimitRequest, Limits, Network, Policy, ProblemKind, Request};

const LIMITED: &str = r#"
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
"#;

fn limited() -> Policy {
    policy(LIMITED)
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
    assert_eq!(
        one.limits(),
        Limits { wall: Duration::from_secs(60), kernel: Some(KernelLimits::DEFAULT), output_bytes: 5000 }
    );
    let both = allowed(&policy, &git(["log"]));
    assert_eq!(
        both.limits(),
        Limits { wall: Duration::from_secs(10), kernel: Some(KernelLimits::DEFAULT), output_bytes: 5000 }
    );
    assert_eq!(rule_ids(&both), ["a-log", "b-any"]);
}

#[test]
fn row_x4_a_limit_of_zero_or_above_the_policys_is_refused() {
    let policy = limited();
    for (asked, shown) in [
        (Duration::ZERO, "0s"),
        (Duration::from_nanos(10_000_000_001), "10s 1ns"),
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
        assert_eq!(limits, Limits { wall: asked, kernel: Some(KernelLimits::DEFAULT), output_bytes: 5000 });
    }
    for asked in [1, 5000] {
        let limits = allowed(&policy, &git(["log"]).limits(output(asked))).limits();
        assert_eq!(
            limits,
            Limits { wall: Duration::from_secs(10), kernel: Some(KernelLimits::DEFAULT), output_bytes: asked }
        );
    }
}

/// Requests for one limit each that the kernel enforces, and what messages call them.
fn kernel_requests(cpu: Duration, memory_bytes: u64, processes: u32) -> [LimitRequest; 3] {
    let none = LimitRequest::default();
    [
        LimitRequest { cpu: Some(cpu), ..none },
        LimitRequest { memory_bytes: Some(memory_bytes), ..none },
        LimitRequest { processes: Some(processes), ..none },
    ]
}

#[test]
fn at_level_none_limits_of_the_kernel_are_refused_and_not_ignored() {
    let policy = policy(&format!("confinement.level = \"none\"\n{LIMITED}"));
    assert_eq!(allowed(&policy, &git(["log"])).limits().kernel, None);
    for asked in kernel_requests(Duration::from_secs(1), 1 << 20, 1) {
        let problem = denied(&policy, &git(["log"]).limits(asked));
        assert_eq!((problem.code, problem.kind()), (Code::LimitUnsupported, ProblemKind::Unavailable));
        let message = "the policy wants no confinement, so processor time, memory and processes can't be limited; leave \
                       those limits out of the request";
        assert_eq!(problem.message, message);
        let advice = "to have limits, write `confinement.level = \"limits\"` or better (/etc/secret-place/policy.toml)";
        assert_eq!(problem.advice.as_deref(), Some(advice));
        // What the policy refuses is denied, whatever the host can do.
        let problem = denied(&policy, &git(["log"]).limits(LimitRequest { wall: Some(Duration::ZERO), ..asked }));
        assert_eq!(problem.code, Code::TimeoutPolicy);
    }
}

/// Two rules that allow, of which each is the stricter one in something.
fn kernel_limited() -> Policy {
    policy(
        r#"
limits = { cpu = "50s", memory = "512MiB", processes = 200, file-size = "5MB", open-files = 100 }
[[program]]
name = "git"
limits = { cpu = "40s", memory = "256MiB" }
[[program.rule]]
id = "any"
decision = "allow"
why = "w"
limits = { cpu = "10s", processes = 5, file-size = "2MB", open-files = 64 }
[[program.rule]]
id = "log"
decision = "allow"
why = "w"
leading-arguments = ["log"]
limits = { cpu = "20s", memory = "64MiB", processes = 50, file-size = "1MB", open-files = 20 }
"#,
    )
}

const STRICTEST: KernelLimits = KernelLimits {
    cpu: Duration::from_secs(10),
    memory_bytes: 64 << 20,
    processes: 5,
    file_size_bytes: 1_000_000,
    open_files: 20,
};

#[test]
fn of_several_rules_that_allow_the_smallest_of_each_limit_of_the_kernel_holds() {
    let policy = kernel_limited();
    let one = KernelLimits { memory_bytes: 256 << 20, file_size_bytes: 2_000_000, open_files: 64, ..STRICTEST };
    assert_eq!(allowed(&policy, &git(["status"])).limits().kernel, Some(one));
    assert_eq!(allowed(&policy, &git(["log"])).limits().kernel, Some(STRICTEST));
}

#[test]
fn row_x4_a_limit_of_the_kernel_of_zero_or_above_the_policys_is_refused() {
    let policy = kernel_limited();
    let zero = kernel_requests(Duration::ZERO, 0, 0);
    let above = kernel_requests(Duration::from_nanos(10_000_000_001), (64 << 20) + 1, 6);
    let most = kernel_requests(Duration::MAX, u64::MAX, u32::MAX);
    let messages = [
        "0s of processor time were asked for; it must be more than zero and at most 10s",
        "0 bytes of memory were asked for; it must be more than zero and at most 67108864",
        "0 processes were asked for; it must be more than zero and at most 5",
        "10s 1ns of processor time were asked for; it must be more than zero and at most 10s",
        "67108865 bytes of memory were asked for; it must be more than zero and at most 67108864",
        "6 processes were asked for; it must be more than zero and at most 5",
        "18446744073709551615.999999999s of processor time were asked for; it must be more than zero and at most 10s",
        "18446744073709551615 bytes of memory were asked for; it must be more than zero and at most 67108864",
        "4294967295 processes were asked for; it must be more than zero and at most 5",
    ];
    for (asked, message) in [zero, above, most].concat().into_iter().zip(messages) {
        let problem = denied(&policy, &git(["log"]).limits(asked));
        assert_eq!((problem.code.as_str(), problem.kind()), ("shell.limit.policy", ProblemKind::Denied));
        assert_eq!(problem.message, message);
    }
}

#[test]
fn row_x4_a_limit_of_the_kernel_up_to_the_policys_holds_as_asked() {
    let policy = kernel_limited();
    for (cpu, memory_bytes, processes) in [(Duration::from_nanos(1), 1, 1), (Duration::from_secs(10), 64 << 20, 5)] {
        let [a, b, c] = kernel_requests(cpu, memory_bytes, processes);
        let kernel = |asked| allowed(&policy, &git(["log"]).limits(asked)).limits().kernel.unwrap();
        assert_eq!(kernel(a), KernelLimits { cpu, ..STRICTEST });
        assert_eq!(kernel(b), KernelLimits { memory_bytes, ..STRICTEST });
        assert_eq!(kernel(c), KernelLimits { processes, ..STRICTEST });
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
