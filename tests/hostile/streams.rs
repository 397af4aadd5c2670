//! Commands that write or read much.

use crate::support::{World, allow};
use crate::{answers, says};

/// The lines of an answer about a command that exited with 0 and wrote nothing to standard error.
fn ok(stdout: &str) -> String {
    format!("ok exited(0)\nstdout={stdout}\nstderr=\"\" total=0 gap=none\n")
}

#[test]
fn of_a_flood_the_head_and_the_tail_are_kept_and_the_gap_is_exact() {
    let world = World::allowing(&["seq"]);
    // seq 1 1000000 writes 6 888 896 bytes.
    let stdout = answers(&world, &["output", "21", "seq", "1", "1000000"]);
    assert_eq!(stdout, ok(r#""1\n2\n3\n4\n5\n69\n1000000\n" total=6888896 gap=11+6888875"#));
    let expected = "denied shell.limit.policy\nmessage=\"100001 bytes of output were asked for; it must be more than zero and at most 100000\"\n";
    assert_eq!(says(&world, &["output", "100001", "seq", "1"]), expected);
}

#[test]
fn output_that_would_fill_a_components_memory_is_cut_to_a_quarter_of_it() {
    let world = World::new(&format!("limits.output = \"100MB\"\ncomponent.memory = \"16MiB\"\n{}", allow("seq")));
    // An eighth for each of the two streams.
    let stdout = answers(&world, &["exec", "seq", "1", "1000000"]);
    assert_eq!(stdout, ok("2097152 bytes total=6888896 gap=1048576+4791744"));
}

#[test]
fn merged_streams_are_one() {
    let world = World::allowing(&["sh"]);
    let script = "echo one; echo two >&2; echo three";
    let stdout = answers(&world, &["merge", "sh", "-c", script]);
    assert_eq!(stdout, "ok exited(0)\nstdout=\"one\\ntwo\\nthree\\n\" total=14 gap=none\nstderr=none\n");
}

#[test]
fn a_megabyte_goes_in_and_comes_back_at_the_same_time() {
    let world = World::new(&format!("limits.output = \"2MiB\"\n{}", allow("cat")));
    let stdout = answers(&world, &["stdin-echo", "1048576"]);
    assert_eq!(stdout, ok("1048576 bytes total=1048576 gap=none") + "same=true\n");
}

#[test]
fn a_command_that_does_not_read_its_input_ends() {
    let world = World::allowing(&["true"]);
    let stdout = answers(&world, &["stdin-echo", "1048576", "true"]);
    assert_eq!(stdout, ok("\"\" total=0 gap=none") + "same=false\n");
}
