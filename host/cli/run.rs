//! `portcullis run`: a component with a `main`.

use std::path::Path;
use std::time::Duration;

use portcullis_policy::{Code, visible};
use portcullis_wasmtime::{RunOptions, Tool, ToolEngine};
use tokio_util::sync::CancellationToken;

use crate::args;
use crate::component_cache;
use crate::failure::Failure;
use crate::output::Voice;
use crate::set_up::{self, SetUp};
use crate::signals::cancel_on_signal;
use crate::state::JournalChoice;

pub(crate) fn run(arguments: args::Run, journal: &JournalChoice, voice: Voice) -> Result<u8, Failure> {
    let args::Run { gate, tool } = arguments;
    let set_up = SetUp::new(&gate, voice)?;
    let (path, rest) = tool.split_first().ok_or_else(|| Failure::message(Code::Usage, "no component is named"))?;
    let arguments = text_arguments(rest)?;
    let engine = ToolEngine::new().map_err(|error| Failure::new(Code::Internal, anyhow::anyhow!("{error:#}")))?;
    let engine = component_cache::attach(engine, set_up.level(), voice);
    let tool = Tool::load(&engine, Path::new(path))?;
    voice.tell(&format!("component {}: {}", visible(&path.to_string_lossy()), tool.origin()));
    let gate = set_up.gate(journal, voice)?;
    let runtime = set_up::runtime()?;
    let result = runtime.block_on(async {
        let cancel = CancellationToken::new();
        cancel_on_signal(cancel.clone())?;
        let ended = tool.run(&gate, RunOptions { arguments, cancel }).await;
        gate.shut_down().await;
        Ok(ended?)
    });
    drop(gate);
    // A guest can leave a thread behind that waits for ever: one that opens a FIFO, say.
    runtime.shutdown_timeout(Duration::from_millis(50));
    result
}

/// Arguments as text: the contract's strings are Unicode.
pub(crate) fn text_arguments(arguments: &[std::ffi::OsString]) -> Result<Vec<String>, Failure> {
    let text = |argument: &std::ffi::OsString| {
        argument.to_str().map(str::to_owned).ok_or_else(|| {
            let shown = argument.to_string_lossy();
            let message = format!("`{}` is not Unicode text, and only text can be an argument", visible(&shown));
            Failure::message(Code::Usage, message)
        })
    };
    arguments.iter().map(text).collect()
}
