#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the crate is pure, its tests look around")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Deserialize;

use super::*;
use crate::testing::{repository_file, skip};

/// Lines for the oracle to split.
const LINES: usize = 4000;

/// Reads lines of JSON strings, and answers each with a line of what `shlex.split` makes of it.
const ORACLE: &str = "
import json, shlex, sys
for line in sys.stdin.buffer.readlines():
    try:
        answer = {'words': shlex.split(json.loads(line))}
    except ValueError as error:
        answer = {'error': str(error)}
    print(json.dumps(answer))
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    words: Option<Vec<String>>,
    error: Option<String>,
}

fn ours(line: &str) -> Answer {
    match split(line) {
        Ok(words) => Answer { words: Some(words), error: None },
        Err(error) => Answer { words: None, error: Some(error.to_string()) },
    }
}

/// Row T1: the cases of the corpus, which come with Python's answers.
#[test]
fn row_t1_the_corpus_is_split_as_python_does() {
    let corpus = std::fs::read_to_string(repository_file("tests/data/shlex.toml", "data/shlex.toml")).unwrap();
    let corpus: toml::Table = corpus.parse().unwrap();
    let cases = corpus["case"].as_array().unwrap();
    assert_eq!(cases.len(), 79);
    for case in cases {
        let [id, input] = ["id", "input"].map(|key| case[key].as_str().unwrap());
        let words = case.get("python").map(|words| words.clone().try_into().unwrap());
        let error = case.get("python_error").map(|error| error.as_str().unwrap().to_owned());
        assert!(words.is_some() != error.is_some(), "{id}");
        let ours = ours(input);
        assert_eq!((ours.words, ours.error), (words, error), "{id}: {input:?}");
    }
}

/// Row T1, on lines that nobody thought of. Python is the reference, as installed.
#[test]
fn row_t1_generated_lines_are_split_as_python_does() {
    let mut runner = TestRunner::default();
    let lines: Vec<String> = (0..LINES).map(|_| line().new_tree(&mut runner).unwrap().current()).collect();
    let Some(answers) = python(&lines) else {
        return skip("split against Python itself: there is no python3");
    };
    assert_eq!(answers.len(), lines.len());
    let mut errors = 0;
    for (line, theirs) in lines.iter().zip(answers) {
        let ours = ours(line);
        errors += usize::from(theirs.error.is_some());
        assert_eq!((ours.words, ours.error), (theirs.words, theirs.error), "{line:?}");
    }
    // The alphabet is worth something only if both happen a lot.
    assert!((LINES / 10..LINES * 9 / 10).contains(&errors), "{errors} of {LINES} lines were errors");
}

/// Row T2: operators of a shell are text, and stay in the word that they stand in.
#[test]
fn row_t2_operators_stay_plain_text() {
    let line = "a && b;c | d & e > f $(g) `h` $i # j *.k";
    let words = ["a", "&&", "b;c", "|", "d", "&", "e", ">", "f", "$(g)", "`h`", "$i", "#", "j", "*.k"];
    assert_eq!(split(line).unwrap(), words);
}

/// Short lines in which quotes, backslashes and blanks meet; other blanks of Unicode are none to Python.
fn line() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(
        &[
            '\'', '\'', '"', '"', '\\', '\\', ' ', ' ', '\t', '\r', '\n', '\0', '#', ';', '|', '&', '$', '`', 'a', 'b',
            '\u{b}', '\u{c}', '\u{1c}', '\u{85}', '\u{a0}', '\u{2003}', '\u{2028}', '\u{3000}', '\u{feff}', 'é', '𝄞',
            '👩',
        ][..],
    );
    let any = any::<char>();
    prop::collection::vec(prop_oneof![9 => nasty, 1 => any], 0..16).prop_map(String::from_iter)
}

/// What Python makes of the lines; `None` = there is no Python.
fn python(lines: &[String]) -> Option<Vec<Answer>> {
    let mut python =
        match Command::new("python3").args(["-c", ORACLE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(python) => python,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => panic!("python3 can't be started: {error}"),
        };
    let questions: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    // It reads everything before it answers, so this can't block both.
    python.stdin.take().unwrap().write_all(questions.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let answers = String::from_utf8(output.stdout).unwrap();
    Some(answers.lines().map(|answer| serde_json::from_str(answer).unwrap()).collect())
}

proptest! {
    #[test]
    fn every_line_is_split_or_refused(line in any::<String>()) {
        if let Ok(words) = split(&line) {
            prop_assert!(words.iter().map(String::len).sum::<usize>() <= line.len());
        }
    }

    /// Python's `shlex.quote`, which its documentation promises to be undone by `shlex.split`.
    #[test]
    fn quoted_words_come_back(words in prop::collection::vec(any::<String>(), 0..6)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r#"'"'"'"#))).collect();
        prop_assert_eq!(split(&quoted.join(" ")).unwrap(), words);
    }
}
