//! The `portcullis` command: runs WebAssembly components that need native commands, behind a policy, a journal and a
//! runner.

#![forbid(unsafe_code)]

mod args;
mod audit;
mod check;
mod component_cache;
mod doctor;
mod exec;
mod failure;
mod formats;
mod generate;
mod init;
mod output;
mod passthrough;
mod policy_source;
mod run;
mod set_up;
mod signals;
mod state;
mod status_line;
mod trust;

use std::process::ExitCode;

use args::{Arguments, AuditCommand, Command, PolicyCommand};
use clap::Parser as _;
use failure::Failure;
use portcullis_policy::Code;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(&error),
    };
    output::set_color(arguments.color);
    // Whoever started us may ignore SIGCHLD, and we would learn nothing of what we start.
    if let Err(error) = portcullis_runner::restore_child_signal() {
        return Failure::new(Code::Internal, error).report();
    }
    let ended = dispatch(arguments);
    // Whether a command ran or finding out what could hold one was all: cgroups outlive processes.
    portcullis_runner::settle();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(),
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, Failure> {
    let Arguments { command, journal, durability, color: _, quiet, verbose } = arguments;
    let journal = state::JournalChoice { directory: journal, durability };
    let voice = output::Voice::new(quiet, verbose);
    match command {
        Command::Run(run) => run::run(run, &journal, voice),
        Command::Exec(exec) => exec::exec(exec, &journal, voice),
        Command::Check(check) => check::check(&check.request, &check.gate, &journal, voice, check.json),
        Command::Init(init) => init::init(&init),
        Command::Doctor(doctor) => doctor::doctor(&doctor),
        Command::Policy(PolicyCommand::Trust(file)) => trust::trust(&file),
        Command::Audit(AuditCommand::Show(show)) => audit::show(&show, &journal, voice),
        Command::Audit(AuditCommand::Verify(verify)) => audit::verify(&verify, &journal),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::man(directory.as_deref()),
    }
}
