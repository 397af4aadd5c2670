//! Many hosts on one directory.

use std::process::Command;
use std::thread;

use portcullis_policy::Level;
use wasmtime::Engine;

use super::{Cached, ComponentCache, Missed, NotKept, Origin, component, files};

const DIRECTORY: &str = "PORTCULLIS_TEST_SHARED_CACHE";
const HOSTS: usize = 8;

/// Loads components again and again; none may fail, and none may be found damaged.
fn load_many(cache: &ComponentCache, engine: &Engine, first: usize) {
    for round in 0..48 {
        let number = u8::try_from((first + round) % 6).unwrap();
        let (_, origin) = cache.load_or_compile(engine, &component(number)).unwrap();
        let is_good = matches!(origin, Origin::Cached | Origin::Kept(Missed::Absent));
        assert!(is_good, "{origin}");
    }
}

#[test]
fn one_of_many_processes() {
    let Some(path) = std::env::var_os(DIRECTORY) else { return };
    let cache = ComponentCache::open(path.as_ref(), Level::Landlock).unwrap();
    load_many(&cache, &Engine::default(), std::process::id() as usize);
}

#[test]
fn many_processes_share_a_directory() {
    let cached = Cached::new();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "shared::one_of_many_processes"]).env(DIRECTORY, cached.path());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..HOSTS).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(files(&cached.path()).len(), 6, "and nothing that was begun");
    (0..6).for_each(|number| assert!(matches!(cached.load(number), Origin::Cached)));
}

#[test]
fn what_is_removed_while_it_is_loaded_is_loaded_or_compiled() {
    let cached = Cached::new();
    drop(cached.load(0));
    let one = std::fs::metadata(cached.entry()).unwrap().len();
    // Room for two of six: every write removes what another host is about to load.
    let most = one * 5 / 2;
    thread::scope(|scope| {
        for first in 0..HOSTS {
            let cached = &cached;
            scope.spawn(move || load_many(&cached.open().max_bytes(most), &cached.engine, first));
        }
    });
    let kept: u64 = files(&cached.path()).iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
    assert!(kept <= most, "{kept} of {most}");
}

#[test]
fn a_directory_that_is_swapped_for_another_is_not_followed() {
    let cached = Cached::new();
    let cache = cached.open();
    drop(cache.load_or_compile(&cached.engine, &component(1)).unwrap());
    let planted = cached.folder.path().join("planted");
    std::fs::rename(cached.path(), cached.folder.path().join("moved")).unwrap();
    std::fs::create_dir(&planted).unwrap();
    std::os::unix::fs::symlink(&planted, cached.path()).unwrap();
    let (_, origin) = cache.load_or_compile(&cached.engine, &component(1)).unwrap();
    assert!(matches!(origin, Origin::Cached), "the directory that was opened and checked is used: {origin}");
    let (_, origin) = cache.load_or_compile(&cached.engine, &component(2)).unwrap();
    assert!(!matches!(origin, Origin::NotKept(_, NotKept::Write(_))), "{origin}");
    assert_eq!(files(&planted).len(), 0);
}
