//! Types of values.

use super::{policy, read};

/// The one operand of a rule may be these, and not those.
#[track_caller]
fn assert_values(slot: &str, right: &[&str], wrong: &[&str]) {
    let policy = policy("allow", &format!("positionals = {{ min = 1, max = 1, {slot} }}"));
    for value in right {
        assert!(read(&policy, &["--", value]).is_ok(), "{slot} should take {value:?}");
    }
    for value in wrong {
        assert_eq!(read(&policy, &["--", value]), Err(1), "{slot} should not take {value:?}");
    }
}

#[test]
fn texts_and_words() {
    assert_values("type = \"text\"", &["", "-x", "a b", "\n", "é"], &[]);
    assert_values("type = \"word\"", &["a", "a-b", "é"], &["", "-", "-x", "--"]);
    assert_values("type = \"enum\", values = [\"a\", \"-b\"]", &["a", "-b"], &["", "A", "ab", "a "]);
    assert_values("type = \"word\", also = [\"-\"]", &["-"], &["--"]);
}

#[test]
fn numbers_that_every_program_reads_alike() {
    let wrong =
        ["", "-", "+1", "01", "-01", "-0", "0x1", "1.0", "1e3", "1 ", " 1", "1k", "٣", "1_0", "9223372036854775808"];
    assert_values("type = \"int\"", &["0", "1", "-1", "9223372036854775807", "-9223372036854775808"], &wrong);
    assert_values("type = \"int\", least = 2, most = 10", &["2", "10"], &["1", "11", "-2"]);
    assert_values("type = \"int\", least = -2", &["-2", "10"], &["-3"]);
}

#[test]
fn a_pattern_matches_the_whole_value() {
    assert_values("type = \"regex\", pattern = 'a|b+'", &["a", "b", "bb"], &["", "ab", "xa", "ax", "a\n", "a\nx"]);
    assert_values("type = \"regex\", pattern = '(?m)^a$'", &["a"], &["a\nb", "b\na"]);
    assert_values("type = \"regex\", pattern = '(?i)é'", &["É"], &["e"]);
    // Patterns that take others exponential time.
    assert_values("type = \"regex\", pattern = '(a+)+b'", &["ab"], &[&"a".repeat(50_000)]);
}

/// The command runs in `sub` of the workspace `/ws`, where `secret` is nobody's and `out` may be written.
#[test]
fn paths_stay_in_the_workspace_by_their_text() {
    let outside = [
        "",
        "..",
        "../..",
        "../../ws/a",
        "../../etc",
        "a/..",
        "a/../b",
        "./a/../../..",
        "/",
        "/etc",
        "/ws2",
        "/w",
        "/etc/../ws/a",
        "/ws/..",
        "/ws/../ws/a",
        "//etc",
    ];
    let outside: Vec<&str> = outside.into_iter().filter(|path| *path != "..").collect();
    let denied = ["../secret", "../secret/", ".././secret/x", "/ws/secret", "//ws//secret/a"];
    let inside = [
        "a",
        "a/b",
        ".",
        "./",
        "a//b/",
        "-",
        "-x",
        "~",
        "..a",
        "...",
        "../a",
        "..",
        "/ws",
        "/ws/",
        "/ws/a",
        "//ws/./a",
        "secret",
        "../secrets",
    ];
    assert_values("type = \"path-read\"", &inside, &[outside.clone(), denied.to_vec()].concat());
    let writable = ["../out", "../out/a", "/ws/out", ".././out//b"];
    let not_writable =
        [outside, denied.to_vec(), vec!["out", "a", "..", ".", "/ws", "../out2", "../out/../a"]].concat();
    assert_values("type = \"path-write\"", &writable, &not_writable);
    assert_values("type = \"path-read\", also = [\"/dev/null\"]", &["/dev/null", "a"], &["/dev/zero", "/dev/null/"]);
}

#[test]
fn without_a_workspace_no_full_path_is_inside() {
    let place = super::Place::default();
    assert!(!place.can_read("/ws/a") && !place.can_read("/") && place.can_read("a") && !place.can_write("a"));
    let root = super::Place { workspace: Some("/"), ..place };
    assert!(!root.can_read("/etc"));
}

#[test]
fn urls_of_listed_hosts() {
    assert_values(
        "type = \"url\", hosts = [\"example.org\", \"localhost:8080\"]",
        &[
            "https://example.org",
            "https://EXAMPLE.org/a?b=c#d",
            "https://example.org?x=@",
            "https://localhost:8080/",
            "https://example.org/%2e",
        ],
        &[
            "",
            "example.org",
            "http://example.org",
            "HTTPS://example.org",
            "https:example.org",
            "https:///example.org",
            "https://example.org.evil.org",
            "https://evil.org/example.org",
            "https://example.org@evil.org/",
            "https://evil.org#@example.org",
            "https://evil.org\\@example.org",
            "https://example.org:8443",
            "https://example.org:443/",
            "https://localhost",
            "https://u:p@example.org/",
            "https://example.org\\.evil.org/",
            "https://exa%6dple.org/",
            "https://[::1]/",
            "https://{example.org,evil.org}/",
            "https://example.org/[a-z]",
            "https://example.org/ x",
            "https://example.org/\n",
            "https://еxample.org/",
            "file:///etc/passwd",
            "-https://example.org",
        ],
    );
    assert_values(
        "type = \"url\", schemes = [\"http\", \"git+ssh\"], hosts = [\"127.0.0.1:3000\"]",
        &["http://127.0.0.1:3000", "git+ssh://127.0.0.1:3000/x"],
        &["https://127.0.0.1:3000", "http://127.1:3000"],
    );
}

#[test]
fn revisions_of_git() {
    let right = [
        "main",
        "HEAD~2..HEAD",
        "main...feature/login",
        "^v1.0",
        "main^{commit}",
        "@{upstream}",
        "stash@{0}",
        "HEAD^",
        "@",
        "v1.0-3-gabc",
        "a.txt",
    ];
    let with_path = ["HEAD:src/app.py", ":docs/a b", "HEAD:./x", ":0:a"];
    let wrong = [
        "",
        ".",
        "..",
        "-x",
        "--output=x",
        "/etc/passwd",
        "../x",
        "x/../y",
        "a b",
        "a;b",
        "$(x)",
        "a\nb",
        "HEAD:/etc",
        "é",
        "*",
    ];
    assert_values("type = \"git-revision\"", &right, &[&wrong[..], &with_path[..]].concat());
    assert_values("type = \"git-revision\", paths = true", &[&right[..], &with_path[..]].concat(), &wrong);
}

#[test]
fn formats_of_git_that_start_nothing() {
    assert_values(
        "type = \"git-format\"",
        &[
            "",
            "oneline",
            "format:",
            "format:text",
            "%h %s",
            "tformat:%an <%ae>%n%ci",
            "%h%x00%as%x00%aN%x00%s",
            "%C(auto)%h%d%Creset %<(20,trunc)%s%>>|(40)%ar",
            "%+b% D%-s",
            "%%G?",
            "%(trailers:key=Fixes,valueonly)%(decorate)%w(80,1,2)%B",
            "%gd %gs",
        ],
        &[
            "%G?",
            "%GS",
            "%h %+G?",
            "%%%G?",
            "format:%GK",
            "%(describe)",
            "%(describe:tags)",
            "%(trailersx)",
            "%(trailers",
            "%",
            "%h %",
            "%q",
            "%a",
            "%ax",
            "%xg0",
            "%x0",
            "%C(red",
            "%-%G?",
            "% %G?",
            "%w(%G?)",
            "%<(%G?)x",
            "%(trailers:separator=%G?)",
            "%<20",
            "%é",
            "one",
            "mine",
            "text",
        ],
    );
}
