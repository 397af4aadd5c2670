//! `audit show`.

use std::fs;

use serde_json::Value;

use super::{failed, printed};
use crate::support::{Ended, World, allow, ended};

/// The table with what differs from run to run left out: id, time and duration.
fn rows(world: &World, args: &[&str]) -> Vec<String> {
    let Ended { code, stdout, stderr } = world.run([&["audit", "show"], args].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let (head, rows) = stdout.split_once('\n').unwrap();
    assert!(head.starts_with("ID                  TIME (UTC)           CALLER      RESULT"), "{head}");
    assert!(head.ends_with("  COMMAND"), "{head}");
    let command = head.len() - "COMMAND".len();
    let row = |row: &str| {
        let (row, command) = row.split_at(command);
        let words: Vec<&str> = row[41..].split_whitespace().collect();
        let took = words.iter().position(|word| word.contains('.') && word.parse::<f64>().is_ok());
        format!("{} | {command}", words[..took.unwrap_or(words.len())].join(" "))
    };
    rows.lines().map(row).collect()
}

#[test]
fn the_table_has_a_row_for_every_call() {
    let world = World::new(&format!("limits.wall = \"5s\"\n{}{}", allow("sh"), allow("echo")));
    let _ran = world.exec(&["echo", "it's", "a b", "", "\u{202e}\u{1b}[2J\n"]);
    let _failed = world.exec(&["sh", "-c", "exit 3"]);
    let _killed = world.exec(&["sh", "-c", "kill -9 $$"]);
    let _late = world.exec(&["--timeout", "50ms", "sh", "-c", "exec sleep 60"]);
    let _denied = world.exec(&["ls", "-l"]);
    let _checked = world.run(["check", "echo"]);
    let _checked = world.run(["check", "ls"]);
    let all = [
        r"portcullis exit 0 | echo 'it'\''s' 'a b' '' '\u{202e}\u{1b}[2J\n'",
        "portcullis exit 3 | sh -c 'exit 3'",
        "portcullis signal 9 | sh -c 'kill -9 $$'",
        "portcullis timed out | sh -c 'exec sleep 60'",
        "portcullis policy.unlisted | ls -l",
        "portcullis check: allow | echo",
        "portcullis check: deny | ls",
    ];
    assert_eq!(rows(&world, &[]), all);
    assert_eq!(rows(&world, &["-n", "2"]), all[5..]);
    assert_eq!(rows(&world, &["--count", "0"]), all);
}

#[test]
fn a_call_and_a_session_are_shown_by_their_ids() {
    let world = World::allowing(&["sh"]);
    let _ran = world.exec(&["--reason", "to see", "sh", "-c", "echo hi; exit 2"]);
    let call = world.records()[2]["call"].as_str().unwrap().to_owned();
    let session = call.strip_suffix(".1").unwrap();
    let Ended { code, stdout, stderr } = world.run(["audit", "show", &call]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let heads: Vec<&str> = stdout.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(
        heads.len() == 2 && heads[0].starts_with("intent  record 2, ") && heads[1].starts_with("outcome  record 3, ")
    );
    for row in [
        "  call         ",
        "  program      sh\n  arguments    -c\n               echo hi; exit 2\n",
        "  reason       to see\n",
        "  rules        sh\n",
        "  limits       30s, 100000 bytes kept of each stream\n",
        "  status       exit 2\n",
        "  stdout       3 bytes, 3 kept, SHA-256 98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4\n",
    ] {
        assert!(stdout.contains(row), "{row}\n{stdout}");
    }
    let whole = world.run(["audit", "show", session]).stdout;
    assert!(whole.contains(&stdout), "a session's records have its calls'");
    assert!(
        whole.starts_with("session-start  record 1, ") && whole.ends_with("  ended        by the caller\n"),
        "{whole}"
    );
}

#[test]
fn an_id_that_is_not_there_is_told() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.exec(&["true"]), printed(""));
    for args in [&["audit", "show"][..], &["audit", "show", "--json"]] {
        for id in ["0123456789abcdef", "0123456789abcdef.7"] {
            let message =
                format!("the journal has no record of `{id}`; `portcullis audit show` lists what it has [shell.usage]");
            assert_eq!(world.run([args, &[id]].concat()), failed(125, &message));
        }
        let message = "`\\u{1b}x` is no id of the journal; `portcullis audit show` lists them [shell.usage]";
        assert_eq!(world.run([args, &["\u{1b}x"]].concat()), failed(125, message));
    }
}

#[test]
fn json_has_a_line_for_every_record() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.exec(&["true"]), printed(""));
    let show = |args: &[&str]| {
        let Ended { code, stdout, stderr } = world.run([&["audit", "show", "--json"], args].concat());
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let mut records = world.records();
    for record in &mut records {
        record.as_object_mut().unwrap().retain(|name, _| name != "v" && name != "prev");
    }
    assert_eq!(show(&[]), records);
    assert_eq!(show(&["-n", "2"]), records[3..]);
    let call = records[2]["call"].as_str().unwrap();
    assert_eq!(show(&[call]), records[2..4]);
    assert_eq!(show(&[call.strip_suffix(".1").unwrap()]), records[1..]);
}

#[test]
fn a_journal_without_calls_and_no_journal_are_told() {
    let world = World::allowing(&["true"]);
    let message = format!(
        "there is no journal in {} yet; `portcullis exec` begins one, and --journal names another \
         [shell.journal.unreadable]",
        world.journal().display()
    );
    assert_eq!(world.run(["audit", "show"]), failed(125, &message));
    assert_eq!(world.component("hello", &[]).code, Some(0));
    assert_eq!(world.run(["audit", "show"]), printed("the journal records no call yet\n"));
}

#[test]
fn a_journal_that_somebody_else_wrote_can_not_drive_a_terminal() {
    let world = World::allowing(&["true"]);
    assert_eq!(world.exec(&["--reason", "REASON", "true", "ARGUMENT"]), printed(""));
    let _denied = world.exec(&["ls"]);
    let segment = world.journal().join("00000000000000000000.jsonl");
    let mut text = fs::read_to_string(&segment).unwrap();
    let session = world.records()[1]["session"].as_str().unwrap().to_owned();
    let hostile = r"\u001b]0;title\u0007\u001b[2J\u009b31m\u202e\r\n";
    for name in ["REASON", "ARGUMENT", "portcullis", "none", "/usr/bin/true", "shell.policy.unlisted", "no rule allows"]
    {
        assert!(text.contains(name), "{name}");
        text = text.replace(name, &format!("{hostile}{name}"));
    }
    fs::write(&segment, text).unwrap();
    let deceives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    for args in [&["show"][..], &["show", &session], &["show", "--json"], &["verify"], &["verify", "--json"]] {
        let Ended { stdout, stderr, .. } = ended(&mut world.bare([&["audit"], args].concat()));
        assert!(!stdout.contains(deceives) && !stderr.contains(deceives), "{args:?}: {stdout:?} {stderr:?}");
        assert!(args[0] == "verify" || stdout.contains("ARGUMENT"), "{args:?}: {stdout} {stderr}");
    }
}
