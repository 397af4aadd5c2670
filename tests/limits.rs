//! Limits and the death of whole process trees, from end to end: what a person or a script sees of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics, its helpers too")]

mod support;

#[path = "limits/doctor.rs"]
mod doctor;
#[path = "limits/exceeded.rs"]
mod exceeded;
#[path = "limits/trees.rs"]
mod trees;

use std::process::Command;

use serde_json::Value;
use support::{Ended, World, ended};

/// The one JSON object that a program printed.
fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// What `doctor` says of a capability of this host.
fn holds(capability: &str) -> bool {
    let report = json(&World::new("").run(["doctor", "--json"]));
    let all = report["capabilities"].as_array().unwrap();
    all.iter().find(|one| one["name"] == capability).unwrap()["holds"].as_bool().unwrap()
}

/// The same command where no user namespaces can be made; `None` where that can't be had.
fn without_user_namespaces(command: &Command) -> Option<Command> {
    const SWITCH_OFF: &str = "echo 0 > /proc/sys/user/max_user_namespaces || exit 1; exec \"$@\"";
    let unshare = |command: &Command| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", SWITCH_OFF, "sh"]);
        unshare.arg(command.get_program()).args(command.get_args()).env_clear();
        unshare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        unshare
    };
    if !unshare(&Command::new("true")).output().is_ok_and(|output| output.status.success()) {
        support::skip("a host without user namespaces: `unshare --user` is refused here");
        return None;
    }
    let mut unshare = unshare(command);
    unshare.current_dir(command.get_current_dir().unwrap()).stdin(std::process::Stdio::null());
    Some(unshare)
}

/// Runs a command to its end where no user namespaces can be made.
fn ended_without_user_namespaces(command: &Command) -> Option<Ended> {
    without_user_namespaces(command).map(|mut command| ended(&mut command))
}
