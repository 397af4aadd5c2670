//! Compilers and what starts them. What they build is executed, so their children are any.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Tool, bench, run, with};
use crate::support::skip;

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

/// What gcc executes: its own parts and binutils.
const GCC: &str = "[\"as\", \"ld\", \"/usr/lib/gcc\", \"/usr/libexec/gcc\"]";

#[tokio::test]
async fn gcc_compiles_with_its_own_parts_only() {
    let Some(bench) = bench(&[with("gcc", GCC)], |workspace| fs::write(workspace.join("a.c"), HELLO).unwrap()) else {
        return;
    };
    run(&bench, "gcc", &["-O1", "-Wall", "-o", "a", "a.c"]).await;
    run(&bench, "gcc", &["-c", "-pipe", "-g", "a.c"]).await;
    assert!(bench.workspace().join("a").exists() && bench.workspace().join("a.o").exists());
}

#[tokio::test]
async fn make_builds_and_runs_what_it_built() {
    let rules = "test: a\n\t./a > out && grep -q hello out\na: a.c\n\t$(CC) -o $@ $<\nclean:\n\trm -f a out\n";
    let Some(bench) = bench(&[with("make", "\"any\"")], |workspace| {
        fs::write(workspace.join("a.c"), HELLO).unwrap();
        fs::write(workspace.join("Makefile"), rules).unwrap();
    }) else {
        return;
    };
    run(&bench, "make", &["-j2", "test"]).await;
    assert_eq!(fs::read_to_string(bench.workspace().join("out")).unwrap(), "hello\n");
    run(&bench, "make", &["clean"]).await;
    assert!(!bench.workspace().join("a").exists());
    run(&bench, "make", &["-n", "test"]).await;
}

/// cargo of the toolchain itself: rustup's shims choose one by what lies in a home.
fn cargo() -> Option<(Tool, String)> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.ok().filter(|output| output.status.success());
    let Some(sysroot) = sysroot.map(|output| String::from_utf8(output.stdout).unwrap().trim().to_owned()) else {
        skip("rustc is not installed, or not for this user");
        return None;
    };
    let keys = format!(
        "file = \"{sysroot}/bin/cargo\"\nread = [\"{sysroot}\"]\nchildren = \"any\"\n\
         env.set = {{ PATH = \"{sysroot}/bin:/usr/bin:/bin\", CARGO_HOME = \"/tmp/cargo\" }}"
    );
    Some((Tool { name: "cargo", keys }, sysroot))
}

fn krate(workspace: &Path) {
    let write = |name: &str, text: &str| fs::write(workspace.join(name), text).unwrap();
    fs::create_dir_all(workspace.join("src")).unwrap();
    write("Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n");
    write("build.rs", "fn main() { println!(\"cargo::rustc-env=MADE=by build.rs\") }\n");
    write(
        "src/main.rs",
        "fn main() { println!(\"{}\", env!(\"MADE\")) }\n#[test]\nfn it_is() { assert_eq!(env!(\"MADE\"), \"by build.rs\") }\n",
    );
}

#[tokio::test]
async fn cargo_builds_runs_and_tests_offline() {
    let Some((tool, _)) = cargo() else { return };
    let Some(bench) = bench(&[tool], krate) else { return };
    run(&bench, "cargo", &["metadata", "--offline", "--format-version", "1"]).await;
    run(&bench, "cargo", &["build", "--offline", "-q"]).await;
    assert_eq!(run(&bench, "cargo", &["run", "--offline", "-q"]).await, "by build.rs\n");
    assert!(run(&bench, "cargo", &["test", "--offline", "-q"]).await.contains("1 passed"));
    run(&bench, "cargo", &["clean", "-q"]).await;
}

#[tokio::test]
async fn cargo_checks_with_listed_programs() {
    let Some((Tool { name, keys }, sysroot)) = cargo() else { return };
    // No build script, so nothing is executed that was just built.
    let keys = keys.replace("children = \"any\"", &format!("children = [\"{sysroot}/bin/rustc\"]"));
    let Some(bench) = bench(&[Tool { name, keys }], |workspace| {
        krate(workspace);
        fs::remove_file(workspace.join("build.rs")).unwrap();
        let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        fs::write(workspace.join("Cargo.toml"), manifest).unwrap();
        fs::write(workspace.join("src/main.rs"), "fn main() {}\n").unwrap();
    }) else {
        return;
    };
    run(&bench, "cargo", &["check", "--offline", "-q"]).await;
}
