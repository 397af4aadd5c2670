//! Requests that are too large, or too many.

use crate::support::{World, allow};
use crate::{answers, ends_early, journal_bytes, peak_memory, says};

#[test]
fn arguments_of_a_gigabyte_trap_without_filling_memory_and_the_next_run_works() {
    let world = World::allowing(&["true"]);
    let (ended, ordinary) = peak_memory(&world, &["exec", "true"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (ended, peak) = peak_memory(&world, &["big-arguments"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(125), ""));
    assert!(ended.stderr.trim_end().ends_with("[shell.component.trap]"), "{}", ended.stderr);
    assert!(peak < ordinary + (100 << 20), "{peak} bytes, ordinarily {ordinary}");
    assert!(answers(&world, &["exec", "true"]).starts_with("ok exited(0)\n"));
    let records = world.records();
    let end = |reason| records.iter().filter(|record| record["reason"] == reason).count();
    assert_eq!((end("closed"), end("failed")), (2, 1));
}

#[test]
fn too_many_arguments_and_variables_are_invalid_or_trap_and_the_journal_stays_small() {
    let world = World::allowing(&["true"]);
    let expected = "invalid shell.argv.too-large\nmessage=\"100000 arguments; at most 65536 can be given\"\n";
    assert_eq!(says(&world, &["many-arguments", "100000"]), expected);
    let expected = "invalid shell.env.too-large\nmessage=\"100000 environment variables; at most 1024 can be given\"\n";
    assert_eq!(says(&world, &["many-env", "100000"]), expected);
    assert_eq!(ends_early(&world, &["many-arguments", "1000000"], "shell.component.trap"), "");
    assert!(journal_bytes(&world) < 140 << 10, "{} bytes", journal_bytes(&world));
    // What fits, runs.
    assert!(answers(&world, &["many-arguments", "65536"]).starts_with("ok exited(0)\n"));
}

#[test]
fn who_asks_without_end_uses_up_the_denials_and_not_the_journal() {
    let world = World::allowing(&["true"]);
    let stdout = says(&world, &["million", "50000"]);
    assert_eq!(stdout, "calls 50000\n100 denied shell.policy.unlisted\n49900 unavailable shell.session.denials\n");
    assert!(journal_bytes(&world) < 64 << 10, "{} bytes", journal_bytes(&world));

    let records = world.records();
    let mut refused = Vec::new();
    for record in &records {
        match record["type"].as_str().unwrap() {
            "refusal" => refused.push((record["call"].clone(), record["problem"]["code"].clone(), 1)),
            // The count is that of all repeats so far.
            "repeated" => {
                let row = refused.iter_mut().find(|(call, _, _)| *call == record["of"]).unwrap();
                row.2 = record["count"].as_u64().unwrap() + 1;
            }
            _ => {}
        }
    }
    let refused: Vec<_> = refused.iter().map(|(_, code, times)| (code.as_str().unwrap(), *times)).collect();
    assert_eq!(refused, [("shell.policy.unlisted", 100), ("shell.session.denials", 49_900)]);
    let end = records.last().unwrap();
    assert_eq!((&end["type"], &end["calls"], &end["denials"]), (&"session-end".into(), &50_000.into(), &50_000.into()));
    assert_eq!(end["reason"], "budget");
}

#[test]
fn who_runs_without_end_uses_up_the_calls() {
    let world = World::new(&format!("session.calls = 50\n{}", allow("true")));
    let stdout = says(&world, &["million-allowed", "true", "200"]);
    assert_eq!(stdout, "calls 200\n50 ok exited(0)\n150 unavailable shell.session.calls\n");
    let types = world.record_types();
    let count = |wanted| types.iter().filter(|found| *found == wanted).count();
    assert_eq!((count("intent"), count("outcome"), count("refusal")), (50, 50, 1));
}
