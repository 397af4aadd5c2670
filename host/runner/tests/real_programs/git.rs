//! git: every everyday command, on a repository that the test makes with them.

use std::fs;

use portcullis_policy::Request;

use super::{Tool, bench, ends, run, with};
use crate::support::{Bench, skip};

const SETTINGS: [&str; 6] =
    ["-c", "user.name=A Test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main"];

/// git with what it executes itself: its own commands, and where it hands one over as text, a shell.
fn git(shell: bool) -> Option<Tool> {
    let own = std::process::Command::new("git").arg("--exec-path").output();
    let Ok(own) = own else {
        skip("git is not installed");
        return None;
    };
    let own = String::from_utf8(own.stdout).unwrap();
    let more = if shell { ", \"sh\", \"git-upload-pack\", \"git-receive-pack\"" } else { "" };
    Some(with("git", &format!("[\"git\", \"{}\"{more}]", own.trim())))
}

/// git that executes nothing but itself, once.
fn single() -> Tool {
    with("git", "\"none\"")
}

async fn say(bench: &Bench, arguments: &[&str]) -> String {
    run(bench, "git", &[&SETTINGS[..], arguments].concat()).await
}

/// A repository with two commits on `main` and one on `side`.
async fn history(bench: &Bench) {
    let write = |name: &str, text: &str| fs::write(bench.workspace().join(name), text).unwrap();
    // Its templates are hooks, which are denied.
    say(bench, &["init", "-q", "--template="]).await;
    write("a.txt", "one\n");
    say(bench, &["add", "a.txt"]).await;
    say(bench, &["commit", "-q", "-m", "first"]).await;
    say(bench, &["checkout", "-q", "-b", "side"]).await;
    write("b.txt", "side\n");
    say(bench, &["add", "."]).await;
    say(bench, &["commit", "-q", "-m", "on the side"]).await;
    say(bench, &["switch", "-q", "main"]).await;
    write("a.txt", "one\ntwo\n");
    say(bench, &["commit", "-q", "-a", "-m", "second"]).await;
}

#[tokio::test]
async fn git_reads_and_writes_without_executing_anything_else() {
    let Some(bench) = bench(&[single()], |_| ()) else { return };
    let write = |name: &str, text: &str| fs::write(bench.workspace().join(name), text).unwrap();
    history(&bench).await;

    assert_eq!(say(&bench, &["log", "--format=%s", "--all", "--date-order"]).await.lines().count(), 3);
    assert_eq!(say(&bench, &["branch", "--format=%(refname:short)"]).await, "main\nside\n");
    write("a.txt", "one\ntwo\nthree\n");
    write("new.txt", "new\n");
    assert_eq!(say(&bench, &["status", "--short"]).await, " M a.txt\n?? new.txt\n");
    assert!(say(&bench, &["diff"]).await.ends_with("+three\n"));
    assert_eq!(say(&bench, &["diff", "--stat", "main~1", "main"]).await.lines().count(), 2);
    assert!(say(&bench, &["show", "--stat", "HEAD"]).await.contains("second"));
    assert_eq!(say(&bench, &["blame", "-s", "a.txt"]).await.lines().count(), 3);
    assert_eq!(say(&bench, &["grep", "-n", "three"]).await, "a.txt:3:three\n");
    assert_eq!(say(&bench, &["ls-files"]).await, "a.txt\n");
    assert_eq!(say(&bench, &["rev-parse", "--abbrev-ref", "HEAD"]).await, "main\n");
    say(&bench, &["stash", "list"]).await;
    say(&bench, &["restore", "a.txt"]).await;
    say(&bench, &["mv", "a.txt", "c.txt"]).await;
    say(&bench, &["reset", "-q", "--hard"]).await;
    say(&bench, &["clean", "-q", "-f"]).await;
    say(&bench, &["tag", "-a", "v1", "-m", "a tag"]).await;
    assert_eq!(say(&bench, &["describe"]).await, "v1\n");
    say(&bench, &["config", "core.abbrev", "12"]).await;
    assert_eq!(say(&bench, &["config", "core.abbrev"]).await, "12\n");
    say(&bench, &["rm", "-q", "--cached", "a.txt"]).await;
    say(&bench, &["reset", "-q"]).await;
    assert_eq!(say(&bench, &["status", "--short"]).await, "");
}

#[tokio::test]
async fn git_merges_rebases_and_stashes() {
    let Some(tool) = git(false) else { return };
    let Some(bench) = bench(&[tool], |_| ()) else { return };
    let write = |name: &str, text: &str| fs::write(bench.workspace().join(name), text).unwrap();
    history(&bench).await;

    say(&bench, &["merge", "-q", "--no-edit", "side"]).await;
    assert_eq!(say(&bench, &["log", "-1", "--format=%p"]).await.split_whitespace().count(), 2);
    say(&bench, &["reset", "-q", "--hard", "HEAD~1"]).await;
    say(&bench, &["switch", "-q", "side"]).await;
    say(&bench, &["rebase", "-q", "main"]).await;
    assert_eq!(say(&bench, &["log", "--format=%s"]).await, "on the side\nsecond\nfirst\n");
    say(&bench, &["cherry-pick", "main", "--allow-empty", "--keep-redundant-commits"]).await;
    say(&bench, &["revert", "--no-edit", "HEAD~1"]).await;

    write("a.txt", "stashed\n");
    say(&bench, &["stash"]).await;
    assert_eq!(say(&bench, &["status", "--short"]).await, "");
    say(&bench, &["stash", "pop", "-q"]).await;
    assert_eq!(say(&bench, &["status", "--short"]).await, " M a.txt\n");
    say(&bench, &["commit", "-q", "--amend", "-a", "--no-edit"]).await;

    // Two sides change one line.
    say(&bench, &["switch", "-q", "-c", "other", "main"]).await;
    write("a.txt", "other\n");
    say(&bench, &["commit", "-q", "-a", "-m", "other"]).await;
    let merge = [&SETTINGS[..], &["merge", "side"]].concat();
    assert!(ends(&bench, 1, &Request::new("git").args(merge)).await.contains("CONFLICT"));
    say(&bench, &["merge", "--abort"]).await;

    say(&bench, &["worktree", "add", "-q", "tree", "side"]).await;
    assert_eq!(say(&bench, &["worktree", "list"]).await.lines().count(), 2);
    say(&bench, &["worktree", "remove", "tree"]).await;
    say(&bench, &["archive", "-o", "all.tar", "HEAD"]).await;
    say(&bench, &["format-patch", "-q", "-1"]).await;
    say(&bench, &["bundle", "create", "-q", "all.bundle", "--all"]).await;
    say(&bench, &["gc", "-q", "--prune=now"]).await;
    say(&bench, &["repack", "-q", "-a", "-d"]).await;
    say(&bench, &["fsck", "--no-progress", "--strict"]).await;
    say(&bench, &["count-objects", "-v"]).await;
    say(&bench, &["reflog"]).await;
}

#[tokio::test]
async fn git_clones_fetches_and_pushes_within_the_workspace() {
    let Some(tool) = git(true) else { return };
    let Some(bench) = bench(&[tool], |_| ()) else { return };
    history(&bench).await;

    say(&bench, &["clone", "-q", ".", "copy"]).await;
    say(&bench, &["clone", "-q", "--bare", "--no-local", ".", "bare.git"]).await;
    say(&bench, &["-C", "copy", "remote", "add", "bare", "../bare.git"]).await;
    say(&bench, &["-C", "copy", "fetch", "-q", "bare"]).await;
    say(&bench, &["-C", "copy", "commit", "-q", "--allow-empty", "-m", "to push"]).await;
    say(&bench, &["-C", "copy", "push", "-q", "bare", "main"]).await;
    assert_eq!(say(&bench, &["-C", "bare.git", "log", "-1", "--format=%s", "main"]).await, "to push\n");
    say(&bench, &["pull", "-q", "--ff-only", "bare.git", "main"]).await;
    assert_eq!(say(&bench, &["log", "-1", "--format=%s"]).await, "to push\n");
    assert_eq!(say(&bench, &["ls-remote", "--heads", "bare.git"]).await.lines().count(), 2);
}

#[tokio::test]
async fn git_asks_an_editor_that_is_listed() {
    let mut tool = with("git", "[\"sh\", \"sed\"]");
    tool.keys += "\nenv.set = { GIT_EDITOR = \"sed -i s/edit/editor/\" }";
    let Some(bench) = bench(&[tool], |_| ()) else { return };
    history(&bench).await;
    fs::write(bench.workspace().join("a.txt"), "edited\n").unwrap();
    say(&bench, &["commit", "-q", "-a", "-e", "-m", "to edit"]).await;
    assert_eq!(say(&bench, &["log", "-1", "--format=%s"]).await, "to editor\n");
}
