//! `run` with a file that is no component that can run: one sentence, 125, and nothing begun.

use std::fs;
use std::path::Path;

use super::{assert_refused, printed};
use crate::support::{Ended, World, component};

/// Runs a file as a component; returns the message and checks that no session was begun.
fn refused(world: &World, file: &Path, code: &str) -> String {
    let ended = world.run(["run".as_ref(), file.as_os_str()]);
    assert_refused(&ended, 125, code);
    assert!(!world.journal().exists() || world.record_types() == ["segment"], "no session was begun");
    ended.stderr
}

#[test]
fn a_file_that_can_not_be_read_is_named() {
    let world = World::new("");
    let missing = world.path().join("missing.wasm");
    assert!(refused(&world, &missing, "shell.component.unreadable").contains(missing.to_str().unwrap()));
    refused(&world, &world.workspace(), "shell.component.unreadable");
    // Opening it would wait for a writer.
    let fifo = world.path().join("fifo.wasm");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    refused(&world, &fifo, "shell.component.unreadable");
}

#[test]
fn a_file_that_is_no_component_is_told_as_what_it_is() {
    let world = World::new("");
    let hello = fs::read(component("hello")).unwrap();
    let text = b"#!/bin/sh\necho no component\n".to_vec();
    for (name, bytes) in
        [("empty.wasm", Vec::new()), ("text.wasm", text), ("cut.wasm", hello[..hello.len() / 2].to_vec())]
    {
        let file = world.path().join(name);
        fs::write(&file, bytes).unwrap();
        let message = refused(&world, &file, "shell.component.invalid");
        assert!(message.starts_with(&format!("portcullis: `{name}` is not a WebAssembly component")), "{message}");
    }
    let message = refused(&world, &component("core"), "shell.component.invalid");
    assert!(
        message.contains("`core.wasm` is a core WebAssembly module") && message.contains("wasm32-wasip2"),
        "{message}"
    );
}

#[test]
fn a_component_that_imports_what_nobody_offers_is_told_by_the_import() {
    let message = refused(&World::new(""), &component("wrong-import"), "shell.component.import");
    assert!(message.contains("imports `example:nowhere/thing@1.0.0`, which this host does not offer;"), "{message}");
}

#[test]
fn a_component_without_a_main_is_told_so() {
    let message = refused(&World::new(""), &component("caller"), "shell.component.export");
    assert!(message.contains("`caller.wasm` exports no wasi:cli/run"), "{message}");
}

#[test]
fn a_component_gives_its_own_exit_code_and_streams() {
    let world = World::new("");
    assert_eq!(world.component("hello", &["a", "", "b c"]), printed("hello\na\n\nb c\n"));
    assert_eq!(world.record_types(), ["segment", "session-start", "session-end"]);
}

#[test]
fn a_missing_workspace_is_told_before_the_component_is_read() {
    let world = World::new("");
    let hello = component("hello");
    let nowhere = world.path().join("nowhere");
    let ended = world.run(["run".as_ref(), "--workspace".as_ref(), nowhere.as_os_str(), hello.as_os_str()]);
    assert_refused(&ended, 125, "shell.workspace.missing");
    let Ended { stderr, .. } = ended;
    assert!(stderr.contains(nowhere.to_str().unwrap()) && stderr.contains("--workspace"), "{stderr}");
}
