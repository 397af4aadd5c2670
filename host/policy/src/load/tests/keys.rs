//! Keys that are unknown, missing or given twice.

use proptest::prelude::*;

use super::{assert_fails, assert_report, error, program, rule, top};
use crate::Policy;

#[test]
fn an_empty_file_says_how_to_begin() {
    assert_report(
        "",
        r#"error: the policy is empty, so it has no version and allows nothing
 --> policy.toml:1:1
  |
1 |
  | ^
  |
  = help: begin with `version = 1` and a [[program]]; `portcullis init` writes an example"#,
    );
}

#[test]
fn a_file_of_comments_is_empty() {
    assert_fails("# later", (1, 1), "the policy is empty, so it has no version and allows nothing");
}

#[test]
fn a_missing_version_says_what_to_write() {
    assert_report(
        r#"[limits]
wall = "1s"
"#,
        r#"error: the policy does not say which version of the language it is written in
 --> policy.toml:1:1
  |
1 | [limits]
  | ^
  |
  = help: write `version = 1` in its first line"#,
    );
}

#[test]
fn another_version_is_refused_before_its_keys_are_read() {
    assert_report(
        r#"version = 2
profiles = ["git/read-only"]
"#,
        r#"error: unknown policy version 2
 --> policy.toml:1:11
  |
1 | version = 2
  |           ^
  |
  = help: this release reads version 1; write `version = 1`"#,
    );
}

#[test]
fn a_version_in_quotes_is_unknown() {
    assert_fails("version = \"1\"", (1, 11), "unknown policy version \"1\"");
}

#[test]
fn a_version_with_a_fraction_is_unknown() {
    assert_fails("version = 1.0", (1, 11), "unknown policy version 1.0");
}

#[test]
fn a_version_in_hexadecimal_is_unknown() {
    assert_fails("version = 0x1", (1, 11), "unknown policy version 0x1");
}

#[test]
fn an_unknown_key_at_the_top() {
    assert_report(
        &top("colour = true"),
        r#"error: unknown key `colour`, expected one of `version`, `workspace`, `component`, `session`, `limits`, `programs`, `env`, `confinement`, `program`
 --> policy.toml:2:1
  |
2 | colour = true
  | ^^^^^^"#,
    );
}

#[test]
fn an_unknown_key_of_workspace() {
    assert_report(
        &top(r#"[workspace]
root = "/w"
"#),
        r#"error: unknown key `root`, expected `guest-files` or `deny`
 --> policy.toml:3:1
  |
3 | root = "/w"
  | ^^^^"#,
    );
}

#[test]
fn an_unknown_key_of_component() {
    assert_fails(
        &top(r#"[component]
fuel = 5
"#),
        (3, 1),
        "unknown key `fuel`, expected one of `memory`, `wall`, `compute`",
    );
}

#[test]
fn an_unknown_key_of_session() {
    assert_fails(
        &top(r#"[session]
wall = "10m"
"#),
        (3, 1),
        "unknown key `wall`, expected one of `calls`, `concurrent`, `denials`, `journal`",
    );
}

#[test]
fn an_unknown_key_of_limits() {
    assert_fails(
        &top("limits.time = \"1s\""),
        (2, 8),
        "unknown key `time`, expected one of `wall`, `cpu`, `memory`, `processes`, `file-size`, `open-files`, `output`",
    );
}

#[test]
fn an_unknown_key_of_programs() {
    assert_fails(
        &top(r#"[programs]
PATH = []
"#),
        (3, 1),
        "unknown key `PATH`, expected `path`",
    );
}

#[test]
fn an_unknown_key_of_env() {
    assert_fails(
        &top(r#"[env]
inherit = true
"#),
        (3, 1),
        "unknown key `inherit`, expected one of `set`, `pass`, `guest`",
    );
}

#[test]
fn an_unknown_key_of_confinement() {
    assert_fails(
        &top(r#"[confinement]
landlock = true
"#),
        (3, 1),
        "unknown key `landlock`, expected one of `level`, `network`, `read`, `write`",
    );
}

#[test]
fn an_unknown_key_of_a_program() {
    assert_fails(
        &program("path = \"/usr/bin/git\""),
        (4, 1),
        "unknown key `path`, expected one of `name`, `file`, `limits`, `network`, `children`, `read`, `write`, `runs-workspace-code`, `syntax`, `env`, `rule`",
    );
}

#[test]
fn an_unknown_key_of_a_programs_env() {
    assert_fails(
        &program("env.unset = [\"A\"]"),
        (4, 5),
        "unknown key `unset`, expected one of `set`, `pass`, `guest`",
    );
}

#[test]
fn an_unknown_key_of_a_rule() {
    assert_report(
        &rule("arguments = [\"status\"]"),
        r#"error: unknown key `arguments`, expected one of `id`, `decision`, `why`, `leading-arguments`, `exact-arguments`, `syntax`, `negative-numbers`, `before-subcommand`, `subcommand`, `flags`, `conflicts`, `required`, `positionals`, `after-double-dash`, `limits`, `network`, `write`, `env`, `examples`
 --> policy.toml:8:1
  |
8 | arguments = ["status"]
  | ^^^^^^^^^"#,
    );
}

#[test]
fn a_rule_sets_variables_and_neither_passes_them_nor_leaves_them_to_guests() {
    assert_fails(&rule("env.guest = [\"CI\"]"), (8, 5), "unknown key `guest`, expected `set`");
}

#[test]
fn an_unknown_key_of_examples() {
    assert_fails(&rule("examples.match = []"), (8, 10), "unknown key `match`, expected `allow` or `deny`");
}

#[test]
fn a_key_given_twice() {
    assert_report(
        &top(r#"limits.wall = "1s"
limits.wall = "2s"
"#),
        r#"error: duplicate key
 --> policy.toml:3:8
  |
3 | limits.wall = "2s"
  |        ^^^^"#,
    );
}

#[test]
fn text_that_is_not_toml() {
    assert_fails(&top("[limits"), (2, 8), "unclosed table, expected `]`");
}

#[test]
fn a_rule_without_its_keys() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
[[program.rule]]
id = "status"
"#,
        r#"error: the key `decision` is missing
 --> policy.toml:4:1
  |
4 | [[program.rule]]
  | ^^^^^^^^^^^^^^^^
  |
  = help: a [[program]] has a `name`, a [[program.rule]] has `id`, `decision` and `why`"#,
    );
}

#[test]
fn a_program_without_a_name() {
    assert_fails(
        r#"version = 1
[[program]]
file = "/usr/bin/git"
"#,
        (2, 1),
        "the key `name` is missing",
    );
}

/// Keys of the language as it is meant to become: who writes one must not believe that it holds.
#[test]
fn keys_of_later_releases_are_refused_as_such() {
    for (key, text) in [
        ("profiles", top("profiles = [\"git/read-only\"]")),
        ("metacharacters", program("metacharacters = \"refuse\"")),
    ] {
        let error = error(&text);
        let message = format!("this release does not know the key `{key}`, expected ");
        assert!(error.message().starts_with(&message), "{error}");
        assert!(error.to_string().contains("help: leave it out: a key that can't be kept is refused, never ignored"));
    }
}

/// Derived from CVE-2021-42574 ("Trojan Source"): a policy can come out of a hostile repository.
#[test]
fn text_that_deceives_is_not_shown_as_it_is() {
    let text = top("\"\\u202Ea\\u001B[2J\" = 1 # \u{202e}\n");
    let error = Policy::parse("\u{1b}[2J/policy.toml", &text).expect_err("an unknown key");
    assert!(error.message().starts_with(r"unknown key `\u{202e}a\u{1b}[2J`, expected"), "{error}");
    assert!(error.to_string().contains(r"--> \u{1b}[2J/policy.toml:2:1"), "{error}");
    assert!(!error.to_string().contains(['\u{202e}', '\u{1b}']), "{error}");
}

#[test]
fn nesting_without_end_is_refused() {
    let lists = top(&("profiles = ".to_owned() + &"[".repeat(100_000)));
    assert_fails(&lists, (2, 92), "keys, lists or tables are nested too deeply");
    // The reader says no place here.
    let keys = top(&("a.".repeat(100_000) + "a = 1"));
    assert_fails(&keys, (1, 1), "keys, lists or tables are nested too deeply");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let text = "version = 1\n".to_owned() + &"#".repeat(Policy::MAX_BYTES - 12);
    assert_eq!(text.len(), Policy::MAX_BYTES);
    Policy::parse("policy.toml", &text).expect("this large and no larger");
    assert_report(
        &(text + "\n"),
        "error: the file has 4194305 bytes; a policy has at most 4194304
 --> policy.toml:1:1
  |
1 | version = 1
  | ^
  |
  = help: is it the right file?",
    );
}

#[test]
fn places_are_counted_in_lines_and_characters_whatever_the_line_endings() {
    let error = error("\u{feff}version = 1\r\n# é\r\nlimits = { \"é\" = 1 }\r\n");
    assert_eq!((error.line(), error.column()), (3, 12), "{error}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "(version = 1\n)?[\\[\\]{}=\"'.,#a-zé\u{0}\u{202e}\n\r 0-9-]{0,80}") {
        if let Err(error) = Policy::parse("policy.toml", &text) {
            prop_assert!(error.to_string().starts_with("error: "));
        }
    }
}
