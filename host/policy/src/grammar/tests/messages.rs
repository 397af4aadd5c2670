//! What refusals say.

use super::{policy, rule};
use crate::grammar::Place;

#[track_caller]
fn assert_message(keys: &str, arguments: &[&str], message: &str) {
    let policy = policy("allow", keys);
    let arguments = super::owned(arguments);
    let stop = rule(&policy).arguments.fits(&arguments, &Place::default()).unwrap_err();
    assert_eq!(format!("{}, it wants {}", stop.place(&arguments), stop.why), message);
}

const KEYS: &str = r#"
flags = { "-r" = { alias = ["--recursive"] }, "-n, --jobs" = { value = "int", min = 1, max = 4 }, "-U" = { value = "int", glued = true }, "-o" = { value = "text", glued = false } }
conflicts = [["-r", "-U"]]
positionals = { type = "path-read", max = 1 }
"#;

#[test]
fn they_name_the_argument_and_what_could_stand_there() {
    let options = "one of `-U`, `-n`, `-o` or `-r`";
    for (arguments, message) in [
        (
            &["-x"][..],
            format!("at argument 1, `-x`, where `-x` is not listed, it wants {options}, or a path in the workspace"),
        ),
        (
            &["-rz"],
            format!("at argument 1, `-rz`, where `-z` is not listed, it wants {options}, or a path in the workspace"),
        ),
        (
            &["a", "--recur"],
            format!(
                "at argument 2, `--recur`, which is no full name (`--recursive` is one), it wants {options}, or a path in the \
                 workspace"
            ),
        ),
        (&["--pre=x"], format!("at argument 1, `--pre=x`, it wants {options}, or a path in the workspace")),
        (&["a", "b"], format!("at argument 2, `b`, it wants {options}")),
        (&["-n", "9"], "at argument 2, `9`, it wants a whole number from 1 to 4 as the value of `-n`".to_owned()),
        (&["-n"], "after the last one, it wants a whole number from 1 to 4 as the value of `-n`".to_owned()),
        (&["-n=3"], "at argument 1, `-n=3`, it wants the value of `-n` without a `=` before it".to_owned()),
        (&["--recursive=x"], "at argument 1, `--recursive=x`, it wants `-r` without a value".to_owned()),
        (&["-U", "3"], "at argument 1, `-U`, it wants the value of `-U` in the same argument".to_owned()),
        (&["-ox"], "at argument 1, `-ox`, it wants the value of `-o` in an argument of its own".to_owned()),
        (&["-r", "-r"], "at argument 2, `-r`, where `-r` stands a second time, it wants `-r` once at most".to_owned()),
        (&["-rU3"], "at argument 1, `-rU3`, where `-U` follows `-r`, it wants `-U` or `-r`, not both".to_owned()),
        (&["/etc"], "at argument 1, `/etc`, it wants a path in the workspace".to_owned()),
        (&["\u{1b}[2J/.."], r"at argument 1, `\u{1b}[2J/..`, it wants a path in the workspace".to_owned()),
    ] {
        assert_message(KEYS, arguments, &message);
    }
}

#[test]
fn they_name_what_is_missing() {
    let keys = "flags = { \"-a\" = {}, \"-b\" = {} }\nrequired = [[\"-a\", \"-b\"]]";
    assert_message(keys, &[], "after the last one, it wants `-a` or `-b`");
    assert_message("subcommand = \"log\"", &[], "after the last one, it wants `log`");
    assert_message("subcommand = \"log\"", &["log", "x"], "at argument 2, `x`, it wants no further argument");
    let keys = "positionals = { type = \"enum\", values = [\"a\", \"b\", \"c\"], min = 1 }";
    assert_message(keys, &[], "after the last one, it wants `a`, `b` or `c`");
    let keys = "positionals = { type = \"url\", hosts = [\"a.org\"], min = 1 }";
    assert_message(keys, &["x"], "at argument 1, `x`, it wants a URL with the scheme `https` on the host `a.org`");
}

#[test]
fn long_lists_are_cut() {
    let flags: Vec<String> = ('a'..='z').map(|letter| format!("\"-{letter}\" = {{}}")).collect();
    assert_message(
        &format!("flags = {{ {} }}", flags.join(", ")),
        &["x"],
        "at argument 1, `x`, it wants one of `-a`, `-b`, `-c`, `-d`, `-e`, `-f`, `-g`, `-h` or 18 others",
    );
}
