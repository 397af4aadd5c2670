//! Running a command: through a component and the gate, or the gate alone, against tokio on the same program.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use portcullis_audit::{Journal, Options};
use portcullis_gate::{Caller, Gate, Request, Session, Status};
use portcullis_policy::Policy;
use portcullis_wasmtime::{HOSTCALL_FUEL, ShellExecCtx, ShellExecCtxView, ShellExecView, p2};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use wasmtime::component::{Component, Linker, ResourceTable, TypedFunc};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::figure::{Figure, Goal};

const ROUNDS: (usize, usize) = (50, 1500);

/// A gate over a fresh workspace and journal, with `true` allowed.
struct Bench {
    runtime: Runtime,
    gate: Gate,
    workspace: TempDir,
    _state: TempDir,
}

impl Bench {
    fn new() -> Self {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let text = "version = 1\nconfinement.level = \"none\"\nsession = { calls = 1000000, journal = \"1GiB\" }\n\
                    [[program]]\nname = \"true\"\n[[program.rule]]\nid = \"true\"\ndecision = \"allow\"\nwhy = \"a bench\"\n";
        let policy = Policy::parse("bench.toml", text).unwrap();
        let journal = Journal::open(&state.path().join("journal"), Options::default()).unwrap();
        let gate = Gate::builder(policy, journal).workspace(workspace.path()).build().unwrap();
        // As the command line has it.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, gate, workspace, _state: state }
    }

    fn session(&self) -> Session {
        self.gate.session(Caller::host("bench")).unwrap()
    }

    /// The baseline: the same argv, environment, directory and streams, both outputs drained.
    fn tokio(&self) -> Duration {
        let start = Instant::now();
        let output = self.runtime.block_on(async {
            let mut command = tokio::process::Command::new("/usr/bin/true");
            command.env_clear().current_dir(self.workspace.path());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.output().await.unwrap()
        });
        let time = start.elapsed();
        assert!(output.status.success());
        time
    }
}

/// The gate from Rust ÷ tokio.
pub(crate) fn gate_vs_tokio() -> Result<Figure, String> {
    let bench = Bench::new();
    let session = bench.session();
    let ours = || {
        let start = Instant::now();
        let done = bench.runtime.block_on(session.exec(Request::new("true"))).unwrap();
        let time = start.elapsed();
        assert_eq!(done.outcome.status, Status::Exited(0));
        time
    };
    Ok(Figure::interleaved(ROUNDS, None, ours, || bench.tokio()))
}

/// A component's call, with policy and journal on, unconfined ÷ tokio.
pub(crate) fn component_vs_tokio() -> Result<Figure, String> {
    let bench = Bench::new();
    let (mut store, run) = caller(&bench)?;
    let ours = || {
        let start = Instant::now();
        let (code,) = bench.runtime.block_on(run.call_async(&mut store, ("true".to_owned(),))).unwrap();
        let time = start.elapsed();
        assert_eq!(code, Ok(0));
        time
    };
    Ok(Figure::interleaved(ROUNDS, Some(Goal::Ratio(1.15)), ours, || bench.tokio()))
}

type RunTrue = TypedFunc<(String,), (Result<u64, String>,)>;

/// An instance of the component `caller`, which runs one command per call.
fn caller(bench: &Bench) -> Result<(Store<State>, RunTrue), String> {
    let mut config = Config::new();
    config.epoch_interruption(true);
    let engine = Engine::new(&config).unwrap();
    let component = Component::from_file(&engine, component("caller")?).unwrap();
    let mut linker = Linker::<State>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    p2::add_to_linker(&mut linker).unwrap();
    let mut store = Store::new(&engine, State::new(ShellExecCtx::new(bench.session())));
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = bench.runtime.block_on(linker.instantiate_async(&mut store, &component)).unwrap();
    let run = instance.get_typed_func::<(String,), (Result<u64, String>,)>(&mut store, "run-true").unwrap();
    Ok((store, run))
}

/// A component of the tests.
pub(crate) fn component(name: &str) -> Result<PathBuf, String> {
    let folder = std::env::var_os("PORTCULLIS_TEST_COMPONENTS")
        .map_or_else(|| PathBuf::from("target/components"), PathBuf::from);
    let path = folder.join(format!("{name}.wasm"));
    if path.exists() { Ok(path) } else { Err(format!("{} is missing; run `cargo xtask guests`", path.display())) }
}

/// What a store of the benches holds.
pub(crate) struct State {
    wasi: WasiCtx,
    shell: ShellExecCtx,
    table: ResourceTable,
}

impl State {
    pub(crate) fn new(shell: ShellExecCtx) -> Self {
        Self { wasi: WasiCtx::builder().build(), shell, table: ResourceTable::new() }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl ShellExecView for State {
    fn shell_exec(&mut self) -> ShellExecCtxView<'_> {
        ShellExecCtxView { ctx: &mut self.shell }
    }
}

/// A session of a fresh gate, for benches that run no command.
pub(crate) fn idle_session() -> (Runtime, std::sync::Arc<Session>, impl Sized) {
    let bench = Bench::new();
    let session = std::sync::Arc::new(bench.session());
    let Bench { runtime, gate, workspace, _state } = bench;
    (runtime, session, (gate, workspace, _state))
}
