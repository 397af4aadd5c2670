//! `check`: what would become of a command, and why.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Ended, World, ended};

const RULES: &str = "env.set = { LANG = \"C\", TERM = \"dumb\" }\n\
limits.wall = \"90s\"\n\
[[program]]\nname = \"true\"\n\
[[program.rule]]\nid = \"yes\"\ndecision = \"allow\"\nwhy = \"does nothing\"\n\
[[program]]\nname = \"rm\"\n\
[[program.rule]]\nid = \"ask-rm\"\ndecision = \"ask\"\nwhy = \"it deletes\"\n";

/// A row of a table of details, without its line's end.
fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let row =
        text.lines().find_map(|line| line.strip_prefix("  ")?.strip_prefix(name)).unwrap_or_else(|| panic!("{text}"));
    row.trim_start()
}

#[test]
fn an_allowed_command_is_explained() {
    let world = World::new(RULES);
    let workspace = fs::canonicalize(world.workspace()).unwrap();
    fs::create_dir(workspace.join("sub")).unwrap();
    let Ended { code, stdout, stderr } = world.run(["check", "--cwd", "sub", "true", "a b", "\u{1b}[2J"]);
    let file = fs::canonicalize("/usr/bin/true").unwrap();
    let expected = format!(
        "allow  true 'a b' '\\u{{1b}}[2J'\n  \
         rule         yes ({}:8): does nothing\n  \
         file         {}\n  \
         directory    {}/sub\n  \
         limits       1m 30s, 100000 bytes kept of each stream\n  \
         network      none\n  \
         environment  LANG=C\n               TERM=dumb\n  \
         confinement  none (the policy wants no more)\n",
        world.policy().display(),
        file.display(),
        workspace.display()
    );
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), expected.as_str(), ""));
    assert_eq!(world.record_types(), ["segment", "session-start", "check", "session-end"]);
}

#[test]
fn a_command_that_must_be_asked_for_gives_10() {
    let Ended { code, stdout, stderr } = World::new(RULES).run(["check", "rm", "x"]);
    assert_eq!((code, stderr.as_str()), (Some(10), ""));
    assert!(stdout.starts_with("ask  rm x\n"), "{stdout}");
    assert_eq!((row(&stdout, "rule"), row(&stdout, "code")), ("ask-rm", "shell.approval.required"));
    assert!(row(&stdout, "why").contains("it deletes") && row(&stdout, "next step").contains("decision"), "{stdout}");
}

#[test]
fn a_denied_command_gives_126_with_the_reason_and_the_next_step() {
    let world = World::new(RULES);
    for (args, code) in [
        (&["ls"][..], "shell.policy.unlisted"),
        (&["--network", "true"], "shell.network.policy"),
        (&["--env", "A=1", "true"], "shell.env.policy"),
        (&["--timeout", "1h", "true"], "shell.timeout.policy"),
    ] {
        let Ended { code: exit, stdout, stderr } = world.run([&["check"], args].concat());
        assert_eq!((exit, stderr.as_str()), (Some(126), ""), "{args:?}");
        assert!(stdout.starts_with(&format!("deny  {}\n", args.last().unwrap())), "{stdout}");
        assert_eq!(row(&stdout, "code"), code);
        assert!(!row(&stdout, "why").is_empty() && !row(&stdout, "next step").is_empty(), "{stdout}");
    }
}

#[test]
fn json_has_the_verdict_and_what_it_rests_on() {
    let world = World::new(RULES);
    let check = |args: &[&str], code| {
        let ended = world.run([&["check", "--json"], args].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(code), ""));
        serde_json::from_str::<Value>(&ended.stdout).unwrap()
    };
    let allowed = check(&["true", "x"], 0);
    assert_eq!(
        (&allowed["schema"], &allowed["verdict"], &allowed["problem"]),
        (&json!(1), &json!("allow"), &Value::Null)
    );
    assert_eq!(allowed["policy"], world.policy().to_str().unwrap());
    let allowed = &allowed["allowed"];
    assert_eq!(
        (&allowed["program"], &allowed["arguments"], &allowed["rules"]),
        (&json!("true"), &json!(["x"]), &json!(["yes"]))
    );
    assert_eq!(allowed["limits"], json!({"wall_ns": 90_000_000_000_u64, "output_bytes": 100_000}));
    assert_eq!(allowed["env"], json!([["LANG", "C"], ["TERM", "dumb"]]));

    let asked = check(&["rm", "x"], 10);
    assert_eq!(
        (&asked["verdict"], &asked["kind"], &asked["problem"]["rule"]),
        (&json!("ask"), &json!("approval"), &json!("ask-rm"))
    );
    let denied = check(&["ls"], 126);
    assert_eq!(
        (&denied["verdict"], &denied["kind"], &denied["problem"]["code"], &denied["allowed"]),
        (&json!("deny"), &json!("denied"), &json!("shell.policy.unlisted"), &Value::Null)
    );
}

#[test]
fn another_program_of_that_name_in_path_is_noted() {
    let world = World::new(RULES);
    let shims = world.path().join("shims");
    fs::create_dir(&shims).unwrap();
    let shim = shims.join("true");
    fs::write(&shim, "#!/bin/sh\n").unwrap();
    let path = format!("{}:/usr/bin:/bin", shims.display());
    let note = format!("your PATH has another one first: {}; the policy's `programs.path` decides", shim.display());
    let check = || ended(world.command(["check", "true"]).env("PATH", &path)).stdout;
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!check().contains("note"), "a file that is not executable is none");
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(row(&check(), "note"), note);
}
