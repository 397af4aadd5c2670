//! A command that changes the workspace while a guest looks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::guest::Workspace;

/// Calls of the guest in one round of an attack.
const CALLS: usize = 500;
/// Most rounds: a busy machine may not let both sides run at once for a while.
const ROUNDS: usize = 200;

/// Stops the swapping, however its thread's scope is left.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The answers to this step, again and again, while `swap` makes `name` something else, again and again.
fn while_swapping(workspace: &Workspace, swap: Swap, step: &str) -> Vec<String> {
    let stop = AtomicBool::new(false);
    let path = workspace.path();
    swap(&path, false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut evil = false;
            while !stop.load(Ordering::Relaxed) {
                evil = !evil;
                swap(&path, evil);
            }
        });
        let _stop = Stop(&stop);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(workspace.writes(&[step; CALLS]))
    })
}

/// Plays rounds until all of these answers were seen; says whether they were, and hands each answer on.
fn until_seen(workspace: &Workspace, swap: Swap, step: &str, mut wanted: Vec<&str>, check: impl Fn(&str)) -> bool {
    for _ in 0..ROUNDS {
        for answer in while_swapping(workspace, swap, step) {
            check(&answer);
            wanted.retain(|wanted| *wanted != answer);
        }
        if wanted.is_empty() {
            return true;
        }
    }
    false
}

/// Puts something in the place of `name` in one step.
fn replace(workspace: &Path, name: &str, make: impl FnOnce(&Path)) {
    let new = workspace.join("swap.new");
    make(&new);
    fs::rename(new, workspace.join(name)).unwrap();
}

/// `swap` is a link to an ordinary directory, or to one that is denied.
fn directory_link(workspace: &Path, evil: bool) {
    fs::create_dir_all(workspace.join("ordinary")).unwrap();
    if !workspace.join("ordinary/pre-commit").exists() {
        fs::write(workspace.join("ordinary/pre-commit"), "ordinary").unwrap();
    }
    let target = if evil { ".git/hooks" } else { "ordinary" };
    replace(workspace, "swap", |new| symlink(target, new).unwrap());
}

/// `swap` is a file, or a link to one that is denied.
fn file_or_link(workspace: &Path, evil: bool) {
    replace(workspace, "swap", |new| match evil {
        true => symlink(".env", new).unwrap(),
        false => fs::write(new, "ordinary").unwrap(),
    });
}

/// `swap` is a file, or another name of one that is denied.
fn file_or_hard_link(workspace: &Path, evil: bool) {
    // A rename of one name of a file onto another does nothing.
    let _ = fs::remove_file(workspace.join("swap.new"));
    replace(workspace, "swap", |new| match evil {
        true => fs::hard_link(workspace.join("hard-env"), new).unwrap(),
        false => fs::write(new, "ordinary").unwrap(),
    });
}

/// Makes `swap` one of two things.
type Swap = fn(&Path, bool);

/// The swaps, the file of each, and what it has that is denied.
const SWAPS: [(Swap, &str, &str); 3] = [
    (directory_link, "swap/pre-commit", "ok HOOK"),
    (file_or_link, "swap", "ok SECRET"),
    (file_or_hard_link, "swap", "ok SECRET"),
];

#[test]
fn nothing_denied_is_read_however_links_change_in_the_meantime() {
    for (number, (swap, path, prize)) in SWAPS.into_iter().enumerate() {
        let step = format!("cat 0 {path}");
        let works = until_seen(&Workspace::open(), swap, &step, vec![prize], |_| ());
        assert!(works, "swap {number} does not work by itself");
        let closed = Workspace::closed();
        let seen = until_seen(&closed, swap, &step, vec!["ok ordinary", "access"], |answer| {
            assert_ne!(answer, prize, "swap {number}");
        });
        assert!(seen, "swap {number} was not there to be seen");
    }
}

#[test]
fn nothing_denied_is_cut_however_links_change_in_the_meantime() {
    for (number, (swap, path, _)) in SWAPS.into_iter().enumerate() {
        let step = format!("cut 0 {path}");
        let whole = |workspace: &Workspace| {
            let content = |path| fs::read_to_string(workspace.path().join(path)).unwrap();
            [".env", ".git/hooks/pre-commit"].map(content) == ["SECRET", "HOOK"]
        };
        let open = Workspace::open();
        let cut = (0..ROUNDS).any(|_| {
            while_swapping(&open, swap, &step);
            !whole(&open)
        });
        assert!(cut, "swap {number} does not work by itself");
        let closed = Workspace::closed();
        for _ in 0..4 {
            while_swapping(&closed, swap, &step);
            assert!(whole(&closed), "swap {number}");
        }
    }
}
