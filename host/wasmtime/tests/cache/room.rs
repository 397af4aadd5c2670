//! How much is kept, and what happens where nothing can be.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use portcullis_policy::Level;

use super::{Cached, ComponentCache, Missed, NotKept, Origin, Refused, component, files};
use crate::support::skip;

fn unused_for(path: &Path, hours: u64) {
    let time = SystemTime::now() - Duration::from_secs(hours * 3600);
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn what_was_unused_for_longest_goes_first() {
    let cached = Cached::new();
    let mut entries = Vec::new();
    for number in 0..4 {
        drop(cached.load(number));
        let new = files(&cached.path()).into_iter().find(|file| !entries.contains(file)).unwrap();
        unused_for(&new, 10 - u64::from(number));
        entries.push(new);
    }
    assert!(matches!(cached.load(0), Origin::Cached), "and it counts as used now");
    let most: u64 = entries[..3].iter().map(|entry| fs::metadata(entry).unwrap().len()).sum();
    let cache = cached.open().max_bytes(most);
    let (_, origin) = cache.load_or_compile(&cached.engine, &component(4)).unwrap();
    assert!(matches!(origin, Origin::Kept(Missed::Absent)), "{origin}");
    let kept: Vec<bool> = entries.iter().map(|entry| entry.exists()).collect();
    assert_eq!(kept, [true, false, false, true]);
    assert!(matches!(cached.load(4), Origin::Cached));
}

#[test]
fn what_a_crash_left_behind_goes_and_what_is_unknown_stays() {
    let cached = Cached::new();
    drop(cached.open());
    let [old, new, unknown] = [".new-1-0-5", ".new-2-0-6", "README"].map(|name| cached.path().join(name));
    for file in [&old, &new, &unknown] {
        fs::write(file, "half").unwrap();
    }
    unused_for(&old, 2);
    unused_for(&unknown, 2);
    assert!(matches!(cached.load(1), Origin::Kept(_)));
    assert_eq!([&old, &new, &unknown].map(|file| file.exists()), [false, true, true]);
}

#[test]
fn what_is_larger_than_the_cache_is_neither_kept_nor_loaded() {
    let cached = Cached::new();
    let small = || cached.open().max_bytes(100).load_or_compile(&cached.engine, &component(1)).unwrap().1;
    let origin = small();
    assert!(matches!(origin, Origin::NotKept(Missed::Absent, NotKept::TooLarge { most: 100, .. })), "{origin}");
    assert_eq!(files(&cached.path()).len(), 0);
    drop(cached.load(1));
    let origin = small();
    let expected = matches!(&origin, Origin::NotKept(Missed::Refused(Refused::TooLarge(_)), NotKept::TooLarge { .. }));
    assert!(expected, "{origin}");
    // It is not even read into memory.
    File::options().write(true).open(cached.entry()).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(cached.load(1), Origin::Kept(Missed::Refused(Refused::TooLarge(_)))));
    assert!(matches!(cached.load(1), Origin::Cached));
}

#[test]
fn a_directory_that_went_away_keeps_nothing_from_running() {
    let cached = Cached::new();
    let cache = cached.open();
    fs::remove_dir(cached.path()).unwrap();
    let (_, origin) = cache.load_or_compile(&cached.engine, &component(1)).unwrap();
    assert!(matches!(origin, Origin::NotKept(Missed::Absent, NotKept::Write(_))), "{origin}");
}

#[test]
fn a_directory_that_can_not_be_written_keeps_nothing_from_running() {
    let cached = Cached::new();
    drop(cached.load(1));
    super::set_mode(&cached.path(), 0o500);
    let origin = cached.load(2);
    // Root may write all the same.
    let expected = if super::is_root() {
        matches!(origin, Origin::Kept(_))
    } else {
        matches!(origin, Origin::NotKept(Missed::Absent, NotKept::Write(_)))
    };
    assert!(expected, "{origin}");
    assert!(matches!(cached.load(1), Origin::Cached), "what is there is loaded");
    super::set_mode(&cached.path(), 0o700);
}

/// Tells this program, started anew, where the cache is.
const ELSEWHERE: &str = "PORTCULLIS_TEST_CACHE";

/// What the two tests below start in a process of its own: loads a component, and says what became of it.
#[test]
fn in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(ELSEWHERE) else { return };
    let cache = ComponentCache::open(path.as_ref(), Level::Landlock).unwrap();
    let (_, origin) = cache.load_or_compile(&wasmtime::Engine::default(), &component(1)).unwrap();
    let told = format!("ORIGIN {origin} {:?}\n", files(cache.directory()));
    std::io::Write::write_all(&mut std::io::stdout(), told.as_bytes()).unwrap();
}

fn told(command: &mut Command, path: &Path) -> String {
    let output = command.env(ELSEWHERE, path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("ORIGIN ")).map(|(_, told)| told.to_owned());
    line.unwrap_or(text)
}

const ALONE: [&str; 3] = ["--exact", "room::in_a_process_of_its_own", "--nocapture"];

#[test]
fn a_limit_on_file_size_keeps_nothing_from_running() {
    let cached = Cached::new();
    let mut command = Command::new("prlimit");
    command.arg("--fsize=1000").arg(std::env::current_exe().unwrap()).args(ALONE);
    let told = told(&mut command, &cached.path());
    assert!(told.contains("this process may write files of 1000") && told.ends_with(" []"), "{told}");
}

#[test]
fn a_full_disk_keeps_nothing_from_running() {
    let cached = Cached::new();
    drop(cached.open());
    // A small file system of its own, in namespaces of its own.
    let script = "mount -t tmpfs -o size=8k,mode=700 none \"$0\" || exit 9; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(cached.path());
    command.arg(std::env::current_exe().unwrap()).args(ALONE);
    let mut probe = Command::new("unshare");
    probe.args(["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none"]).arg(cached.folder.path());
    let probe = probe.output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        return skip("a full disk can't be had: a user namespace can't mount a tmpfs here");
    }
    let told = told(&mut command, &cached.path());
    assert!(told.contains("can't write it: No space left on device") && told.ends_with(" []"), "{told}");
}
