//! Entries of the program table.

use super::{assert_fails, assert_report, program, top};
use crate::Policy;

#[test]
fn a_program_without_rules() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
"#,
        r#"error: `git` has no rule, so nothing about it would be allowed
 --> policy.toml:3:8
  |
3 | name = "git"
  |        ^^^^^
  |
  = help: add a [[program.rule]] with `id`, `decision` and `why`"#,
    );
}

#[test]
fn a_program_given_twice() {
    assert_report(
        r#"version = 1

[[program]]
name = "git"
rule = [{ id = "a", decision = "allow", why = "w" }]

[[program]]
name = "git"
rule = [{ id = "b", decision = "allow", why = "w" }]
"#,
        r#"error: `git` already has an entry, in line 4
 --> policy.toml:8:8
  |
8 | name = "git"
  |        ^^^^^
  |
  = help: put all rules of a program under one [[program]]"#,
    );
}

#[test]
fn a_path_as_a_programs_name() {
    assert_report(
        &top(r#"[[program]]
name = "/usr/bin/git"
"#),
        r#"error: the program name `/usr/bin/git` contains `/`: programs are asked for by name, and the policy says which file that is
 --> policy.toml:3:8
  |
3 | name = "/usr/bin/git"
  |        ^^^^^^^^^^^^^^"#,
    );
}

#[test]
fn a_programs_name_with_a_blank() {
    assert_fails(
        &top(r#"[[program]]
name = "git status"
"#),
        (3, 8),
        "the program name `git status` contains white space or a control character",
    );
}

#[test]
fn a_programs_name_with_an_invisible_character() {
    assert_fails(
        &top(r#"[[program]]
name = "g\u200Bit"
"#),
        (3, 8),
        r"the program name `g\u{200b}it` contains an invisible character",
    );
}

#[test]
fn an_empty_programs_name() {
    assert_fails(
        &top(r#"[[program]]
name = ""
"#),
        (3, 8),
        "the program name `` is empty",
    );
}

#[test]
fn a_directory_as_a_programs_name() {
    assert_fails(
        &top(r#"[[program]]
name = ".."
"#),
        (3, 8),
        "the program name `..` is a directory",
    );
}

#[test]
fn a_relative_file() {
    assert_report(
        &program("file = \"bin/git\""),
        r#"error: the file of a program must be an absolute path without `.` and `..`
 --> policy.toml:4:8
  |
4 | file = "bin/git"
  |        ^^^^^^^^^
  |
  = help: write where it is, such as "/usr/bin/git", or leave `file` out to have it looked up"#,
    );
}

#[test]
fn a_file_that_climbs() {
    assert_fails(
        &program("file = \"/usr/bin/../git\""),
        (4, 8),
        "the file of a program must be an absolute path without `.` and `..`",
    );
}

#[test]
fn a_programs_limit_above_the_top() {
    assert_report(
        &program("limits.wall = \"31s\""),
        r#"error: at most 30s can be given here
 --> policy.toml:4:15
  |
4 | limits.wall = "31s"
  |               ^^^^^
  |
  = help: raise the limit of the table above first, or ask for less here"#,
    );
}

#[test]
fn a_programs_output_above_the_top() {
    assert_fails(&program("limits.output = \"100001\""), (4, 17), "1 to 100000 bytes can be given here");
}

#[test]
fn a_programs_network_above_the_top() {
    assert_report(
        &program("network = \"host\""),
        r#"error: a program can't get more network than [confinement] gives
 --> policy.toml:4:11
  |
4 | network = "host"
  |           ^^^^^^
  |
  = help: give it in [confinement] first, and take it away where it is not needed"#,
    );
}

#[test]
fn a_programs_name_is_as_long_as_a_file_name_can_be() {
    let named = |length: usize| {
        let rule = "rule = [{ id = \"a\", decision = \"allow\", why = \"w\" }]";
        top(&format!("[[program]]\nname = \"{}\"\n{rule}\n", "a".repeat(length)))
    };
    assert!(Policy::parse("policy.toml", &named(255)).is_ok());
    let message = format!("the program name `{}…` is longer than 255 bytes", "a".repeat(200));
    assert_fails(&named(256), (3, 8), &message);
}
