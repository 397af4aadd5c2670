//! The newest calls as a table.

use std::io::IsTerminal as _;

use anstyle::Style;
use portcullis_audit::{CheckVerdict, Entry, ProblemKind, Status};
use portcullis_policy::visible;

use super::calls::{Call, Result, collect};
use crate::failure::Failure;
use crate::output::{self, BAD, DIM, DOUBT, GOOD, STRONG};

pub(super) fn print(
    entries: impl Iterator<Item = std::result::Result<Entry, Failure>>,
    most: usize,
) -> std::result::Result<(), Failure> {
    let calls = collect(entries, most)?;
    if calls.is_empty() {
        return output::print(|out| writeln!(out, "the journal records no call yet"));
    }
    let rows: Vec<Row> = calls.iter().map(Row::of).collect();
    let width = |column: fn(&Row) -> &str, title: &str| {
        rows.iter().map(|row| column(row).chars().count()).chain([title.len()]).max().unwrap_or(0)
    };
    let (id, result, wall) = (width(|r| &r.id, "ID"), width(|r| &r.result, "RESULT"), width(|r| &r.wall, "TOOK"));
    let (time, caller) = (width(|r| &r.time, TIME), width(|r| &r.caller, "CALLER"));
    // On a terminal a row is a line; in a file nothing is cut.
    let terminal = terminal_width().unwrap_or(usize::MAX);
    let room = |before: usize| terminal.saturating_sub(id + result + wall + before);
    let wide = room(time + caller + 10) >= COMMAND_ROOM;
    let (time_title, time, room) = if wide {
        (TIME, time, room(time + caller + 10))
    } else {
        (SHORT_TIME, SHORT_TIME_WIDTH, room(SHORT_TIME_WIDTH + 8))
    };
    let caller = |text: &str| if wide { format!("{text:<caller$}  ") } else { String::new() };
    output::print(|out| {
        writeln!(
            out,
            "{STRONG}{:<id$}  {time_title:<time$}  {}{:<result$}  {:>wall$}  COMMAND{STRONG:#}",
            "ID",
            caller("CALLER"),
            "RESULT",
            "TOOK"
        )?;
        for row in &rows {
            let style = row.style;
            writeln!(
                out,
                "{DIM}{:<id$}{DIM:#}  {:<time$}  {}{style}{:<result$}{style:#}  {:>wall$}  {}",
                row.id,
                if wide { &row.time } else { row.time.split_once(' ').map_or("", |(_date, time)| time) },
                caller(&row.caller),
                row.result,
                row.wall,
                shortened(&row.command, room.max(SHORT_COMMAND))
            )?;
        }
        Ok(())
    })
}

/// Title of the column of times.
const TIME: &str = "TIME (UTC)";
/// Where a command would have less room than this, the date and the caller are left out: `audit show ID` has them.
const COMMAND_ROOM: usize = 30;
/// Title of the column of times of day.
const SHORT_TIME: &str = "UTC";
/// Its width: 12:34:56.
const SHORT_TIME_WIDTH: usize = 8;
/// A command is never cut shorter than this, however narrow the terminal.
const SHORT_COMMAND: usize = 12;

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

struct Row {
    id: String,
    time: String,
    caller: String,
    result: String,
    style: Style,
    wall: String,
    command: String,
}

impl Row {
    fn of(call: &Call) -> Self {
        let (result, style) = result(&call.result);
        Self {
            id: call.id.clone(),
            time: call.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            caller: visible(&call.caller).to_string(),
            result,
            style,
            wall: call.wall.map(duration).unwrap_or_default(),
            command: call.command.clone(),
        }
    }
}

fn result(result: &Result) -> (String, Style) {
    match result {
        Result::Open => ("no outcome".to_owned(), DOUBT),
        Result::Ended(status) => ended(status),
        Result::Refused { code, kind, times } => {
            let style = match kind {
                ProblemKind::Approval => DOUBT,
                ProblemKind::Invalid
                | ProblemKind::Denied
                | ProblemKind::Unavailable
                | ProblemKind::Cancelled
                | ProblemKind::Failed => BAD,
            };
            let code = visible(code.strip_prefix("shell.").unwrap_or(code)).to_string();
            (if *times > 1 { format!("{code} ×{times}") } else { code }, style)
        }
        Result::Checked(verdict) => {
            let (word, style) = word(*verdict);
            (format!("check: {word}"), style)
        }
    }
}

/// A verdict as a word.
pub(super) fn word(verdict: CheckVerdict) -> (&'static str, Style) {
    match verdict {
        CheckVerdict::Allow => ("allow", GOOD),
        CheckVerdict::Ask => ("ask", DOUBT),
        CheckVerdict::Deny => ("deny", BAD),
    }
}

/// How a command ended, in a word or two.
pub(super) fn ended(status: &Status) -> (String, Style) {
    match status {
        Status::Exited { code: 0 } => ("exit 0".to_owned(), GOOD),
        Status::Exited { code } => (format!("exit {code}"), DOUBT),
        Status::Signaled { signal } => (format!("signal {signal}"), BAD),
        Status::WallExceeded => ("timed out".to_owned(), BAD),
        Status::CpuExceeded => ("CPU time".to_owned(), BAD),
        Status::MemoryExceeded => ("memory".to_owned(), BAD),
        Status::FileSizeExceeded => ("file size".to_owned(), BAD),
        Status::Cancelled => ("cancelled".to_owned(), DOUBT),
        Status::StartFailed { .. } => ("did not start".to_owned(), BAD),
        Status::Unknown { .. } => ("unknown".to_owned(), BAD),
    }
}

/// Three digits are enough for a table.
pub(super) fn duration(time: std::time::Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{} µs", time.as_micros()),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1000.0),
        seconds => format!("{seconds:.1} s"),
    }
}

fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col;
    (columns > 0).then_some(columns.into())
}
