//! `exec`: exit codes, and what is asked of the gate.

use std::fs;

use super::{assert_refused, failed, printed};
use crate::support::{Ended, World, allow};

#[test]
fn the_exit_code_is_the_commands_own() {
    let world = World::allowing(&["sh"]);
    for code in [0, 1, 10, 124, 125, 255] {
        let ended = world.exec(&["sh", "-c", &format!("exit {code}")]);
        assert_eq!(ended, Ended { code: Some(code), ..printed("") });
    }
}

#[test]
fn a_command_that_a_signal_killed_gives_128_and_its_number() {
    let world = World::allowing(&["sh"]);
    for (signal, code) in [(9, 137), (15, 143), (2, 130), (6, 134)] {
        let ended = world.exec(&["sh", "-c", &format!("kill -{signal} $$")]);
        assert_eq!(ended, failed(code, &format!("the command was killed by signal {signal}")));
    }
}

#[test]
fn a_command_out_of_time_gives_124_and_says_what_to_do() {
    let world = World::allowing(&["sleep"]);
    let ended = world.exec(&["--timeout", "50ms", "sleep", "60"]);
    let message =
        "the command was killed: its wall-clock limit ran out; --timeout asks for another, up to the policy's";
    assert_eq!(ended, failed(124, message));
    let by_policy = World::new(&format!("limits.wall = \"50ms\"\n{}", allow("sleep")));
    assert_eq!(by_policy.exec(&["sleep", "60"]), failed(124, message));
}

#[test]
fn what_a_rule_does_not_allow_gives_126() {
    let world = World::new(
        "[[program]]\nname = \"rm\"\n\
         [[program.rule]]\nid = \"ask-rm\"\ndecision = \"ask\"\nwhy = \"it deletes\"\n\
         [[program]]\nname = \"dd\"\n\
         [[program.rule]]\nid = \"no-dd\"\ndecision = \"deny\"\nwhy = \"it writes\"\n\
         [[program]]\nname = \"true\"\n\
         [[program.rule]]\nid = \"bare\"\ndecision = \"allow\"\nwhy = \"a test\"\nexact-arguments = []\n",
    );
    assert_refused(&world.exec(&["ls"]), 126, "[shell.policy.unlisted");
    assert_refused(&world.exec(&["rm", "x"]), 126, "[rule ask-rm, shell.approval.required");
    assert_refused(&world.exec(&["dd"]), 126, "[rule no-dd, shell.policy.rule");
    assert_refused(&world.exec(&["true", "x"]), 126, "shell.policy.arguments");
    assert_eq!(world.exec(&["true"]), printed(""));
}

#[test]
fn a_program_that_is_listed_and_not_there_gives_127() {
    let world = World::allowing(&["portcullis-no-such-program"]);
    assert_refused(&world.exec(&["portcullis-no-such-program"]), 127, "shell.program.missing");
}

#[test]
fn limits_above_the_policys_are_denied_and_never_clamped() {
    let world = World::new(&format!("limits.wall = \"2s\"\nlimits.output = \"1KB\"\n{}", allow("true")));
    assert_refused(&world.exec(&["--timeout", "3s", "true"]), 126, "shell.timeout.policy");
    assert_refused(&world.exec(&["--timeout", "0s", "true"]), 126, "shell.timeout.policy");
    assert_refused(&world.exec(&["--output", "2KB", "true"]), 126, "shell.limit.policy");
    assert_refused(&world.exec(&["--output", "0", "true"]), 126, "shell.limit.policy");
    assert_eq!(world.exec(&["--timeout", "2s", "--output", "1KB", "true"]), printed(""));
}

#[test]
fn the_network_is_denied_where_the_policy_gives_none() {
    let world = World::allowing(&["true"]);
    assert_refused(&world.exec(&["--network", "true"]), 126, "shell.network.policy");
    let open = World::new(&format!("confinement.network = \"host\"\n{}", allow("true")));
    assert_eq!(open.exec(&["--network", "true"]), printed(""));
}

#[test]
fn only_variables_that_the_policy_lets_callers_set_are_set() {
    let world = World::new(&format!("env.guest = [\"GREETING\"]\n{}", allow("env")));
    assert_eq!(world.exec(&["env"]), printed(""));
    assert_eq!(world.exec(&["--env", "GREETING=a=b c", "env"]), printed("GREETING=a=b c\n"));
    assert_eq!(world.exec(&["--env", "GREETING=", "env"]), printed("GREETING=\n"));
    assert_refused(&world.exec(&["--env", "OTHER=1", "env"]), 126, "shell.env.policy");
    assert_refused(&world.exec(&["--env", "=1", "env"]), 125, "shell.env.name");
}

#[test]
fn cwd_is_a_directory_below_the_workspace() {
    let world = World::allowing(&["pwd"]);
    let workspace = fs::canonicalize(world.workspace()).unwrap();
    fs::create_dir_all(workspace.join("a/b")).unwrap();
    std::os::unix::fs::symlink("/", workspace.join("out")).unwrap();
    fs::write(workspace.join("file"), "").unwrap();
    assert_eq!(world.exec(&["pwd"]), printed(format!("{}\n", workspace.display())));
    assert_eq!(world.exec(&["--cwd", "./a//b", "pwd"]), printed(format!("{}/a/b\n", workspace.display())));
    for (cwd, code, name) in [
        ("/tmp", 125, "shell.cwd.invalid"),
        ("", 125, "shell.cwd.invalid"),
        ("..", 126, "shell.cwd.outside"),
        ("out", 126, "shell.cwd.outside"),
        ("file", 125, "shell.cwd.missing"),
        ("nowhere", 125, "shell.cwd.missing"),
    ] {
        assert_refused(&world.exec(&["--cwd", cwd, "pwd"]), code, name);
    }
}

#[test]
fn commands_start_in_the_workspace_that_is_named() {
    let world = World::allowing(&["pwd"]);
    let elsewhere = world.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let elsewhere = fs::canonicalize(elsewhere).unwrap();
    let ended = world.exec(&["--workspace", elsewhere.to_str().unwrap(), "pwd"]);
    assert_eq!(ended, printed(format!("{}\n", elsewhere.display())));
}

#[test]
fn the_reason_stands_in_the_journal() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.exec(&["--reason", "because of\nthis", "true"]), printed(""));
    let intent = world.records().into_iter().find(|record| record["type"] == "intent").unwrap();
    assert_eq!(intent["request"]["reason"], "because of\nthis");
}

#[test]
fn quiet_leaves_only_failures_and_verbose_says_what_is_used() {
    let world = World::allowing(&["sleep", "true"]);
    let quiet = world.run(["-q", "exec", "--timeout", "50ms", "sleep", "60"]);
    assert_eq!(quiet, Ended { code: Some(124), ..printed("") });
    assert_refused(&world.run(["exec", "--quiet", "ls"]), 126, "shell.policy.unlisted");
    let verbose = world.run(["-v", "exec", "true"]);
    let call = world.records().iter().rev().find_map(|record| record["call"].as_str().map(str::to_owned)).unwrap();
    let policy = &world.records()[1]["policy"];
    assert_eq!(
        verbose,
        Ended {
            stderr: format!(
                "portcullis: policy {} ({})\n\
             portcullis: journal {}\n\
             portcullis: call {call}; `portcullis audit show {call}` shows its records\n",
                world.policy().display(),
                policy.as_str().unwrap(),
                world.journal().display()
            ),
            ..printed("")
        }
    );
}
