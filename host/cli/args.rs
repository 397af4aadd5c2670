//! The command line: one definition for parsing, `--help`, completions and the manual.

mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use portcullis_audit::{Durability, Head};

use values::{bytes, durability, time, variable};

const EXIT_CODES: &str = "\
Exit codes:
  that of the command (exec) or of the component (run), or:
  124    the command was killed: its wall-clock or processor time ran out
  125    portcullis failed: wrong policy, component, workspace, command line
  126    denied, or nobody can be asked, or the program can't be executed
  127    the program is not installed
  128+n  the command was killed by signal n: 137 also for its memory limit,
         153 for its limit on the size of files
  130    cancelled by SIGINT, SIGTERM or SIGHUP
`check`, `doctor` and `audit verify` have their own; see their --help.";

const CHECK_EXIT_CODES: &str = "\
Exit codes:
  0    allow: `exec` would run it
  10   ask: a person would have to approve it
  126  deny: it may not run, or it can't
  125  portcullis failed: wrong policy, workspace, command line";

const DOCTOR_EXIT_CODES: &str = "\
Exit codes:
  0    commands can be held to level `full`
  1    to less; `to get it` says what is missing
  125  portcullis failed: wrong command line";

const VERIFY_EXIT_CODES: &str = "\
Exit codes:
  0   intact
  1   empty: no record at all; or unreadable
  3   torn: a crash cut off the last record
  4   edited: a record was changed
  5   missing: records inside the journal are gone
  6   reordered: a record stands in another's place
  7   duplicate: a record was copied or inserted
  8   malformed: a line is no record
  9   unknown version: a newer release wrote it
  10  shorter than the head held
  11  forked from the head held: rewritten, or another journal
  125 portcullis failed: wrong command line";

/// Heading of the options that every command takes.
const EVERYWHERE: &str = "Options of all commands";

/// Runs WebAssembly components that need native commands, behind a policy, a journal and a runner.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, max_term_width = 110, after_long_help = EXIT_CODES, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Directory of the journal [default: $PORTCULLIS_JOURNAL, else $XDG_STATE_HOME/portcullis/journal]
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
    /// When records reach the disk: `interval`, within 50 ms; `record`, before each command starts
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "WHEN", default_value = "interval")]
    #[arg(value_parser = durability)]
    pub(crate) durability: Durability,
    /// Whether to colour what is printed; NO_COLOR is heeded too
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Say nothing on standard error but why portcullis failed
    #[arg(short, long, global = true, help_heading = EVERYWHERE, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say on standard error which policy and journal are used, whether a component was compiled before, and the id of
    /// the call
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a component that has a `main`
    #[command(after_long_help = EXIT_CODES)]
    Run(Run),
    /// Run a native command through the same gate
    #[command(after_long_help = EXIT_CODES)]
    Exec(Exec),
    /// Say what would become of a native command, and why; nothing runs
    #[command(after_long_help = CHECK_EXIT_CODES)]
    Check(Check),
    /// Write a commented policy to start from
    Init(Init),
    /// Try out what this host can hold commands to, and say how to get what is missing
    #[command(after_long_help = DOCTOR_EXIT_CODES)]
    Doctor(Doctor),
    /// Work with policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Read and verify the journal
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a directory
    Man {
        /// Directory to write the pages into
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// What every command that needs a gate takes.
#[derive(Debug, Args)]
pub(crate) struct Gate {
    /// Policy file [default: $PORTCULLIS_POLICY, else the workspace's trusted portcullis.toml, else
    /// $XDG_CONFIG_HOME/portcullis/policy.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Directory that commands work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) gate: Gate,
    /// The component, and its arguments: everything after it
    #[arg(required = true, num_args = 1.., trailing_var_arg = true, value_names = ["TOOL.wasm", "ARGS"])]
    pub(crate) tool: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    pub(crate) gate: Gate,
    /// How to print what the command writes: at once, or at its end as JSON or as one of three other tools would
    /// [default: passthrough, and on a terminal a line that says how long a silent command has been running]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Decide and explain, run nothing, as `check` does
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) gate: Gate,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}

/// A native command, as `exec` and `check` take it.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// Run in this directory below the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// Set a variable that the policy lets callers set
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Wall-clock limit, at most the policy's, such as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
    /// Limit on processor time of the whole process tree, at most the policy's, such as 10s
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) cpu: Option<Duration>,
    /// Limit on memory of the whole process tree, at most the policy's, such as 512MiB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<u64>,
    /// Limit on processes and threads alive at once, at most the policy's
    #[arg(long, value_name = "COUNT")]
    pub(crate) processes: Option<u32>,
    /// Bytes kept of each stream, at most the policy's, such as 64KiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) output: Option<u64>,
    /// The command needs the network
    #[arg(long)]
    pub(crate) network: bool,
    /// Send standard error where standard output goes
    #[arg(long)]
    pub(crate) merge_stderr: bool,
    /// Why the command is wanted; kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The program, and its arguments: everything after it
    #[arg(required = true, num_args = 1.., trailing_var_arg = true, value_names = ["PROGRAM", "ARGS"])]
    pub(crate) argv: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Each stream as it is written
    Passthrough,
    /// A JSON object: status, streams, usage, confinement
    Json,
    /// Text: standard output stripped; if it failed, standard error stripped
    // Row T9 of the field.
    T,
    /// Text: both streams, errors marked `[stderr]`, the exit code unless 0
    // Rows L3, L6 and L7.
    L,
    /// A JSON object: exit_code, stdout, stderr
    // Row C4.
    C,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Directory to write portcullis.toml into
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Trust a workspace's own policy, as it is now
    Trust(Trust),
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The workspace, or the portcullis.toml in it
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show what was asked for, decided and run
    Show(Show),
    /// Check that no record was changed, dropped or moved
    #[command(after_long_help = VERIFY_EXIT_CODES)]
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Everything about one call or session, by its id
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// How many of the newest calls to show; 0 = all
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) count: usize,
    /// Print the records as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Compare with a head that was printed earlier and kept elsewhere: finds a cut or rewritten end too
    #[arg(long, value_name = "RECORDS:HASH")]
    pub(crate) head: Option<Head>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
