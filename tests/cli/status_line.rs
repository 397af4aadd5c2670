//! The line that says on a terminal how long a silent command has been running.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::printed;
use crate::support::{Ended, World, binary, ended};

/// Runs a program on a terminal of its own and prints every byte that appears there. Each step waits for a text, then
/// does something: `type` keys, `open` a FIFO that somebody reads from, wait `until` a file holds a text.
const TERMINAL: &str = "
import json, os, pty, sys, time
steps, program = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program[0], program)
seen = b''
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
    seen += piece
    while steps and steps[0][0].encode() in seen:
        text, act, what = steps.pop(0)
        seen = seen.split(text.encode(), 1)[1] if text else seen
        if act == 'type':
            os.write(terminal, what.encode())
        elif act == 'open':
            open(what, 'w').close()
        elif act == 'until':
            path, wanted = what
            while wanted not in open(path).read():
                time.sleep(0.02)
sys.stdout.flush()
print('steps left over:', steps, file=sys.stderr) if steps else None
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

const ERASE: &str = "\r\u{1b}[K";

fn on_terminal(command: &Command, steps: &serde_json::Value) -> Ended {
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, &steps.to_string()]).arg(command.get_program()).args(command.get_args());
    python.current_dir(command.get_current_dir().unwrap()).env_clear().stdin(Stdio::null()).env("TERM", "xterm");
    python.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ended(&mut python)
}

/// What the command wrote, and the seconds that the line told; asserts that the line was erased before anything else.
#[track_caller]
fn parted(raw: &str, program: &str) -> (String, Vec<u64>) {
    let (mut rest, mut seconds) = (String::new(), Vec::new());
    let pieces: Vec<&str> = raw.split(ERASE).collect();
    for (index, piece) in pieces.iter().enumerate() {
        let line = piece.strip_prefix(&format!("running {program} … "));
        match line.and_then(|line| line.strip_suffix(" s (Ctrl-C cancels)")) {
            Some(number) if index > 0 => {
                assert!(index + 1 < pieces.len(), "never erased: {raw:?}");
                seconds.push(number.parse().unwrap());
            }
            _ => rest.push_str(piece),
        }
    }
    assert!(!rest.contains("running"), "{raw:?}");
    (rest, seconds)
}

fn fifo(world: &World) -> std::path::PathBuf {
    let path = world.workspace().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_silent_command_has_a_line_that_is_gone_before_its_output() {
    let world = World::allowing(&["sh"]);
    let fifo = fifo(&world);
    let script = "read x <fifo; echo out; echo err >&2; read x <fifo; seq 20000; printf end";
    let steps = serde_json::json!([
        ["running sh", "", ""],
        ["running sh", "open", fifo],
        ["err", "", ""],
        ["running sh", "open", fifo]
    ]);
    let Ended { code, stdout, stderr } = on_terminal(&world.command(["exec", "sh", "-c", script]), &steps);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout:?}");
    let (bytes, seconds) = parted(&stdout, "sh");
    let numbers: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
    // Two streams have no order.
    let bytes = bytes.replace("err\r\nout\r\n", "out\r\nerr\r\n");
    assert!(bytes == format!("out\r\nerr\r\n{numbers}end"), "{stdout:?}");
    assert!(seconds.len() >= 3 && seconds[0] >= 2, "{seconds:?}");
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");
}

#[test]
fn output_into_a_file_goes_on_while_the_line_is_shown() {
    let world = World::allowing(&["sh"]);
    let fifo = fifo(&world);
    let script = "printf half; read x <fifo; printf ' and half'";
    let words = format!("\"$0\" exec sh -c \"{script}\" >out");
    let mut shell = world.command([""; 0]);
    shell = with_words(&shell, &["sh", "-c", &words, binary().to_str().unwrap()]);
    let Ended { code, stdout, .. } = on_terminal(&shell, &serde_json::json!([["running sh", "open", fifo]]));
    assert_eq!((code, parted(&stdout, "sh").0.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(world.workspace().join("out")).unwrap(), "half and half");
}

/// Other words in the same surroundings.
fn with_words(like: &Command, words: &[&str]) -> Command {
    let mut command = Command::new(Path::new("/bin").join(words[0]));
    command.args(&words[1..]).current_dir(like.get_current_dir().unwrap());
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn there_is_no_line_where_nobody_wants_one_or_it_would_disturb() {
    let world = World::allowing(&["sh"]);
    // As long as it takes for the line to come twice.
    let quiet = |first: &str| format!("printf '{first}'; sleep 3.5; echo end");
    let command = |options: &[&str], first: &str| {
        let script = quiet(first);
        world.command([options, &["sh", "-c", &script]].concat())
    };
    let shown = command(&["exec"], r"whole\n");
    let half = command(&["exec"], "half ");
    let quietly = command(&["exec", "-q"], r"whole\n");
    let formatted = command(&["exec", "--format", "passthrough"], r"whole\n");
    let mut dumb = command(&["exec"], r"whole\n");
    dumb.env("TERM", "dumb");
    let words = "\"$0\" exec sh -c \"echo whole; sleep 3.5; echo end\" 2>err";
    let elsewhere = with_words(&shown, &["sh", "-c", words, binary().to_str().unwrap()]);
    let background = "\"$0\" exec sh -c \"echo whole; sleep 3.5; echo end\" & wait";
    let background = with_words(&shown, &["sh", "-mc", background, binary().to_str().unwrap()]);
    let commands = [&shown, &half, &quietly, &formatted, &dumb, &elsewhere, &background];
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let started = commands.map(|command| scope.spawn(|| on_terminal(command, &serde_json::json!([]))));
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (bytes, seconds) = parted(&ended[0].stdout, "sh");
    assert_eq!((bytes.as_str(), seconds.is_empty()), ("whole\r\nend\r\n", false), "the others prove nothing");
    assert_eq!(ended[1], printed("half end\r\n"));
    for (ended, command) in ended[2..].iter().zip(&commands[2..]) {
        assert_eq!(*ended, printed("whole\r\nend\r\n"), "{command:?}");
    }
    assert_eq!(fs::read_to_string(world.workspace().join("err")).unwrap(), "");
}

#[test]
fn control_c_takes_the_line_away_and_cancels() {
    let world = World::allowing(&["sleep"]);
    let steps = serde_json::json!([["running sleep", "type", "\u{3}"]]);
    let Ended { code, stdout, .. } = on_terminal(&world.command(["exec", "sleep", "600"]), &steps);
    assert_eq!(code, Some(130), "{stdout:?}");
    let last = "\r\u{1b}[Kportcullis: the command was cancelled [shell.cancelled]\r\n";
    assert!(stdout.ends_with(last), "{stdout:?}");
}

#[test]
fn a_terminal_that_is_held_does_not_hold_the_wall_clock_limit() {
    let world = World::allowing(&["sleep"]);
    let journal = world.journal().join("00000000000000000000.jsonl");
    // Ctrl-S holds the terminal's output, Ctrl-Q lets it go on.
    let steps = serde_json::json!([
        ["running sleep", "type", "\u{13}"],
        ["", "until", [journal, "wall-exceeded"]],
        ["", "type", "\u{11}"]
    ]);
    let Ended { code, stdout, stderr } =
        on_terminal(&world.command(["exec", "--timeout", "4s", "sleep", "600"]), &steps);
    assert_eq!((code, stderr.as_str()), (Some(124), ""), "{stdout:?}");
    assert!(stdout.contains("its wall-clock limit ran out"), "{stdout:?}");
}
