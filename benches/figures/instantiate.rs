//! Instantiating a pre-linked component, against one linked with WASI alone.

use std::sync::Arc;
use std::time::Instant;

use portcullis_wasmtime::{ShellExecCtx, p2};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

use crate::exec::{State, component, idle_session};
use crate::figure::{Figure, Goal};

/// Store and instance of a component that imports the whole contract ÷ those of one that imports WASI only.
pub(crate) fn instantiate() -> Result<Figure, String> {
    let (runtime, session, _kept) = idle_session();
    let mut config = Config::new();
    config.epoch_interruption(true);
    let engine = Engine::new(&config).unwrap();
    let mut linker = Linker::<State>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    let wasi = linker.instantiate_pre(&Component::from_file(&engine, component("hello")?).unwrap()).unwrap();
    p2::add_to_linker(&mut linker).unwrap();
    let tool = linker.instantiate_pre(&Component::from_file(&engine, component("repo-report")?).unwrap()).unwrap();
    let measure = |pre: &wasmtime::component::InstancePre<State>| {
        let start = Instant::now();
        let mut store = Store::new(&engine, State::new(ShellExecCtx::new(Arc::clone(&session))));
        store.set_epoch_deadline(u64::MAX / 2);
        runtime.block_on(pre.instantiate_async(&mut store)).unwrap();
        let time = start.elapsed();
        drop(store);
        time
    };
    Ok(Figure::interleaved((50, 2000), Some(Goal::Value(50.0)), || measure(&tool), || measure(&wasi)))
}
