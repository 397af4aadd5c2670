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
use crate::peer;

const ROUNDS: (usize, usize) = (50, 1500);

/// A gate over a fresh workspace and journal, at a confinement level, with some programs allowed.
pub(crate) struct Bench {
    runtime: Runtime,
    gate: Gate,
    workspace: TempDir,
    _state: TempDir,
}

/// What is run: each with the same argv, environment, directory and streams on both sides.
pub(crate) const TRUE: (&str, &[&str]) = ("true", &[]);
pub(crate) const ECHO: (&str, &[&str]) = ("echo", &["hello"]);

impl Bench {
    /// The same, unless this host does not reach the level.
    pub(crate) fn confined(level: &str) -> Result<Self, String> {
        match portcullis_runner::available_level() {
            available if available.as_str() == level => Ok(Self::new(level)),
            available => Err(format!("commands get level {available} here")),
        }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn workspace(&self) -> &std::path::Path {
        self.workspace.path()
    }

    pub(crate) fn new(level: &str) -> Self {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut text = format!(
            "version = 1\nconfinement.level = \"{level}\"\n\
             session = {{ calls = 10000000, journal = \"1GiB\", concurrent = 1000 }}\n"
        );
        for name in ["true", "echo", "head", "sleep", "grep", "git"] {
            text.push_str(&format!(
                "[[program]]\nname = \"{name}\"\nfile = \"/usr/bin/{name}\"\n[[program.rule]]\nid = \"{name}\"\n\
                 decision = \"allow\"\nwhy = \"a bench\"\n"
            ));
        }
        let policy = Policy::parse("bench.toml", &text).unwrap();
        let journal = Journal::open(&state.path().join("journal"), Options::default()).unwrap();
        let gate = Gate::builder(policy, journal).workspace(workspace.path()).build().unwrap();
        // As the command line has it.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, gate, workspace, _state: state }
    }

    pub(crate) fn session(&self) -> Session {
        self.gate.session(Caller::host("bench")).unwrap()
    }

    /// Ours: the gate from Rust.
    pub(crate) fn gate(&self, session: &Session, command: (&str, &[&str])) -> Duration {
        let (time, status) = self.timed(session, command);
        assert_eq!(status, Status::Exited(0));
        time
    }

    /// The same for a program that may say no.
    pub(crate) fn gate_whatever(&self, session: &Session, command: (&str, &[&str])) -> Duration {
        let (time, status) = self.timed(session, command);
        assert!(matches!(status, Status::Exited(0 | 1)), "{status:?}");
        time
    }

    fn timed(&self, session: &Session, (program, arguments): (&str, &[&str])) -> (Duration, Status) {
        let request = Request::new(program).args(arguments.iter().copied());
        let start = Instant::now();
        let done = self.runtime.block_on(session.exec(request)).unwrap();
        (start.elapsed(), done.outcome.status)
    }

    /// The baseline: both outputs drained as well.
    pub(crate) fn tokio(&self, (program, arguments): (&str, &[&str])) -> Duration {
        let start = Instant::now();
        let output = self.runtime.block_on(async {
            let mut command = tokio::process::Command::new(format!("/usr/bin/{program}"));
            command.args(arguments).env_clear().current_dir(self.workspace.path());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.output().await.unwrap()
        });
        let time = start.elapsed();
        assert!(output.status.success());
        time
    }
}

/// The gate from Rust, unconfined ÷ tokio.
pub(crate) fn gate_vs_tokio() -> Result<Figure, String> {
    let bench = Bench::new("none");
    let session = bench.session();
    Ok(Figure::interleaved(ROUNDS, None, || bench.gate(&session, TRUE), || bench.tokio(TRUE)))
}

/// With namespaces, limits and the death of the whole tree ÷ tokio.
pub(crate) fn limits_vs_tokio() -> Result<Figure, String> {
    let bench = Bench::new("limits");
    let session = bench.session();
    Ok(Figure::interleaved(ROUNDS, Some(Goal::Ratio(1.20)), || bench.gate(&session, ECHO), || bench.tokio(ECHO)))
}

/// The same ÷ Python's `subprocess.run`.
pub(crate) fn limits_vs_python() -> Result<Figure, String> {
    let bench = Bench::new("limits");
    let session = bench.session();
    let mut python = peer::python()?;
    Ok(Figure::interleaved((50, 800), Some(Goal::Ratio(1.0)), || bench.gate(&session, ECHO), || python.time()))
}

/// The same in a host with 2 GiB of heap and 64 threads ÷ in a small one.
pub(crate) fn big_host() -> Result<Figure, String> {
    let (mut big, mut small) = (peer::host("big")?, peer::host("small")?);
    Ok(Figure::interleaved((50, 800), Some(Goal::Ratio(1.10)), || big.time(), || small.time()))
}

/// A host of [`peer::host`]: runs `echo` at each line and says how long it took.
pub(crate) fn serve(size: &str) {
    let (size, level) = size.split_once('-').unwrap_or((size, "limits"));
    let heap = if size == "big" { vec![1_u8; 2 << 30] } else { Vec::new() };
    if size == "big" {
        for _ in 0..64 {
            std::thread::spawn(|| {
                loop {
                    std::thread::park()
                }
            });
        }
    }
    let bench = Bench::new(level);
    let session = bench.session();
    println!();
    for line in std::io::stdin().lines() {
        line.unwrap();
        println!("{}", bench.gate(&session, ECHO).as_nanos());
    }
    std::hint::black_box(&heap);
}

/// 256 MiB of a flooding command, captured ÷ read from a plain pipe into nowhere.
pub(crate) fn capture_vs_pipe() -> Result<Figure, String> {
    const FLOOD: (&str, &[&str]) = ("head", &["-c", "268435456", "/dev/zero"]);
    let bench = Bench::new("limits");
    let session = bench.session();
    let plain = || {
        let start = Instant::now();
        let mut child = std::process::Command::new("/usr/bin/head");
        let mut child = child.args(FLOOD.1).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        rustix::pipe::fcntl_setpipe_size(&pipe, 256 << 10).unwrap();
        let mut buffer = vec![0; 64 << 10];
        while std::io::Read::read(&mut pipe, &mut buffer).unwrap() > 0 {}
        assert!(child.wait().unwrap().success());
        start.elapsed()
    };
    // A throughput of at least 0.9 of the plain reader's.
    Ok(Figure::interleaved((2, 30), Some(Goal::Ratio(1.0 / 0.9)), || bench.gate(&session, FLOOD), plain))
}

/// A thousand commands in flight, per command ÷ a thousand of tokio's.
pub(crate) fn thousand_in_flight() -> Result<Figure, String> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: limit.maximum, ..limit },
    )
    .unwrap();
    if limit.maximum.is_some_and(|most| most < 20_000) {
        return Err("it needs 20 000 open files".to_owned());
    }
    let bench = Bench::new("limits");
    let session = bench.session();
    let sleep = ["0.3"];
    let ours = || {
        let start = Instant::now();
        bench.runtime.block_on(all(1000, || async {
            let done = session.exec(Request::new("sleep").args(sleep)).await.unwrap();
            assert_eq!(done.outcome.status, Status::Exited(0));
        }));
        start.elapsed() / 1000
    };
    let tokio = || {
        let start = Instant::now();
        bench.runtime.block_on(all(1000, || async {
            let mut command = tokio::process::Command::new("/usr/bin/sleep");
            command.args(sleep).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            assert!(command.output().await.unwrap().status.success());
        }));
        start.elapsed() / 1000
    };
    let figure = Figure::interleaved((1, 5), None, ours, tokio);
    portcullis_runner::settle();
    let left = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).unwrap_or_default();
    assert_eq!(left.split_ascii_whitespace().count(), 0, "processes are left");
    Ok(figure)
}

/// Polls that many futures at once until all are done.
pub(crate) async fn all<F: Future<Output = ()>>(count: usize, make: impl Fn() -> F) {
    let mut futures: Vec<_> = (0..count).map(|_| Box::pin(make())).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// A component's call, with policy and journal on, unconfined ÷ tokio.
pub(crate) fn component_vs_tokio() -> Result<Figure, String> {
    component_at(&Bench::new("none"), TRUE, Some(Goal::Ratio(1.15)))
}

/// The same with namespaces and limits ÷ tokio.
pub(crate) fn component_limits_vs_tokio() -> Result<Figure, String> {
    component_at(&Bench::new("limits"), TRUE, None)
}

/// A component's call at a bench's level ÷ tokio.
pub(crate) fn component_at(bench: &Bench, command: (&str, &[&str]), goal: Option<Goal>) -> Result<Figure, String> {
    let (mut store, run) = caller(bench)?;
    let ours = || {
        let start = Instant::now();
        let (code,) = bench.runtime.block_on(run.call_async(&mut store, ("true".to_owned(),))).unwrap();
        let time = start.elapsed();
        assert_eq!(code, Ok(0));
        time
    };
    Ok(Figure::interleaved(ROUNDS, goal, ours, || bench.tokio(command)))
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
    let bench = Bench::new("none");
    let session = std::sync::Arc::new(bench.session());
    let Bench { runtime, gate, workspace, _state } = bench;
    (runtime, session, (gate, workspace, _state))
}
