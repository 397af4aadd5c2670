use super::*;
use crate::testing::{call, decision, end, intent, outcome, problem, request, session, start};
use crate::{
    Check, CheckVerdict, Omitted, Outcome, Problem, Program, Record, Refusal, Repeated, Request, Script, Status, Stdin,
    Stream, TornTail,
};
use proptest::prelude::*;

fn whole(record: &Record) -> Vec<u8> {
    let mut line = Vec::new();
    let time = "2026-01-31T12:00:00.000001Z".parse().unwrap();
    assemble(&mut line, 7, time, Hash::of(b"x"), &body(record).unwrap()).unwrap();
    assert_eq!(line.pop(), Some(b'\n'));
    line
}

/// `parse`'s complaint about this text, as text.
fn complaint(line: &str) -> String {
    parse(line.as_bytes()).map_or_else(|problem| problem.to_string(), |line| format!("{line:?}"))
}

#[test]
fn a_line_has_its_fields_in_order() {
    assert_eq!(
        String::from_utf8(whole(&end())).unwrap(),
        format!(
            "{{\"v\":1,\"seq\":7,\"time\":\"2026-01-31T12:00:00.000001Z\",\"prev\":\"{}\",\"type\":\"session-end\",\
             \"session\":\"9f2c41d07a3be615\",\"calls\":1,\"denials\":0,\"reason\":\"closed\"}}",
            Hash::of(b"x")
        )
    );
}

#[test]
fn anything_but_the_exact_head_of_a_line_is_refused() {
    let good = String::from_utf8(whole(&end())).unwrap();
    for (from, to, expected) in [
        ("{\"v\":1,", "{\"v\":2,", "it has version 2, and this release reads version 1"),
        ("{\"v\":1,", "{\"v\":01,", "the version 'v' is not where it should be"),
        ("{\"v\":1,", "{ \"v\":1,", "the version 'v' is not where it should be"),
        ("\"seq\":7", "\"seq\":+7", "the number 'seq' is not where it should be"),
        ("\"seq\":7", "\"seq\":-7", "the number 'seq' is not where it should be"),
        ("\"seq\":7", "\"seq\":", "the number 'seq' is not where it should be"),
        ("01Z", "01+00:00", "the time 'time' is not where it should be"),
        ("00001Z", "0001Z", "the time 'time' is not where it should be"),
        ("-01-31T", "-02-31T", "the time 'time' is not where it should be"),
        ("\"prev\":\"", "\"prev\":\"A", "the link 'prev' is not where it should be"),
        ("session-end", "Session", "the record's 'type' is not where it should be"),
        ("\"calls\":1", "\"calls\":1.0", "the fields of the 'session-end' record are wrong"),
        ("\"calls\":1", "\"calls\":1,\"calls\":1", "it is not plain JSON"),
        ("\"calls\":1", "\"calls\":1,\"seq\":8", "it is not plain JSON"),
        ("\"calls\":1", "\"calls\":1,\"new\":1.5", "it is not plain JSON"),
        ("\"calls\":1,", "", "the fields of the 'session-end' record are wrong"),
        ("\"closed\"", "\"clo\u{7f}sed\"", "byte 211 is not printable ASCII"),
        ("\"closed\"}", "\"closed\"", "it is not plain JSON"),
    ] {
        assert!(good.contains(from), "{from}");
        let found = complaint(&good.replace(from, to));
        // Whether serde or the strict check complains first about a fraction is no matter.
        let either = expected.starts_with("the fields") && found == "it is not plain JSON";
        assert!(found == expected || either, "{from} -> {to}: {found}");
    }
    assert_eq!(complaint(&format!("{good}{}", " ".repeat(LINE_BYTES))), "it is longer than 262144 bytes");
}

#[test]
fn new_types_and_new_fields_are_read() {
    let good = String::from_utf8(whole(&end())).unwrap();
    let newer = good.replace("session-end", "approval");
    let Stored::Unknown(unknown) = parse(newer.as_bytes()).unwrap().record else { panic!("{newer}") };
    assert_eq!((unknown.kind.as_str(), unknown.line.as_str()), ("approval", newer.as_str()));
    let wider = good.replace("\"calls\":1", "\"calls\":1,\"approvals\":[0]");
    assert_eq!(parse(wider.as_bytes()).unwrap().record, Stored::Known(end()));
}

#[test]
fn every_records_type_in_the_line_is_its_kind() {
    for record in [start(), end(), outcome(call(1)), Record::Intent(intent(call(1)))] {
        assert_eq!(parse(&whole(&record)).unwrap().header.kind, record.kind());
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["(?s).{0,12}", "[\\x00-\\x1f\"\\\\\u{7f}-\u{9f}\u{200b}-\u{206f}\u{feff}\u{1f600}]{0,6}"]
}

prop_compose! {
    fn any_request()(
        program in text(),
        arguments in prop::collection::vec(text(), 0..4),
        cwd in prop::option::of(text()),
        env in prop::collection::vec((text(), text()), 0..3),
        stdin in prop_oneof![
            Just(Stdin::Empty),
            Just(Stdin::Streamed),
            any::<u64>().prop_map(|bytes| Stdin::Bytes { bytes, sha256: decision() }),
        ],
        network: bool,
        merge_stderr: bool,
        reason in prop::option::of(text()),
        call_id in prop::option::of(text()),
        omitted in prop::option::of((any::<u64>(), any::<u64>())),
    ) -> Request {
        let omitted = omitted.map(|(bytes, strings)| Omitted { bytes, strings, sha256: decision() });
        Request { program, arguments, cwd, env, stdin, network, merge_stderr, reason, call_id, omitted }
    }
}

prop_compose! {
    fn any_problem()(message in text(), rule in prop::option::of(text()), at: Option<u32>) -> Problem {
        Problem { message, rule, at, ..problem() }
    }
}

fn any_status() -> impl Strategy<Value = Status> {
    prop_oneof![
        any::<u8>().prop_map(|code| Status::Exited { code }),
        any::<u8>().prop_map(|signal| Status::Signaled { signal }),
        Just(Status::WallExceeded),
        Just(Status::CpuExceeded),
        Just(Status::MemoryExceeded),
        Just(Status::FileSizeExceeded),
        Just(Status::Cancelled),
        any_problem().prop_map(|problem| Status::StartFailed { problem }),
        any_problem().prop_map(|problem| Status::Unknown { problem }),
    ]
}

fn any_record() -> impl Strategy<Value = Record> {
    let number = (1..=u64::MAX).prop_map(call);
    prop_oneof![
        any::<u64>().prop_map(|bytes| Record::TornTail(TornTail { bytes, sha256: decision() })),
        Just(start()),
        Just(end()),
        (number.clone(), any_request(), prop::option::of(any_problem())).prop_map(|(call, request, problem)| {
            Record::Check(Check { call, request, verdict: CheckVerdict::Ask, problem })
        }),
        (number.clone(), any_request(), any_problem())
            .prop_map(|(call, request, problem)| { Record::Refusal(Refusal { call, request, problem }) }),
        (number.clone(), any::<u64>()).prop_map(|(of, count)| Record::Repeated(Repeated {
            session: session(),
            of,
            count
        })),
        (number.clone(), any_request(), text(), any::<bool>()).prop_map(|(call, request, path, pinned)| {
            let script = pinned.then(|| Script { path: path.clone(), device: 1, inode: u64::MAX });
            let program = Program { path, script, sha256: pinned.then(decision), ..intent(call).program };
            Record::Intent(crate::Intent { request, program, network: pinned, ..intent(call) })
        }),
        (number, any_status(), prop::collection::vec(text(), 0..2), any::<Option<u64>>()).prop_map(
            |(call, status, missing, kept)| {
                let Record::Outcome(outcome) = outcome(call) else { unreachable!() };
                let stdout = kept.map(|kept| Stream { total: u64::MAX, kept, sha256: decision() });
                Record::Outcome(Outcome { status, missing, stdout, ..outcome })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn any_record_is_one_printable_line_and_reads_back(record in any_record()) {
        let line = whole(&record);
        prop_assert!(line.iter().copied().all(ascii::printable));
        let parsed = parse(&line).unwrap();
        prop_assert_eq!(parsed.header.kind.as_str(), record.kind());
        prop_assert_eq!(&parsed.header, &parse_header(&line).unwrap());
        prop_assert_eq!(parsed.record, Stored::Known(record));
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(parse(&bytes).is_err());
    }

    #[test]
    fn a_shortened_line_is_refused(cut in 1_usize..200) {
        let request = Request { reason: Some("x".repeat(99)), ..request() };
        let line = whole(&Record::Refusal(Refusal { call: call(1), request, problem: problem() }));
        prop_assert!(parse(&line[..line.len() - cut]).is_err());
    }
}
