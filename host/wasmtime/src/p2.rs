//! The interface for WASI 0.2 components: synchronous calls.

use wasmtime::component::{HasData, Linker};

use crate::bindings::{shell_exec, types};
use crate::{ShellExecCtxView, ShellExecView};

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
