//! GNU options are read as `getopt_long(3)` reads them: held against a small one, and against that of util-linux.

#![expect(clippy::disallowed_types, reason = "the crate is pure, its tests start a program")]

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::{owned, policy, rule};
use crate::grammar::{Piece, Place};
use crate::testing::skip;
use crate::{Policy, split};

/// Whether an option takes a value.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    AValue,
    Perhaps,
}

const SHORT: [(char, Takes); 4] =
    [('r', Takes::Nothing), ('f', Takes::Nothing), ('n', Takes::AValue), ('u', Takes::Perhaps)];
const LONG: [(&str, Takes); 4] =
    [("recursive", Takes::Nothing), ("reverse", Takes::Nothing), ("jobs", Takes::AValue), ("color", Takes::Perhaps)];

/// The same options as a rule has them.
static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    policy(
        "allow",
        r#"
flags = { "-r" = { repeat = true }, "-f" = { repeat = true }, "-n" = { repeat = true, value = "text" }, "-u" = { repeat = true, value = "text", optional = true }, "--recursive" = { repeat = true }, "--reverse" = { repeat = true }, "--jobs" = { repeat = true, value = "text" }, "--color" = { repeat = true, value = "text", optional = true } }
positionals = { type = "text" }
"#,
    )
});

/// Options with their values, and operands.
type Meaning = (Vec<(String, Option<String>)>, Vec<String>);

/// What the rule makes of the arguments.
fn ours(arguments: &[String]) -> Option<Meaning> {
    let (mut options, mut operands): Meaning = Meaning::default();
    let end = rule(&POLICY).arguments.read(arguments, &Place::default(), &mut |_, text: &str, piece| match piece {
        Piece::Flag(flag) => options.push((flag.name.clone(), None)),
        Piece::Value(..) => options.last_mut().unwrap().1 = Some(text.to_owned()),
        Piece::Positional(..) => operands.push(text.to_owned()),
        Piece::EndOfOptions => {}
        Piece::Listed | Piece::Subcommand | Piece::Unjudged => panic!("the rule has none"),
    });
    end.ok().map(|()| (options, operands))
}

/// A small `getopt_long`, written from its manual page; says too whether a name was abbreviated.
fn reference(arguments: &[String]) -> Option<(Meaning, bool)> {
    let (mut options, mut operands): Meaning = Meaning::default();
    let mut abbreviated = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            operands.extend(rest.by_ref().cloned());
        } else if let Some(long) = argument.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let exact = LONG.iter().find(|(full, _)| *full == name);
            let mut beginnings = LONG.iter().filter(|(full, _)| full.starts_with(name));
            let (full, takes) = exact.or_else(|| beginnings.next().filter(|_| beginnings.next().is_none()))?;
            abbreviated |= *full != name;
            let value = match takes {
                Takes::Nothing if value.is_some() => return None,
                Takes::Nothing => None,
                Takes::AValue => Some(value.or_else(|| rest.next().map(String::as_str))?.to_owned()),
                Takes::Perhaps => value.map(str::to_owned),
            };
            options.push((format!("--{full}"), value));
        } else if argument.len() > 1 && argument.starts_with('-') {
            let mut cluster = argument[1..].chars();
            while let Some(letter) = cluster.next() {
                let (_, takes) = SHORT.iter().find(|(known, _)| *known == letter)?;
                let glued =
                    Some(cluster.as_str().to_owned()).filter(|rest| *takes != Takes::Nothing && !rest.is_empty());
                let value = match takes {
                    Takes::Nothing => None,
                    Takes::AValue => Some(glued.clone().or_else(|| rest.next().cloned())?),
                    Takes::Perhaps => glued.clone(),
                };
                options.push((format!("-{letter}"), value));
                if glued.is_some() {
                    break;
                }
            }
        } else {
            operands.push(argument.clone());
        }
    }
    Some(((options, operands), abbreviated))
}

/// What `getopt` of util-linux makes of the arguments; it writes them in order, each value quoted.
fn installed(arguments: &[String]) -> Option<Meaning> {
    let mut getopt = Command::new("getopt");
    getopt
        .args(["-q", "-s", "bash", "-o", "rfn:u::", "--long", "recursive,reverse,jobs:,color::", "--"])
        .args(arguments);
    let output = getopt.env_remove("POSIXLY_CORRECT").stdin(Stdio::null()).output().unwrap();
    if !output.status.success() {
        return None;
    }
    let words = split(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let (mut options, mut operands): Meaning = Meaning::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => operands.extend(words.by_ref()),
            "-n" | "--jobs" => options.push((word, words.next())),
            // A value that is missing and an empty one look alike.
            "-u" | "--color" => options.push((word, words.next().filter(|value| !value.is_empty()))),
            _ => options.push((word, None)),
        }
    }
    Some((options, operands))
}

/// Spellings that are right, wrong, and just beside.
const TOKENS: &[&str] = &[
    "-r",
    "-f",
    "-n",
    "-u",
    "-rf",
    "-fr",
    "-n5",
    "-rn",
    "-rn5",
    "-u5",
    "-fu",
    "-ru-r",
    "-x",
    "-rx",
    "-nr",
    "-n-",
    "-n--",
    "--recursive",
    "--reverse",
    "--jobs",
    "--color",
    "--jobs=4",
    "--jobs=",
    "--jobs=-r",
    "--color=x",
    "--color=",
    "--recursive=",
    "--rec",
    "--re",
    "--j=4",
    "--c",
    "--unknown",
    "--=",
    "---r",
    "-",
    "--",
    "a",
    "b c",
    "",
    "=",
    "-n=5",
    "-u=x",
    "r",
    "jobs",
    "é",
    "-é",
    "-né",
];

fn arguments() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(TOKENS), 0..7).prop_map(|tokens| owned(&tokens))
}

/// What is done to arguments: a token inserted, two glued, one cut short, one split.
fn mutated() -> impl Strategy<Value = Vec<String>> {
    (arguments(), 0..4_u8, any::<prop::sample::Index>(), prop::sample::select(TOKENS)).prop_map(
        |(mut arguments, kind, index, token)| {
            if arguments.is_empty() {
                return owned(&[token]);
            }
            let at = index.index(arguments.len());
            match kind {
                0 => arguments.insert(at, token.to_owned()),
                1 => {
                    let glued = arguments.remove(at) + token;
                    arguments.insert(at, glued);
                }
                2 => {
                    arguments[at].pop();
                }
                _ => {
                    let middle = arguments[at].floor_char_boundary(arguments[at].len() / 2);
                    let end = arguments[at].split_off(middle);
                    arguments.insert(at + 1, end);
                }
            }
            arguments
        },
    )
}

/// Values of short options that begin with `=` are refused on purpose.
fn has_equals(meaning: &Meaning) -> bool {
    let is_short = |name: &str| !name.starts_with("--");
    meaning.0.iter().any(|(name, value)| is_short(name) && value.as_ref().is_some_and(|value| value.starts_with('=')))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// What is read is read alike; what is refused is an error to `getopt_long`, an abbreviation, or `-n=5`.
    #[test]
    fn arguments_mean_what_getopt_long_takes_them_for(arguments in prop_oneof![arguments(), mutated()]) {
        match (ours(&arguments), reference(&arguments)) {
            (Some(ours), Some((theirs, abbreviated))) => {
                prop_assert_eq!(ours, theirs);
                prop_assert!(!abbreviated);
            }
            (Some(_), None) => prop_assert!(false, "getopt_long refuses it"),
            (None, Some((theirs, abbreviated))) => prop_assert!(abbreviated || has_equals(&theirs)),
            (None, None) => {}
        }
    }
}

/// The same against the program, and the small one as well.
#[test]
fn arguments_mean_what_getopt_of_util_linux_takes_them_for() {
    let version = Command::new("getopt").arg("-V").stdin(Stdio::null()).output();
    if !version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("util-linux")) {
        skip("options against util-linux: `getopt` is not installed");
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    let property = |arguments: Vec<String>| {
        // Missing and empty look alike in what the program writes.
        let flat = |(options, operands): Meaning| {
            let options = options.into_iter().map(|(name, value)| (name, value.unwrap_or_default()));
            (options.collect::<Vec<_>>(), operands)
        };
        let theirs = installed(&arguments);
        if let Some(ours) = ours(&arguments) {
            prop_assert_eq!(Some(flat(ours)), theirs.clone().map(flat));
        }
        prop_assert_eq!(reference(&arguments).map(|(meaning, _)| flat(meaning)), theirs.map(flat));
        Ok(())
    };
    runner.run(&prop_oneof![arguments(), mutated()], property).unwrap();
}
