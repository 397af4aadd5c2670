//! What a program's tree may execute, and whose code that is.

use super::super::error;
use super::*;

#[test]
fn children_are_a_word_or_a_list() {
    assert_eq!(git(&program("children = \"none\"")).children(), &Children::None);
    assert_eq!(git(&program("children = []")).children(), &Children::None);
    assert_eq!(git(&program("children = \"any\"")).children(), &Children::Any);
    assert_report(
        &program("children = \"cc\""),
        r#"error: `cc` is neither `none` nor `any`; programs are written as a list, such as ["cc"]
 --> policy.toml:4:12
  |
4 | children = "cc"
  |            ^^^^"#,
    );
    let message = "invalid type: boolean `true`, expected `\"none\"`, `\"any\"` or a list of programs in `[` and `]`";
    assert_fails(&program("children = true"), (4, 12), message);
    assert_fails(&program("children = {}"), (4, 12), &message.replace("boolean `true`", "table"));
    assert_fails(&program("children = [1]"), (4, 13), "invalid type: integer `1`, expected a string");
}

#[test]
fn a_child_is_a_name_or_an_absolute_path() {
    assert_report(
        &children("\"bin/cc\""),
        r#"error: `bin/cc` is relative; a child is the name of a program or an absolute path
 --> policy.toml:4:19
  |
4 | children = ["cc", "bin/cc"]
  |                   ^^^^^^^^
  |
  = help: write where it is, such as "/usr/lib/gcc""#,
    );
    assert_report(
        &children("\"/\""),
        r#"error: everything lies below `/`
 --> policy.toml:4:19
  |
4 | children = ["cc", "/"]
  |                   ^^^
  |
  = help: write `children = "any"`, if that is meant"#,
    );
    let refused = [
        ("\"\"", "the program name `` is empty"),
        ("\".\"", "the program name `.` is a directory"),
        ("\"a b\"", "the program name `a b` contains white space or a control character"),
        (r#""a\u0000""#, r"the program name `a\u{0}` contains white space or a control character"),
    ];
    assert_all_fail((4, 19), children, &refused);
}

/// A guest that writes the workspace and a program that executes it are native code of the guest's together.
#[test]
fn a_program_that_executes_what_components_write_must_say_so() {
    let with = |text: &str, files: &str| format!("{}\n[workspace]\nguest-files = \"{files}\"\n", program(text));
    assert_report(
        &with("children = \"any\"", "write"),
        r#"error: components may write the workspace (`guest-files = "write"`) and `git` may execute any file, so a component could have native code run
 --> policy.toml:4:12
  |
4 | children = "any"
  |            ^^^^^
  |
  = help: if that is meant, write `runs-workspace-code = true` in this [[program]]; else list its children, or let components only read"#,
    );
    assert_fails(
        &with("children = \"any\"\nruns-workspace-code = false", "write"),
        (4, 12),
        error(&with("children = \"any\"", "write")).message(),
    );
    for (text, files) in [
        ("children = \"any\"\nruns-workspace-code = true", "write"),
        ("children = \"any\"", "read"),
        ("children = \"any\"", "none"),
        ("children = [\"cc\"]", "write"),
        ("", "write"),
    ] {
        assert_eq!(git(&with(text, files)).runs_workspace_code(), text.contains("true"), "{text}");
    }
    // It is a statement of fact, and fits any program.
    assert!(git(&program("runs-workspace-code = true")).runs_workspace_code());
    let message = "invalid type: string \"yes\", expected a boolean";
    assert_fails(&program("runs-workspace-code = \"yes\""), (4, 23), message);
}
