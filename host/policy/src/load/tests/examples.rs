//! Examples that rules carry.

use super::{assert_fails, assert_report, rule};

#[test]
fn an_example_that_its_rule_does_not_fit() {
    assert_report(
        &rule(
            r#"leading-arguments = ["status"]
examples.allow = ["git status", "git stash"]
"#,
        ),
        r#"error: the rule `status` does not fit this example: at argument 1, `stash`, it wants `status`
 --> policy.toml:9:33
  |
9 | examples.allow = ["git status", "git stash"]
  |                                 ^^^^^^^^^^^
  |
  = help: correct the example, or the rule's arguments"#,
    );
}

#[test]
fn an_example_that_is_too_short() {
    assert_fails(
        &rule(
            r#"leading-arguments = ["status"]
examples.allow = ["git"]
"#,
        ),
        (9, 19),
        "the rule `status` does not fit this example: after the last one, it wants `status`",
    );
}

#[test]
fn an_example_that_is_too_long() {
    assert_fails(
        &rule(
            r#"exact-arguments = ["status"]
examples.allow = ["git status -s"]
"#,
        ),
        (9, 19),
        "the rule `status` does not fit this example: at argument 2, `-s`, it wants no further argument",
    );
}

#[test]
fn an_example_that_another_rule_denies() {
    assert_report(
        &rule(
            r#"examples.allow = ["git push"]
[[program.rule]]
id = "no-push"
decision = "deny"
why = "w"
leading-arguments = ["push"]
"#,
        ),
        r#"error: this example should come out as `allow`, and comes out as `deny` by the rule `no-push` (line 10)
 --> policy.toml:8:19
  |
8 | examples.allow = ["git push"]
  |                   ^^^^^^^^^^
  |
  = help: correct the example, or the arguments of that rule"#,
    );
}

#[test]
fn an_example_that_another_rule_asks_about() {
    assert_fails(
        &rule(
            r#"examples.allow = ["git push"]
[[program.rule]]
id = "push"
decision = "ask"
why = "w"
leading-arguments = ["push"]
"#,
        ),
        (8, 19),
        "this example should come out as `allow`, and comes out as `ask` by the rule `push` (line 10)",
    );
}

#[test]
fn an_example_that_should_be_denied_and_is_allowed() {
    assert_report(
        &rule(
            r#"leading-arguments = ["status"]
examples.deny = ["git push", "git status -s"]
"#,
        ),
        r#"error: this example should come out as `deny`, and comes out as `allow` by the rule `status` (line 5)
 --> policy.toml:9:30
  |
9 | examples.deny = ["git push", "git status -s"]
  |                              ^^^^^^^^^^^^^^^
  |
  = help: correct the example, or the arguments of that rule"#,
    );
}

#[test]
fn an_example_that_should_be_denied_and_another_rule_allows() {
    assert_fails(
        &rule(
            r#"leading-arguments = ["status"]
examples.deny = ["git push"]
[[program.rule]]
id = "all"
decision = "allow"
why = "w"
"#,
        ),
        (9, 18),
        "this example should come out as `deny`, and comes out as `allow` by the rule `all` (line 11)",
    );
}

#[test]
fn an_asking_rules_example_that_is_asked_about() {
    assert_fails(
        r#"version = 1
[[program]]
name = "dd"
[[program.rule]]
id = "copy"
decision = "ask"
why = "w"
examples.deny = ["dd of=/dev/sda"]
"#,
        (8, 18),
        "this example should come out as `deny`, and comes out as `ask` by the rule `copy` (line 5)",
    );
}

#[test]
fn a_denying_rules_example_that_it_does_not_fit() {
    assert_fails(
        r#"version = 1
[[program]]
name = "git"
[[program.rule]]
id = "no-push"
decision = "deny"
why = "w"
leading-arguments = ["push"]
examples.deny = ["git pull"]
"#,
        (9, 18),
        "the rule `no-push` does not fit this example: at argument 1, `pull`, it wants `push`",
    );
}

#[test]
fn a_denying_rules_example_that_nothing_allows() {
    assert_report(
        r#"version = 1
[[program]]
name = "git"
[[program.rule]]
id = "no-push"
decision = "deny"
why = "w"
leading-arguments = ["push"]
examples.allow = ["git pull"]
"#,
        r#"error: this example should come out as `allow`, and no rule fits it
 --> policy.toml:9:19
  |
9 | examples.allow = ["git pull"]
  |                   ^^^^^^^^^^
  |
  = help: correct the example, or add the rule that allows it"#,
    );
}

#[test]
fn an_example_of_another_program() {
    assert_report(
        &rule("examples.allow = [\"hg status\"]"),
        r#"error: an example must begin with the program's name, `git`
 --> policy.toml:8:19
  |
8 | examples.allow = ["hg status"]
  |                   ^^^^^^^^^^^
  |
  = help: write the whole command line"#,
    );
}

#[test]
fn an_example_of_no_program() {
    assert_fails(&rule("examples.deny = [\"\"]"), (8, 18), "an example must begin with the program's name, `git`");
}

#[test]
fn an_example_with_an_open_quote() {
    assert_report(
        &rule("examples.allow = [\"git commit -m 'x\"]"),
        r#"error: the example can't be split into words: No closing quotation
 --> policy.toml:8:19
  |
8 | examples.allow = ["git commit -m 'x"]
  |                   ^^^^^^^^^^^^^^^^^^
  |
  = help: examples are split as Python's `shlex.split` does"#,
    );
}

#[test]
fn an_example_that_ends_in_a_backslash() {
    assert_fails(
        &rule(r"examples.deny = ['git \']"),
        (8, 18),
        "the example can't be split into words: No escaped character",
    );
}
