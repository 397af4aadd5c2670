//! Rules that deny.

use super::{policy, read};

#[track_caller]
fn assert_denied(keys: &str, denied: &[&[&str]], others: &[&[&str]]) {
    let policy = policy("deny", keys);
    for arguments in denied {
        assert!(read(&policy, arguments).is_ok(), "{arguments:?} should be denied");
    }
    for arguments in others {
        assert!(read(&policy, arguments).is_err(), "{arguments:?} should not be denied");
    }
}

#[test]
fn a_flag_is_denied_in_every_spelling() {
    assert_denied(
        r#"flags = { "-o, --output" = {}, "--pre" = { alias = ["--pre-glob"] } }"#,
        &[
            &["-o"],
            &["-ofile"],
            &["-uo", "x"],
            &["-n5ox"],
            &["--output"],
            &["--output=x"],
            &["--outp=x"],
            &["--o"],
            &["--pre"],
            &["--pre-g"],
            &["a", "b", "-o"],
            // It may be the value of another option, and then what follows is an option.
            &["-t", "--", "-o"],
            &["--", "-o"],
        ],
        &[&[], &["o"], &["output"], &["-"], &["--"], &["-u"], &["--outputs"], &["--x=o"], &["--unique"], &["a=-o"]],
    );
}

#[test]
fn a_number_is_denied() {
    assert_denied(r#"flags = { "-NUMBER" = {} }"#, &[&["-5"], &["-5x"]], &[&["5"], &["-x5"], &["--5"]]);
}

#[test]
fn single_dash_names_are_denied_with_what_is_glued_to_them() {
    assert_denied(
        "syntax = \"long-single-dash\"\nflags = { \"-exec\" = {}, \"-o\" = {} }",
        &[&["-exec"], &["--exec"], &["-exec=x"], &["-execdir"], &["-ofile"], &["--exe"], &["-exe=x"]],
        &[&["-e"], &["-ex"], &["exec"], &["-name"], &["-name", "o"]],
    );
}

#[test]
fn a_subcommand_is_denied_wherever_it_may_be_one() {
    assert_denied(
        "subcommand = \"push\"",
        &[&["push"], &["push", "x"], &["-C", "d", "push"], &["--no-pager", "push"], &["-C", "push", "status"]],
        &[&[], &["status", "push"], &["commit", "-m", "push"], &["-C", "a", "b", "push"]],
    );
    assert_denied(
        "subcommand = [\"stash\", \"drop\"]\nflags = { \"-q\" = {} }",
        &[&["stash", "drop", "-q"], &["-q", "stash", "-x", "drop"]],
        &[&["stash", "drop"], &["stash", "-q"], &["stash", "list", "drop", "-q"], &["drop", "stash", "-q"]],
    );
}
