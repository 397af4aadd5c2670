//! Every policy that the documentation shows can be read, and its examples hold.

#![expect(clippy::disallowed_methods, reason = "the crate is pure, its tests look around")]

use std::fs;

use crate::testing::{repository_file, skip};
use crate::{Decision, Facts, Policy, ProgramFact, Request};

/// The blocks of TOML of a page, each with its line.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line == "```toml" {
            let block = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            blocks.push((number + 1, block.collect::<Vec<_>>().join("\n")));
        }
    }
    blocks
}

/// The page; `None` where the tests run far from the sources.
fn page(file: &str) -> Option<String> {
    match fs::read_to_string(repository_file(file, file)) {
        Ok(page) => Some(page),
        Err(_) if std::env::var_os("PORTCULLIS_TEST_ROOT").is_some() => {
            skip(&format!("the policies of {file}: the documentation is not there"));
            None
        }
        Err(error) => panic!("{file} can't be read: {error}"),
    }
}

#[track_caller]
fn assert_loads(file: &str, least: usize) {
    let Some(page) = page(file) else { return };
    let blocks = blocks(&page);
    assert!(blocks.len() >= least, "{file} has {} policies", blocks.len());
    for (line, block) in blocks {
        let block = match block.trim_start() {
            whole if whole.contains("version = 1") => whole.to_owned(),
            program if program.starts_with("[[program]]") => format!("version = 1\n{program}"),
            // A rule alone: its id is the program's name.
            rule => {
                let (_, rest) = rule.split_once("id = ").unwrap();
                let name = rest.lines().next().unwrap();
                format!("version = 1\n[[program]]\nname = {name}\n{rule}")
            }
        };
        if let Err(error) = Policy::parse(file, &block) {
            panic!("the policy at {file}:{line} can't be read:\n{error}");
        }
    }
}

#[test]
fn the_policies_of_the_page_about_rules_can_be_read() {
    assert_loads("docs/writing-rules.md", 5);
}

#[test]
fn the_policies_of_the_readme_can_be_read() {
    assert_loads("README.md", 2);
}

#[test]
fn the_refusal_that_the_page_shows_is_the_real_one() {
    let Some(page) = page("docs/writing-rules.md") else { return };
    let (_, block) = blocks(&page).into_iter().find(|(_, block)| block.contains("cargo-test")).unwrap();
    let policy = Policy::parse("policy.toml", &format!("version = 1\n{block}")).unwrap();
    let request = Request::new("cargo").args(["test", "--work"]);
    let facts = Facts::new(ProgramFact::Missing);
    let Decision::Deny(problem) = policy.decide(&request.validate().unwrap(), &facts) else {
        panic!("it must be denied")
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&page).contains(&words(&problem.message)), "{}", problem.message);
}
