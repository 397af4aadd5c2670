//! Links `portcullis:shell` into wasmtime.
//!
//! A component that imports `portcullis:shell/shell-exec` asks for native commands; this crate hands each request to
//! a [`Gate`](portcullis_gate::Gate) and the answer back. The shape is that of `wasmtime-wasi-http`: a context
//! ([`ShellExecCtx`]), a view ([`ShellExecView`]) and [`p2::add_to_linker`].
//!
//! Hosts that only want to run a component with a `main` use [`Tool`], which sets everything up: WASI without
//! sockets, the workspace as a preopen, ceilings on memory, tables, computing time and the whole session.
//!
//! # A complete embedding
//!
//! ```no_run
//! use portcullis_audit::{Journal, Options};
//! use portcullis_gate::{Caller, Gate};
//! use portcullis_policy::Policy;
//! use portcullis_wasmtime::{ShellExecCtx, ShellExecCtxView, ShellExecView, p2};
//! use wasmtime::component::{Component, Linker, ResourceTable};
//! use wasmtime::{Config, Engine, Store};
//! use wasmtime_wasi::p2::bindings::CommandPre;
//! use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
//!
//! struct State {
//!     wasi: WasiCtx,
//!     shell: ShellExecCtx,
//!     table: ResourceTable,
//! }
//!
//! impl WasiView for State {
//!     fn ctx(&mut self) -> WasiCtxView<'_> {
//!         WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
//!     }
//! }
//!
//! impl ShellExecView for State {
//!     fn shell_exec(&mut self) -> ShellExecCtxView<'_> {
//!         ShellExecCtxView { ctx: &mut self.shell }
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let text = std::fs::read_to_string("policy.toml")?;
//!     let policy = Policy::parse("policy.toml", &text)?;
//!     let journal = Journal::open("/var/lib/my-host/journal".as_ref(), Options::default())?;
//!     let gate = Gate::builder(policy, journal).workspace("/srv/project".as_ref()).build()?;
//!
//!     let engine = Engine::new(&Config::new())?;
//!     let mut linker = Linker::<State>::new(&engine);
//!     wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
//!     p2::add_to_linker(&mut linker)?;
//!
//!     let component = Component::from_file(&engine, "tool.wasm")?;
//!     let tool = CommandPre::new(linker.instantiate_pre(&component)?)?;
//!
//!     let session = gate.session(Caller::host("my-host"))?;
//!     let wasi = WasiCtx::builder().inherit_stdio().build();
//!     let state = State { wasi, shell: ShellExecCtx::new(session), table: ResourceTable::new() };
//!     let mut store = Store::new(&engine, state);
//!     store.set_hostcall_fuel(portcullis_wasmtime::HOSTCALL_FUEL);
//!     let command = tool.instantiate_async(&mut store).await?;
//!     let result = command.wasi_cli_run().call_run(&mut store).await?;
//!     drop(store);
//!     gate.shut_down().await;
//!     result.map_err(|()| "the tool failed".into())
//! }
//! ```
//!
//! # Denied paths
//!
//! A preopen is served by the host, outside the kernel's confinement of commands. A host that gives one to guests must
//! keep what the policy denies from them by [`p2::add_denied_paths_to_linker`] and [`DeniedPaths`]; [`Tool`] does.
//!
//! # Limits of [`Tool`]
//!
//! | what | ceiling | beyond it |
//! |---|---|---|
//! | a component file | [`Tool::MAX_BYTES`] | not loaded |
//! | linear memory of all instances together | `component.memory`, default 256 MiB | growing fails in the guest |
//! | table elements together | [`MAX_TABLE_ELEMENTS`] | growing fails in the guest |
//! | core instances, memories, tables | [`MAX_INSTANCES`], [`MAX_MEMORIES`], [`MAX_TABLES`] | not instantiated |
//! | computing, host calls not billed | `component.compute`, default 60 s | trap |
//! | the whole session, host calls included | `component.wall`, default 10 min | commands killed, session over |
//! | bytes of strings and lists in one call | [`HOSTCALL_FUEL`] | trap; the next instance works |
//! | output that one call returns | a quarter of `component.memory` | the rest is a counted gap |

#![deny(unsafe_code)]

mod bindings;
mod cache;
mod clock;
#[allow(unsafe_code, reason = "loads native code; what makes that sound is checked in the same file")]
mod compiled;
mod convert;
mod ctx;
mod denied;
mod engine;
mod error;
mod host;
mod limiter;
mod state;
mod tool;

pub mod p2;

pub use cache::{CacheError, ComponentCache, Missed, NotKept, Origin, Refused, Unsafe};
pub use ctx::{ShellExecCtx, ShellExecCtxView, ShellExecView};
pub use denied::{DeniedPaths, DeniedPathsView};
pub use engine::ToolEngine;
pub use error::{LoadError, RunError};
pub use limiter::{MAX_INSTANCES, MAX_MEMORIES, MAX_TABLE_ELEMENTS, MAX_TABLES};
pub use tool::{RunOptions, Tool};

/// Most bytes of strings and lists that a guest may hand over in one call: 16 MiB.
///
/// Set it on every store (`Store::set_hostcall_fuel`): it is what keeps the host from allocating what a guest sizes.
/// A call beyond it traps.
pub const HOSTCALL_FUEL: usize = 16 << 20;
