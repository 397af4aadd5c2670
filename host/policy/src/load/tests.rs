use super::*;

mod accepted;
mod documentation;
mod examples;
mod grammar;
mod keys;
mod programs;
mod reach;
mod rules;
mod values;

/// A policy of version 1 that goes on like this.
fn top(text: &str) -> String {
    format!("version = 1\n{text}")
}

/// A policy whose program `git` has this at its line 4, and then one rule.
fn program(text: &str) -> String {
    let rule = "[[program.rule]]\nid = \"status\"\ndecision = \"allow\"\nwhy = \"shows what changed\"\n";
    format!("version = 1\n[[program]]\nname = \"git\"\n{text}\n{rule}")
}

/// A policy whose only rule, `status` of `git`, has this at its line 8.
fn rule(text: &str) -> String {
    let head = "[[program.rule]]\nid = \"status\"\ndecision = \"allow\"\nwhy = \"shows what changed\"\n";
    format!("version = 1\n[[program]]\nname = \"git\"\n{head}{text}")
}

fn error(text: &str) -> PolicyError {
    Policy::parse("policy.toml", text).expect_err("this policy must be refused")
}

/// The policy is refused with this report: message, place, line, caret, next step.
#[track_caller]
fn assert_report(text: &str, report: &str) {
    assert_eq!(error(text).to_string(), report.trim_start_matches('\n'));
}

/// The policy is refused with this message at this line and column.
#[track_caller]
fn assert_fails(text: &str, place: (usize, usize), message: &str) {
    let error = error(text);
    assert_eq!((error.message(), (error.line(), error.column())), (message, place));
}
