//! What is not denied works as ever.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use portcullis_wasmtime::DeniedPaths;
use wasmtime_wasi::FsPerms;

use crate::guest::Workspace;

/// Everything else that a program does with files.
const STEPS: [&str; 61] = [
    "cat 0 src/main.rs",
    "cat 1 ./src/../src//main.rs",
    "cat 0 to-git/HEAD",
    "open 0 new wcx",
    "write 2 text",
    "open 0 new wcx",
    "cat 0 new",
    "open 0 new rwt",
    "read 3",
    "open 0 new rt",
    "open 0 new dt",
    "open 0 new d",
    "open 0 src wt",
    "open 0 src w",
    "open 0 src d",
    "list 4",
    "cat 4 main.rs",
    "cat 4 ../new",
    "cat 4 ../../outside",
    "cat 0 ..",
    "cat 0 /etc/passwd",
    "cat 0 ",
    "cat 0 nothing",
    "cat 0 nothing/below",
    "cat 0 src/main.rs/below",
    "cat 0 src/main.rs/",
    "cat 0 src/",
    "open 0 to-src dn",
    "open 0 to-src/ dn",
    "cat 0 loop",
    "stat 0 loop",
    "stat-link 0 loop",
    "cat 0 loop/below",
    "cat 0 out",
    "cat 0 out-absolute",
    "stat 0 dangling",
    "open 0 dangling wcx",
    "open 0 dangling wc",
    "cat 0 made",
    "readlink 0 dangling",
    "readlink 0 src",
    "mkdir 0 folder/",
    "mkdir 0 folder",
    "mkdir 0 folder/.",
    "mkdir 0 nothing/folder",
    "symlink 0 ../src/main.rs folder/link",
    "cat 0 folder/link",
    "symlink 0 /etc folder/absolute",
    "link 0 src/main.rs 0 folder/hard",
    "link 0 src/main.rs 0 folder/hard",
    "hash 0 folder/hard",
    "times 0 folder/link",
    "times-link 0 folder/.",
    "rename 0 folder/hard 1 folder/soft/",
    "rename 0 folder/hard 1 folder/soft",
    "rename 0 folder/ 0 moved/",
    "rename 0 src/. 0 other",
    "unlink 0 moved",
    "rmdir 0 moved",
    "rmdir 0 nothing",
    "list 0",
];

/// Makes what the steps want.
fn furnish(workspace: &Path) {
    for (target, link) in [
        ("loop", "loop"),
        ("../outside", "out"),
        ("/etc/passwd", "out-absolute"),
        ("made", "dangling"),
        ("src", "to-src"),
    ] {
        symlink(target, workspace.join(link)).unwrap();
    }
}

#[tokio::test]
async fn what_is_not_denied_gets_the_same_answers_as_where_nothing_is() {
    let (open, closed) = (Workspace::open(), Workspace::closed());
    for perms in [FsPerms::ReadOnly, FsPerms::ReadWrite] {
        let (mut answers, mut expected) = (Vec::new(), Vec::new());
        for (workspace, answers) in [(&open, &mut expected), (&closed, &mut answers)] {
            if perms == FsPerms::ReadOnly {
                furnish(&workspace.path());
            }
            *answers = workspace.answers(perms, &STEPS).await;
        }
        for ((step, answer), expected) in STEPS.iter().zip(&answers).zip(&expected) {
            assert_eq!(answer, expected, "{step}, {perms:?}");
        }
        assert_eq!(answers.len(), STEPS.len());
    }
}

#[tokio::test]
async fn a_listing_shows_denied_names_as_commands_see_them() {
    let workspace = Workspace::closed();
    let answers = workspace.answers(FsPerms::ReadOnly, &["open 0 .git d", "list 2", "stat 0 .git"]).await;
    assert_eq!(answers, ["ok", "ok HEAD,hooks", "ok Directory"]);
}

#[tokio::test]
async fn a_repository_can_be_made_and_its_hooks_are_denied_from_the_first_moment() {
    let workspace = Workspace::open();
    fs::remove_dir_all(workspace.path().join(".git")).unwrap();
    let workspace = workspace.denying(&[".git/hooks"]);
    let steps =
        ["mkdir 0 .git", "open 0 .git/HEAD wcx", "mkdir 0 .git/hooks", "rename 0 src 0 .git/hooks", "rmdir 0 .git"];
    assert_eq!(workspace.writes(&steps).await, ["ok", "ok", "access", "access", "busy"]);
    // Somebody else makes them.
    fs::create_dir(workspace.path().join(".git/hooks")).unwrap();
    assert_eq!(workspace.writes(&["open 0 .git/hooks/pre-commit wcx"]).await, ["access"]);
}

#[test]
fn what_can_not_be_kept_is_not_promised() {
    let workspace = Workspace::open();
    for path in ["", ".", "/etc", "..", "a/../b", "./a"] {
        let error = DeniedPaths::new(&workspace.path(), &[path.to_owned()]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{path}");
    }
    let missing = workspace.path().join("nothing");
    assert!(DeniedPaths::new(&missing, &["a".to_owned()]).is_err());
    assert!(DeniedPaths::new(&missing, &[]).unwrap().is_empty());
}
