//! Components that mean no good: every one gets a typed answer, and the host stays whole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/floods.rs"]
mod floods;
#[path = "hostile/journal.rs"]
mod journal;
#[path = "hostile/requests.rs"]
mod requests;
#[path = "hostile/resources.rs"]
mod resources;
#[path = "hostile/streams.rs"]
mod streams;

use std::process::Command;

use support::{Ended, World};

/// What the hostile component prints for this behaviour. It must come to its end, and leave a journal that verifies.
fn says(world: &World, behaviour: &[&str]) -> String {
    let Ended { code, stdout, stderr } = world.component("hostile", behaviour);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert_journal_is_whole(world);
    stdout
}

/// As [`says`], without the lines that differ from run to run.
fn answers(world: &World, behaviour: &[&str]) -> String {
    let varying = |line: &str| ["wall=", "audit=", "enforcement="].iter().any(|start| line.starts_with(start));
    says(world, behaviour).lines().filter(|line| !varying(line)).map(|line| format!("{line}\n")).collect()
}

/// The component did not come to its end: 125, and this code. What it had printed.
fn ends_early(world: &World, behaviour: &[&str], code: &str) -> String {
    let ended = world.component("hostile", behaviour);
    assert_eq!(ended.code, Some(125), "{ended:?}");
    assert!(ended.stderr.trim_end().ends_with(&format!("[{code}]")), "{ended:?}");
    assert_journal_is_whole(world);
    ended.stdout
}

fn assert_journal_is_whole(world: &World) {
    let verified = world.run(["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Bytes of the journal.
fn journal_bytes(world: &World) -> u64 {
    std::fs::metadata(world.journal().join("00000000000000000000.jsonl")).unwrap().len()
}

/// Runs portcullis to its end, and measures its largest resident memory, or that of a child, in bytes.
fn peak_memory(world: &World, behaviour: &[&str]) -> (Ended, u64) {
    const MEASURE: &str = "import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)";
    let run = world.command(["run"]);
    let mut measured = Command::new("python3");
    measured.args(["-c", MEASURE]).arg(run.get_program()).args(run.get_args());
    measured.arg(support::component("hostile")).args(behaviour).current_dir(world.workspace()).env_clear();
    measured.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut ended = support::ended(&mut measured);
    let line = ended.stderr.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
    let peak = ended.stderr.split_off(line).trim().parse::<u64>().unwrap();
    (ended, peak << 10)
}
