use super::*;
use crate::testing::{Home, call, intent, outcome, problem, request};
use crate::{CheckVerdict, JournalError};
use proptest::prelude::*;

/// Bytes that the request takes in a line, omission aside.
fn written(request: &Request) -> usize {
    let mut request = request.clone();
    request.omitted = None;
    crate::line::body(&request).unwrap().len()
}

/// The digest as its documentation describes it.
fn digest(pieces: &[(u8, &str)]) -> Hash {
    let mut bytes = Vec::new();
    for (field, piece) in pieces {
        bytes.push(*field);
        bytes.extend((piece.len() as u64).to_be_bytes());
        bytes.extend(piece.as_bytes());
    }
    Hash::of(&bytes)
}

#[test]
fn a_request_that_fits_is_left_as_it_is() {
    assert_eq!(request().bounded(), request());
    assert_eq!(intent(call(1)).bounded(), intent(call(1)));
}

#[test]
fn a_million_arguments_are_cut_and_counted() {
    let mut hostile = request();
    hostile.arguments = vec!["abc".to_owned(); 1_000_000];
    let bounded = hostile.bounded();
    let omitted = bounded.omitted.clone().unwrap();
    assert!(written(&bounded) < REQUEST_BYTES + 300, "{}", written(&bounded));
    assert!(written(&bounded) > REQUEST_BYTES - 300);
    let kept: usize = bounded.arguments.iter().map(String::len).sum();
    // The environment's two strings are behind the cut.
    assert_eq!(omitted.bytes, 3_000_000 - kept as u64 + 5);
    assert!(bounded.env.is_empty());
}

#[test]
fn a_million_empty_arguments_are_cut_as_well() {
    let mut hostile = request();
    hostile.arguments = vec![String::new(); 1_000_000];
    let bounded = hostile.bounded();
    assert!(written(&bounded) < REQUEST_BYTES + 300);
    assert_eq!(bounded.omitted.unwrap().strings, 1_000_000 - bounded.arguments.len() as u64 + 2);
}

#[test]
fn a_giant_string_is_cut_at_a_character_and_its_rest_is_digested() {
    let mut hostile = request();
    hostile.program = "€".repeat(30_000);
    hostile.cwd = Some("sub".to_owned());
    hostile.reason = Some(String::new());
    let bounded = hostile.clone().bounded();
    let kept = REQUEST_BYTES / 6;
    assert_eq!(bounded.program, "€".repeat(kept));
    assert_eq!((bounded.arguments.len(), bounded.cwd.as_deref(), bounded.reason.as_deref()), (0, Some(""), Some("")));
    let rest = "€".repeat(30_000 - kept);
    let pieces = [(1, &*rest), (2, "-l"), (2, "a b"), (3, "sub"), (4, "LANG"), (5, "C"), (6, "")];
    let bytes = pieces.iter().map(|(_, piece)| piece.len() as u64).sum();
    assert_eq!(bounded.omitted, Some(Omitted { bytes, strings: 7, sha256: digest(&pieces) }));
}

#[test]
fn a_giant_environment_is_cut_in_request_and_intent() {
    let mut hostile = intent(call(1));
    hostile.env = (0..100_000).map(|number| (format!("V{number}"), "\u{1b}\u{202e}".to_owned())).collect();
    hostile.request.env.clone_from(&hostile.env);
    let bounded = hostile.bounded();
    let line = crate::line::body(&crate::Record::Intent(bounded.clone())).unwrap();
    assert!(line.len() < REQUEST_BYTES + ENVIRONMENT_BYTES + 1500, "{}", line.len());
    assert!(bounded.env_omitted.is_some() && bounded.request.omitted.is_some());
    assert!(bounded.env.len() > 1000);
}

#[test]
fn a_giant_message_says_how_much_is_missing() {
    let mut hostile = problem();
    hostile.message = "ä".repeat(10_000);
    let bounded = hostile.bounded();
    let kept = MESSAGE_BYTES / 6;
    assert_eq!(bounded.message, format!("{} [{} more bytes]", "ä".repeat(kept), 2 * (10_000 - kept)));
    assert_eq!(problem().bounded(), problem());
}

#[test]
fn a_hostile_record_of_any_type_fits_into_a_line_once_bounded() {
    let giant = "\u{202e}".repeat(1_000_000);
    let mut hostile = intent(call(1));
    hostile.request.arguments = vec![giant.clone()];
    hostile.env = vec![("A".to_owned(), giant.clone())];
    let request = hostile.request.clone();
    let problem = Problem { message: giant, ..problem() };
    let Record::Outcome(mut unknown) = outcome(call(1)) else { unreachable!() };
    unknown.status = Status::Unknown { problem: problem.clone() };
    let verdict = CheckVerdict::Deny;
    let home = Home::new();
    let journal = home.open();
    for record in [
        Record::Check(Check { call: call(1), request: request.clone(), verdict, problem: Some(problem.clone()) }),
        Record::Refusal(Refusal { call: call(1), request, problem }),
        Record::Intent(hostile),
        Record::Outcome(unknown),
    ] {
        assert!(matches!(journal.append(&record), Err(JournalError::TooLong { .. })));
        journal.append(&record.bounded()).unwrap();
    }
    assert_eq!(home.intact().0, 5);
}

#[test]
fn what_is_cut_from_a_bounded_request_is_added_to_its_digest() {
    let mut hostile = request();
    hostile.arguments = vec!["x".repeat(100_000)];
    let mut bounded = hostile.bounded();
    let first = bounded.omitted.clone().unwrap();
    bounded.reason = Some("y".repeat(100_000));
    let second = bounded.bounded().omitted.unwrap();
    assert!(second.bytes > first.bytes && second.strings == first.strings + 1 && second.sha256 != first.sha256);
}

proptest! {
    #[test]
    fn bounding_keeps_a_prefix_and_is_done_once(
        program in "(?s).{0,9}",
        arguments in prop::collection::vec(("(?s).{0,3}", 0_usize..20_000), 0..6),
        env in prop::collection::vec((".{0,9}", ".{0,9}"), 0..4),
        reason in prop::option::of("(?s).{0,99}"),
    ) {
        let arguments: Vec<String> = arguments.into_iter().map(|(text, count)| text.repeat(count)).collect();
        let whole = Request { program, arguments, env, reason, ..request() };
        let bounded = whole.clone().bounded();
        prop_assert!(written(&bounded) < REQUEST_BYTES + 300);
        prop_assert_eq!(bounded.omitted.is_none(), bounded == whole);
        prop_assert!(whole.program.starts_with(&bounded.program));
        for (kept, given) in bounded.arguments.iter().zip(&whole.arguments) {
            prop_assert!(given.starts_with(kept.as_str()));
        }
        prop_assert_eq!(bounded.clone().bounded(), bounded);
    }
}
