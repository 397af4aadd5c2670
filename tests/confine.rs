//! Attacks by innocent commands in a workspace that is not: the confinement contains them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use portcullis_corpus::Machine;
use portcullis_corpus::bypasses::{CaseReport, Effect, run};
use portcullis_corpus::cases::read;
use support::lesser::reaches_full;

/// Programs come from the system only, so that this is the same for everybody.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[test]
fn what_lies_in_a_workspace_does_nothing_outside_it() {
    if !reaches_full() {
        return;
    }
    let file = read(&support::data("confine.toml")).unwrap();
    let report = run(&file.cases, &Machine::new(support::binary(), PATH.to_owned(), &[])).unwrap();
    assert!(report.skipped.is_empty(), "{report}");
    let mut shown = 0;
    for case in &report.cases {
        let CaseReport { id, unconfined, none, any, within, contained, .. } = case;
        match contained {
            None => support::skip(&format!("{id} does nothing here: {unconfined:?}")),
            Some(contained) => {
                assert!(contained, "{id}: {none:?} {any:?}");
                shown += u32::from(*within == Effect::Happened);
            }
        }
    }
    // Within the workspace they work, so it is not for want of working that they do nothing outside.
    assert!(shown >= 5, "{report}");
}
