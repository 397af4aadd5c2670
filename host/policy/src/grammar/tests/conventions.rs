//! How options are spelled.

use super::{assert_read, assert_stops};

const GNU: &str = r#"
flags = { "-r, --recursive" = {}, "-f" = { repeat = true }, "-n, --jobs" = { value = "int", min = 1, max = 4 }, "--color" = { value = "enum", values = ["always", "never"], optional = true }, "-U" = { value = "int", glued = true }, "--file" = { value = "text", glued = false } }
positionals = { type = "text", max = 2 }
"#;

#[test]
fn gnu_spellings_are_read() {
    assert_read(
        GNU,
        &[
            (&[], ""),
            (&["-rf"], "F:r F:f"),
            (&["-rfn4"], "F:r F:f F:n V:4"),
            (&["-rn", "4"], "F:r F:n V:4"),
            (&["-ff"], "F:f F:f"),
            (&["--jobs=4"], "F:--jobs V:4"),
            (&["--jobs", "4"], "F:--jobs V:4"),
            (&["--recursive"], "F:--recursive"),
            (&["--color"], "F:--color"),
            (&["--color=never"], "F:--color V:never"),
            (&["--color", "never"], "F:--color P:never"),
            (&["-U3"], "F:U V:3"),
            (&["--file", "--"], "F:--file V:--"),
            (&["--file", "-r", "-r"], "F:--file V:-r F:r"),
            (&["a", "-r", "b"], "P:a F:r P:b"),
            (&["-"], "P:-"),
            (&["--", "-r", "--"], "E:-- P:-r P:--"),
            (&["a", "--", "-r"], "P:a E:-- P:-r"),
            (&[""], "P:"),
        ],
    );
}

#[test]
fn gnu_spellings_that_are_not_known_stop() {
    assert_stops(
        GNU,
        &[
            (&["-x"], 0),
            (&["-rx"], 0),
            (&["-n4r"], 0),
            (&["-n=4"], 0),
            (&["-n", "5"], 1),
            (&["-n"], 1),
            (&["-n", "-1"], 1),
            (&["--jobs"], 1),
            (&["--jobs="], 0),
            (&["--job=4"], 0),
            (&["--recurs"], 0),
            (&["--recursive="], 0),
            (&["--recursive=yes"], 0),
            (&["-r", "--recursive"], 1),
            (&["--color=x"], 0),
            (&["-U", "3"], 0),
            (&["--file=x"], 0),
            (&["--file"], 1),
            (&["a", "b", "c"], 2),
            (&["-\u{e9}"], 0),
            (&["--r\u{e9}"], 0),
            (&["---"], 0),
            (&["-5"], 0),
            (&["-r-f"], 0),
        ],
    );
}

#[test]
fn posix_ends_options_at_the_first_operand() {
    let keys = "syntax = \"posix\"\nflags = { \"-r\" = {} }\npositionals = { type = \"text\" }\n";
    assert_read(
        keys,
        &[(&["-r", "a", "-x"], "F:r P:a P:-x"), (&["--", "-x"], "E:-- P:-x"), (&["-", "-x"], "P:- P:-x")],
    );
    assert_stops(keys, &[(&["-x", "a"], 0)]);
}

#[test]
fn single_dash_names_have_no_clusters() {
    let keys = r#"
syntax = "long-single-dash"
flags = { "-name" = { value = "text" }, "-print" = {}, "-o" = {}, "-maxdepth" = { value = "int", glued = false } }
positionals = { type = "path-read" }
"#;
    assert_read(
        keys,
        &[
            (&[".", "-name", "-delete", "-o", "-print"], "P:. F:-name V:-delete F:-o F:-print"),
            (&["-name=x"], "F:-name V:x"),
            (&["-maxdepth", "2"], "F:-maxdepth V:2"),
        ],
    );
    assert_stops(
        keys,
        &[(&["-delete"], 0), (&["-op"], 0), (&["-prin"], 0), (&["--print"], 0), (&["-maxdepth=2"], 0), (&["--"], 0)],
    );
}

#[test]
fn without_options_everything_is_an_operand() {
    assert_read(
        "syntax = \"none\"\npositionals = { type = \"text\" }\n",
        &[(&["-n", "--", "--x=y"], "P:-n P:-- P:--x=y")],
    );
}

#[test]
fn numbers_are_options_or_operands_where_the_rule_says_so() {
    let keys = "flags = { \"-NUMBER\" = { value = \"int\", min = 1, max = 50 }, \"-p\" = {} }\n";
    assert_read(keys, &[(&["-10"], "F:- V:10"), (&["-p", "-1"], "F:p F:- V:1")]);
    assert_stops(keys, &[(&["-51"], 0), (&["-0"], 0), (&["-p1"], 0), (&["-1p"], 0), (&["-1", "-2"], 1), (&["1"], 0)]);
    let keys =
        "negative-numbers = true\nflags = { \"-w\" = {} }\npositionals = { type = \"regex\", pattern = '-?[0-9.]+' }\n";
    assert_read(keys, &[(&["-1", "-w", "-.5", "2"], "P:-1 F:w P:-.5 P:2")]);
    assert_stops(keys, &[(&["-1w"], 0), (&["-"], 0), (&["-1."], 0)]);
}

#[test]
fn subcommands_come_first_and_whole() {
    let keys = r#"
before-subcommand = { flags = { "--no-pager" = {}, "-C" = { value = "path-read" } } }
subcommand = ["stash", "list"]
flags = { "-p" = {} }
"#;
    assert_read(
        keys,
        &[
            (&["stash", "list"], "S:stash S:list"),
            (&["--no-pager", "-C", "d", "stash", "list", "-p"], "F:--no-pager F:C V:d S:stash S:list F:p"),
        ],
    );
    assert_stops(
        keys,
        &[
            (&[], 0),
            (&["stash"], 1),
            (&["stash", "-p", "list"], 1),
            (&["-p", "stash", "list"], 0),
            (&["stash", "list", "--no-pager"], 2),
            (&["--", "stash", "list"], 0),
            (&["-C", "/etc", "stash", "list"], 1),
            (&["stas", "list"], 0),
        ],
    );
}

#[test]
fn what_follows_a_double_dash_can_have_a_grammar_of_its_own() {
    let keys = r#"
subcommand = "test"
flags = { "--workspace" = {} }
positionals = { type = "text", max = 1 }
after-double-dash = { flags = { "--nocapture" = {} }, positionals = { type = "word", max = 1 } }
"#;
    assert_read(
        keys,
        &[
            (&["test", "a", "--", "--nocapture", "b"], "S:test P:a E:-- F:--nocapture P:b"),
            (&["test", "--"], "S:test E:--"),
            (&["test", "--", "--", "b"], "S:test E:-- E:-- P:b"),
        ],
    );
    assert_stops(
        keys,
        &[(&["test", "--", "--workspace"], 2), (&["test", "--nocapture"], 1), (&["test", "--", "a", "b"], 3)],
    );
    // Without options behind it, everything is an operand.
    let keys = "after-double-dash = { positionals = { type = \"path-read\" } }\n";
    assert_read(keys, &[(&["--", "-x", "--"], "E:-- P:-x P:--")]);
    assert_stops(keys, &[(&["a"], 0), (&["--", "/etc"], 1)]);
    // And with nothing allowed behind it, it may stand there.
    assert_read("after-double-dash = {}\n", &[(&["--"], "E:--")]);
}

#[test]
fn operands_fill_their_slots_and_leave_what_later_ones_need() {
    let copy =
        "positionals = [{ type = \"path-read\", min = 1 }, { type = \"enum\", values = [\"to\"], min = 1, max = 1 }]\n";
    assert_read(copy, &[(&["a", "to"], "P:a P:to"), (&["a", "b", "--", "to"], "P:a P:b E:-- P:to")]);
    assert_stops(copy, &[(&[], 0), (&["to"], 1), (&["a", "b"], 1), (&["/etc", "to"], 0)]);
    let search = "positionals = [{ type = \"text\", min = 1, max = 1 }, { type = \"path-read\", max = 2 }]\n";
    assert_read(search, &[(&["/etc"], "P:/etc"), (&["/etc", "a", "b"], "P:/etc P:a P:b")]);
    assert_stops(search, &[(&[], 0), (&["a", "/etc"], 1), (&["a", "b", "c", "d"], 3)]);
}

#[test]
fn conflicts_and_what_is_required() {
    let keys = r#"
flags = { "-a" = {}, "-b" = {}, "-c" = {}, "-e, --regexp" = { value = "text", repeat = true } }
conflicts = [["-a", "-b", "-c"]]
required = ["--regexp", ["-a", "-b"]]
"#;
    assert_read(keys, &[(&["-ae", "x"], "F:a F:e V:x"), (&["-e", "x", "-e", "y", "-b"], "F:e V:x F:e V:y F:b")]);
    assert_stops(
        keys,
        &[(&["-ab", "-ex"], 0), (&["-a", "-ex", "-c"], 2), (&["-ex"], 1), (&["-a"], 1), (&["-ce", "x"], 2)],
    );
}
