//! Which file a program's name stands for, and that this file and no other runs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use portcullis_policy::{ProgramFact, ProgramName, Request};
use portcullis_runner::{StartError, Status, Streams, start};
use support::{Bench, allow, copied, executable};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn fact(bench: &Bench, name: &str) -> ProgramFact {
    bench.programs.fact(&ProgramName::new(name).unwrap())
}

/// Why a program can't be used, with the bench's folder as `FOLDER`.
fn unusable(bench: &Bench, name: &str) -> String {
    match fact(bench, name) {
        ProgramFact::Unusable(why) => why.replace(bench.folder().to_str().unwrap(), "FOLDER"),
        other @ (ProgramFact::Found(_) | ProgramFact::Missing) => panic!("{name}: {other:?}"),
    }
}

/// A bench with a folder `bin` for programs, looked into first.
fn with_bin(names: &[&str], prepare: impl FnOnce(&Path)) -> Bench {
    let path = "programs.path = [\"FOLDER/bin\", \"/usr/bin\", \"/bin\"]\n".to_owned();
    let rules = names.iter().fold(path, |rules, name| rules + &allow(name, None));
    Bench::prepared(&rules, |folder| {
        let bin = folder.join("bin");
        fs::create_dir(&bin).unwrap();
        mode(&bin, 0o755);
        prepare(&bin);
    })
}

#[tokio::test]
async fn the_first_executable_file_of_that_name_on_the_search_path_is_the_program() {
    let path = "programs.path = [\"FOLDER/missing\", \"FOLDER/a\", \"FOLDER/b\", \"FOLDER/c\"]\n";
    let bench = Bench::prepared(&(path.to_owned() + &allow("tool", None) + &allow("absent", None)), |folder| {
        for name in ["a", "b", "c"] {
            fs::create_dir(folder.join(name)).unwrap();
            mode(&folder.join(name), 0o755);
        }
        // A directory of that name, and a file that is not executable: both are passed over.
        fs::create_dir(folder.join("a/tool")).unwrap();
        fs::write(folder.join("b/tool"), "").unwrap();
        executable(&folder.join("c/tool"), "#!/bin/sh\necho \"$0\" \"$@\"\n");
    });
    let text = bench.text(&Request::new("tool").args(["x y"])).await;
    assert_eq!(text, format!("{}/c/tool x y\n", fs::canonicalize(bench.folder()).unwrap().display()));
    assert_eq!(fact(&bench, "absent"), ProgramFact::Missing);
    assert_eq!(fact(&bench, "unlisted"), ProgramFact::Missing);
}

#[tokio::test]
async fn a_named_file_is_the_program_whatever_the_search_path_says() {
    let bench = Bench::new(&allow("ls", Some("/bin/echo")));
    assert_eq!(bench.text(&Request::new("ls").args(["it is echo"])).await, "it is echo\n");
    let bench = Bench::new(&allow("ls", Some("/no/such/file")));
    assert_eq!(fact(&bench, "ls"), ProgramFact::Missing);
}

#[tokio::test]
async fn a_link_is_resolved_when_the_policy_is_loaded_and_the_name_stays_the_entrys() {
    let bench = with_bin(&["link"], |bin| symlink("/bin/cat", bin.join("link")).unwrap());
    let ProgramFact::Found(identity) = fact(&bench, "link") else { panic!("it is there") };
    assert_eq!(identity.path, fs::canonicalize("/bin/cat").unwrap().to_str().unwrap());
    assert_eq!(bench.text(&Request::new("link").args(["/proc/self/cmdline"])).await, "link\0/proc/self/cmdline\0");

    // The link now names another program: what was judged runs, which nobody changed.
    fs::remove_file(bench.folder().join("bin/link")).unwrap();
    symlink("/bin/ls", bench.folder().join("bin/link")).unwrap();
    assert_eq!(bench.text(&Request::new("link").args(["/proc/self/cmdline"])).await, "link\0/proc/self/cmdline\0");
}

#[tokio::test]
async fn a_script_runs_as_its_interpreter_on_its_path() {
    let bench = with_bin(&["plain", "argument", "env", "no-newline"], |bin| {
        executable(&bin.join("plain"), "#! \t/bin/sh\ntr '\\0' '|' < /proc/$$/cmdline\n");
        executable(&bin.join("argument"), "#!/bin/sh -eu  \ntr '\\0' '|' < /proc/$$/cmdline\n");
        executable(&bin.join("env"), "#!/usr/bin/env sh\ntr '\\0' '|' < /proc/$$/cmdline\n");
        executable(&bin.join("no-newline"), "#!/bin/cat");
    });
    let sh = fs::canonicalize("/usr/bin/sh").unwrap().display().to_string();
    let bin = fs::canonicalize(bench.folder().join("bin")).unwrap().display().to_string();
    for (name, expected) in [
        ("plain", format!("{sh}|{bin}/plain|a|b c|")),
        ("argument", format!("{sh}|-eu|{bin}/argument|a|b c|")),
        ("env", format!("{sh}|{bin}/env|a|b c|")),
    ] {
        assert_eq!(bench.text(&Request::new(name).args(["a", "b c"])).await, expected);
    }
    assert_eq!(bench.text(&Request::new("no-newline")).await, "#!/bin/cat");
}

#[test]
fn a_script_that_can_not_be_pinned_is_unusable_and_says_why() {
    let names = [
        "no-interpreter",
        "relative",
        "long",
        "env-option",
        "env-two",
        "env-missing",
        "nested",
        "text",
        "crlf",
        "empty",
    ];
    let bench = with_bin(&names, |bin| {
        let long = format!("#!/{}\n", "x".repeat(300));
        for (name, content) in [
            ("no-interpreter", "#!/no/such/interpreter\n"),
            ("relative", "#!sh\n"),
            ("long", long.as_str()),
            ("env-option", "#!/usr/bin/env -S sh -x\n"),
            ("env-two", "#!/usr/bin/env A=b sh\n"),
            ("env-missing", "#!/usr/bin/env portcullis-no-such-program\n"),
            ("text", "echo a shell would run this\n"),
            ("crlf", "#!/bin/sh\r\n"),
            ("empty", ""),
        ] {
            executable(&bin.join(name), content);
        }
        executable(&bin.join("inner"), "#!/bin/sh\n");
        executable(&bin.join("nested"), format!("#!{}/inner\n", bin.display()));
    });
    for (name, why) in [
        ("no-interpreter", "the interpreter of FOLDER/bin/no-interpreter is not installed"),
        ("relative", "FOLDER/bin/relative: the interpreter of its `#!` line is not an absolute path"),
        ("long", "FOLDER/bin/long: its `#!` line is longer than 255 bytes"),
        ("env-option", "FOLDER/bin/env-option: its `#!` line uses env as `env -S sh -x`, which can't be pinned"),
        ("env-two", "FOLDER/bin/env-two: its `#!` line uses env as `env A=b sh`, which can't be pinned"),
        ("env-missing", "the interpreter of FOLDER/bin/env-missing is not installed"),
        ("nested", "the interpreter of FOLDER/bin/nested, FOLDER/bin/inner, is no ELF program"),
        ("text", "FOLDER/bin/text is neither an ELF program nor a script with a `#!` line"),
        ("crlf", "the interpreter of FOLDER/bin/crlf is not installed"),
        ("empty", "FOLDER/bin/empty is neither an ELF program nor a script with a `#!` line"),
    ] {
        assert_eq!(unusable(&bench, name), why);
    }
}

#[test]
fn a_script_that_others_could_exchange_is_unusable_and_says_why() {
    let rules: String = ["open", "deep", "file", "sticky", "inside"]
        .map(|name| {
            let place = match name {
                "open" => "open/script",
                "deep" => "open/closed/script",
                "file" => "file/script",
                "sticky" => "sticky/closed/script",
                _ => "workspace/script",
            };
            allow(name, Some(&format!("FOLDER/{place}")))
        })
        .concat();
    let bench = Bench::prepared(&rules, |folder| {
        for directory in ["open/closed", "file", "sticky/closed"] {
            fs::create_dir_all(folder.join(directory)).unwrap();
            mode(&folder.join(directory), 0o755);
        }
        for directory in ["open", "open/closed", "file", "sticky/closed", "workspace"] {
            executable(&folder.join(directory).join("script"), "#!/bin/sh\n");
        }
        mode(&folder.join("open"), 0o777);
        mode(&folder.join("sticky"), 0o1777);
        mode(&folder.join("file/script"), 0o775);
    });
    let advice = "install it in a directory that only its owner can write";
    for (name, why) in [
        ("open", "FOLDER/open can be written by others than its owner"),
        ("deep", "FOLDER/open can be written by others than its owner"),
        ("file", "FOLDER/file/script can be written by others than its owner"),
        ("inside", "FOLDER/workspace/script is a script below the workspace, which commands can change"),
    ] {
        assert_eq!(unusable(&bench, name), format!("{why}; {advice}"));
    }
    // As below `/tmp`: nobody but its owner can rename `closed`.
    assert!(matches!(fact(&bench, "sticky"), ProgramFact::Found(_)));
}

/// Approving a program after this change of its folder gives this code.
fn approving_after(change: impl FnOnce(&Path)) -> Result<(), String> {
    let bench = with_bin(&["tool", "script"], |bin| {
        copied(Path::new("/bin/true"), &bin.join("tool"));
        executable(&bin.join("script"), "#!/bin/sh\nexit 0\n");
    });
    for name in ["tool", "script"] {
        bench.approve(&Request::new(name)).unwrap();
    }
    change(&bench.folder().join("bin"));
    ["tool", "script"]
        .into_iter()
        .try_for_each(|name| bench.approve(&Request::new(name)).map(drop))
        .map_err(|problem| problem.code.as_str().to_owned())
}

#[test]
fn a_program_that_changed_since_the_policy_was_loaded_does_not_run() {
    let changed = Err("shell.program.changed".to_owned());
    assert_eq!(approving_after(|_| ()), Ok(()));
    for name in ["tool", "script"] {
        let written = approving_after(|bin| {
            let mut file = fs::File::options().append(true).open(bin.join(name)).unwrap();
            std::io::Write::write_all(&mut file, b"more").unwrap();
        });
        assert_eq!(written, changed, "{name} was written to");
        assert_eq!(
            approving_after(|bin| executable(&bin.join(name), "#!/bin/sh\nexit 0\n")),
            changed,
            "{name} replaced"
        );
        assert_eq!(approving_after(|bin| fs::remove_file(bin.join(name)).unwrap()), changed, "{name} removed");
        assert_eq!(
            approving_after(|bin| fs::rename(bin.join(name), bin.join("x")).unwrap()),
            changed,
            "{name} renamed"
        );
    }
    let moved = approving_after(|bin| fs::rename(bin, bin.with_extension("elsewhere")).unwrap());
    assert_eq!(moved, changed);
}

#[tokio::test]
async fn a_receipt_for_another_command_starts_nothing() {
    let bench = Bench::allowing(&["touch"]);
    let harmless = bench.approve(&Request::new("touch").args(["harmless"])).unwrap();
    let receipt = bench.receipt(&harmless);
    let other = bench.approve(&Request::new("touch").args(["other"])).unwrap();
    let error = start(other, receipt, Streams::default()).unwrap_err();
    assert!(matches!(error, StartError::WrongReceipt), "{error:?}");
    assert_eq!(error.problem().code.as_str(), "shell.start.failed");
    assert!(!bench.workspace().join("other").exists());
}

#[tokio::test]
async fn a_program_that_can_be_executed_and_not_read_runs() {
    let rules = allow("secret", Some("FOLDER/secret"));
    let bench = Bench::prepared(&rules, |folder| {
        copied(Path::new("/bin/true"), &folder.join("secret"));
        mode(&folder.join("secret"), 0o111);
    });
    assert_eq!(bench.run(&Request::new("secret")).await.status, Status::Exited(0));
}
