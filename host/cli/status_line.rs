//! One line on the terminal while a command says nothing: that it runs, for how long, and how to stop it.
//!
//! It is written to standard error, rewritten in place, and gone before anything else appears. Writing goes through
//! tokio's threads: a terminal that is held (Ctrl-S) must not hold the command's limits.

use std::convert::Infallible;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use portcullis_policy::visible;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, Stderr};
use tokio::time::Instant;

/// How long a command says nothing before the line appears.
const QUIET: Duration = Duration::from_secs(2);
/// How often the line is rewritten.
const TICK: Duration = Duration::from_secs(1);
/// To the line's beginning, and away with it (ECMA-48, EL).
const ERASE: &[u8] = b"\r\x1b[K";
/// Columns of a terminal that does not tell.
const COLUMNS: u16 = 80;

/// The line, shared between what draws it and the streams that it makes way for.
#[derive(Debug)]
pub(crate) struct StatusLine {
    program: String,
    started: Instant,
    state: Mutex<State>,
    /// Whoever holds it may write. Never held while a stream is written.
    pen: tokio::sync::Mutex<Stderr>,
}

#[derive(Debug)]
struct State {
    /// When the command last wrote something.
    spoke: Instant,
    /// Whether what it last wrote on the terminal ended a line.
    whole: bool,
    /// Streams that are being written just now.
    writing: usize,
    shown: bool,
}

impl StatusLine {
    /// A line for this program, where standard error is a terminal that can rewrite lines.
    pub(crate) fn for_terminal(program: &str) -> Option<Arc<Self>> {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        (io::stderr().is_terminal() && !dumb).then(|| {
            let started = Instant::now();
            let state = State { spoke: started, whole: true, writing: 0, shown: false };
            Arc::new(Self {
                program: visible(program).to_string(),
                started,
                state: Mutex::new(state),
                pen: tokio::sync::Mutex::new(tokio::io::stderr()),
            })
        })
    }

    /// Draws the line whenever it is time, for ever. Can be dropped at any point; [`StatusLine::erase`] tidies up.
    pub(crate) async fn keep(&self) -> Infallible {
        let mut ticks = tokio::time::interval_at(self.started + QUIET, TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            self.draw().await;
        }
    }

    /// Takes the line away.
    pub(crate) async fn erase(&self) {
        let mut pen = self.pen.lock().await;
        let shown = std::mem::replace(&mut self.state().shown, false);
        // In the background the cursor stands in a shell's line by now.
        if shown && in_foreground() {
            write(&mut pen, ERASE).await;
        }
    }

    async fn draw(&self) {
        let mut pen = self.pen.lock().await;
        let now = Instant::now();
        {
            let mut state = self.state();
            let quiet = state.writing == 0 && state.whole && now.duration_since(state.spoke) >= QUIET;
            if !quiet || !in_foreground() {
                return;
            }
            // Before the first byte: a half-drawn line must be erased, too.
            state.shown = true;
        }
        let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
        let columns = if columns == 0 { COLUMNS } else { columns };
        let text = text(&self.program, now.duration_since(self.started), columns.into());
        write(&mut pen, &[ERASE, text.as_bytes()].concat()).await;
    }

    /// Makes way for a stream that is about to be written.
    async fn make_way(self: Arc<Self>) {
        self.state().writing += 1;
        self.erase().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is a whole one, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(pen: &mut Stderr, bytes: &[u8]) {
    // A terminal that is gone misses nothing.
    if pen.write_all(bytes).await.is_ok() {
        drop(pen.flush().await);
    }
}

/// Whether we are in the foreground of our terminal. One that is not the terminal of our session knows no background.
fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(io::stderr()).map_or(true, |group| group == rustix::process::getpgrp())
}

/// The line's text: it must fit, or it could not be rewritten.
fn text(program: &str, elapsed: Duration, columns: usize) -> String {
    let end = format!(" … {} (Ctrl-C cancels)", clock(elapsed.as_secs()));
    // The last column stays free: some terminals begin a new line at it.
    let most = columns.saturating_sub(1);
    let room = most.saturating_sub(width("running ") + width(&end));
    shortened(&format!("running {}{end}", shortened(program, room)), most)
}

/// As much of a text as fits into so many columns.
fn shortened(text: &str, most: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += columns(*c);
        used <= most
    };
    text.chars().take_while(fits).collect()
}

fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Columns that a character takes at most: what is not ASCII may take two.
fn columns(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// `12 s`, `2 min 5 s`, `1 h 0 min 3 s`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {seconds} s"),
        (hours, minutes) => format!("{hours} h {minutes} min {seconds} s"),
    }
}

/// A stream that the line makes way for.
pub(crate) struct MakingWay<W> {
    stream: W,
    line: Arc<StatusLine>,
    place: Place,
    way: Way,
}

/// Where a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// To a terminal, where a half-written line keeps the status line away.
    Terminal,
    Elsewhere,
}

impl Place {
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() { Self::Terminal } else { Self::Elsewhere }
    }
}

enum Way {
    Closed,
    Opening(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// From before a write until it is flushed.
    Open,
}

impl<W> MakingWay<W> {
    pub(crate) fn new(stream: W, line: Arc<StatusLine>, place: Place) -> Self {
        Self { stream, line, place, way: Way::Closed }
    }
}

impl<W> Drop for MakingWay<W> {
    fn drop(&mut self) {
        if !matches!(self.way, Way::Closed) {
            self.line.state().writing -= 1;
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for MakingWay<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match &mut self.way {
                Way::Closed => self.way = Way::Opening(Box::pin(Arc::clone(&self.line).make_way())),
                Way::Opening(opening) => {
                    ready!(opening.as_mut().poll(cx));
                    self.way = Way::Open;
                }
                Way::Open => break,
            }
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        if self.place == Place::Terminal && written > 0 {
            self.line.state().whole = bytes[written - 1] == b'\n';
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if matches!(self.way, Way::Open) {
            self.way = Way::Closed;
            let mut state = self.line.state();
            state.writing -= 1;
            state.spoke = Instant::now();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_reads_as_people_say_it() {
        for (seconds, text) in
            [(2, "2 s"), (59, "59 s"), (60, "1 min 0 s"), (125, "2 min 5 s"), (3603, "1 h 0 min 3 s")]
        {
            assert_eq!(clock(seconds), text);
        }
    }

    #[test]
    fn the_line_fits_whatever_the_terminal_and_the_program() {
        let text = |program: &str, columns| text(program, Duration::from_secs(12), columns);
        assert_eq!(text("cargo", 80), "running cargo … 12 s (Ctrl-C cancels)");
        assert_eq!(text(&"x".repeat(200), 40), "running xxxxxx … 12 s (Ctrl-C cancels)");
        for columns in 0..60 {
            for program in ["cargo", "構築する道具", &"x".repeat(5000)] {
                assert!(width(&text(program, columns)) <= columns.saturating_sub(1), "{columns}");
            }
        }
    }
}
