use proptest::prelude::*;

use super::*;
use crate::ProblemKind;

fn refused(request: &Request) -> Problem {
    request.validate().expect_err("this request must be refused")
}

#[track_caller]
fn assert_refused(request: &Request, code: Code, at: Option<u32>, message: &str) {
    let problem = refused(request);
    assert_eq!((problem.code, problem.at, problem.message.as_str()), (code, at, message));
    assert_eq!((&problem.rule, &problem.advice), (&None, &None));
}

/// Rows T3 and X3: an empty command is an error of its own, never a program of no name.
#[test]
fn rows_t3_and_x3_an_empty_command_is_refused() {
    assert_refused(
        &Request::new(""),
        Code::ArgvEmpty,
        None,
        "no program is named; give the name of one, such as `git`",
    );
    assert_eq!(refused(&Request::default()).code.as_str(), "shell.argv.empty");
}

#[test]
fn a_program_is_named_and_not_a_path() {
    for (name, problem) in [
        ("/bin/ls", "`/bin/ls` contains `/`: programs are asked for by name, and the policy says which file that is"),
        ("./ls", "`./ls` contains `/`: programs are asked for by name, and the policy says which file that is"),
        (".", "`.` is a directory"),
        ("..", "`..` is a directory"),
        ("ls -l", "`ls -l` contains white space or a control character"),
        ("l\u{a0}s", "`l\u{a0}s` contains white space or a control character"),
        ("l\u{202e}s", "`l\\u{202e}s` contains an invisible character"),
        ("ls\n", "`ls\\n` contains white space or a control character"),
    ] {
        assert_refused(&Request::new(name), Code::ProgramName, None, &format!("the program name {problem}"));
    }
    assert!(Request::new("a".repeat(255)).validate().is_ok());
    let message = format!("the program name `{}…` is longer than 255 bytes", "a".repeat(200));
    assert_refused(&Request::new("a".repeat(256)), Code::ProgramName, None, &message);
    for name in ["git", "g++", "[", "-", "...", "résumé", "$(id)"] {
        assert_eq!(Request::new(name).validate().unwrap().program().as_str(), name);
    }
}

#[test]
fn nul_is_refused_wherever_it_stands() {
    let argument = Request::new("a").args(["b", "c\0"]);
    assert_refused(&argument, Code::ArgvNul, Some(1), "argument 2 contains NUL, which no program can receive");
    let program = Request::new("a\0b");
    assert_refused(&program, Code::ArgvNul, None, "the program's name contains NUL, which no program can receive");
    let cwd = Request::new("a").cwd("b\0");
    assert_refused(&cwd, Code::ArgvNul, None, "the working directory contains NUL");
    let name = Request::new("a").env("A\0", "b");
    assert_refused(&name, Code::EnvName, None, "the name of an environment variable can't contain NUL");
    let value = Request::new("a").env("A", "b\0");
    let message = "the value of `A` contains NUL";
    assert_refused(&value, Code::EnvValue, None, message);
}

#[test]
fn arguments_have_a_number_and_sizes() {
    let with = |arguments: Vec<String>| Request::new("a").args(arguments);
    assert!(with(vec![String::new(); Request::MAX_ARGUMENTS]).validate().is_ok());
    let message = "65537 arguments; at most 65536 can be given";
    assert_refused(&with(vec![String::new(); Request::MAX_ARGUMENTS + 1]), Code::ArgvTooLarge, None, message);

    let long = Request::MAX_STRING_BYTES - 1;
    assert!(with(vec!["x".repeat(long)]).validate().is_ok());
    let message = "argument 2 has 131072 bytes; one argument has fewer than 131072";
    let request = with(vec![String::new(), "x".repeat(long + 1)]);
    assert_refused(&request, Code::ArgvTooLarge, Some(1), message);

    assert!(with(vec!["x".repeat(long); 8]).validate().is_ok());
    let message = "1048577 bytes of arguments; at most 1048576 can be given";
    let request = with(vec!["x".repeat(long); 8]).args([""]);
    assert_refused(&request, Code::ArgvTooLarge, None, message);
}

#[test]
fn a_directory_is_below_the_workspace_and_written_plainly() {
    for (given, meant) in
        [(".", ""), ("./", ""), ("a", "a"), ("a//b/./c/", "a/b/c"), ("..a/b..", "..a/b.."), ("a b", "a b")]
    {
        assert_eq!(Request::new("a").cwd(given).validate().unwrap().cwd(), meant);
    }
    assert_eq!(Request::new("a").validate().unwrap().cwd(), "");
    let empty = "the working directory is empty; leave it out for the workspace itself";
    assert_refused(&Request::new("a").cwd(""), Code::CwdInvalid, None, empty);
    let absolute = "the working directory `/etc` is absolute; give one relative to the workspace";
    assert_refused(&Request::new("a").cwd("/etc"), Code::CwdInvalid, None, absolute);
    let long = "the working directory has 4097 bytes; at most 4096 can be given";
    assert_refused(&Request::new("a").cwd("d".repeat(4097)), Code::CwdInvalid, None, long);
    for climbing in ["..", "../x", "a/..", "a/../b", "a/b/../../.."] {
        let message =
            format!("the working directory `{climbing}` contains `..`; name the directory from the workspace down");
        let request = Request::new("a").cwd(climbing);
        assert_refused(&request, Code::CwdOutside, None, &message);
        assert_eq!(refused(&request).kind(), ProblemKind::Denied);
    }
}

#[test]
fn variables_have_names_and_stand_once() {
    let empty = "the name of an environment variable can't be empty";
    assert_refused(&Request::new("a").env("", "b"), Code::EnvName, None, empty);
    let equals = "the name of an environment variable can't contain `=`";
    assert_refused(&Request::new("a").env("A=B", "c"), Code::EnvName, None, equals);
    let twice = Request::new("a").env("A", "b").env("B", "c").env("A", "b");
    assert_refused(&twice, Code::EnvName, None, "`A` is given twice");
    let valid = Request::new("a").env("B", "").env("A", "x=y");
    let valid = valid.validate().unwrap();
    let env: Vec<(&str, &str)> = valid.env().iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(env, [("B", ""), ("A", "x=y")]);
}

#[test]
fn variables_have_a_number_and_sizes() {
    let numbered = |count: usize| (0..count).fold(Request::new("a"), |request, n| request.env(format!("V{n}"), ""));
    assert!(numbered(Request::MAX_VARIABLES).validate().is_ok());
    let message = "1025 environment variables; at most 1024 can be given";
    assert_refused(&numbered(Request::MAX_VARIABLES + 1), Code::EnvTooLarge, None, message);

    let message = "too many bytes of environment; one variable has at most 131072, all together 262144";
    let most = Request::MAX_STRING_BYTES - "A=\0".len();
    let request = Request::new("a").env("A", "x".repeat(most)).env("B", "x".repeat(most));
    assert!(request.validate().is_ok());
    assert_refused(&request.env("C", ""), Code::EnvTooLarge, None, message);
    assert_refused(&Request::new("a").env("A", "x".repeat(most + 1)), Code::EnvTooLarge, None, message);
}

#[test]
fn input_and_texts_have_sizes() {
    let input = |bytes: usize| Request::new("a").stdin(vec![0; bytes]);
    assert!(input(Request::MAX_STDIN_BYTES).validate().is_ok());
    let message = "67108865 bytes of standard input; at most 67108864 can be given";
    assert_refused(&input(Request::MAX_STDIN_BYTES + 1), Code::StdinTooLarge, None, message);

    assert!(Request::new("a").reason("é".repeat(2048)).validate().is_ok());
    let message = "the reason has 4098 bytes; at most 4096 can be given";
    assert_refused(&Request::new("a").reason("é".repeat(2049)), Code::TextTooLarge, None, message);

    let named = |length: usize| Request { call_id: Some("x".repeat(length)), ..Request::new("a") };
    assert!(named(256).validate().is_ok());
    let message = "the call id has 257 bytes; at most 256 can be given";
    assert_refused(&named(257), Code::TextTooLarge, None, message);
}

/// What a guest can size, a message does not repeat in full.
#[test]
fn messages_are_short_however_long_the_request_is() {
    let long = "\u{202e}".repeat(40_000);
    for request in [
        Request::new(&long),
        Request::new("a").cwd("/".to_owned() + &long[..3999]),
        Request::new("a").env(format!("{long}="), ""),
        Request::new("a").env(&long, "\0"),
        Request::new("a").env("A", "").env(&long, "").env(&long, ""),
    ] {
        let message = refused(&request).message;
        assert!(message.len() < 2500 && !message.contains('\u{202e}'), "{}", message.len());
    }
}

proptest! {
    #[test]
    fn no_request_panics_and_a_valid_one_keeps_its_word(
        program in any::<String>(),
        arguments in prop::collection::vec(any::<String>(), 0..4),
        cwd in prop::option::of("[./a\u{0}é]{0,12}"),
        env in prop::collection::vec(("[A-C=\u{0}]{0,2}", any::<String>()), 0..3),
    ) {
        let request = Request { program, arguments, cwd, env, ..Request::default() };
        match request.validate() {
            Ok(valid) => {
                prop_assert_eq!(valid.program().as_str(), &request.program);
                prop_assert_eq!(valid.arguments(), &request.arguments);
                prop_assert!(!valid.cwd().starts_with('/'));
                prop_assert!(valid.cwd().split('/').all(|part| part != ".." && part != "."));
                let nul_free = request.arguments.iter().chain(request.env.iter().map(|(_, value)| value));
                prop_assert!(nul_free.chain([&request.program]).all(|text| !text.contains('\0')));
            }
            Err(problem) => prop_assert!(matches!(problem.kind(), ProblemKind::Invalid | ProblemKind::Denied)),
        }
    }
}
