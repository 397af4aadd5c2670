//! `tests/data/runner-bugs.toml`: for every kind of fault that others have had, a test here, or a reason why there is none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the table is, and the names of all tests: from the sources, or, where a runner of the tests has laid out programs
/// only, from these.
fn table_and_tests() -> (PathBuf, BTreeSet<String>) {
    let mut tests = BTreeSet::new();
    match std::env::var_os("PORTCULLIS_TEST_ROOT") {
        Some(root) => {
            for program in fs::read_dir(Path::new(&root).join("tests")).unwrap() {
                let listed = Command::new(program.unwrap().path()).arg("--list").output().unwrap().stdout;
                let listed = String::from_utf8(listed).unwrap();
                let names = listed.lines().filter_map(|line| line.strip_suffix(": test")?.rsplit("::").next());
                tests.extend(names.map(str::to_owned));
            }
            (Path::new(&root).join("data/runner-bugs.toml"), tests)
        }
        None => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            for folder in ["host", "tests"] {
                collect(&root.join(folder), &mut tests);
            }
            (root.join("tests/data/runner-bugs.toml"), tests)
        }
    }
}

/// The tests of all Rust sources below a directory.
fn collect(directory: &Path, tests: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, tests);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            tests.extend(tests_in(&fs::read_to_string(path).unwrap()));
        }
    }
}

/// The functions that come next after an attribute that makes them tests.
fn tests_in(source: &str) -> Vec<String> {
    let mut is_test = false;
    let mut tests = Vec::new();
    for line in source.lines().map(str::trim_start) {
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let (true, Some(function)) = (is_test, function) {
            tests.push(function.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect());
            is_test = false;
        }
    }
    tests
}

#[test]
fn functions_without_the_attribute_are_no_tests() {
    let source = "// #[test]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\nfn c() {}\n  #[tokio::test(x)]\n  async fn d_2(e: u8) {}\n";
    assert_eq!(tests_in(source), ["b", "d_2"]);
}

#[test]
fn every_kind_of_fault_has_a_test_that_is_there_or_a_reason() {
    let (table, tests) = table_and_tests();
    let table: toml::Table = fs::read_to_string(table).unwrap().parse().unwrap();
    assert_eq!(table.len(), 68, "a kind that is not listed is not missed");
    for (kind, entry) in &table {
        let entry = entry.as_table().unwrap();
        assert!(entry.keys().all(|key| ["tests", "why"].contains(&key.as_str())), "{kind}: {entry:?}");
        let named = entry.get("tests").map_or(&[][..], |tests| tests.as_array().unwrap());
        let reason = entry.get("why").map(|why| why.as_str().unwrap());
        assert!(!named.is_empty() || reason.is_some_and(|why| !why.is_empty()), "{kind} has neither");
        for name in named {
            let name = name.as_str().unwrap();
            assert!(tests.contains(name), "{kind}: there is no test `{name}`");
        }
    }
}
