//! How long a guest has computed, host calls not billed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::{CallHook, StoreContextMut, UpdateDeadline};

/// Runs while the guest's own code does.
#[derive(Debug, Clone)]
pub(crate) struct ComputeClock(Arc<Mutex<Reading>>);

#[derive(Debug)]
struct Reading {
    spent: Duration,
    since: Option<Instant>,
}

/// The guest has used up its computing time.
#[derive(Debug, thiserror::Error)]
#[error("the component used up its {0:?} of computing time")]
pub(crate) struct ComputeExceeded(pub(crate) Duration);

impl ComputeClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Reading { spent: Duration::ZERO, since: None })))
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the store's calls: from the host into the guest and back, and from the guest into the host and back.
    pub(crate) fn follow(&self, hook: CallHook) {
        match hook {
            CallHook::CallingWasm | CallHook::ReturningFromHost => self.start(),
            CallHook::ReturningFromWasm | CallHook::CallingHost => self.stop(),
        }
    }

    fn start(&self) {
        self.reading().since = Some(Instant::now());
    }

    fn stop(&self) {
        let mut reading = self.reading();
        if let Some(since) = reading.since.take() {
            reading.spent += since.elapsed();
        }
    }

    /// What a store does at every tick: end a guest that has computed too long, else let other tasks run, which is
    /// not billed to the guest.
    pub(crate) fn on_tick<T>(
        self,
        most: Duration,
    ) -> impl FnMut(StoreContextMut<'_, T>) -> wasmtime::Result<UpdateDeadline> + Send + Sync + 'static {
        move |_| {
            self.stop();
            if self.reading().spent > most {
                return Err(wasmtime::Error::new(ComputeExceeded(most)));
            }
            let clock = self.clone();
            Ok(UpdateDeadline::YieldCustom(
                1,
                Box::pin(async move {
                    tokio::task::yield_now().await;
                    clock.start();
                }),
            ))
        }
    }
}
