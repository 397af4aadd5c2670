//! Whatever strings a request has, the command gets these and no others, to the byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use portcullis_policy::Request;
use portcullis_runner::{Captured, Outcome, Status};
use proptest::prelude::*;
use support::{Bench, LEVELS, allow};

/// Names that the policy leaves to guests: also such as no shell could write.
const NAMES: [&str; 6] = ["A", "_b", "X9", "with space", "ümläut", "a.b-c/d%e"];

/// Prints what the kernel knows of the shell that runs it: its arguments, its environment, its directory.
const SCRIPT: &str = "cat /proc/$$/cmdline; echo; cat /proc/$$/environ; echo; readlink -n /proc/$$/cwd";

/// Any text without NUL, with much of what shells, terminals and parsers take for something else.
fn text() -> impl Strategy<Value = String> {
    let any = any::<Vec<char>>().prop_map(String::from_iter);
    let odd = prop::collection::vec(
        prop::sample::select("$`\"'\\;&|<>(){}[]*?~#!%=-\n\r\t \u{1b}\u{7f}\u{202e}ü中𝄞".chars().collect::<Vec<_>>()),
        0..40,
    );
    prop_oneof![any, odd.prop_map(String::from_iter), "-[a-z-]{0,9}", Just(String::new())]
        .prop_map(|text| text.replace('\0', ""))
}

/// A name of a file, within the 255 bytes that file systems let it have.
fn name() -> impl Strategy<Value = String> {
    let name = text().prop_map(|text| text.replace('/', "").chars().take(60).collect::<String>());
    name.prop_filter("a name", |name| !["", ".", ".."].contains(&name.as_str()))
}

fn benches() -> [Bench; 2] {
    let names = NAMES.map(|name| format!("\"{name}\"")).join(", ");
    let rules = format!("[env]\nset = {{ POLICYS = \"own\" }}\nguest = [{names}]\n{}", allow("sh", None));
    LEVELS.map(|level| Bench::made(level, &rules, |_| ()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_variables_and_directories_come_out_to_the_byte(
        arguments in prop::collection::vec(text(), 0..12),
        variables in prop::collection::btree_map(prop::sample::select(&NAMES[..]), text(), 0..NAMES.len()),
        directories in prop::collection::vec(name(), 0..4),
    ) {
        thread_local! {
            static HERE: (tokio::runtime::Runtime, [Bench; 2]) = (tokio::runtime::Runtime::new().unwrap(), benches());
        }
        HERE.with(|(runtime, benches)| {
            for bench in benches {
                runtime.block_on(comes_out(bench, &arguments, &variables, &directories));
            }
        });
    }
}

async fn comes_out(bench: &Bench, arguments: &[String], variables: &BTreeMap<&str, String>, directories: &[String]) {
    let cwd = directories.join("/");
    let place = bench.workspace().join(&cwd);
    fs::create_dir_all(&place).unwrap();
    let arguments = [&["-c".to_owned(), SCRIPT.to_owned(), "sh".to_owned()], arguments].concat();
    let mut request = Request::new("sh").args(&arguments);
    if !directories.is_empty() {
        request = request.cwd(&cwd);
    }
    for (name, value) in variables {
        request = request.env(*name, value);
    }
    let Outcome { status, stdout, stderr, .. } = bench.run(&request).await;
    assert_eq!((status, stderr, stdout.gap), (Status::Exited(0), Some(Captured::default()), None));

    let terminated = |strings: Vec<String>| strings.iter().map(|string| format!("{string}\0")).collect::<String>();
    let argv = terminated([&["sh".to_owned()], arguments.as_slice()].concat());
    let mut environment: BTreeMap<&str, &str> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    environment.insert("POLICYS", "own");
    let environment = terminated(environment.into_iter().map(|(name, value)| format!("{name}={value}")).collect());
    let place = fs::canonicalize(place).unwrap();
    let expected = [argv.as_bytes(), b"\n", environment.as_bytes(), b"\n", place.as_os_str().as_bytes()].concat();
    assert_eq!(stdout.bytes, expected);
}
