//! Brings appended records to the disk, in the background or at once.
//!
//! Records are in the kernel when an append returns, so they survive a crash of the host. A power loss can take
//! what was not yet flushed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::JournalError;
use crate::store::Store;

/// Time from the first unflushed record to the flush. With the disk's own time it stays below 50 ms on most
/// machines, and one flush serves all records of that time.
const DELAY: Duration = Duration::from_millis(40);

/// Flushes one segment. Its thread exists from the first [`later`](Self::later) on, sleeps while there is nothing
/// to do, and ends after a last flush when this is dropped.
#[derive(Debug)]
pub(crate) struct Flusher<S: Store> {
    disk: Arc<Disk<S>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the flusher and its thread share.
#[derive(Debug)]
struct Disk<S> {
    store: Arc<S>,
    path: PathBuf,
    /// End of the last record that this handle appended, in bytes.
    written: AtomicU64,
    /// End of what is known to be on the disk. Held during a flush: the kernel tells a failure only once, and
    /// whoever waits here must not take its own later success for the first one's.
    synced: Mutex<u64>,
    /// The first failure. Apart from `synced`, so that an append can look without waiting for the disk.
    failed: OnceLock<Arc<io::Error>>,
    plan: Mutex<Plan>,
    changed: Condvar,
}

/// What the thread is to do.
#[derive(Debug, Default)]
struct Plan {
    /// When to flush; `None` = nothing waits.
    due: Option<Instant>,
    closing: bool,
}

impl<S: Store> Flusher<S> {
    pub(crate) fn new(store: Arc<S>, path: PathBuf) -> Self {
        let disk = Disk {
            store,
            path,
            written: AtomicU64::new(0),
            synced: Mutex::new(0),
            failed: OnceLock::new(),
            plan: Mutex::default(),
            changed: Condvar::new(),
        };
        Self { disk: Arc::new(disk), thread: Mutex::new(None) }
    }

    /// Fails once a flush has failed. Never waits for the disk.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        self.disk.check()
    }

    /// Notes that a record ends at `end`.
    pub(crate) fn wrote(&self, end: u64) {
        self.disk.written.fetch_max(end, Ordering::AcqRel);
    }

    /// Sees to it that what was written is on the disk soon.
    pub(crate) fn later(&self) -> Result<(), JournalError> {
        {
            let mut plan = lock(&self.disk.plan);
            if plan.due.is_some() {
                return Ok(());
            }
            plan.due = Some(Instant::now() + DELAY);
            self.disk.changed.notify_one();
        }
        let mut thread = lock(&self.thread);
        if thread.is_some() {
            return Ok(());
        }
        let disk = Arc::clone(&self.disk);
        match thread::Builder::new().name("portcullis-flush".to_owned()).spawn(move || disk.work()) {
            Ok(handle) => {
                *thread = Some(handle);
                Ok(())
            }
            // No thread to be had: then the caller waits.
            Err(_) => {
                lock(&self.disk.plan).due = None;
                self.now()
            }
        }
    }

    /// Waits until everything that this handle wrote is on the disk.
    pub(crate) fn now(&self) -> Result<(), JournalError> {
        self.disk.sync()
    }
}

impl<S: Store> Drop for Flusher<S> {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            lock(&self.disk.plan).closing = true;
            self.disk.changed.notify_one();
            // It has nothing to tell that `failed` does not hold.
            let _ = thread.join();
        }
    }
}

impl<S: Store> Disk<S> {
    fn work(&self) {
        let mut plan = lock(&self.plan);
        loop {
            match plan.due {
                None if plan.closing => return,
                None => plan = self.changed.wait(plan).unwrap_or_else(PoisonError::into_inner),
                Some(due) => {
                    let wait = due.saturating_duration_since(Instant::now());
                    if wait.is_zero() || plan.closing {
                        plan.due = None;
                        drop(plan);
                        // A failure stays in `failed`: the next append tells it.
                        let _ = self.sync();
                        plan = lock(&self.plan);
                    } else {
                        let woken = self.changed.wait_timeout(plan, wait);
                        plan = woken.unwrap_or_else(PoisonError::into_inner).0;
                    }
                }
            }
        }
    }

    fn sync(&self) -> Result<(), JournalError> {
        let wanted = self.written.load(Ordering::Acquire);
        let mut synced = lock(&self.synced);
        self.check()?;
        if *synced >= wanted {
            return Ok(());
        }
        // Others may have appended while this call waited: one flush serves them as well.
        let reached = self.written.load(Ordering::Acquire);
        match self.store.sync() {
            Ok(()) => {
                *synced = reached;
                Ok(())
            }
            Err(error) => {
                self.failed.get_or_init(|| Arc::new(error));
                self.check()
            }
        }
    }

    fn check(&self) -> Result<(), JournalError> {
        match self.failed.get() {
            None => Ok(()),
            Some(source) => Err(JournalError::Sync { path: self.path.clone(), source: Arc::clone(source) }),
        }
    }
}

/// No state here is left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
