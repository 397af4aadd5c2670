//! Ways to what is denied. Each is first shown to lead there where nothing is denied.

use crate::guest::Workspace;

/// A name, and what the guest does with the answer that it gets where the paths are denied.
type Attack = (&'static str, &'static [(&'static str, &'static str)]);

/// Runs each in a workspace of its own, with and without denied paths.
async fn all_fail(attacks: &[Attack]) {
    for (name, attack) in attacks {
        let steps: Vec<&str> = attack.iter().map(|(step, _)| *step).collect();
        for answer in Workspace::open().writes(&steps).await {
            assert!(answer.starts_with("ok"), "{name} does not work by itself: {answer}");
        }
        let workspace = Workspace::closed();
        let before = workspace.treasure();
        let answers = workspace.writes(&steps).await;
        let expected: Vec<&str> = attack.iter().map(|(_, answer)| *answer).collect();
        assert_eq!(answers, expected, "{name}");
        assert_eq!(workspace.treasure(), before, "{name}");
    }
}

#[tokio::test]
async fn a_denied_path_can_not_be_opened_by_any_spelling_or_descriptor() {
    all_fail(&[
        ("to read", &[("open 0 .env", "access"), ("read 2", "?")]),
        ("by the preopen's other name", &[("cat 1 .env", "access")]),
        ("to write", &[("open 0 .env w", "access"), ("write 2 x", "?")]),
        ("to cut it", &[("open 0 .env wt", "access")]),
        ("to cut it, opened to read", &[("open 0 .env rt", "access")]),
        ("or to make it", &[("open 0 .env wc", "access")]),
        ("a file below", &[("cat 0 .git/hooks/pre-commit", "access")]),
        ("a new file below", &[("open 0 .git/hooks/post-commit wcx", "access")]),
        ("with dots and slashes", &[("cat 0 ./.git//./hooks/pre-commit", "access")]),
        ("up and down", &[("cat 0 src/../.git/../.env", "access")]),
        ("through it and back", &[("cat 0 .git/hooks/../HEAD", "access")]),
        ("up and down inside", &[("cat 0 .git/hooks/../hooks/pre-commit", "access")]),
        ("as a directory", &[("open 0 .git/hooks d", "access"), ("list 2", "?")]),
        ("with a slash", &[("open 0 .git/hooks/ d", "access")]),
        ("with a dot", &[("open 0 .git/hooks/. d", "access")]),
        ("from the directory above", &[("open 0 .git d", "ok"), ("cat 2 hooks/pre-commit", "access")]),
        ("from a directory far above", &[("open 0 deep/a d", "ok"), ("cat 2 b/secret/key", "access")]),
        ("from a directory that a link led to", &[("open 0 to-git d", "ok"), ("cat 2 hooks/pre-commit", "access")]),
        ("from itself by a dot", &[("open 0 .git d", "ok"), ("open 2 ./hooks/. d", "access")]),
    ])
    .await;
}

#[tokio::test]
async fn no_link_leads_to_a_denied_path() {
    all_fail(&[
        ("a link to a file", &[("cat 0 to-env", "access")]),
        ("a link to a link", &[("cat 0 to-to-env", "access")]),
        ("a link that goes up", &[("cat 0 src/up", "access")]),
        ("a link to a directory", &[("cat 0 to-hooks/pre-commit", "access")]),
        ("a link to a directory, with a slash", &[("open 0 to-hooks/ d", "access")]),
        ("a link to the directory above", &[("cat 0 to-git/hooks/pre-commit", "access")]),
        ("a link, to cut the file", &[("open 0 to-env wt", "access")]),
        ("a link to what is missing", &[("open 0 src/to-absent wc", "access")]),
        ("a hard link that was there", &[("cat 0 hard-env", "access")]),
        ("a hard link that was there, to cut it", &[("cut 0 hard-env", "access")]),
        ("a new link", &[("symlink 0 .env new", "access"), ("cat 0 new", "no-entry")]),
        ("a new link, which goes up", &[("symlink 0 ../.env src/new", "access"), ("cat 0 src/new", "no-entry")]),
        (
            "a new link to the directory above",
            &[("symlink 0 .git new", "ok"), ("cat 0 new/hooks/pre-commit", "access")],
        ),
        (
            "a new link that is moved to where it leads there",
            &[("symlink 0 .env src/new", "ok"), ("rename 0 src/new 0 new", "ok"), ("cat 0 new", "access")],
        ),
        ("a new hard link to it", &[("link 0 .env 0 new", "access"), ("cat 0 new", "no-entry")]),
        ("a new hard link to a file below", &[("link 0 .git/hooks/pre-commit 0 new", "access")]),
        ("a new hard link to a hard link", &[("link 0 hard-env 0 new", "access")]),
        ("a new hard link into it", &[("link 0 src/main.rs 0 .git/hooks/post-commit", "access")]),
        (
            "a new hard link between descriptors",
            &[("open 0 .git d", "ok"), ("open 0 src d", "ok"), ("link 2 hooks/pre-commit 3 new", "access")],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_denied_can_not_be_moved_away_and_nothing_be_put_in_its_place() {
    all_fail(&[
        ("out", &[("rename 0 .env 0 new", "access"), ("cat 0 new", "no-entry")]),
        ("a file below, out", &[("rename 0 .git/hooks/pre-commit 0 new", "access")]),
        ("with its directory", &[("rename 0 .git 0 new", "busy"), ("cat 0 new/hooks/pre-commit", "no-entry")]),
        ("with its directory, by a slash", &[("rename 0 .git/ 0 new", "busy")]),
        ("with a directory far above", &[("rename 0 deep 0 new", "busy"), ("cat 0 new/a/b/secret/key", "no-entry")]),
        (
            "with a directory in the middle, by descriptors",
            &[("open 0 deep d", "ok"), ("rename 2 a 2 new", "busy"), ("cat 2 new/b/secret/key", "no-entry")],
        ),
        ("with its directory, by a dot and up", &[("rename 0 src/../.git 0 new", "busy")]),
        ("a file onto it", &[("rename 0 src/main.rs 0 .env", "access")]),
        ("a file into it", &[("rename 0 src/main.rs 0 .git/hooks/post-commit", "access")]),
        ("a directory onto it", &[("rename 0 src 0 empty", "access")]),
        ("a file to where it is missing", &[("rename 0 src/main.rs 0 absent", "access")]),
        ("a directory to where it is missing", &[("rename 0 src 0 absent", "access")]),
        ("a directory that has it, to where its directory is missing", &[("rename 0 prepared 0 missing", "access")]),
        (
            "a directory onto its empty directory",
            &[("mkdir 0 missing", "ok"), ("rename 0 prepared 0 missing", "access")],
        ),
        (
            "a directory to it, whose descriptor stays open",
            &[
                ("open 0 src d", "ok"),
                ("mkdir 0 missing", "ok"),
                ("rename 0 src 0 missing/later", "access"),
                ("rename 2 main.rs 0 new", "ok"),
            ],
        ),
        ("unlinked", &[("unlink 0 .env", "access")]),
        ("a file below, unlinked", &[("unlink 0 .git/hooks/pre-commit", "access")]),
        ("its directory, removed", &[("rmdir 0 empty", "access")]),
    ])
    .await;
}

#[tokio::test]
async fn what_is_denied_can_not_be_made() {
    all_fail(&[
        ("a file", &[("open 0 absent wc", "access")]),
        ("a new file", &[("open 0 absent wcx", "access")]),
        ("a directory", &[("mkdir 0 absent", "access")]),
        ("a directory, with a slash", &[("mkdir 0 absent/", "access")]),
        ("a link", &[("symlink 0 src absent", "access")]),
        ("a hard link", &[("link 0 src/main.rs 0 absent", "access")]),
        ("a directory below", &[("mkdir 0 .git/hooks/new", "access")]),
        ("a link below", &[("symlink 0 ../../src/main.rs .git/hooks/post-commit", "access")]),
        ("below a new directory", &[("mkdir 0 missing", "ok"), ("open 0 missing/later wc", "access")]),
        ("by a link in place of its directory", &[("symlink 0 prepared missing", "access")]),
        ("by a file in place of its directory", &[("open 0 missing wc", "access")]),
        ("by a new file in place of its directory", &[("open 0 missing wcx", "access")]),
        ("by a hard link in place of its directory", &[("link 0 src/main.rs 0 missing", "access")]),
    ])
    .await;
}

#[tokio::test]
async fn nothing_is_told_about_what_is_denied() {
    all_fail(&[
        ("what it is", &[("stat 0 .env", "access"), ("stat-link 0 .env", "access")]),
        ("what a link leads to", &[("stat 0 to-env", "access")]),
        ("what is below", &[("stat 0 .git/hooks/pre-commit", "access")]),
        ("its identity", &[("hash 0 .env", "access"), ("hash-link 0 .env", "access")]),
        ("the identity of what a link leads to", &[("hash 0 to-hooks", "access")]),
        ("its times, changed", &[("times 0 .env", "access"), ("times-link 0 .env", "access")]),
        ("the times of what a link leads to, changed", &[("times 0 to-hooks", "access")]),
        ("where it leads", &[("readlink 0 shortcut", "access")]),
    ])
    .await;
    let closed = Workspace::closed();
    for path in ["absent", "absent/below", ".git/hooks/missing", "src/to-absent"] {
        assert_eq!(closed.writes(&[&format!("stat 0 {path}")]).await, ["access"], "{path}");
        assert_eq!(Workspace::open().writes(&[&format!("stat 0 {path}")]).await, ["no-entry"], "{path}");
    }
}

#[tokio::test]
async fn a_denied_path_that_is_a_link_or_has_one_on_the_way_is_denied_where_it_leads() {
    all_fail(&[
        ("its target", &[("cat 0 vault/key", "access")]),
        ("the directory of its target", &[("rename 0 vault 0 new", "busy"), ("cat 0 new/key", "no-entry")]),
        ("the link itself", &[("unlink 0 shortcut", "access"), ("symlink 0 src/main.rs shortcut", "access")]),
        ("behind links", &[("cat 0 pointer/data", "access")]),
        ("behind one of the links", &[("cat 0 hop/data", "access")]),
        ("behind no link", &[("cat 0 store/data", "access")]),
        ("the first link, moved", &[("rename 0 pointer 0 new", "busy"), ("cat 0 new/data", "no-entry")]),
        ("the second link, unlinked", &[("unlink 0 hop", "busy"), ("symlink 0 src hop", "access")]),
        ("the second link, replaced", &[("symlink 0 src new", "ok"), ("rename 0 new 0 hop", "access")]),
        ("what the links lead to, moved", &[("rename 0 store 0 new", "busy")]),
    ])
    .await;
}
