//! The interface for WASI 0.2 components: synchronous calls.

use wasmtime::component::{HasData, Linker};
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::bindings::filesystem;

use crate::bindings::{shell_exec, types};
use crate::denied::{DeniedPathsData, View};
use crate::{DeniedPathsView, ShellExecCtxView, ShellExecView};

struct ShellExec;

impl HasData for ShellExec {
    type Data<'a> = ShellExecCtxView<'a>;
}

/// Adds `portcullis:shell/shell-exec` to a linker.
///
/// Calls are asynchronous for the host: instances must be made and called with the `_async` functions of wasmtime, on
/// a tokio runtime with its I/O and time drivers. The crate's documentation has a complete embedding.
///
/// # Errors
/// As [`Linker::instance`]: something of that name is there already.
pub fn add_to_linker<T: ShellExecView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    types::add_to_linker::<T, ShellExec>(linker, T::shell_exec)?;
    shell_exec::add_to_linker::<T, ShellExec>(linker, T::shell_exec)
}

/// Puts what keeps [`DeniedPaths`](crate::DeniedPaths) from a guest in front of `wasi:filesystem/types`.
///
/// Call it after `wasmtime_wasi::p2::add_to_linker_async`, whose implementation then does what is not denied. Names can
/// be defined once afterwards, as by default ([`Linker::allow_shadowing`]).
///
/// # Errors
/// As [`Linker::instance`].
pub fn add_denied_paths_to_linker<T: DeniedPathsView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let added = filesystem::types::add_to_linker::<T, DeniedPathsData>(linker, |state| {
        let denied = state.denied_paths().clone();
        View::new(state.filesystem(), denied)
    });
    linker.allow_shadowing(false);
    added
}
