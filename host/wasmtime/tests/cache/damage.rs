//! Entries that do not count: they are compiled again and replaced, and nothing of them is ever executed.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::process::Command;

use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Engine};

use super::{Cached, Missed, Origin, Refused, Unsafe, files, is_root, mode, set_mode};
use crate::support::skip;

/// What stands behind the code, and where in it the code's length and digest are.
const SEAL: usize = 92;
const LENGTH: std::ops::Range<usize> = 52..60;
const DIGEST: std::ops::Range<usize> = 60..92;

/// Loads over a damaged entry: it must be refused and replaced, and the new one must count.
#[track_caller]
fn replaced(cached: &Cached) -> Refused {
    let origin = cached.load(1);
    let Origin::Kept(Missed::Refused(refused)) = origin else { panic!("{origin}") };
    assert!(matches!(cached.load(1), Origin::Cached), "after: {refused}");
    assert_eq!(mode(&cached.entry()), 0o600);
    refused
}

#[test]
fn an_entry_that_is_cut_or_grew_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let whole = fs::read(cached.entry()).unwrap();
    let pages = (0..whole.len()).step_by(4096);
    for length in pages.chain([1, SEAL - 1, SEAL, SEAL + 1, whole.len() - SEAL, whole.len() - 1]) {
        fs::write(cached.entry(), &whole[..length]).unwrap();
        let expected = if length < SEAL { Refused::Cut } else { Refused::Foreign };
        assert_eq!(replaced(&cached).to_string(), expected.to_string(), "{length}");
        // As a power failure leaves it: the length is there, and the bytes are not.
        let mut torn = whole[..length].to_vec();
        torn.resize(whole.len(), 0);
        if torn != whole {
            fs::write(cached.entry(), torn).unwrap();
            drop(replaced(&cached));
        }
    }
    fs::write(cached.entry(), [&whole[..], &[0]].concat()).unwrap();
    assert!(matches!(replaced(&cached), Refused::Foreign));
    fs::write(cached.entry(), [&[0], &whole[..]].concat()).unwrap();
    assert!(matches!(replaced(&cached), Refused::Cut));
}

#[test]
fn an_entry_with_a_flipped_bit_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let whole = fs::read(cached.entry()).unwrap();
    let seal = whole.len() - SEAL;
    for place in (0..seal).step_by(whole.len() / 64).chain(seal..whole.len()) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(cached.entry(), bytes).unwrap();
        let refused = replaced(&cached);
        let expected = match place.wrapping_sub(seal) {
            0..16 => matches!(refused, Refused::Foreign),
            16..52 => matches!(refused, Refused::Other),
            52..60 => matches!(refused, Refused::Cut),
            _ => matches!(refused, Refused::Changed),
        };
        assert!(expected, "{place}: {refused}");
    }
}

#[test]
fn an_entry_for_another_component_or_engine_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let place = cached.entry();
    for (engine, number) in
        [(cached.engine.clone(), 2), (Engine::new(Config::new().epoch_interruption(true)).unwrap(), 1)]
    {
        drop(cached.open().load_or_compile(&engine, &super::component(number)).unwrap());
        let other = files(&cached.path()).into_iter().find(|file| *file != place).unwrap();
        fs::rename(other, &place).unwrap();
        assert!(matches!(replaced(&cached), Refused::Other));
    }
}

#[test]
fn an_entry_that_wasmtime_refuses_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let whole = fs::read(cached.entry()).unwrap();
    let module = Engine::default().precompile_module(b"\0asm\x01\0\0\0").unwrap();
    for code in [&b""[..], b"\x7fELF", b"no code at all", &module] {
        let mut seal = whole[whole.len() - SEAL..].to_vec();
        seal[LENGTH].copy_from_slice(&(code.len() as u64).to_le_bytes());
        seal[DIGEST].copy_from_slice(&Sha256::digest(code));
        fs::write(cached.entry(), [code, &seal].concat()).unwrap();
        assert!(matches!(replaced(&cached), Refused::Wasmtime(_)));
    }
}

#[test]
fn an_entry_that_others_may_write_or_read_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    for others in [0o660, 0o606, 0o620, 0o644, 0o4755] {
        set_mode(&cached.entry(), others);
        assert!(matches!(replaced(&cached), Refused::Unsafe(Unsafe::Mode(mode)) if mode == others));
    }
}

#[test]
fn an_entry_of_somebody_else_does_not_count() {
    if !is_root() {
        return skip("only root can give a file of the cache away");
    }
    let cached = Cached::new();
    drop(cached.load(1));
    chown(cached.entry(), Some(65534), None).unwrap();
    assert!(matches!(replaced(&cached), Refused::Unsafe(Unsafe::Owner { owner: 65534, user: 0 })));
}

#[test]
fn an_entry_with_a_second_name_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let elsewhere = cached.folder.path().join("elsewhere");
    fs::hard_link(cached.entry(), &elsewhere).unwrap();
    assert!(matches!(replaced(&cached), Refused::Unsafe(Unsafe::Links(2))));
    let other = fs::read(&elsewhere).unwrap();
    fs::write(&elsewhere, "planted").unwrap();
    assert!(matches!(cached.load(1), Origin::Cached), "it is another file now");
    assert_eq!(fs::read(cached.entry()).unwrap(), other);
}

#[test]
fn a_link_a_pipe_or_a_directory_does_not_count() {
    let cached = Cached::new();
    drop(cached.load(1));
    let (entry, elsewhere) = (cached.entry(), cached.folder.path().join("elsewhere"));
    fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    assert!(matches!(replaced(&cached), Refused::Unsafe(Unsafe::Kind)));
    fs::remove_file(&entry).unwrap();
    assert!(Command::new("mkfifo").args(["-m", "600"]).arg(&entry).status().unwrap().success());
    assert!(matches!(replaced(&cached), Refused::Unsafe(Unsafe::Kind)), "and nobody waits for a writer");
    // What can't be replaced is left alone, and the component runs.
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    let origin = cached.load(1);
    assert!(matches!(origin, Origin::NotKept(Missed::Refused(Refused::Unsafe(Unsafe::Kind)), _)), "{origin}");
    assert_eq!(files(&cached.path()), [entry], "what was begun is gone");
}
