//! Sandboxes made ready ahead of time, and those that are done cleared away: both off a command's path.
//!
//! A sandbox on a shelf has a process that waits to become a command. It serves one command at a time. It serves another only if the command has left nobody in its namespaces; what
//! else a command could leave there it can't make: no mounts, no names of hosts, and IPC objects live in a namespace of
//! each command's own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::cgroup::Cgroup;
use crate::deny;
use crate::guard::{GuardError, Kind};
use crate::key::Key;
use crate::reach::Reach;
use crate::sandbox::Sandbox;
use crate::trial;

/// Most sandboxes of one key that are kept ready.
const MOST_READY: usize = 8;
/// Most keys that sandboxes are kept for.
const MOST_SHELVES: usize = 16;
/// How often a guard that does not die is looked at again.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long [`settle`] waits for guards that do not die.
const SETTLE: Duration = Duration::from_secs(3);

struct Pool {
    tasks: Sender<Task>,
    /// Sandboxes handed to the housekeeper that are not gone yet.
    clearing: Arc<(Mutex<usize>, Condvar)>,
}

/// Sandboxes of one key.
struct Shelf {
    key: Arc<Key>,
    ready: Mutex<Ready>,
}

#[derive(Default)]
struct Ready {
    /// With a process that waits.
    parked: Vec<Sandbox>,
    /// Those that a command has left clean: they want a process.
    clean: Vec<Sandbox>,
    /// How many to keep: none for a process that runs one command, more for one that finds the shelf empty.
    wanted: usize,
    taken: u64,
    /// When it was used last, by the count of all uses.
    used: u64,
    /// Nobody looks for it any more.
    retired: bool,
    /// What the newest command reaches, so that the next finds its ruleset made.
    reach: Option<Reach>,
}

impl Ready {
    fn lacks(&self) -> bool {
        !self.retired && self.parked.len() < self.wanted
    }

    fn empty(&mut self) -> Vec<Sandbox> {
        self.wanted = 0;
        let mut all = std::mem::take(&mut self.parked);
        all.append(&mut self.clean);
        all
    }
}

enum Task {
    Refill(Arc<Shelf>),
    Clear(Box<Sandbox>),
    /// Nothing; it is done when everything before it is.
    Barrier,
}

/// What a host has, and why not the better: found out once, by doing it.
type Found = (Kind, Option<GuardError>);

/// Whether commands get namespaces; else a process group.
pub(crate) fn namespaces() -> (Kind, Option<&'static GuardError>) {
    static FOUND: OnceLock<Found> = OnceLock::new();
    let (kind, refusal) = FOUND.get_or_init(|| {
        let key = Arc::new(Key::plain(Kind::Namespaces));
        match Sandbox::make(&key) {
            Ok(sandbox) => {
                give_back(sandbox);
                (Kind::Namespaces, None)
            }
            Err(refusal) => (Kind::Group, Some(refusal)),
        }
    });
    (*kind, refusal.as_ref())
}

/// Whether confined commands get namespaces: taken on the host's word, and not tried.
static EXPECTED: AtomicBool = AtomicBool::new(false);
/// Whether that was wrong.
static DISAPPOINTED: AtomicBool = AtomicBool::new(false);

/// Takes it that this host has everything that [`confinement`] would try.
pub(crate) fn expect_everything() {
    EXPECTED.store(true, Ordering::Relaxed);
}

/// Whether something was missing all the same.
pub(crate) fn disappointed() -> bool {
    DISAPPOINTED.load(Ordering::Relaxed)
}

fn make(key: &Arc<Key>) -> Result<Sandbox, GuardError> {
    let made = Sandbox::make(key);
    if made.is_err() && EXPECTED.load(Ordering::Relaxed) {
        DISAPPOINTED.store(true, Ordering::Relaxed);
    }
    made
}

/// Whether confined commands get namespaces and a tree of files of their own, a process group and no tree, or no
/// confinement.
pub(crate) fn confinement() -> (Kind, Option<&'static GuardError>) {
    static FOUND: OnceLock<Found> = OnceLock::new();
    let (kind, refusal) = FOUND.get_or_init(|| {
        if EXPECTED.load(Ordering::Relaxed) {
            return (Kind::Namespaces, None);
        }
        match trial::run(Kind::Namespaces) {
            Ok(()) => (Kind::Namespaces, None),
            Err(refusal) => match trial::run(Kind::Group) {
                Ok(()) => (Kind::Group, Some(refusal)),
                Err(refusal) => (Kind::Open, Some(refusal)),
            },
        }
    });
    (*kind, refusal.as_ref())
}

/// A sandbox for one command, which reaches this: a ready one, else one made on the spot.
pub(crate) fn take(key: &Arc<Key>, reach: Option<&Reach>) -> Result<Sandbox, GuardError> {
    let shelf = shelf(key);
    let (ready, is_empty) = {
        let mut ready = lock(&shelf.ready);
        ready.taken += 1;
        if ready.reach.as_ref() != reach {
            ready.reach = reach.cloned();
        }
        let parked = ready.parked.pop();
        let is_empty = parked.is_none();
        if is_empty && ready.taken > 1 {
            ready.wanted = (ready.wanted * 2).clamp(1, MOST_READY);
        }
        (parked.or_else(|| ready.clean.pop()), is_empty && ready.lacks())
    };
    if is_empty {
        refill_soon(shelf);
    }
    match ready {
        Some(sandbox) if sandbox.is_intact() => Ok(sandbox),
        Some(sandbox) => {
            clear(sandbox);
            make(key)
        }
        None => make(key),
    }
}

/// Takes back a sandbox whose command is reaped and has left nobody in it: nobody can have come since.
pub(crate) fn give_back(sandbox: Sandbox) {
    let shelf = shelf(sandbox.key());
    {
        let mut ready = lock(&shelf.ready);
        if ready.retired || ready.parked.len() + ready.clean.len() >= MOST_READY {
            drop(ready);
            return clear(sandbox);
        }
        ready.clean.push(sandbox);
    }
    refill_soon(shelf);
}

fn refill_soon(shelf: Arc<Shelf>) {
    // Without a housekeeper everything is done on the spot: slower, and no less right.
    let _housekeeper = pool().tasks.send(Task::Refill(shelf));
}

/// Clears a sandbox away in the background.
pub(crate) fn clear(sandbox: Sandbox) {
    let pool = pool();
    let shelf = shelf(sandbox.key());
    *lock(&pool.clearing.0) += 1;
    if pool.tasks.send(Task::Clear(Box::new(sandbox))).is_err() {
        // It was dropped just now, which kills what is in it.
        *lock(&pool.clearing.0) -= 1;
    }
    if lock(&shelf.ready).lacks() {
        refill_soon(shelf);
    }
}

/// Drops what is kept ready, and waits until everything that was cleared away is gone: cgroups outlive a process.
pub(crate) fn settle() {
    let shelves: Vec<_> = lock(shelves()).values().cloned().collect();
    for shelf in shelves {
        let all = lock(&shelf.ready).empty();
        all.into_iter().for_each(clear);
    }
    if let Some(pool) = POOL.get() {
        wait_for_housekeeper(pool);
    }
    Cgroup::remove_free();
    deny::release();
}

fn wait_for_housekeeper(pool: &Pool) {
    let (count, gone) = &*pool.clearing;
    *lock(count) += 1;
    if pool.tasks.send(Task::Barrier).is_err() {
        return;
    }
    let deadline = Instant::now() + SETTLE;
    let mut left = lock(count);
    while *left > 0 {
        let Some(patience) = deadline.checked_duration_since(Instant::now()) else { return };
        left = gone.wait_timeout(left, patience).unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shelves() -> &'static Mutex<HashMap<Arc<Key>, Arc<Shelf>>> {
    static SHELVES: OnceLock<Mutex<HashMap<Arc<Key>, Arc<Shelf>>>> = OnceLock::new();
    SHELVES.get_or_init(Mutex::default)
}

/// The shelf of a key. One that was not used for longest goes when there are too many.
fn shelf(key: &Arc<Key>) -> Arc<Shelf> {
    static USES: AtomicU64 = AtomicU64::new(0);
    let used = USES.fetch_add(1, Ordering::Relaxed);
    let (shelf, retired) = {
        let mut shelves = lock(shelves());
        let mut retired = Vec::new();
        if !shelves.contains_key(key) && shelves.len() >= MOST_SHELVES {
            let oldest =
                shelves.iter().min_by_key(|(_, shelf)| lock(&shelf.ready).used).map(|(key, _)| Arc::clone(key));
            if let Some(oldest) = oldest.and_then(|key| shelves.remove(&key)) {
                let mut ready = lock(&oldest.ready);
                ready.retired = true;
                retired = ready.empty();
            }
        }
        let new = || Arc::new(Shelf { key: Arc::clone(key), ready: Mutex::default() });
        let shelf = Arc::clone(shelves.entry(Arc::clone(key)).or_insert_with(new));
        lock(&shelf.ready).used = used;
        (shelf, retired)
    };
    let pool = pool();
    for sandbox in retired {
        *lock(&pool.clearing.0) += 1;
        if pool.tasks.send(Task::Clear(Box::new(sandbox))).is_err() {
            *lock(&pool.clearing.0) -= 1;
        }
    }
    shelf
}

static POOL: OnceLock<Pool> = OnceLock::new();

fn pool() -> &'static Pool {
    POOL.get_or_init(|| {
        let (tasks, received) = channel();
        let clearing = Arc::new((Mutex::new(0), Condvar::new()));
        let cleared = Arc::clone(&clearing);
        let housekeeper = std::thread::Builder::new().name("portcullis-guards".to_owned());
        // Where it can't be started its end of the channel is dropped, and sending says so.
        let _housekeeper = housekeeper.spawn(move || keep_house(&received, &cleared));
        Pool { tasks, clearing }
    })
}

fn keep_house(tasks: &Receiver<Task>, (count, gone): &(Mutex<usize>, Condvar)) {
    let mut dying: Vec<Sandbox> = Vec::new();
    loop {
        let task = if dying.is_empty() {
            tasks.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            tasks.recv_timeout(PATIENCE)
        };
        match task {
            Ok(Task::Refill(shelf)) => {
                if let Some(surplus) = refill(&shelf) {
                    *lock(count) += 1;
                    dying.push(surplus);
                }
            }
            Ok(Task::Clear(sandbox)) => dying.push(*sandbox),
            Ok(Task::Barrier) => {
                *lock(count) -= 1;
                gone.notify_all();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(newest) = dying.last_mut() {
            newest.end(PATIENCE);
        }
        let gone_now: Vec<Sandbox> = dying.extract_if(.., |sandbox| sandbox.end(Duration::ZERO)).collect();
        if !gone_now.is_empty() {
            let number = gone_now.len();
            gone_now.into_iter().for_each(Sandbox::dismantle);
            *lock(count) -= number;
            gone.notify_all();
        }
    }
}

/// Makes what is wanted, of what is clean first. One that is not wanted any more when it is made comes back.
fn refill(shelf: &Shelf) -> Option<Sandbox> {
    loop {
        let (clean, reach) = {
            let mut ready = lock(&shelf.ready);
            if !ready.lacks() {
                return None;
            }
            (ready.clean.pop(), ready.reach.clone())
        };
        // Where it fails now (no processes left, say) the next command tries itself, and says why.
        let mut sandbox = clean.map_or_else(|| Sandbox::make(&shelf.key), Ok).ok()?;
        if sandbox.park().is_err() {
            return Some(sandbox);
        }
        if let Some(reach) = reach {
            // Where it fails the command says so.
            let _made = sandbox.ruleset(&reach);
        }
        let mut ready = lock(&shelf.ready);
        if !ready.lacks() {
            return Some(sandbox);
        }
        ready.parked.push(sandbox);
    }
}
