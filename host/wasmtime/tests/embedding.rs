//! The interface in a host's own linker and store, as the crate's documentation shows it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::sync::LazyLock;

use portcullis_audit::{CallerKind, Record};
use portcullis_gate::{Broken, Caller, Gate};
use portcullis_wasmtime::{HOSTCALL_FUEL, ShellExecCtx, ShellExecCtxView, ShellExecView, p2};
use support::{World, component, within};
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable, TypedFunc};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

struct State {
    wasi: WasiCtx,
    shell: ShellExecCtx,
    table: ResourceTable,
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

/// `caller.wasm`, compiled and linked once.
fn caller() -> InstancePre<State> {
    static CALLER: LazyLock<InstancePre<State>> = LazyLock::new(link);
    CALLER.clone()
}

fn link() -> InstancePre<State> {
    let engine = Engine::new(&Config::new()).unwrap();
    let mut linker = Linker::<State>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    p2::add_to_linker(&mut linker).unwrap();
    linker.instantiate_pre(&Component::from_file(&engine, component("caller")).unwrap()).unwrap()
}

/// An instance in a session of its own.
struct Instance {
    store: Store<State>,
    run: TypedFunc<(String,), (Result<u64, String>,)>,
}

impl Instance {
    async fn new(caller: &InstancePre<State>, gate: &Gate) -> Self {
        let session = gate.session(Caller::host("embedding")).unwrap();
        let wasi = WasiCtx::builder().build();
        let state = State { wasi, shell: ShellExecCtx::new(session), table: ResourceTable::new() };
        let mut store = Store::new(caller.engine(), state);
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        let instance = caller.instantiate_async(&mut store).await.unwrap();
        let run = instance.get_typed_func(&mut store, "run-true").unwrap();
        Self { store, run }
    }

    /// Asks for a program without arguments: its exit code, or the code of the refusal.
    async fn run(&mut self, program: &str) -> wasmtime::Result<Result<u64, String>> {
        let call = self.run.call_async(&mut self.store, (program.to_owned(),));
        Ok(within("the answer", call).await?.0)
    }
}

#[tokio::test]
async fn a_library_component_gets_outcomes_and_refusals() {
    let world = World::new();
    let gate = world.gate("session.calls = 4\n", &["true", "false", "missing-program"]);
    let mut instance = Instance::new(&caller(), &gate).await;
    assert_eq!(instance.run("true").await.unwrap(), Ok(0));
    assert_eq!(instance.run("false").await.unwrap(), Ok(1));
    assert_eq!(instance.run("rm").await.unwrap(), Err("shell.policy.unlisted".to_owned()));
    assert_eq!(instance.run("missing-program").await.unwrap(), Err("shell.program.missing".to_owned()));
    assert_eq!(instance.run("true").await.unwrap(), Err("shell.session.calls".to_owned()));
    drop(instance);
    drop(gate);
    let kinds: Vec<_> = world.records().iter().map(Record::kind).collect();
    assert_eq!(
        kinds,
        [
            "segment",
            "session-start",
            "intent",
            "outcome",
            "intent",
            "outcome",
            "refusal",
            "refusal",
            "refusal",
            "session-end"
        ]
    );
    let start = |record| if let Record::SessionStart(start) = record { Some(start.caller) } else { None };
    let callers = world.records().into_iter().filter_map(start).map(|caller| (caller.kind, caller.name));
    assert_eq!(callers.collect::<Vec<_>>(), [(CallerKind::Host, "embedding".to_owned())]);
    world.assert_journal_is_whole();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_instances_at_once_do_not_get_in_each_others_way() {
    let world = World::new();
    let gate = world.gate("", &["true", "false"]);
    let caller = caller();
    let calls: Vec<_> = (0..50)
        .map(|n| {
            let (caller, gate) = (caller.clone(), gate.clone());
            tokio::spawn(async move {
                let mut instance = Instance::new(&caller, &gate).await;
                let (program, code) = [("true", 0), ("false", 1)][n % 2];
                for _ in 0..4 {
                    assert_eq!(instance.run(program).await.unwrap(), Ok(code));
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    within("the records", gate.shut_down()).await;
    assert_eq!((world.statuses().len(), world.ends().len()), (200, 50));
    world.assert_journal_is_whole();
}

#[tokio::test]
async fn a_journal_that_can_not_be_written_traps_with_the_cause() {
    let world = World::new();
    let gate = world.gate("", &["true"]);
    let mut instance = Instance::new(&caller(), &gate).await;
    assert_eq!(instance.run("true").await.unwrap(), Ok(0));
    world.break_journal();
    let trap = instance.run("true").await.unwrap_err();
    assert!(matches!(trap.downcast_ref::<Broken>(), Some(Broken::Journal(_))), "{trap:?}");
}

#[tokio::test]
async fn a_program_name_beyond_what_a_call_may_carry_traps_and_a_new_instance_works() {
    let world = World::new();
    let gate = world.gate("", &["true"]);
    let caller = caller();
    let mut instance = Instance::new(&caller, &gate).await;
    assert_eq!(instance.run(&"x".repeat(1 << 20)).await.unwrap(), Err("shell.program.name".to_owned()));
    assert!(instance.run(&"x".repeat(HOSTCALL_FUEL + 1)).await.is_err());
    let mut instance = Instance::new(&caller, &gate).await;
    assert_eq!(instance.run("true").await.unwrap(), Ok(0));
}
