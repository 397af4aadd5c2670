use super::*;
use crate::{ArgumentPattern, Policy, Rule};

mod conventions;
mod getopt;
mod messages;
mod occurrences;
mod properties;
mod values;

/// A policy for `x` whose only rule has these keys.
fn policy(decision: &str, keys: &str) -> Policy {
    let rule = format!("id = \"r\"\ndecision = \"{decision}\"\nwhy = \"w\"\n{keys}");
    let text = format!("version = 1\n[[program]]\nname = \"x\"\n[[program.rule]]\n{rule}\n");
    Policy::parse("policy.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn rule(policy: &Policy) -> &Rule {
    policy.programs().next().unwrap().rules.iter().next().unwrap()
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

/// How the rule reads these arguments, a letter for each part: `F` flag, `V` value, `P` operand, `S` subcommand, `E` the
/// end of options; or the index where it stops.
fn read(policy: &Policy, arguments: &[&str]) -> Result<String, usize> {
    let place = Place { workspace: Some("/ws"), cwd: "sub", deny: &["secret".to_owned()], write: &["out".to_owned()] };
    let mut parts = Vec::new();
    let arguments = owned(arguments);
    let end = rule(policy).arguments.read(&arguments, &place, &mut |_, text: &str, piece| {
        let letter = match piece {
            Piece::Listed => 'L',
            Piece::Subcommand => 'S',
            Piece::Flag(_) => 'F',
            Piece::Value(..) => 'V',
            Piece::Positional(..) => 'P',
            Piece::EndOfOptions => 'E',
            Piece::Unjudged => 'U',
        };
        parts.push(format!("{letter}:{text}"));
    });
    end.map(|()| parts.join(" ")).map_err(|stop| stop.at)
}

/// All of these are read, and as it says.
#[track_caller]
fn assert_read(keys: &str, cases: &[(&[&str], &str)]) {
    let policy = policy("allow", keys);
    assert!(matches!(rule(&policy).arguments, ArgumentPattern::Grammar(_)));
    for (arguments, parts) in cases {
        assert_eq!(read(&policy, arguments).as_deref(), Ok(*parts), "{arguments:?}");
    }
}

/// Reading stops at these indices.
#[track_caller]
fn assert_stops(keys: &str, cases: &[(&[&str], usize)]) {
    let policy = policy("allow", keys);
    for (arguments, at) in cases {
        assert_eq!(read(&policy, arguments), Err(*at), "{arguments:?}");
    }
}
