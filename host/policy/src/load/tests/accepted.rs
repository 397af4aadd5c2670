//! Policies that are right: defaults, bounds, and what programs and rules inherit.

use std::time::Duration;

use super::{rule, top};
use crate::grammar::Place;
use crate::names::VariableName;
use crate::{ComponentSettings, GuestFiles, KernelLimits, Level, Limits, Network, Policy, SessionSettings};

fn policy(text: &str) -> Policy {
    Policy::parse("policy.toml", text).unwrap()
}

fn names<'a>(names: impl IntoIterator<Item = &'a VariableName>) -> Vec<&'a str> {
    names.into_iter().map(VariableName::as_str).collect()
}

/// Row C2: 30 seconds. Row L4: an empty environment.
#[test]
fn rows_c2_and_l4_the_defaults_give_nothing_and_are_documented() {
    let policy = policy("version = 1\n");
    assert_eq!(policy.name(), "policy.toml");
    assert_eq!(policy.guest_files(), GuestFiles::Read);
    assert_eq!(policy.component(), ComponentSettings::default());
    assert_eq!(policy.session(), SessionSettings::default());
    assert_eq!(policy.level(), Level::Full);
    assert_eq!(policy.search_path(), Policy::DEFAULT_SEARCH_PATH);
    assert_eq!(policy.programs().count(), 0);
    assert!(policy.passed_variables().is_empty());

    let policy = self::policy(&rule(""));
    let entry = policy.programs().next().unwrap();
    assert_eq!(
        entry.limits,
        Limits { wall: Duration::from_secs(30), kernel: Some(KernelLimits::DEFAULT), output_bytes: 100_000 }
    );
    assert_eq!(entry.network, Network::None);
    assert_eq!(entry.file(), None);
    assert!(entry.env.set.is_empty() && entry.env.pass.is_empty() && entry.env.guest.is_empty());
}

#[test]
fn every_setting_goes_where_it_belongs() {
    let policy = policy(
        r#"
version = 1
workspace.guest-files = "write"
component = { memory = "64KiB", wall = "24h", compute = "1ns" }
session = { calls = 1_000_000_000, concurrent = 1024, denials = 1, journal = "1MiB" }
limits = { wall = "24h", output = "256MiB" }
programs.path = ["/opt/bin", "/"]
env = { set = { A = "top", B = "top" }, pass = ["TZ"], guest = ["CI"] }
confinement = { level = "landlock", network = "host" }

[[program]]
name = "git"
file = "/opt/git/bin/git"
limits.wall = "1h 30m"
env = { set = { B = "program" }, pass = ["TERM", "TZ"], guest = ["NO_COLOR"] }

[[program.rule]]
id = "a.b/c_d-1"
decision = "allow"
why = "all of it"
limits.output = "1"
network = "none"
env.set = { C = "rule" }

[[program]]
name = "wc"
network = "none"
[[program.rule]]
id = "count"
decision = "ask"
why = "counts"
"#,
    );
    assert_eq!(policy.guest_files(), GuestFiles::Write);
    let component =
        ComponentSettings { memory: 65_536, wall: Duration::from_secs(86_400), compute: Duration::from_nanos(1) };
    assert_eq!(policy.component(), component);
    let session = SessionSettings { calls: 1_000_000_000, concurrent: 1024, denials: 1, journal: 1 << 20 };
    assert_eq!(policy.session(), session);
    assert_eq!(policy.search_path(), ["/opt/bin", "/"]);
    assert_eq!(policy.level(), Level::Landlock);
    assert_eq!(policy.passed_variables(), ["TERM", "TZ"]);

    let [git, wc] = policy.programs().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((git.name().as_str(), git.file(), git.line), ("git", Some("/opt/git/bin/git"), 12));
    assert_eq!(
        git.limits,
        Limits { wall: Duration::from_secs(5400), kernel: Some(KernelLimits::DEFAULT), output_bytes: 256 << 20 }
    );
    assert_eq!(git.network, Network::Host);
    assert_eq!(git.env.set.values().collect::<Vec<_>>(), ["top", "program"]);
    assert_eq!(names(&git.env.guest), ["CI", "NO_COLOR"]);
    assert_eq!((wc.name().as_str(), wc.network), ("wc", Network::None));
    assert_eq!(names(&wc.env.pass), ["TZ"]);

    let rule = git.rules.iter().next().unwrap();
    assert_eq!(policy.rule(&rule.id).unwrap().why(), "all of it");
    assert_eq!((rule.line(), rule.network), (18, Network::None));
    assert_eq!(
        rule.limits,
        Limits { wall: Duration::from_secs(5400), kernel: Some(KernelLimits::DEFAULT), output_bytes: 1 }
    );
    assert_eq!(rule.set.values().collect::<Vec<_>>(), ["rule"]);
}

#[test]
fn limits_of_the_kernel_are_inherited_and_tightened_one_by_one() {
    let policy = policy(
        r#"
version = 1
confinement.level = "limits"
limits = { cpu = "2h", memory = "2GiB", processes = 1000, file-size = "3GB", open-files = 4000 }
[[program]]
name = "git"
limits = { memory = "1GiB", open-files = 300 }
[[program.rule]]
id = "log"
decision = "allow"
why = "w"
limits = { cpu = "1s", processes = 1, file-size = "1KB" }
[[program]]
name = "wc"
[[program.rule]]
id = "count"
decision = "allow"
why = "w"
"#,
    );
    let top = KernelLimits {
        cpu: Duration::from_secs(7200),
        memory_bytes: 2 << 30,
        processes: 1000,
        file_size_bytes: 3_000_000_000,
        open_files: 4000,
    };
    let [git, wc] = policy.programs().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(wc.limits.kernel, Some(top));
    let program = KernelLimits { memory_bytes: 1 << 30, open_files: 300, ..top };
    assert_eq!(git.limits.kernel, Some(program));
    let rule = KernelLimits { cpu: Duration::from_secs(1), processes: 1, file_size_bytes: 1000, ..program };
    assert_eq!(git.rules.iter().next().unwrap().limits.kernel, Some(rule));
}

#[test]
fn at_level_none_the_kernel_limits_nothing() {
    let policy = policy(&format!("confinement.level = \"none\"\n{}", rule("limits.wall = \"1s\"")));
    let git = policy.programs().next().unwrap();
    assert_eq!(git.limits, Limits { kernel: None, ..Limits::DEFAULT });
    let limits = git.rules.iter().next().unwrap().limits;
    assert_eq!(limits, Limits { wall: Duration::from_secs(1), ..git.limits });
}

#[test]
fn a_value_at_its_ceiling_is_fine() {
    for text in [
        "limits.wall = \"24h\"",
        "limits.output = \"256MiB\"",
        "limits.output = \"1\"",
        "limits.cpu = \"168h\"",
        "limits.memory = \"4TiB\"",
        "limits.memory = \"1MiB\"",
        "limits.processes = 1048576",
        "limits.processes = 1",
        "limits.file-size = \"1PiB\"",
        "limits.file-size = \"1\"",
        "limits.open-files = 1048576",
        "limits.open-files = 1",
        "component.memory = \"4GiB\"",
        "session.journal = \"1TiB\"",
        "session.denials = 1000000000",
    ] {
        policy(&top(text));
    }
}

#[test]
fn the_digest_is_that_of_the_text() {
    // printf 'version = 1\n' | sha256sum
    let digest = "dbab12665d98aef021ba64953c61b0ed8a908cfb56a1c01e2fcb4b052b71a2a1";
    assert_eq!(policy("version = 1\n").digest(), digest);
    assert_ne!(policy("version = 1\n").digest(), policy("version = 1\n\n").digest());
}

#[test]
fn examples_that_hold_are_accepted_for_every_kind_of_rule() {
    policy(
        r#"
version = 1
[[program]]
name = "git"
[[program.rule]]
id = "log"
decision = "allow"
why = "w"
leading-arguments = ["log"]
examples.allow = ["git log", "git log -n 3 -- 'a b'"]
examples.deny = ["git push", "git log --output x", "git"]
[[program.rule]]
id = "push"
decision = "ask"
why = "w"
leading-arguments = ["push"]
examples.allow = ["git push"]
examples.deny = ["git push --force"]
[[program.rule]]
id = "no-force"
decision = "deny"
why = "w"
exact-arguments = ["push", "--force"]
examples.allow = ["git push", "git log"]
examples.deny = ["git push --force"]
[[program.rule]]
id = "no-output"
decision = "deny"
why = "w"
leading-arguments = ["log", "--output"]
"#,
    );
}

/// Ten thousand rules with two examples each: rules are found by their arguments, not tried one by one.
#[test]
fn thousands_of_rules_are_read_and_found() {
    let mut text = "version = 1\n[[program]]\nname = \"git\"\n".to_owned();
    for number in 0..10_000 {
        text += &format!(
            "[[program.rule]]\nid = \"r{number}\"\ndecision = \"allow\"\nwhy = \"w\"\n\
             leading-arguments = [\"sub\", \"x{number}\"]\nenv.set = {{ A = \"1\" }}\n\
             examples.allow = [\"git sub x{number} y\"]\nexamples.deny = [\"git sub y\"]\n"
        );
    }
    let policy = policy(&text);
    let entry = policy.programs().next().unwrap();
    let arguments = ["sub", "x777", "z"].map(str::to_owned);
    let fitting: Vec<_> = entry
        .rules
        .fitting(&arguments, &Place::default())
        .into_iter()
        .map(|rule| (rule.id.as_str(), rule.line()))
        .collect();
    assert_eq!(fitting, [("r777", 4 + 777 * 8 + 1)]);
}
