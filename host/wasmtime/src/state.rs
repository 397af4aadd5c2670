//! What a tool's store holds.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::limiter::Limiter;
use crate::{DeniedPaths, DeniedPathsView, ShellExecCtx, ShellExecCtxView, ShellExecView};

pub(crate) struct State {
    pub(crate) wasi: WasiCtx,
    pub(crate) denied: DeniedPaths,
    pub(crate) shell: ShellExecCtx,
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl DeniedPathsView for State {
    fn denied_paths(&mut self) -> &DeniedPaths {
        &self.denied
    }
}

impl ShellExecView for State {
    fn shell_exec(&mut self) -> ShellExecCtxView<'_> {
        ShellExecCtxView { ctx: &mut self.shell }
    }
}
