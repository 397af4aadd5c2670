//! Programs that look at the machine: they see the sandbox, and answer.

use super::{alone, bench, run};

#[tokio::test]
async fn ps_sees_the_commands_own_processes_only() {
    let Some(bench) = bench(&[alone("ps")], |_| ()) else { return };
    let all = run(&bench, "ps", &["-e", "-o", "comm="]).await;
    let mut names: Vec<&str> = all.lines().map(str::trim).collect();
    names.retain(|name| *name != "ps");
    // Beside `ps` there is process 1 of its namespace.
    assert!(names.len() <= 1, "{all}");
    assert!(run(&bench, "ps", &["aux"]).await.contains("ps aux"));
    assert!(run(&bench, "ps", &["-ef", "--forest"]).await.contains("ps -ef"));
}

#[tokio::test]
async fn questions_about_the_machine_are_answered() {
    for (name, arguments, expected) in [
        ("uname", &["-s"][..], Some("Linux\n")),
        ("nproc", &[], None),
        ("id", &["-u"], None),
        ("whoami", &[], None),
        ("hostname", &[], None),
        ("getconf", &["PAGESIZE"], None),
        ("locale", &[], None),
        ("env", &[], None),
        ("uptime", &[], None),
        ("free", &["-m"], None),
        ("df", &["-h", "."], None),
        ("mount", &[], None),
        ("top", &["-b", "-n", "1"], None),
        ("vmstat", &[], None),
        ("tty", &["--version"], None),
        ("which", &["sh"], Some("/usr/bin/sh\n")),
        ("getent", &["passwd", "root"], None),
        ("getent", &["hosts", "localhost"], None),
        ("dircolors", &["-p"], None),
    ] {
        let Some(bench) = bench(&[alone(name)], |_| ()) else { continue };
        let printed = run(&bench, name, arguments).await;
        if let Some(expected) = expected {
            assert_eq!(printed, expected, "{name}");
        }
        assert!(!printed.is_empty(), "{name} {arguments:?}");
    }
}
