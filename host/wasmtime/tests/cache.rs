//! Compiled components on disk: what counts, what does not, and what happens to it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

#[path = "cache/damage.rs"]
mod damage;
#[path = "cache/room.rs"]
mod room;
#[path = "cache/shared.rs"]
mod shared;
mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_policy::Level;
use portcullis_wasmtime::{
    CacheError, ComponentCache, Missed, NotKept, Origin, Refused, RunOptions, Tool, ToolEngine, Unsafe,
};
use support::World;
use tempfile::TempDir;
use wasmtime::{Config, Engine};

/// A fresh folder whose `components` is a cache.
struct Cached {
    folder: TempDir,
    engine: Engine,
}

impl Cached {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), engine: Engine::default() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("components")
    }

    fn open(&self) -> ComponentCache {
        ComponentCache::open(&self.path(), Level::Landlock).unwrap()
    }

    /// Loads a component through the cache, opened anew.
    fn load(&self, number: u8) -> Origin {
        self.open().load_or_compile(&self.engine, &component(number)).unwrap().1
    }

    /// The only entry.
    fn entry(&self) -> PathBuf {
        let entries = files(&self.path());
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries[0].clone()
    }
}

/// A component with a core module whose function returns a number.
fn component(number: u8) -> Vec<u8> {
    assert!(number < 64, "it is one byte of signed LEB128");
    let module = [
        &b"\0asm\x01\0\0\0"[..],
        &[1, 5, 1, 0x60, 0, 1, 0x7f],          // a type: () -> i32
        &[3, 2, 1, 0],                         // a function of it
        &[10, 6, 1, 4, 0, 0x41, number, 0x0b], // i32.const NUMBER
    ]
    .concat();
    [&b"\0asm\x0d\0\x01\0"[..], &[1, u8::try_from(module.len()).unwrap()], &module].concat()
}

/// What is in a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_was_compiled_once_is_loaded_from_then_on() {
    let cached = Cached::new();
    assert!(matches!(cached.load(1), Origin::Kept(Missed::Absent)));
    assert!(matches!(cached.load(1), Origin::Cached));
    assert!(matches!(cached.load(2), Origin::Kept(Missed::Absent)), "another component has another entry");
    assert_eq!((mode(&cached.path()), files(&cached.path()).len()), (0o700, 2));
    assert!(files(&cached.path()).iter().all(|file| mode(file) == 0o600));
}

#[test]
fn another_engine_has_entries_of_its_own() {
    let cached = Cached::new();
    drop(cached.load(1));
    let epochs = Engine::new(Config::new().epoch_interruption(true)).unwrap();
    let fuel = Engine::new(Config::new().consume_fuel(true)).unwrap();
    for engine in [&epochs, &fuel] {
        for expected in [false, true] {
            let (_, origin) = cached.open().load_or_compile(engine, &component(1)).unwrap();
            assert_eq!(matches!(origin, Origin::Cached), expected, "{origin}");
        }
    }
    assert_eq!(files(&cached.path()).len(), 3);
}

#[test]
fn what_is_no_component_is_not_kept() {
    let cached = Cached::new();
    for bytes in [&b""[..], b"\0asm\x0d\0\x01\0\xff", b"#!/bin/sh"] {
        assert!(cached.open().load_or_compile(&cached.engine, bytes).is_err());
    }
    assert_eq!(files(&cached.path()), Vec::<PathBuf>::new());
}

#[test]
fn where_commands_can_write_what_the_user_can_there_is_no_cache() {
    let cached = Cached::new();
    for level in [Level::None, Level::Limits] {
        let error = ComponentCache::open(&cached.path(), level).unwrap_err();
        assert!(matches!(error, CacheError::Level { level: named } if named == level), "{error}");
    }
    assert!(!cached.path().exists(), "nothing was made");
    for level in [Level::Landlock, Level::Full] {
        drop(ComponentCache::open(&cached.path(), level).unwrap());
    }
}

#[tokio::test]
async fn a_tool_from_the_cache_runs_as_one_that_was_compiled() {
    let world = World::new();
    let gate = world.gate("", &["true"]);
    for expected in ["compiled, and kept in the cache", "loaded from the cache"] {
        let cache = ComponentCache::open(&world.path().join("components"), Level::Full).unwrap();
        let engine = ToolEngine::new().unwrap().cache(cache);
        let tool = Tool::load(&engine, &support::component("hello")).unwrap();
        assert_eq!(tool.origin().to_string(), expected);
        assert_eq!(tool.run(&gate, RunOptions::default()).await.unwrap(), 0);
    }
}

#[test]
fn an_engine_without_a_cache_writes_nothing() {
    let tool = Tool::load(&ToolEngine::new().unwrap(), &support::component("hello")).unwrap();
    assert!(matches!(tool.origin(), Origin::Compiled));
}

/// Opens a cache that must be refused.
fn refused(path: &Path) -> Unsafe {
    match ComponentCache::open(path, Level::Landlock).unwrap_err() {
        CacheError::Directory { source, .. } => source,
        error @ CacheError::Level { .. } => panic!("{error}"),
    }
}

#[test]
fn a_directory_that_others_can_enter_is_no_cache() {
    let cached = Cached::new();
    drop(cached.load(1));
    for others in [0o770, 0o720, 0o702, 0o755, 0o701, 0o1777] {
        set_mode(&cached.path(), others);
        assert!(matches!(refused(&cached.path()), Unsafe::Mode(mode) if mode == others));
    }
    set_mode(&cached.path(), 0o700);
    assert!(matches!(cached.load(1), Origin::Cached));
}

#[test]
fn a_directory_of_somebody_else_is_no_cache() {
    let cached = Cached::new();
    let path = if is_root() {
        drop(cached.open());
        std::os::unix::fs::chown(cached.path(), Some(65534), None).unwrap();
        cached.path()
    } else {
        PathBuf::from("/usr")
    };
    assert!(matches!(refused(&path), Unsafe::Owner { .. }));
}

#[test]
fn a_link_or_a_file_is_no_cache() {
    let cached = Cached::new();
    let (link, file) = (cached.folder.path().join("link"), cached.folder.path().join("file"));
    drop(cached.open());
    std::os::unix::fs::symlink(cached.path(), &link).unwrap();
    assert!(matches!(refused(&link), Unsafe::Kind));
    fs::write(&file, "").unwrap();
    assert!(matches!(refused(&file), Unsafe::Io(_) | Unsafe::Kind));
}
