//! `portcullis exec`: one native command through the gate.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use portcullis_gate::{
    Caller, Done, EndReason, ExecError, Gate, Input, Request, Session, Status, Stderr, Stdin, Streams,
};
use portcullis_policy::{Code, LimitRequest, visible};
use tokio_util::sync::CancellationToken;

use crate::args::{self, Format};
use crate::failure::Failure;
use crate::formats;
use crate::output::Voice;
use crate::run::text_arguments;
use crate::signals::cancel_on_signal;
use crate::state::JournalChoice;
use crate::{check, set_up};

pub(crate) fn exec(arguments: args::Exec, journal: &JournalChoice, voice: Voice) -> Result<u8, Failure> {
    let args::Exec { gate, format, dry_run, request } = arguments;
    if dry_run {
        return check::check(&request, &gate, journal, format == Format::Json);
    }
    let mut request = self::request(&request)?;
    let gate = set_up::gate(&gate, journal, voice)?;
    let runtime = set_up::runtime()?;
    let result = runtime.block_on(async {
        let session = gate.session(Caller::cli())?;
        let streams = streams(&mut request, format);
        let ended = run_cancellably(&session, request, streams).await?;
        session.close(if matches!(&ended, Ok(done) if done.outcome.status == Status::Cancelled) {
            EndReason::Cancelled
        } else {
            EndReason::Closed
        })?;
        finish(&gate, ended, format, voice).await
    });
    drop(gate);
    // A thread may still wait for our own standard input.
    runtime.shutdown_timeout(Duration::from_millis(10));
    result
}

/// The request that a command line makes.
pub(crate) fn request(arguments: &args::Request) -> Result<Request, Failure> {
    let args::Request { cwd, env, timeout, output, network, merge_stderr, reason, argv } = arguments;
    let mut argv = text_arguments(argv)?.into_iter();
    Ok(Request {
        program: argv.next().unwrap_or_default(),
        arguments: argv.collect(),
        cwd: cwd.clone(),
        env: env.clone(),
        stdin: Stdin::Empty,
        limits: LimitRequest { wall: *timeout, output_bytes: *output, ..LimitRequest::default() },
        network: *network,
        stderr: if *merge_stderr { Stderr::Merged } else { Stderr::Separate },
        reason: reason.clone(),
        call_id: None,
    })
}

/// Standard input is forwarded unless it is a terminal; output is passed on as it comes where the format says so.
fn streams(request: &mut Request, format: Format) -> Streams {
    let mut streams = Streams::default();
    if !io::stdin().is_terminal() {
        request.stdin = Stdin::Stream;
        streams.input = Input::Reader(Box::new(tokio::io::stdin()));
    }
    if format == Format::Passthrough {
        streams.stdout = Some(Box::new(tokio::io::stdout()));
        streams.stderr = Some(Box::new(tokio::io::stderr()));
    }
    streams
}

async fn run_cancellably(
    session: &Session,
    request: Request,
    streams: Streams,
) -> Result<Result<Done, ExecError>, Failure> {
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let running = session.exec_with(request, streams);
    tokio::pin!(running);
    Ok(tokio::select! {
        ended = &mut running => ended,
        () = cancel.cancelled() => {
            session.cancel();
            running.await
        }
    })
}

async fn finish(gate: &Gate, ended: Result<Done, ExecError>, format: Format, voice: Voice) -> Result<u8, Failure> {
    gate.shut_down().await;
    match ended {
        Ok(done) => {
            formats::print(&done, format)?;
            explain(&done.outcome.status, voice);
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

/// What an exit code alone does not tell.
fn explain(status: &Status, voice: Voice) {
    match status {
        Status::Exited(_) => {}
        Status::Signaled(signal) => voice.say(&format!("the command was killed by signal {signal}")),
        Status::WallExceeded => voice.say(
            "the command was killed: its wall-clock limit ran out; --timeout asks for another, up to the policy's",
        ),
        Status::Cancelled => voice.say(&format!("the command was cancelled [{}]", Code::Cancelled)),
        Status::Unknown(problem) => {
            voice.say(&format!("what became of the command is not known: {}", visible(&problem.message)))
        }
    }
}

/// As `timeout(1)` and a shell give it.
pub(crate) fn exit_code(status: &Status) -> u8 {
    match status {
        Status::Exited(code) => *code,
        Status::Signaled(signal) => 128_u8.saturating_add(*signal),
        Status::WallExceeded => 124,
        Status::Cancelled => 130,
        Status::Unknown(_) => 125,
    }
}
