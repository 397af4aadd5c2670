//! `exec --format`: rows T9, L3, L6, L7 and C4 of the field, and the JSON of our own.

use serde_json::{Value, json};

use super::{assert_refused, failed, printed};
use crate::support::{Ended, World, allow};

fn shell() -> World {
    World::allowing(&["sh"])
}

/// Runs `sh -c SCRIPT` in a format.
fn format(world: &World, format: &str, script: &str) -> Ended {
    world.exec(&["--format", format, "sh", "-c", script])
}

fn json(ended: &Ended) -> Value {
    assert_eq!(ended.stderr, "");
    let line = ended.stdout.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "one object, one line");
    serde_json::from_str(line).unwrap()
}

#[test]
fn t_gives_stripped_output_on_success_and_stripped_errors_on_failure() {
    let world = shell();
    assert_eq!(format(&world, "t", "echo; echo ' a  b '; echo; echo unseen >&2"), printed("a  b\n"));
    assert_eq!(format(&world, "t", r"printf '\037\034 x \036\035'"), printed("x\n"));
    assert_eq!(format(&world, "t", "true"), printed(""));
    let failure = Ended { code: Some(3), stdout: String::new(), stderr: "went\nwrong\n".to_owned() };
    assert_eq!(format(&world, "t", "echo unseen; echo ' went' >&2; echo 'wrong ' >&2; exit 3"), failure);
    assert_eq!(format(&world, "t", "echo unseen; exit 1"), Ended { code: Some(1), ..printed("") });
    assert_eq!(format(&world, "t", r"printf '\033[1mbold\033[m'"), printed("\u{1b}[1mbold\u{1b}[m\n"));
}

#[test]
fn l_gives_both_streams_as_one_text_with_the_exit_code() {
    let world = shell();
    assert_eq!(format(&world, "l", "echo out"), printed("out\n"));
    assert_eq!(format(&world, "l", "printf out"), printed("out\n"));
    assert_eq!(format(&world, "l", "true"), printed("<no output>\n"));
    assert_eq!(format(&world, "l", "echo a >&2; echo; echo b >&2"), printed("\n\n[stderr] a\n[stderr] b\n"));
    assert_eq!(
        format(&world, "l", "echo out; echo ' a' >&2; echo >&2; echo 'b ' >&2"),
        printed("out\n\n[stderr] a\n[stderr] \n[stderr] b\n")
    );
    let failure = |code, text: &str| Ended { code: Some(code), ..printed(text) };
    assert_eq!(format(&world, "l", "exit 7"), failure(7, "<no output>\n\nExit code: 7\n"));
    let text = "out\n\n[stderr] bad\n\nExit code: 1\n";
    assert_eq!(format(&world, "l", "echo out; echo bad >&2; exit 1"), failure(1, text));
}

#[test]
fn l_tells_how_many_bytes_are_missing() {
    let world = shell();
    let ended = world.exec(&["--format", "l", "--output", "10", "sh", "-c", "printf 0123456789abcdefghij"]);
    assert_eq!(ended, printed("01234fghij\n\n... Output truncated: 10 bytes are missing.\n"));
    let both = "printf 0123456789ab; printf 0123456789abc >&2";
    let ended = world.exec(&["--format", "l", "--output", "10", "sh", "-c", both]);
    assert_eq!(ended, printed("01234789ab\n[stderr] 0123489abc\n\n... Output truncated: 5 bytes are missing.\n"));
}

#[test]
fn l_gives_124_and_how_to_ask_for_more_time() {
    let world = shell();
    let ended = world.exec(&["--format", "l", "--timeout", "200ms", "sh", "-c", "echo half; exec sleep 60"]);
    let text = "half\n\nThe command timed out; ask for more with --timeout, up to the policy's limit.\n\n\
                Exit code: 124\n";
    assert_eq!(ended, Ended { code: Some(124), ..printed(text) });
}

#[test]
fn c_gives_exit_code_stdout_and_stderr() {
    let world = shell();
    let ended = format(&world, "c", "echo out; echo error >&2; exit 4");
    assert_eq!(
        ended,
        Ended { code: Some(4), ..printed("{\"exit_code\":4,\"stdout\":\"out\\n\",\"stderr\":\"error\\n\"}\n") }
    );
    let killed = Ended {
        stderr: "portcullis: the command was killed by signal 9\n".to_owned(),
        code: Some(137),
        ..printed("{\"exit_code\":137,\"stdout\":\"\",\"stderr\":\"\"}\n")
    };
    assert_eq!(format(&world, "c", "kill -9 $$"), killed);
}

#[test]
fn json_gives_everything() {
    let world = shell();
    let mut value = json(&format(&world, "json", "echo out; printf '\\377\\000' >&2; exit 4"));
    let call = world.records()[2]["call"].clone();
    let usage = value.as_object_mut().unwrap().remove("usage").unwrap();
    assert!(usage["wall_ns"].as_u64() > Some(0) && usage["peak_memory_bytes"].as_u64() > Some(0), "{usage}");
    let enforcement = value.as_object_mut().unwrap().remove("enforcement").unwrap();
    assert_eq!(enforcement["level"], "none");
    assert_eq!(
        value,
        json!({
            "schema": 1,
            "audit": call,
            "status": {"kind": "exited", "code": 4},
            "exit_code": 4,
            "stdout": {"text": "out\n", "total": 4, "gap": null},
            "stderr": {"base64": "/wA=", "total": 2, "gap": null},
        })
    );
}

#[test]
fn json_tells_where_bytes_are_missing_and_of_merged_streams() {
    let world = World::new(&format!("limits.output = \"10\"\n{}", allow("sh")));
    let script = "printf 0123456789; printf abcdefghij >&2";
    let value = json(&world.exec(&["--format", "json", "--merge-stderr", "sh", "-c", script]));
    assert_eq!(value["stdout"], json!({"text": "01234fghij", "total": 20, "gap": {"at": 5, "missing": 10}}));
    assert_eq!(value["stderr"], Value::Null);
}

#[test]
fn json_tells_how_a_command_was_ended() {
    let world = shell();
    let signaled = format(&world, "json", "kill -15 $$");
    assert_eq!((signaled.code, &json(&signaled)["status"]), (Some(143), &json!({"kind": "signaled", "signal": 15})));
    let late = world.exec(&["--format", "json", "--timeout", "50ms", "sh", "-c", "exec sleep 60"]);
    assert_eq!((late.code, &json(&late)["status"]), (Some(124), &json!({"kind": "wall-exceeded"})));
    assert_eq!(json(&late)["exit_code"], 124);
}

#[test]
fn json_can_not_drive_a_terminal() {
    let world = shell();
    let ended = format(&world, "json", r"printf '\302\233\342\200\256\363\240\201\201\303\251\177'");
    assert!(ended.stdout.contains(r#""text":"\u009b\u202e\udb40\udc41é\u007f""#), "{}", ended.stdout);
    assert_eq!(json(&ended)["stdout"]["text"], "\u{9b}\u{202e}\u{e0041}é\u{7f}");
}

#[test]
fn a_refusal_is_json_too_where_json_is_wanted() {
    let world = World::new(
        "[[program]]\nname = \"rm\"\n\
         [[program.rule]]\nid = \"ask-rm\"\ndecision = \"ask\"\nwhy = \"it deletes\"\n",
    );
    let ended = world.exec(&["--format", "json", "rm", "x"]);
    let value = json(&ended);
    assert_eq!((ended.code, &value["schema"]), (Some(126), &json!(1)));
    let error = value["error"].as_object().unwrap();
    assert_eq!(
        (&error["kind"], &error["code"], &error["rule"]),
        (&json!("approval"), &json!("shell.approval.required"), &json!("ask-rm"))
    );
    assert!(!error["message"].as_str().unwrap().is_empty() && !error["advice"].as_str().unwrap().is_empty());
    for format in ["passthrough", "t", "l", "c"] {
        assert_refused(&world.exec(&["--format", format, "rm", "x"]), 126, "shell.approval.required");
    }
}

#[test]
fn dry_run_is_check() {
    let world = shell();
    let arguments = ["sh", "-c", "exit 1"];
    let checked = world.run([&["check"], &arguments[..]].concat());
    assert_eq!(checked.code, Some(0));
    assert_eq!(world.exec(&[&["--dry-run"], &arguments[..]].concat()), checked);
    let checked = world.run([&["check", "--json"], &arguments[..]].concat());
    assert_eq!(world.exec(&[&["--dry-run", "--format", "json"], &arguments[..]].concat()), checked);
    assert_eq!(world.run(["check", "ls"]), world.exec(&["--dry-run", "ls"]));
    let message = "--dry-run prints a decision, and `--format` has no other shape for one than `json` [shell.usage]";
    assert_eq!(world.exec(&["--dry-run", "--format", "c", "sh"]), failed(125, message));
    assert!(!world.record_types().contains(&"intent".to_owned()), "nothing was started");
}
