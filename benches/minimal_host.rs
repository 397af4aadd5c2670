//! The least host that runs a component with a `main` on the same library, with the same features: the baseline of
//! the figure `cold-run-vs-wasmtime`.

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

fn main() -> anyhow::Result<()> {
    let path = std::env::args_os().nth(1).ok_or_else(|| anyhow::anyhow!("name a component"))?;
    let run = async {
        let engine = Engine::default();
        let component = Component::from_file(&engine, path)?;
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
