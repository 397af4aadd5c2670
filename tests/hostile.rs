//! Components that mean no good: every one gets a typed answer, and the host stays whole.

mod support;

use support::{Ended, World};

#[test]
fn an_unlisted_program_is_denied_and_recorded() {
    let world = World::allowing(&["true"]);
    let Ended { code, stdout, .. } = world.component("hostile", &["exec", "rm", "-rf", "/"]);
    assert_eq!(stdout, "denied shell.policy.unlisted\nmessage=\"no rule allows `rm`\"\n");
    assert_eq!(code, Some(0));
    assert_eq!(world.record_types(), ["segment", "session-start", "refusal", "session-end"]);
}
