//! The confinement that the example's policy wants, where it is there and where it is not.

use std::fs;

use super::{commit, demand, git, repository, run, world};
use crate::support::lesser::{Lack, reaches_full};
use crate::support::{Ended, World, component, ended};

const STATUS: [&str; 6] =
    ["status", "--porcelain=v1", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all"];

/// The levels of the journal's outcomes, each once.
fn levels(world: &World) -> Vec<String> {
    let records = world.records();
    let outcomes = records.iter().filter(|record| record["type"] == "outcome");
    let mut levels: Vec<String> = outcomes.map(|outcome| outcome["level"].as_str().unwrap().to_owned()).collect();
    levels.dedup();
    levels
}

#[test]
fn a_report_is_the_same_where_only_landlock_holds_and_is_refused_before() {
    let world = world();
    demand(&world, "full");
    repository(&world);
    let report = world.command(["run".as_ref(), component("repo-report").as_os_str()]);
    let Some(mut lesser) = Lack::UserNamespaces.of(&report) else { return };
    let refused = ended(&mut lesser);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(125), ""));
    assert!(refused.stderr.ends_with("[shell.confinement.level]\n"), "{}", refused.stderr);
    if !reaches_full() {
        return;
    }
    demand(&world, "landlock");
    let there = ended(&mut lesser);
    assert_eq!((there.code, there.stderr.as_str()), (Some(0), ""));
    assert_eq!(levels(&world), ["landlock"]);
    demand(&world, "full");
    assert_eq!(world.component("repo-report", &[]), there);
    assert_eq!(levels(&world), ["landlock", "full"]);
}

/// The configuration of a repository that came as an archive names a program for files that look changed
/// (`gitattributes(5)`, `filter`).
#[test]
fn a_program_that_a_repository_names_is_not_executed() {
    if !reaches_full() {
        return;
    }
    let world = world();
    let directory = world.workspace();
    run(git(&directory, "Ada").args(["init", "--quiet", "-b", "main"]));
    commit(&directory, "Ada", "a.txt", "one\n", "Add a file");
    commit(&directory, "Ada", ".gitattributes", "*.txt filter=evil\n", "Name a filter");
    run(git(&directory, "Ada").args(["config", "filter.evil.clean", "echo > executed; cat"]));
    let status = || {
        // Of the same size and another time: git has to look into it, through the filter.
        fs::remove_file(directory.join("a.txt")).unwrap();
        fs::write(directory.join("a.txt"), "one\n").unwrap();
        let ended = world.exec(&[&["git"], &STATUS[..]].concat());
        (ended, fs::remove_file(directory.join("executed")).is_ok())
    };
    let (ended, executed) = status();
    assert!(!executed && ended.stderr.contains("cannot exec"), "{ended:?}");
    assert_eq!(ended.code, Some(0));

    // It is no empty threat.
    demand(&world, "limits");
    let (ended, executed) = status();
    assert!(executed, "{ended:?}");
    let Ended { code, stderr, .. } = ended;
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}
