//! What differs on a terminal: colours, the width of tables, and standard input.

use std::process::{Command, Stdio};

use super::printed;
use crate::support::{Ended, World, ended};

/// Runs a program with a terminal of this many columns as its standard streams, and prints what appears there.
const TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
columns, program = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.execv(program[0], program)
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// Runs a command on a terminal; its two streams are one there.
fn on_terminal(columns: u16, command: &Command) -> Ended {
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, &columns.to_string()]).arg(command.get_program()).args(command.get_args());
    python.current_dir(command.get_current_dir().unwrap()).env_clear().stdin(Stdio::null());
    python.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    let ended = ended(&mut python);
    Ended { stdout: ended.stdout.replace("\r\n", "\n"), ..ended }
}

#[test]
fn a_terminal_is_not_forwarded_as_standard_input() {
    let world = World::allowing(&["cat", "sh"]);
    assert_eq!(on_terminal(80, &world.command(["exec", "cat"])), printed(""));
    let script = "test -t 0 || test -t 1 || test -t 2 || readlink /proc/self/fd/0";
    assert_eq!(on_terminal(80, &world.command(["exec", "sh", "-c", script])), printed("/dev/null\n"));
}

#[test]
fn colours_are_for_terminals_unless_said_otherwise() {
    let world = World::allowing(&["true"]);
    let plain = world.run(["check", "ls"]).stdout;
    assert!(plain.starts_with("deny  ls\n"), "{plain}");
    let colored = on_terminal(120, &world.command(["check", "ls"])).stdout;
    assert!(colored.starts_with("\u{1b}[1m\u{1b}[31mdeny\u{1b}[0m  \u{1b}[1mls\u{1b}[0m\n"), "{colored:?}");
    assert_eq!(on_terminal(120, &world.command(["--color", "never", "check", "ls"])).stdout, plain);
    assert_eq!(on_terminal(120, world.command(["check", "ls"]).env("NO_COLOR", "1")).stdout, plain);
    assert_eq!(world.run(["--color", "always", "check", "ls"]).stdout, colored);
    assert_eq!(ended(world.command(["--color=always", "check", "ls"]).env("NO_COLOR", "1")).stdout, colored);

    let error = world.exec(&["ls"]).stderr;
    let colored = error.replacen("portcullis:", "\u{1b}[1m\u{1b}[31mportcullis:\u{1b}[0m", 1);
    assert_eq!(on_terminal(80, &world.command(["exec", "ls"])).stdout, colored);
    assert_eq!(world.run(["--color", "always", "exec", "ls"]).stderr, colored);
}

#[test]
fn what_a_command_writes_is_never_recoloured() {
    let world = World::allowing(&["printf"]);
    let args = ["exec", "printf", r"\033[31mred\033[m"];
    for color in ["auto", "always", "never"] {
        assert_eq!(world.run([&["--color", color], &args[..]].concat()), printed("\u{1b}[31mred\u{1b}[m"));
    }
}

#[test]
fn a_row_of_the_journal_is_one_line_of_a_terminal() {
    let world = World::allowing(&["echo", "sleep"]);
    let long = "x".repeat(200);
    assert_eq!(world.exec(&["echo", &long]), printed(format!("{long}\n")));
    let _late = world.exec(&["--timeout", "50ms", "sleep", "60"]);
    let _denied = world.exec(&["ls", &long]);
    for columns in [80, 100, 120, 200] {
        let table = on_terminal(columns, &world.command(["--color", "never", "audit", "show"])).stdout;
        let widths: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
        assert_eq!((widths.len(), widths[1], widths[3]), (4, columns.into(), columns.into()), "{table}");
        assert_eq!(table.contains("CALLER"), columns >= 120, "{table}");
        assert!(table.contains('…'), "{table}");
    }
    let whole = world.run(["audit", "show"]).stdout;
    assert!(whole.contains(&format!("  echo {long}\n")), "in a file nothing is cut");
    let colored = on_terminal(80, &world.command(["audit", "show"])).stdout;
    assert!(colored.contains("\u{1b}[32mexit 0"), "{colored}");
}
