//! `portcullis exec`: one native command through the gate.

use std::convert::Infallible;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use portcullis_gate::{Caller, Done, EndReason, ExecError, Input, Request, Session, Status, Stderr, Stdin, Streams};
use portcullis_policy::{Code, LimitRequest};
use portcullis_runner::Output;
use tokio::io::AsyncWrite;
use tokio_util::sync::CancellationToken;

use crate::args::{self, Format};
use crate::failure::Failure;
use crate::formats;
use crate::output::Voice;
use crate::passthrough::Passed;
use crate::run::text_arguments;
use crate::signals::cancel_on_signal;
use crate::state::JournalChoice;
use crate::status_line::{MakingWay, Place, StatusLine};
use crate::{check, set_up};

/// The signal that a program dies of when nobody reads what it writes.
const SIGPIPE: u8 = 13;
/// Number of SIGXFSZ, on every architecture of Linux but MIPS.
const SIGXFSZ: u8 = 25;

pub(crate) fn exec(arguments: args::Exec, journal: &JournalChoice, voice: Voice) -> Result<u8, Failure> {
    let args::Exec { gate, format, dry_run, request } = arguments;
    if dry_run {
        let json = match format {
            None | Some(Format::Passthrough) => false,
            Some(Format::Json) => true,
            Some(Format::T | Format::L | Format::C) => {
                let message = "--dry-run prints a decision, and `--format` has no other shape for one than `json`";
                return Err(Failure::message(Code::Usage, message));
            }
        };
        return check::check(&request, &gate, journal, voice, json);
    }
    let mut request = self::request(&request)?;
    let wants_line = format.is_none() && voice >= Voice::Normal;
    let format = format.unwrap_or(Format::Passthrough);
    let gate = set_up::gate(&gate, journal, voice)?;
    let runtime = set_up::runtime()?;
    let result = runtime.block_on(async {
        let cancel = CancellationToken::new();
        cancel_on_signal(cancel.clone())?;
        let session = gate.session(Caller::cli())?;
        let line = if wants_line { StatusLine::for_terminal(&request.program) } else { None };
        let asked = request.limits;
        let (streams, passed) = streams(&mut request, format, line.as_ref());
        let ended = run_until(&cancel, &session, request, streams, line.as_deref()).await;
        session.close(if cancel.is_cancelled() { EndReason::Cancelled } else { EndReason::Closed })?;
        gate.shut_down().await;
        let code = finish(ended, asked, format, voice)?;
        passed.iter().try_for_each(Passed::check)?;
        Ok(code)
    });
    drop(gate);
    // A thread may still wait for our own standard input.
    runtime.shutdown_timeout(Duration::from_millis(10));
    result
}

/// The request that a command line makes.
pub(crate) fn request(arguments: &args::Request) -> Result<Request, Failure> {
    let args::Request { cwd, env, timeout, cpu, memory, processes, output, network, merge_stderr, reason, argv } =
        arguments;
    let mut argv = text_arguments(argv)?.into_iter();
    Ok(Request {
        program: argv.next().unwrap_or_default(),
        arguments: argv.collect(),
        cwd: cwd.clone(),
        env: env.clone(),
        stdin: Stdin::Empty,
        limits: LimitRequest {
            wall: *timeout,
            cpu: *cpu,
            output_bytes: *output,
            memory_bytes: *memory,
            processes: *processes,
        },
        network: *network,
        stderr: if *merge_stderr { Stderr::Merged } else { Stderr::Separate },
        reason: reason.clone(),
        call_id: None,
    })
}

/// Standard input is forwarded unless it is a terminal; output is passed on as it comes where the format says so.
fn streams(request: &mut Request, format: Format, line: Option<&Arc<StatusLine>>) -> (Streams, Vec<Passed>) {
    let (mut streams, mut passed) = (Streams::default(), Vec::new());
    if !io::stdin().is_terminal() {
        request.stdin = Stdin::Stream;
        streams.input = Input::Reader(Box::new(tokio::io::stdin()));
    }
    if format == Format::Passthrough {
        let (stdout, stdout_passed) =
            Passed::to("output", making_way(tokio::io::stdout(), Place::of(&io::stdout()), line));
        let (stderr, stderr_passed) =
            Passed::to("error", making_way(tokio::io::stderr(), Place::of(&io::stderr()), line));
        (streams.stdout, streams.stderr) = (Some(stdout), Some(stderr));
        passed.extend([stdout_passed, stderr_passed]);
    }
    (streams, passed)
}

/// One of our own streams; where there is a status line, one that the line makes way for.
fn making_way(
    stream: impl AsyncWrite + Send + Unpin + 'static,
    place: Place,
    line: Option<&Arc<StatusLine>>,
) -> Output {
    match line {
        Some(line) => Box::new(MakingWay::new(stream, Arc::clone(line), place)),
        None => Box::new(stream),
    }
}

async fn keep(line: Option<&StatusLine>) -> Infallible {
    match line {
        Some(line) => line.keep().await,
        None => std::future::pending().await,
    }
}

async fn run_until(
    cancel: &CancellationToken,
    session: &Session,
    request: Request,
    streams: Streams,
    line: Option<&StatusLine>,
) -> Result<Done, ExecError> {
    let running = session.exec_with(request, streams);
    tokio::pin!(running);
    let ended = tokio::select! {
        ended = &mut running => Some(ended),
        () = cancel.cancelled() => {
            session.cancel();
            None
        }
        never = keep(line) => match never {},
    };
    // Before the last words, and before a second signal ends us at once.
    if let Some(line) = line {
        line.erase().await;
    }
    match ended {
        Some(ended) => ended,
        None => running.await,
    }
}

fn finish(ended: Result<Done, ExecError>, asked: LimitRequest, format: Format, voice: Voice) -> Result<u8, Failure> {
    match ended {
        Ok(done) => {
            formats::print(&done, format)?;
            explain(&done.outcome.status, asked, format, voice);
            voice.tell(&format!("call {0}; `portcullis audit show {0}` shows its records", done.audit));
            Ok(exit_code(&done.outcome.status))
        }
        Err(ExecError::Refused(problem)) => {
            if format == Format::Json {
                formats::print_problem(&problem)?;
                return Ok(problem.code.exit().code());
            }
            Err(problem.into())
        }
        Err(ExecError::Broken(broken)) => Err(broken.into()),
    }
}

/// What an exit code alone does not tell, unless the format does.
fn explain(status: &Status, asked: LimitRequest, format: Format, voice: Voice) {
    match format {
        Format::Passthrough | Format::T | Format::C => {}
        Format::Json | Format::L => return,
    }
    match status {
        Status::Exited(_) => {}
        // As shells have it: `portcullis exec … | head` is nothing to talk about.
        Status::Signaled(SIGPIPE) => {}
        Status::Signaled(signal) => voice.say(&format!("the command was killed by signal {signal}")),
        Status::WallExceeded => voice.say(
            "the command was killed: its wall-clock limit ran out; --timeout asks for another, up to the policy's",
        ),
        Status::CpuExceeded => {
            let more = more(asked.cpu, "--cpu", "limits.cpu");
            voice.say(&format!("the command was killed: its processor time ran out; {more}"));
        }
        Status::MemoryExceeded => {
            let more = more(asked.memory_bytes, "--memory", "limits.memory");
            voice.say(&format!("the command was killed: it used more memory than it may; {more}"));
        }
        Status::FileSizeExceeded => voice.say(
            "the command was killed: it wrote a larger file than it may; `limits.file-size` of the policy gives more",
        ),
        Status::Cancelled => voice.say(&format!("the command was cancelled [{}]", Code::Cancelled)),
        Status::Unknown(problem) => voice.say(&format!("what became of the command is not known: {problem}")),
    }
}

/// How to get more than a limit that was asked for, or that the policy has.
fn more<T>(asked: Option<T>, option: &str, key: &str) -> String {
    match asked {
        Some(_) => format!("{option} asks for more, up to the policy's"),
        None => format!("`{key}` of the policy gives more"),
    }
}

/// As `timeout(1)` and a shell give it.
pub(crate) fn exit_code(status: &Status) -> u8 {
    match status {
        Status::Exited(code) => *code,
        Status::Signaled(signal) => 128_u8.saturating_add(*signal),
        Status::WallExceeded | Status::CpuExceeded => 124,
        // As a shell has it for one that the kernel killed for its memory.
        Status::MemoryExceeded => 137,
        Status::FileSizeExceeded => 128 + SIGXFSZ,
        Status::Cancelled => 130,
        Status::Unknown(_) => 125,
    }
}
