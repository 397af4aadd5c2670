//! What the tests of several modules need: the repository's files, counted skips, and rules to choose from.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the crate is pure, its tests look around")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::{ArgumentPattern, Effect};

/// A file of the repository. `copied` is its place below `PORTCULLIS_TEST_ROOT`, where that is set: a test program
/// may run far from the sources, as another user.
pub(crate) fn repository_file(in_sources: &str, copied: &str) -> PathBuf {
    match std::env::var_os("PORTCULLIS_TEST_ROOT") {
        Some(root) => Path::new(&root).join(copied),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(in_sources),
    }
}

/// Counts and shows that a test, or a part of it, did not run.
#[expect(clippy::print_stderr, reason = "a skip is never silent")]
pub(crate) fn skip(reason: &str) {
    eprintln!("SKIP: {reason}");
    if let Some(file) = std::env::var_os("PORTCULLIS_TEST_SKIPS") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(format!("SKIP: {reason}\n").as_bytes()).unwrap();
    }
}

/// One of few words, so that patterns and arguments meet.
pub(crate) fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(&["a", "b", "c"][..]).prop_map(str::to_owned), 0..4)
}

pub(crate) fn pattern() -> impl Strategy<Value = ArgumentPattern> {
    prop_oneof![
        Just(ArgumentPattern::Any),
        words().prop_map(ArgumentPattern::Leading),
        words().prop_map(ArgumentPattern::Exact),
    ]
}

pub(crate) fn effect() -> impl Strategy<Value = Effect> {
    prop::sample::select(&[Effect::Allow, Effect::Allow, Effect::Ask, Effect::Deny][..])
}

/// The rule `r<number>` as a policy has it, without what may follow.
pub(crate) fn rule_text(number: usize, pattern: &ArgumentPattern, effect: Effect) -> String {
    let arguments = match pattern {
        ArgumentPattern::Any => String::new(),
        ArgumentPattern::Leading(words) => format!("leading-arguments = {words:?}\n"),
        ArgumentPattern::Exact(words) => format!("exact-arguments = {words:?}\n"),
        ArgumentPattern::Grammar(_) | ArgumentPattern::Occurrence(_) => unreachable!("`pattern` makes none"),
    };
    format!(
        "[[program.rule]]\nid = \"r{number}\"\ndecision = \"{}\"\nwhy = \"why {number}\"\n{arguments}",
        effect.as_str()
    )
}
