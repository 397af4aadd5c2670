//! What reads and writes text and archives.

use std::fs;
use std::path::Path;

use portcullis_policy::Request;

use super::{Tool, alone, bench, ends, run, with};
use crate::support::Bench;

/// A small tree of files.
fn files(workspace: &Path) {
    fs::create_dir_all(workspace.join("src/deep")).unwrap();
    for (name, text) in
        [("a.txt", "one\ntwo\nthree\n"), ("src/b.txt", "two\nfour\n"), ("src/deep/c.json", "{\"n\": [1, 2]}\n")]
    {
        fs::write(workspace.join(name), text).unwrap();
    }
}

fn with_files(tools: &[Tool]) -> Option<Bench> {
    bench(tools, files)
}

/// A table of programs that execute nothing, with arguments and what they print.
async fn all_print(cases: &[(&'static str, &[&str], &str)]) {
    for (name, arguments, expected) in cases {
        let Some(bench) = with_files(&[alone(name)]) else { continue };
        assert_eq!(run(&bench, name, arguments).await, *expected, "{name} {arguments:?}");
    }
}

#[tokio::test]
async fn readers_print_what_they_find() {
    all_print(&[
        ("grep", &["-rn", "two", "a.txt", "src/b.txt"], "a.txt:2:two\nsrc/b.txt:1:two\n"),
        ("rg", &["-n", "--sort", "path", "two", "."], "./a.txt:2:two\n./src/b.txt:1:two\n"),
        ("find", &["src", "-name", "*.json"], "src/deep/c.json\n"),
        ("fdfind", &["json"], "src/deep/c.json\n"),
        ("cat", &["a.txt"], "one\ntwo\nthree\n"),
        ("head", &["-n", "1", "a.txt"], "one\n"),
        ("tail", &["-n", "1", "a.txt"], "three\n"),
        ("wc", &["-l", "a.txt"], "3 a.txt\n"),
        ("cut", &["-c1", "a.txt"], "o\nt\nt\n"),
        ("sort", &["-r", "a.txt"], "two\nthree\none\n"),
        ("uniq", &["-c", "src/b.txt"], "      1 two\n      1 four\n"),
        ("sed", &["-n", "2p", "a.txt"], "two\n"),
        ("awk", &["END { print NR }", "a.txt"], "3\n"),
        ("ls", &["src"], "b.txt\ndeep\n"),
        ("stat", &["-c", "%s", "a.txt"], "14\n"),
        ("jq", &[".n | add", "src/deep/c.json"], "3\n"),
        ("perl", &["-ne", "print if /th/", "a.txt"], "three\n"),
        ("less", &["a.txt"], "one\ntwo\nthree\n"),
        ("more", &["src/b.txt"], "::::::::::::::\nsrc/b.txt\n::::::::::::::\ntwo\nfour\n"),
        ("column", &["-c", "80", "src/b.txt"], "two\tfour\n"),
        ("bash", &["-c", "read -r a < a.txt; echo $((6 * 7)) $a"], "42 one\n"),
        ("sqlite3", &[":memory:", "select 6 * 7, upper('a')"], "42|A\n"),
        ("file", &["-b", "a.txt"], "ASCII text\n"),
        ("date", &["-u", "-d", "@0", "+%Y"], "1970\n"),
        ("sha256sum", &["/dev/null"], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /dev/null\n"),
    ])
    .await;
}

#[tokio::test]
async fn writers_change_the_workspace() {
    for (name, arguments, file, expected) in [
        ("sed", &["-i", "s/one/1/", "a.txt"][..], "a.txt", "1\ntwo\nthree\n"),
        ("perl", &["-pi", "-e", "s/two/2/", "a.txt"], "a.txt", "one\n2\nthree\n"),
        ("cp", &["src/b.txt", "copy"], "copy", "two\nfour\n"),
        ("mv", &["src/b.txt", "moved"], "moved", "two\nfour\n"),
        ("ln", &["a.txt", "hard"], "hard", "one\ntwo\nthree\n"),
        ("dd", &["if=a.txt", "of=part", "bs=4", "count=1", "status=none"], "part", "one\n"),
        ("tee", &["empty"], "empty", ""),
        ("install", &["-m", "600", "a.txt", "installed"], "installed", "one\ntwo\nthree\n"),
        ("awk", &["{ print > \"out\" }", "src/b.txt"], "out", "two\nfour\n"),
        ("sort", &["-o", "a.txt", "a.txt"], "a.txt", "one\nthree\ntwo\n"),
    ] {
        let Some(bench) = with_files(&[alone(name)]) else { continue };
        run(&bench, name, arguments).await;
        assert_eq!(fs::read_to_string(bench.workspace().join(file)).unwrap(), expected, "{name} {arguments:?}");
    }
}

#[tokio::test]
async fn editors_edit() {
    let script = "2d\nwq\n";
    for (name, arguments) in [("ed", &["-s", "a.txt"][..]), ("vi", &["-es", "-u", "NONE", "a.txt"])] {
        let Some(bench) = with_files(&[alone(name)]) else { continue };
        let request = Request::new(name).args(arguments.iter().copied());
        let input = portcullis_runner::Input::Bytes(script.into());
        assert_eq!(bench.feed(&request, input).await.status, portcullis_runner::Status::Exited(0), "{name}");
        assert_eq!(fs::read_to_string(bench.workspace().join("a.txt")).unwrap(), "one\nthree\n", "{name}");
    }
}

#[tokio::test]
async fn archives_are_made_and_unpacked() {
    // It starts them by a shell.
    let compressors = "[\"sh\", \"gzip\", \"xz\", \"bzip2\"]";
    for option in ["-czf", "-cJf", "-cjf", "-cf"] {
        let Some(bench) = with_files(&[with("tar", compressors), alone("mkdir")]) else { return };
        run(&bench, "tar", &[option, "all", "a.txt", "src"]).await;
        run(&bench, "mkdir", &["to"]).await;
        run(&bench, "tar", &["-xf", "all", "-C", "to"]).await;
        assert_eq!(fs::read_to_string(bench.workspace().join("to/src/b.txt")).unwrap(), "two\nfour\n", "{option}");
    }
    for (pack, unpack, packed) in
        [("gzip", "gzip", "a.txt.gz"), ("xz", "xz", "a.txt.xz"), ("bzip2", "bzip2", "a.txt.bz2")]
    {
        let Some(bench) = with_files(&[alone(pack)]) else { continue };
        run(&bench, pack, &["a.txt"]).await;
        assert!(!bench.workspace().join("a.txt").exists() && bench.workspace().join(packed).exists());
        run(&bench, unpack, &["-d", packed]).await;
        assert_eq!(fs::read_to_string(bench.workspace().join("a.txt")).unwrap(), "one\ntwo\nthree\n");
    }
    if let Some(bench) = with_files(&[alone("zip"), alone("unzip")]) {
        run(&bench, "zip", &["-q", "-r", "all.zip", "src"]).await;
        run(&bench, "unzip", &["-q", "-d", "to", "all.zip"]).await;
        assert!(bench.workspace().join("to/src/deep/c.json").exists());
    }
}

#[tokio::test]
async fn what_starts_others_starts_what_is_listed() {
    for (name, children, arguments, expected) in [
        ("xargs", "[\"wc\"]", &["-a", "a.txt", "wc", "--version"][..], "wc (GNU coreutils)"),
        ("find", "[\"wc\"]", &["src", "-name", "b.txt", "-exec", "wc", "-l", "{}", "+"], "2 src/b.txt"),
        ("env", "[\"printenv\"]", &["A=b", "printenv", "A"], "b\n"),
        ("timeout", "[\"cat\"]", &["60", "cat", "a.txt"], "one\n"),
        ("nice", "[\"cat\"]", &["cat", "a.txt"], "one\n"),
        ("sh", "[\"grep\", \"sort\"]", &["-c", "grep -h two a.txt src/b.txt | sort"], "two\ntwo\n"),
        ("awk", "[\"sh\", \"sort\"]", &["{ print | \"sort\" }", "src/b.txt"], "four\ntwo\n"),
    ] {
        let Some(bench) = with_files(&[with(name, children)]) else { continue };
        let printed = run(&bench, name, arguments).await;
        assert!(printed.starts_with(expected), "{name}: {printed}");
    }
    // What is not listed does not start, so the above can fail.
    let Some(bench) = with_files(&[with("xargs", "[\"wc\"]")]) else { return };
    ends(&bench, 126, &Request::new("xargs").args(["-a", "a.txt", "ls"])).await;
}
