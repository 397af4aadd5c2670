//! Runs one command per call of its export. See `wit/caller.wit`.

use bindings::portcullis::shell::shell_exec::exec;
use bindings::portcullis::shell::types::{Command, Error, Limits, Status, Stdin};

mod bindings {
    #![allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::allow_attributes_without_reason,
        reason = "generated code"
    )]
    wit_bindgen::generate!({
        path: ["../../../wit", "wit"],
        world: "example:caller/caller",
        generate_all,
    });
    export!(Caller with_types_in self);
    use super::Caller;
}

struct Caller;

impl bindings::Guest for Caller {
    fn run_true(program: String) -> Result<u64, String> {
        let limits = Limits { wall: None, cpu: None, output_bytes: None, memory_bytes: None, processes: None };
        let outcome = exec(&Command {
            program,
            arguments: Vec::new(),
            cwd: None,
            env: Vec::new(),
            stdin: Stdin::Empty,
            limits,
            network: false,
            merge_stderr: false,
            reason: None,
            call_id: None,
        });
        match outcome {
            Ok(outcome) => match outcome.status {
                Status::Exited(code) => Ok(u64::from(code)),
                status @ (Status::Signaled(_)
                | Status::WallExceeded
                | Status::CpuExceeded
                | Status::MemoryExceeded
                | Status::FileSizeExceeded
                | Status::Cancelled
                | Status::Unknown(_)
                | Status::Other(_)) => Err(format!("{status:?}")),
            },
            Err(Error::Invalid(p) | Error::Denied(p) | Error::Unavailable(p) | Error::Other(p)) => Err(p.code),
            Err(Error::Cancelled) => Err("shell.cancelled".to_owned()),
        }
    }
}
