use super::*;

fn stream(text: &str) -> Stream {
    Stream { head: text.as_bytes().to_vec(), ..Stream::default() }
}

fn tally(count: u64, name: &str) -> Tally {
    Tally { count, name: name.to_owned() }
}

fn change(letters: &str, path: &str) -> Change {
    Change { letters: letters.to_owned(), path: path.to_owned() }
}

#[test]
fn the_policy_allows_exactly_what_is_asked_for() {
    let policy = include_str!("../../portcullis.toml").split_whitespace().collect::<Vec<_>>().join(" ");
    for arguments in [STATUS, COUNT, LOG, AUTHORS, FILES, MARKS] {
        let list = format!("exact-arguments = {arguments:?}");
        assert!(policy.contains(&list), "portcullis.toml lacks {list}");
    }
    assert!(LOG.contains(&format!("--max-count={MOST_COMMITS}").as_str()));
}

#[test]
fn a_branch_with_its_upstream_and_changes() {
    let (head, changes) = status(&stream("## main...origin/main [ahead 1]\0 M a b.rs\0?? new\0R  to\0from\0D  gone\0"));
    let expected = Head::Branch { name: "main".to_owned(), upstream: "origin/main [ahead 1]".to_owned() };
    assert_eq!(head, Some(expected));
    assert_eq!(changes, [change(" M", "a b.rs"), change("??", "new"), change("R ", "to"), change("D ", "gone")]);
}

#[test]
fn a_branch_without_upstream_without_commits_and_no_branch() {
    let head = |line| status(&stream(line)).0;
    assert_eq!(head("## topic\0"), Some(Head::Branch { name: "topic".to_owned(), upstream: String::new() }));
    assert_eq!(head("## No commits yet on main\0"), Some(Head::Unborn { name: "main".to_owned() }));
    assert_eq!(
        head("## No commits yet on main...origin/main [gone]\0"),
        Some(Head::Unborn { name: "main".to_owned() })
    );
    assert_eq!(head("## HEAD (no branch)\0"), Some(Head::Detached));
    assert_eq!(head(""), None);
}

#[test]
fn a_cut_status_is_read_up_to_the_cut() {
    let cut = Stream { head: b"## main\0 M a\0 M tor".to_vec(), tail: b"n\0 M z\0".to_vec(), missing: 9 };
    assert_eq!(status(&cut).1, [change(" M", "a")]);
}

#[test]
fn commits_keep_whatever_a_subject_holds() {
    let read =
        commits(&stream("abc1234\x002026-01-02\0Ann O'Neil\0fix | the `thing`\n\nbad line\nf00\x002026-01-01\0B\0\n"));
    let commit = |hash: &str, date: &str, author: &str, subject: &str| Commit {
        hash: hash.to_owned(),
        date: date.to_owned(),
        author: author.to_owned(),
        subject: subject.to_owned(),
    };
    let first = commit("abc1234", "2026-01-02", "Ann O'Neil", "fix | the `thing`");
    assert_eq!(read, [first, commit("f00", "2026-01-01", "B", "")]);
}

#[test]
fn authors_with_their_commits() {
    let read = authors(&stream("    12\tAnn O'Neil\n     1\tBo\n"));
    assert_eq!(read, [tally(12, "Ann O'Neil"), tally(1, "Bo")]);
}

#[test]
fn regular_files_largest_first() {
    let read = files(&stream(
        "100644 blob 0123456789abcdef      10\tsmall\0\
         120000 blob 0123456789abcdef    9999\tlink\0\
         160000 commit 0123456789abcdef       -\tsub\0\
         100755 blob 0123456789abcdef     300\twith\ttab\0\
         100644 blob 0123456789abcdef     300\ta file\0",
    ));
    assert_eq!(read, [tally(300, "a file"), tally(300, "with\ttab"), tally(10, "small")]);
}

#[test]
fn of_a_cut_list_only_whole_records_count() {
    let cut = Stream {
        head: b"100644 blob aa 1\ta\x00100644 blob aa 2222".to_vec(),
        tail: b"b 3\tlost\x00100644 blob aa 4\tz\0".to_vec(),
        missing: 50,
    };
    assert_eq!(files(&cut), [tally(4, "z"), tally(1, "a")]);
}

#[test]
fn marks_most_first_even_with_a_line_break_in_a_name() {
    assert_eq!(marks(&stream("a.rs\x001\nb\nc.rs\x0012\n")), [tally(12, "b\nc.rs"), tally(1, "a.rs")]);
    assert_eq!(marks(&stream("")), []);
    assert_eq!(marks(&stream("a.rs\x001\ntorn\x001")), [tally(1, "a.rs")]);
}

#[test]
fn line_counts_take_no_options_and_no_standard_input() {
    let files = [tally(9, "-"), tally(8, "--files0-from=x"), tally(7, "line\nbreak"), tally(6, "src/a b.rs")];
    assert_eq!(line_count_arguments(&files), ["-l", "--", "./-", "./--files0-from=x", "./src/a b.rs"]);
    let read = line_counts(&stream("  10 ./-\n 2 ./src/a b.rs\n 12 total\n"));
    assert_eq!(read, [tally(10, "-"), tally(2, "src/a b.rs")]);
}

#[test]
fn a_count_is_a_number_or_nothing() {
    assert_eq!(count(&stream("17\n")), Some(17));
    assert_eq!(count(&stream("fatal\n")), None);
}
