//! The compiler and what every tool shares.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime::{Config, Engine};

use crate::state::State;
use crate::{ComponentCache, p2};

/// How often a computing guest is interrupted to look at its clock and let others run.
const TICK: Duration = Duration::from_millis(10);

/// A wasmtime engine, set up for untrusted tools, with everything linked that a tool may import.
///
/// Make one per process; it is cheap to clone.
#[derive(Clone)]
pub struct ToolEngine {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    pub(crate) cache: Option<Arc<ComponentCache>>,
}

impl ToolEngine {
    /// Makes the engine, and starts the thread that counts its epochs; the thread ends when the last clone is dropped.
    ///
    /// # Errors
    /// Where the machine can't run wasmtime, or the thread can't be started.
    pub fn new() -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.wasm_component_model(true).epoch_interruption(true);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        p2::add_denied_paths_to_linker(&mut linker)?;
        p2::add_to_linker(&mut linker)?;
        let weak = engine.weak();
        std::thread::Builder::new().name("portcullis-epoch".to_owned()).spawn(move || {
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })?;
        Ok(Self { engine, linker, cache: None })
    }

    /// Loads compiled components from a cache on disk, and keeps there what is compiled. Without it, as it is by default,
    /// every load compiles.
    #[must_use]
    pub fn cache(mut self, cache: ComponentCache) -> Self {
        self.cache = Some(Arc::new(cache));
        self
    }
}

impl std::fmt::Debug for ToolEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolEngine").finish_non_exhaustive()
    }
}
