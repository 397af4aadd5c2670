//! Requests that are wrong, or ask for what the policy does not give.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{World, allow};
use crate::{answers, says};

/// What a command that exits with 0 and writes nothing answers.
const QUIET: &str = "ok exited(0)\nstdout=\"\" total=0 gap=none\nstderr=\"\" total=0 gap=none\n";

#[test]
fn an_unlisted_program_is_denied_and_recorded() {
    let world = World::allowing(&["true"]);
    let stdout = says(&world, &["exec", "rm", "-rf", "/"]);
    assert_eq!(stdout, "denied shell.policy.unlisted\nmessage=\"no rule allows `rm`\"\n");
    assert_eq!(world.record_types(), ["segment", "session-start", "refusal", "session-end"]);
}

#[test]
fn a_request_without_a_program_is_invalid() {
    let world = World::allowing(&["true"]);
    let expected = "invalid shell.argv.empty\nmessage=\"no program is named; give the name of one, such as `git`\"\n";
    assert_eq!(says(&world, &["empty"]), expected);
}

#[test]
fn nul_anywhere_in_a_command_is_invalid() {
    let world = World::new(&format!("env.guest = [\"NAME\"]\n{}", allow("true")));
    let expected = format!(
        "# argument\n\
         invalid shell.argv.nul\n\
         at=1\n\
         message=\"argument 2 contains NUL, which no program can receive\"\n\
         # program\n\
         invalid shell.argv.nul\n\
         message=\"the program's name contains NUL, which no program can receive\"\n\
         # cwd\n\
         invalid shell.argv.nul\n\
         message=\"the working directory contains NUL\"\n\
         # env-name\n\
         invalid shell.env.name\n\
         message=\"the name of an environment variable can't contain NUL\"\n\
         # env-value\n\
         invalid shell.env.value\n\
         message=\"the value of `NAME` contains NUL\"\n\
         # reason\n{QUIET}\
         # call-id\n{QUIET}"
    );
    // The last two are texts for the journal, which no program receives.
    assert_eq!(answers(&world, &["nul"]), expected);
}

#[test]
fn control_characters_reach_neither_the_journals_bytes_nor_a_terminal() {
    let world = World::allowing(&["true"]);
    let raw =
        |text: &str| text.chars().any(|c| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)));
    let answers = answers(&world, &["control"]);
    let name = r"a\\u{1b}[31mred\\u{202e}\\r\\n\\u{7}\\u{9b}b";
    let expected = format!(
        "# argument\n{QUIET}\
         # program\n\
         invalid shell.program.name\n\
         message=\"the program name `{name}` contains white space or a control character\"\n\
         # reason\n{QUIET}\
         # call-id\n{QUIET}"
    );
    assert_eq!(answers, expected);

    let journal = fs::read(world.journal().join("00000000000000000000.jsonl")).unwrap();
    let odd: Vec<u8> = journal.into_iter().filter(|byte| !(b' '..=b'~').contains(byte) && *byte != b'\n').collect();
    assert_eq!(odd, b"", "the journal is printable ASCII");
    // Nothing is lost in it: the record reads back as what was asked.
    let sent = "a\u{1b}[31mred\u{202e}\r\n\u{7}\u{9b}b";
    let records = world.records();
    let intents: Vec<_> = records.iter().filter(|record| record["type"] == "intent").collect();
    assert_eq!(intents[0]["request"]["arguments"][0], sent);
    assert_eq!(intents[1]["request"]["reason"], sent);
    assert_eq!(intents[2]["request"]["call_id"], sent);

    let table = world.run(["audit", "show"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    assert!(table.stdout.contains(r"\u{1b}[31mred\u{202e}") && !raw(&table.stdout), "{}", table.stdout);
    for record in records.iter().filter(|record| record["call"].is_string()) {
        let details = world.run(["audit", "show", record["call"].as_str().unwrap()]);
        assert_eq!(details.code, Some(0), "{details:?}");
        assert!(details.stdout.contains("\\u{202e}") && !raw(&details.stdout), "{}", details.stdout);
    }
}

#[test]
fn a_working_directory_stays_inside_the_workspace() {
    let world = World::new(&format!("session.denials = 1000\n{}", allow("pwd")));
    let workspace = world.workspace();
    fs::create_dir_all(workspace.join("a/b")).unwrap();
    for (link, target) in [("in", "a/b"), ("up", ".."), ("abs", "/etc")] {
        symlink(target, workspace.join(link)).unwrap();
        // The link itself works: what follows is no accident.
        assert!(fs::metadata(workspace.join(link)).unwrap().is_dir());
    }
    let text = format!("{}/a/b\n", fs::canonicalize(&workspace).unwrap().display());
    let expected =
        format!("ok exited(0)\nstdout={text:?} total={} gap=none\nstderr=\"\" total=0 gap=none\n", text.len());
    assert_eq!(answers(&world, &["cwd", "in", "pwd", "-P"]), expected);
    let leads_out = |asked: &str| {
        format!(
            "denied shell.cwd.outside\nmessage=\"the working directory `{asked}` leads out of the workspace; name a directory inside it\"\n"
        )
    };
    for (asked, expected) in [
        ("up", leads_out("up")),
        ("abs", leads_out("abs")),
        (
            "../..",
            "denied shell.cwd.outside\nmessage=\"the working directory `../..` contains `..`; name the directory from the workspace down\"\n"
                .to_owned(),
        ),
        (
            "missing",
            "unavailable shell.cwd.missing\nmessage=\"the working directory `missing` is no directory of the workspace; make it first\"\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(says(&world, &["cwd", asked]), expected);
    }
}

#[test]
fn a_wall_clock_limit_can_be_tightened_and_nothing_else() {
    let world = World::new(&format!("limits.wall = \"20s\"\n{}{}", allow("true"), allow("sleep")));
    assert_eq!(answers(&world, &["wall", "20000000000", "true"]), QUIET);
    for (asked, shown) in
        [("0", "0s"), ("20000000001", "20s 1ns"), ("18446744073709551615", "5124095h 34m 33s 709ms 551µs 615ns")]
    {
        let expected = format!(
            "denied shell.timeout.policy\nmessage=\"a wall-clock limit of {shown} was asked for; it must be more than zero and at most 20s\"\n"
        );
        assert_eq!(says(&world, &["wall", asked, "true"]), expected);
    }
    let expected = "ok wall-exceeded\nstdout=\"\" total=0 gap=none\nstderr=\"\" total=0 gap=none\n";
    assert_eq!(answers(&world, &["wall", "200000000", "sleep", "1000"]), expected);
}

#[test]
fn the_network_is_refused_where_the_policy_gives_none() {
    let world = World::allowing(&["true"]);
    let expected = "denied shell.network.policy\nmessage=\"`true` was asked to run with the network, and the policy gives it none\"\n";
    assert_eq!(says(&world, &["network", "true"]), expected);
}

#[test]
fn variables_that_the_policy_does_not_leave_to_guests_are_refused() {
    let world = World::new(&format!("env.set = {{ FIXED = \"1\" }}\nenv.guest = [\"MINE\"]\n{}", allow("env")));
    let text = "FIXED=1\nMINE=a b\n";
    let expected =
        format!("ok exited(0)\nstdout={text:?} total={} gap=none\nstderr=\"\" total=0 gap=none\n", text.len());
    assert_eq!(answers(&world, &["env", "MINE", "a b", "env"]), expected);
    let denied =
        "denied shell.env.policy\nmessage=\"the environment variable `LD_PRELOAD` may not be set for `env`\"\n";
    assert_eq!(says(&world, &["env", "LD_PRELOAD", "x", "env"]), denied);
}

#[test]
fn a_check_runs_nothing_and_says_what_a_call_would() {
    let world = World::allowing(&["touch"]);
    let expected = "allow\nwall=30000000000 cpu=none output=100000 memory=none processes=none\n";
    assert_eq!(says(&world, &["check", "touch", "file"]), expected);
    assert!(!world.workspace().join("file").exists());
    says(&world, &["exec", "touch", "file"]);
    assert!(world.workspace().join("file").exists());
}

#[test]
fn guests_see_no_paths_of_the_host_and_no_lines_of_the_policy() {
    let world = World::new(&allow("missing-program"));
    let stdout = says(&world, &["exec", "missing-program"]);
    assert_eq!(
        stdout,
        "unavailable shell.program.missing\nmessage=\"`missing-program` is allowed and not installed\"\n"
    );
}

#[test]
fn the_components_exit_code_is_that_of_portcullis() {
    let world = World::new("");
    assert_eq!(world.component("hostile", &["exit", "0"]).code, Some(0));
    // WASI 0.2 carries success or failure, and no number.
    assert_eq!(world.component("hostile", &["exit", "3"]).code, Some(1));
}
