//! Sandboxes made ready ahead of time, and those that are done cleared away: both off a command's path.
//!
//! A sandbox on a shelf has a process that waits to become a command. It serves one command at a time. It serves another only if the command has left nobody in its namespaces; what
//! else a command could leave there it can't make: no mounts, no names of hosts, and IPC objects live in a namespace of
//! each command's own.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use portcullis_policy::Level;

use crate::cgroup::Cgroup;
use crate::guard::{GuardError, Kind};
use crate::sandbox::Sandbox;

/// Most sandboxes of a kind that are kept ready.
const MOST_READY: usize = 8;
/// How often a guard that does not die is looked at again.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long [`settle`] waits for guards that do not die.
const SETTLE: Duration = Duration::from_secs(3);

struct Pool {
    tasks: Sender<Task>,
    /// Sandboxes handed to the housekeeper that are not gone yet.
    clearing: Arc<(Mutex<usize>, Condvar)>,
}

/// Sandboxes of one kind.
struct Shelf {
    kind: Kind,
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
}

impl Ready {
    fn lacks(&self) -> bool {
        self.parked.len() < self.wanted
    }
}

enum Task {
    Refill(&'static Shelf),
    Clear(Box<Sandbox>),
    /// Nothing; it is done when everything before it is.
    Barrier,
}

/// The kind of sandbox that this host can have, and why not the better one: found out once, by making one.
pub(crate) fn best() -> (Kind, Option<&'static GuardError>) {
    static BEST: OnceLock<(Kind, Option<GuardError>)> = OnceLock::new();
    let (kind, refusal) = BEST.get_or_init(|| match Sandbox::make(Kind::Namespaces) {
        Ok(sandbox) => {
            lock(&shelf(Kind::Namespaces).ready).clean.push(sandbox);
            (Kind::Namespaces, None)
        }
        Err(refusal) => (Kind::Group, Some(refusal)),
    });
    (*kind, refusal.as_ref())
}

/// A sandbox for one command of a policy that accepts this level at least: a ready one, else one made on the spot.
///
/// More than the policy accepts is better, but for [`Level::None`]: a policy that names it wants no confinement.
pub(crate) fn take(level: Level) -> Result<Sandbox, GuardError> {
    let shelf = shelf(if level == Level::None { Kind::Open } else { best().0 });
    let (ready, lacks) = {
        let mut ready = lock(&shelf.ready);
        ready.taken += 1;
        let sandbox = ready.parked.pop();
        if sandbox.is_none() && ready.taken > 1 {
            ready.wanted = (ready.wanted * 2).clamp(1, MOST_READY);
        }
        (sandbox.or_else(|| ready.clean.pop()), ready.lacks())
    };
    if lacks {
        // Without a housekeeper everything is done on the spot: slower, and no less right.
        let _housekeeper = pool().tasks.send(Task::Refill(shelf));
    }
    ready.map_or_else(|| Sandbox::make(shelf.kind), Ok)
}

/// Takes back a sandbox whose command is reaped and has left nobody in it: nobody can have come since.
pub(crate) fn give_back(sandbox: Sandbox) {
    let shelf = shelf(sandbox.kind());
    {
        let mut ready = lock(&shelf.ready);
        if ready.parked.len() + ready.clean.len() >= MOST_READY {
            drop(ready);
            return clear(sandbox);
        }
        ready.clean.push(sandbox);
    }
    let _housekeeper = pool().tasks.send(Task::Refill(shelf));
}

/// Clears a sandbox away in the background.
pub(crate) fn clear(sandbox: Sandbox) {
    let pool = pool();
    *lock(&pool.clearing.0) += 1;
    if pool.tasks.send(Task::Clear(Box::new(sandbox))).is_err() {
        // It was dropped just now, which kills what is in it.
        *lock(&pool.clearing.0) -= 1;
    }
}

/// Drops what is kept ready, and waits until everything that was cleared away is gone: cgroups outlive a process.
pub(crate) fn settle() {
    for kind in KINDS {
        let (parked, clean) = {
            let mut ready = lock(&shelf(kind).ready);
            ready.wanted = 0;
            (std::mem::take(&mut ready.parked), std::mem::take(&mut ready.clean))
        };
        parked.into_iter().chain(clean).for_each(clear);
    }
    if let Some(pool) = POOL.get() {
        wait_for_housekeeper(pool);
    }
    Cgroup::remove_free();
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

const KINDS: [Kind; 3] = [Kind::Namespaces, Kind::Group, Kind::Open];

fn shelf(kind: Kind) -> &'static Shelf {
    static SHELVES: OnceLock<[Shelf; 3]> = OnceLock::new();
    let shelves = SHELVES.get_or_init(|| KINDS.map(|kind| Shelf { kind, ready: Mutex::default() }));
    let [namespaces, group, open] = shelves;
    match kind {
        Kind::Namespaces => namespaces,
        Kind::Group => group,
        Kind::Open => open,
    }
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
                if let Some(surplus) = refill(shelf) {
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

/// Parks processes in what is clean, and makes more where more is wanted. One that is not wanted any more when it is
/// made comes back.
fn refill(shelf: &Shelf) -> Option<Sandbox> {
    loop {
        let clean = {
            let mut ready = lock(&shelf.ready);
            let clean = ready.clean.pop();
            if clean.is_none() && !ready.lacks() {
                return None;
            }
            clean
        };
        // Where it fails now (no processes left, say) the next command tries itself, and says why.
        let mut sandbox = clean.map_or_else(|| Sandbox::make(shelf.kind), Ok).ok()?;
        if sandbox.park().is_err() {
            return Some(sandbox);
        }
        let mut ready = lock(&shelf.ready);
        if ready.parked.len() >= MOST_READY {
            return Some(sandbox);
        }
        ready.parked.push(sandbox);
    }
}
