#![expect(clippy::disallowed_methods, reason = "the crate is pure, its tests look around")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use super::*;
use crate::testing::{repository_file, skip};

/// The documentation, as it must stand in `docs/codes.md`.
fn documentation() -> String {
    let mut text = "\
<!-- Generated from host/policy/src/code.rs: UPDATE_DOCS=1 cargo test -p portcullis-policy -->

# Codes

Every error message ends with a stable code, and programs get it as a field of its own. Codes are never renamed;
later releases may add some.

*Guest* is what a WebAssembly component receives from a call: a case of the contract's `error`, an error of `split`, a
trap, or nothing since no component is running. `check` answers `deny`, or `ask` for `shell.approval.required`, where
`exec` answers `error.denied`. *Exit* is the exit code of `portcullis run` and `portcullis exec`.

| code | guest | exit | meaning |
|---|---|---|---|
"
    .to_owned();
    for code in Code::ALL {
        let guest = match code.wit_case() {
            WitCase::Invalid => "`error.invalid`",
            WitCase::Denied => "`error.denied`",
            WitCase::Unavailable => "`error.unavailable`",
            WitCase::Cancelled => "`error.cancelled`",
            WitCase::Trap => "a trap",
            WitCase::Split => "an error of `split`",
            WitCase::Never => "nothing",
        };
        writeln!(text, "| `{code}` | {guest} | {} | {} |", code.exit().code(), code.summary()).unwrap();
    }
    text
}

#[test]
fn the_documentation_lists_every_code() {
    let file = repository_file("docs/codes.md", "docs/codes.md");
    if std::env::var_os("UPDATE_DOCS").is_some_and(|update| update == "1") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, documentation()).unwrap();
    }
    match fs::read_to_string(&file) {
        Ok(text) => assert_eq!(text, documentation(), "run: UPDATE_DOCS=1 cargo test -p portcullis-policy"),
        Err(_) if std::env::var_os("PORTCULLIS_TEST_ROOT").is_some() => {
            skip("docs/codes.md against the codes: the documentation is not there");
        }
        Err(error) => panic!("{} can't be read: {error}", file.display()),
    }
}

#[test]
fn codes_are_unique_and_well_formed() {
    let texts: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), Code::ALL.len());
    for code in Code::ALL {
        let (text, summary) = (code.as_str(), code.summary());
        let words: Vec<&str> = text.split('.').collect();
        let well_formed = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.ends_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        assert!(words[0] == "shell" && (2..=3).contains(&words.len()) && words.iter().all(well_formed), "{text}");
        assert!(summary.ends_with('.') && summary.starts_with(|c: char| c.is_ascii_uppercase()), "{text}: {summary}");
        assert!(!summary.contains('|'), "{text}: {summary}");
        assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{code}\""));
    }
}

/// Programs match on these: the codes that the four systems of `seeds.md`, and the contract, name.
#[test]
fn codes_that_others_rely_on_keep_their_text() {
    for (code, text) in [
        (Code::ArgvEmpty, "shell.argv.empty"),
        (Code::TimeoutPolicy, "shell.timeout.policy"),
        (Code::NetworkPolicy, "shell.network.policy"),
        (Code::PolicyAmbiguous, "shell.policy.ambiguous"),
        (Code::ApprovalRequired, "shell.approval.required"),
        (Code::ProgramChanged, "shell.program.changed"),
    ] {
        assert_eq!(code.as_str(), text);
    }
}

#[test]
fn exit_codes_are_those_of_timeout_and_env() {
    let exits = [Exit::Failed, Exit::Denied, Exit::NotFound, Exit::Cancelled].map(Exit::code);
    assert_eq!(exits, [125, 126, 127, 130]);
    for code in Code::ALL {
        match code.wit_case() {
            WitCase::Invalid | WitCase::Split | WitCase::Trap | WitCase::Never => assert_eq!(code.exit(), Exit::Failed),
            WitCase::Denied => assert_eq!(code.exit(), Exit::Denied),
            WitCase::Cancelled => assert_eq!(code.exit(), Exit::Cancelled),
            WitCase::Unavailable => assert_ne!(code.exit(), Exit::Cancelled),
        }
    }
}
