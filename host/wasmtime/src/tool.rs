//! Running a component that has a `main`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use portcullis_gate::{Caller, EndReason, Gate, Session, SessionOptions};
use portcullis_policy::{ComponentSettings, GuestFiles};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use wasmtime::Store;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ResourceTable};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx};

use crate::clock::{ComputeClock, ComputeExceeded};
use crate::limiter::Limiter;
use crate::state::State;
use crate::{DeniedPaths, HOSTCALL_FUEL, LoadError, Origin, RunError, ShellExecCtx, ToolEngine};

/// A compiled component with a `main`, linked and ready to be instantiated.
pub struct Tool {
    name: String,
    sha256: [u8; 32],
    origin: Origin,
    command: CommandPre<State>,
}

/// How a tool is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// `argv[1..]` of the component; `argv[0]` is its file's name.
    pub arguments: Vec<String>,
    /// Cancelling it ends the run: commands are killed, the session is closed.
    pub cancel: CancellationToken,
}

impl Tool {
    /// Largest component file, in bytes: 256 MiB.
    pub const MAX_BYTES: u64 = 256 << 20;

    /// Reads, compiles and links a component. Compiling takes a tenth of a second for small ones and many seconds for
    /// those that carry an interpreter; an engine with a [`cache`](ToolEngine::cache) does it once.
    ///
    /// # Errors
    /// [`LoadError`] says what the file is instead of a component that can run here.
    pub fn load(engine: &ToolEngine, path: &Path) -> Result<Self, LoadError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let failed = |source| LoadError::Read { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(failed)?;
        // Opening a FIFO would wait for somebody to write to it. Reading a directory fails by itself.
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file")));
        }
        let bytes = metadata.len();
        if bytes > Self::MAX_BYTES {
            return Err(LoadError::TooLarge { name, bytes, most: Self::MAX_BYTES });
        }
        Self::from_bytes(engine, &name, &std::fs::read(path).map_err(failed)?)
    }

    /// Compiles and links a component from its bytes; `name` is how messages and the journal call it.
    ///
    /// # Errors
    /// As [`Tool::load`].
    pub fn from_bytes(engine: &ToolEngine, name: &str, bytes: &[u8]) -> Result<Self, LoadError> {
        // The preamble of a core module; a component's says version 13, layer 1.
        if bytes.starts_with(b"\0asm\x01\0\0\0") {
            return Err(LoadError::CoreModule { name: name.to_owned() });
        }
        let sha256 = Sha256::digest(bytes).into();
        let loaded = match &engine.cache {
            Some(cache) => cache.load_or_compile_as(&engine.engine, bytes, &sha256),
            None => Component::from_binary(&engine.engine, bytes).map(|component| (component, Origin::Compiled)),
        };
        let (component, origin) =
            loaded.map_err(|source| LoadError::NotAComponent { name: name.to_owned(), source })?;
        let instance = engine.linker.instantiate_pre(&component).map_err(|source| LoadError::Import {
            name: name.to_owned(),
            imports: unknown_imports(engine, &component),
            source,
        })?;
        let command = CommandPre::new(instance).map_err(|_| LoadError::NoMain { name: name.to_owned() })?;
        Ok(Self { name: name.to_owned(), sha256, origin, command })
    }

    /// Whether it was compiled or found in the engine's cache, and what was wrong with the cache.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Instantiates the tool and runs its `main` in a session of its own; returns the component's exit code.
    ///
    /// The host's standard streams are the component's.
    ///
    /// # Errors
    /// [`RunError`], where it did not run to its end. Its commands are dead, or dying, and their outcomes are recorded
    /// when [`Gate::shut_down`] returns.
    pub async fn run(&self, gate: &Gate, options: RunOptions) -> Result<u8, RunError> {
        let settings = gate.policy().component();
        let session = Arc::new(self.session(gate, settings)?);
        let result = self.run_in(&session, gate, settings, options).await;
        let reason = match &result {
            Ok(_) => EndReason::Closed,
            Err(RunError::Deadline(_)) => EndReason::Deadline,
            Err(RunError::Cancelled) => EndReason::Cancelled,
            Err(RunError::Trap(_) | RunError::Compute(_) | RunError::Preopen(_) | RunError::Broken(_)) => {
                EndReason::Failed
            }
        };
        session.close(reason)?;
        result
    }

    fn session(&self, gate: &Gate, settings: ComponentSettings) -> Result<Session, RunError> {
        let options = SessionOptions {
            wall: Some(settings.wall),
            // Two streams come back, and both are copied into the guest: a quarter of its memory together.
            output_bytes: Some(settings.memory / 8),
        };
        Ok(gate.session_with(Caller::component(&self.name, self.sha256), options)?)
    }

    async fn run_in(
        &self,
        session: &Arc<Session>,
        gate: &Gate,
        settings: ComponentSettings,
        options: RunOptions,
    ) -> Result<u8, RunError> {
        let RunOptions { arguments, cancel } = options;
        let state = State {
            wasi: wasi(&self.name, &arguments, gate.workspace(), gate.policy().guest_files())
                .map_err(RunError::Preopen)?,
            denied: denied(gate).map_err(|error| RunError::Preopen(error.into()))?,
            shell: ShellExecCtx::new(Arc::clone(session)),
            table: ResourceTable::new(),
            limiter: Limiter::new(settings.memory),
        };
        let mut store = Store::new(self.command.engine(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        let clock = ComputeClock::new();
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(clock.clone().on_tick(settings.compute));
        store.call_hook(move |_, hook| {
            clock.follow(hook);
            Ok(())
        });
        let main = async {
            let command = self.command.instantiate_async(&mut store).await?;
            command.wasi_cli_run().call_run(&mut store).await
        };
        let ended = tokio::select! {
            // What is over does not run on, not even to its next wait.
            biased;
            () = cancel.cancelled() => return Err(RunError::Cancelled),
            () = tokio::time::sleep(settings.wall) => return Err(RunError::Deadline(settings.wall)),
            ended = main => ended,
        };
        match ended {
            Ok(Ok(())) => Ok(0),
            Ok(Err(())) => Ok(1),
            Err(error) => ended_early(error),
        }
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Its arguments, the host's streams, the workspace under its real path and as `.`; no variables, no sockets.
fn wasi(name: &str, arguments: &[String], workspace: &str, files: GuestFiles) -> wasmtime::Result<WasiCtx> {
    let mut builder = WasiCtx::builder();
    builder.inherit_stdio().arg(name).args(arguments).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    let permissions = match files {
        GuestFiles::None => return Ok(builder.build()),
        GuestFiles::Read => FsPerms::ReadOnly,
        GuestFiles::Write => FsPerms::ReadWrite,
    };
    for guest_path in [".", workspace] {
        builder.preopened_dir(workspace, guest_path, permissions)?;
    }
    Ok(builder.build())
}

/// What the policy denies of the workspace, where the tool sees any of it.
fn denied(gate: &Gate) -> io::Result<DeniedPaths> {
    match gate.policy().guest_files() {
        GuestFiles::None => Ok(DeniedPaths::default()),
        GuestFiles::Read | GuestFiles::Write => DeniedPaths::new(gate.workspace().as_ref(), gate.policy().deny()),
    }
}

/// An exit is an ordinary end; everything else has a name of its own, or is a trap.
fn ended_early(error: wasmtime::Error) -> Result<u8, RunError> {
    if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
        // What is no exit code of a process is a failure, never success by accident.
        return Ok(u8::try_from(*code).unwrap_or(1));
    }
    if let Some(ComputeExceeded(most)) = error.downcast_ref::<ComputeExceeded>() {
        return Err(RunError::Compute(*most));
    }
    match error.downcast::<portcullis_gate::Broken>() {
        Ok(broken) => Err(RunError::Broken(broken)),
        Err(error) => Err(RunError::Trap(error)),
    }
}

/// The imports that nobody offers, quoted; all of them where each by itself has an offer of that name.
fn unknown_imports(engine: &ToolEngine, component: &Component) -> String {
    const OFFERED: [&str; 7] = [
        "wasi:cli/",
        "wasi:clocks/",
        "wasi:filesystem/",
        "wasi:io/",
        "wasi:random/",
        "wasi:sockets/",
        "portcullis:shell/",
    ];
    let component_type = component.component_type();
    let names: Vec<String> = component_type
        .imports(&engine.engine)
        // An instance of types alone asks for nothing.
        .filter(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)))
        .map(|(name, _)| name.to_owned())
        .collect();
    let is_offered = |name: &str| {
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        OFFERED.iter().any(|package| name.starts_with(package))
            && (version.starts_with("0.2.") || version.starts_with("0.1."))
    };
    let unknown: Vec<&String> = names.iter().filter(|name| !is_offered(name)).collect();
    let named = if unknown.is_empty() { names.iter().collect() } else { unknown };
    named.iter().map(|name| format!("`{}`", portcullis_policy::visible(name))).collect::<Vec<_>>().join(", ")
}
