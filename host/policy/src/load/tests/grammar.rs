//! Keys about flags and operands that say nothing, or nothing that could hold.

use super::{assert_fails, assert_report, program, rule};
use crate::{Code, Decision, Facts, Policy, ProgramFact, Request};

#[test]
fn a_key_that_the_type_has_no_use_for() {
    assert_report(
        &rule("flags = { \"-n\" = { value = \"text\", max = 4 } }"),
        r#"error: the type `text` has no use for this key
 --> policy.toml:8:42
  |
8 | flags = { "-n" = { value = "text", max = 4 } }
  |                                          ^
  |
  = help: leave it out, or choose another type"#,
    );
    for key in
        ["values = [\"a\"]", "pattern = 'a'", "hosts = [\"a\"]", "schemes = [\"a\"]", "paths = true", "least = 1"]
    {
        let text = rule(&format!("positionals = {{ type = \"path-read\", {key} }}"));
        let error = Policy::parse("policy.toml", &text).unwrap_err();
        assert_eq!(error.message(), "the type `path-read` has no use for this key", "{key}");
    }
}

#[test]
fn keys_of_values_without_a_value() {
    for key in ["optional = true", "glued = true", "min = 1", "also = [\"a\"]"] {
        assert_fails(
            &rule(&format!("flags = {{ \"-n\" = {{ {key} }} }}")),
            (8, 20 + key.find('=').unwrap() + 2),
            "the flag has no `value`, so this would do nothing",
        );
    }
}

#[test]
fn keys_that_the_type_needs() {
    for (kind, key) in [("enum", "values"), ("regex", "pattern"), ("url", "hosts")] {
        let text = rule(&format!("positionals = {{ type = \"{kind}\" }}"));
        assert_fails(&text, (8, 24), &format!("the type needs the key `{key}` beside it"));
    }
    assert_fails(&rule("positionals = { max = 1 }"), (8, 1 + "positionals = ".len()), "the key `type` is missing");
}

#[test]
fn values_that_can_not_be() {
    for (keys, message) in [
        ("type = \"int\", least = 2, most = 1", "no number is at least the one and at most the other"),
        ("type = \"enum\", values = []", "the list is empty"),
        ("type = \"url\", hosts = [\"*.org\"]", "`*.org` can't be a host"),
        ("type = \"url\", hosts = [\"a.org:0\"]", "`a.org:0` can't be a host"),
        ("type = \"url\", hosts = [\"a.org/x\"]", "`a.org/x` can't be a host"),
        ("type = \"url\", hosts = [\"a.org\"], schemes = [\"https://\"]", "`https://` can't be a scheme"),
        ("type = \"regex\", pattern = 'a)|(b'", "the regular expression can't be used: unopened group"),
        ("type = \"regex\", pattern = '(?x)a #'", "the regular expression can't be used: unclosed group"),
        (
            "type = \"regex\", pattern = '(a{1000}){1000}'",
            "the regular expression can't be used: Compiled regex exceeds size limit of 262144 bytes.",
        ),
        (
            "type = \"regex\", pattern = '(a)\\1'",
            "the regular expression can't be used: backreferences are not supported",
        ),
        (
            "type = \"text\", min = 2, max = 1",
            "no number of operands is at least `min`, at most `max` and more than zero",
        ),
        ("type = \"text\", max = 0", "no number of operands is at least `min`, at most `max` and more than zero"),
        ("type = \"text\", max = 99999999", "a command has at most 65536 arguments"),
    ] {
        let error = Policy::parse("policy.toml", &rule(&format!("positionals = {{ {keys} }}"))).unwrap_err();
        assert_eq!(error.message(), message, "{keys}");
        assert_eq!(error.line(), 8, "{keys}");
    }
}

#[test]
fn names_that_no_flag_has() {
    for (name, message) in [
        ("n", "`n` is no name of a flag"),
        ("-", "`-` is no name of a flag"),
        ("--", "`--` is no name of a flag"),
        ("---x", "`---x` is no name of a flag"),
        ("--x=y", "`--x=y` is no name of a flag"),
        ("-é", "`-é` is no name of a flag"),
        ("-a -b", "`-a -b` is no name of a flag"),
        ("-a,-b", "`-a,-b` is no name of a flag"),
        ("", "`` is no name of a flag"),
        ("-name", "`-name` has several letters behind one dash, which makes a cluster of flags"),
        ("-a, -a", "the flag `-a` is listed twice"),
        ("-NUMBER", "`-NUMBER` has a value, the number, and no other name"),
    ] {
        assert_fails(&rule(&format!("flags = {{ {name:?} = {{}} }}")), (8, 11), message);
    }
    assert_fails(
        &rule("flags = { \"-a\" = {}, \"-b\" = { alias = [\"-a\"] } }"),
        (8, 22),
        "the flag `-a` is listed twice",
    );
}

#[test]
fn keys_that_contradict_each_other() {
    for (keys, message) in [
        ("leading-arguments = []\nflags = {}", "a rule lists either whole arguments or flags and operands, not both"),
        (
            "exact-arguments = []\nsubcommand = \"a\"",
            "a rule lists either whole arguments or flags and operands, not both",
        ),
        ("before-subcommand = { flags = { \"-a\" = {} } }", "`before-subcommand` needs a `subcommand` to stand before"),
        ("syntax = \"none\"\nflags = { \"-a\" = {} }", "with `syntax = \"none\"` there are no flags"),
        ("syntax = \"none\"\nafter-double-dash = {}", "with `syntax = \"none\"` a `--` is an operand like any other"),
        (
            "syntax = \"none\"\nnegative-numbers = true",
            "with `syntax = \"none\"` every argument is an operand, so this would do nothing",
        ),
        (
            "negative-numbers = true\nflags = { \"-1\" = {} }",
            "`-1` can't be a flag where negative numbers are operands",
        ),
        (
            "flags = { \"-a\" = { value = \"text\", optional = true, glued = true } }",
            "a value that can be missing is always glued, so this would do nothing",
        ),
        ("subcommand = \"-a\"", "a subcommand is one or several words that do not begin with `-`"),
        ("subcommand = []", "a subcommand is one or several words that do not begin with `-`"),
        ("required = [\"-a\"]", "`-a` is not among the `flags`"),
        (
            "flags = { \"-a, -b\" = {} }\nconflicts = [[\"-a\", \"-b\"]]",
            "a group here names at least 2 different flags",
        ),
        ("after-double-dash = { conflicts = [[\"-a\", \"-b\"]] }", "`-a` is not among the `flags`"),
        ("flags = { \"-a\" = {} }\nrequired = [[]]", "a group here names at least 1 different flags"),
    ] {
        let error = Policy::parse("policy.toml", &rule(keys)).unwrap_err();
        assert_eq!(error.message(), message, "{keys}");
        assert!(error.line() >= 8, "{keys}: {error}");
    }
}

#[test]
fn rules_that_deny_name_flags_and_no_more() {
    let deny = |keys: &str| rule(keys).replace("\"allow\"", "\"deny\"");
    for (keys, message) in [
        ("flags = { \"-a\" = { value = \"text\" } }", "a rule that denies does so whatever the flag's value is"),
        ("flags = { \"-a\" = { repeat = true } }", "a rule that denies does so whatever the flag's value is"),
        ("positionals = { type = \"text\" }", "`positionals` would do nothing in a rule that denies"),
        ("subcommand = \"a\"\nrequired = []", "`required` would do nothing in a rule that denies"),
        ("flags = {}", "the rule names neither a subcommand nor a flag, so it would deny everything"),
        ("syntax = \"gnu\"", "the rule names neither a subcommand nor a flag, so it would deny everything"),
    ] {
        assert_eq!(Policy::parse("policy.toml", &deny(keys)).unwrap_err().message(), message, "{keys}");
    }
}

#[test]
fn a_syntax_that_no_rule_uses() {
    assert_fails(
        &program("syntax = \"posix\""),
        (4, 10),
        "no rule of the program says anything of flags, so its syntax would do nothing",
    );
    assert_fails(
        &rule("syntax = \"bsd\""),
        (8, 10),
        "unknown value `bsd`, expected one of `gnu`, `posix`, `long-single-dash`, `none`",
    );
}

#[test]
fn examples_are_read_by_the_same_grammar() {
    assert_report(
        &rule("subcommand = \"status\"\nflags = { \"-s\" = {} }\nexamples.allow = [\"git status -sb\"]"),
        r#"error: the rule `status` does not fit this example: at argument 2, `-sb`, where `-b` is not listed, it wants `-s`
  --> policy.toml:10:19
   |
10 | examples.allow = ["git status -sb"]
   |                   ^^^^^^^^^^^^^^^^
   |
   = help: correct the example, or the rule's arguments"#,
    );
    assert_fails(
        &rule("flags = { \"-s\" = {} }\nexamples.deny = [\"git -s\"]"),
        (9, 18),
        "this example should come out as `deny`, and comes out as `allow` by the rule `status` (line 5)",
    );
}

#[test]
fn a_pin_that_a_rule_without_arguments_contradicts() {
    let text = rule(
        "subcommand = \"log\"\nenv.set = { A = \"1\" }\n[[program.rule]]\nid = \"all\"\ndecision = \"allow\"\nwhy = \"w\"\n\
         env.set = { A = \"2\" }\n",
    );
    let message = "`all` and `status` (line 5) can both allow a command, and set `A` to different values";
    assert_fails(&text, (11, 6), message);
}

/// Nobody can say of two grammars whether they ever meet; an example can show it, and the decision does.
#[test]
fn pins_of_grammars_that_meet() {
    let text = |example: &str| {
        rule(&format!(
            "flags = {{ \"-a\" = {{}} }}\nenv.set = {{ A = \"1\" }}\nexamples.allow = [{example}]\n[[program.rule]]\n\
             id = \"other\"\ndecision = \"allow\"\nwhy = \"w\"\nflags = {{ \"-a, -b\" = {{}} }}\nenv.set = {{ A = \"2\" }}\n"
        ))
    };
    let message =
        "this example would not run: the rules `status` (line 5) and `other` (line 12) set `A` to different values";
    assert_fails(&text("\"git -a\""), (10, 19), message);

    let policy = Policy::parse("policy.toml", &text("")).unwrap();
    let request = Request::new("git").args(["-a"]);
    let facts = Facts::new(ProgramFact::Missing);
    let Decision::Deny(problem) = policy.decide(&request.validate().unwrap(), &facts) else {
        panic!("it must be denied")
    };
    assert_eq!(problem.code, Code::PolicyAmbiguous);
}
