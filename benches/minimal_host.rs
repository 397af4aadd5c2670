//! The least host that runs a component with a `main` on the same library, with the same features: the baseline of
//! the figures `cold-run-vs-wasmtime` and `cold-run-vs-wasmtime-uncached`.
//!
//! `minimal-host COMPONENT` compiles it. `minimal-host COMPONENT COMPILED` has a cache of its own, in the fastest way
//! that there is: the file COMPILED is what wasmtime made of the component, and is mapped and run as it is; where it is
//! missing, it is made.

#![allow(unsafe_code, reason = "the baseline checks nothing, and loads code as fast as can be")]

use std::ffi::OsString;

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::p2::bindings::Command;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn load(engine: &Engine, path: &OsString, compiled: Option<&OsString>) -> wasmtime::Result<Component> {
    let Some(compiled) = compiled else { return Component::from_file(engine, path) };
    if !std::fs::exists(compiled)? {
        std::fs::write(compiled, Component::from_file(engine, path)?.serialize()?)?;
    }
    // SAFETY: the figure's own process made the file, in a fresh folder that nobody else knows.
    unsafe { Component::deserialize_file(engine, compiled) }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let path = arguments.first().ok_or_else(|| anyhow::anyhow!("name a component"))?;
    let run = async {
        let engine = Engine::default();
        let component = load(&engine, path, arguments.get(1))?;
        let mut linker = Linker::<State>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        let state = State { wasi: WasiCtx::builder().inherit_stdio().build(), table: ResourceTable::new() };
        let mut store = Store::new(&engine, state);
        let command = Command::instantiate_async(&mut store, &component, &linker).await?;
        command.wasi_cli_run().call_run(&mut store).await
    };
    let ended = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run);
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(())) => anyhow::bail!("the component failed"),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
