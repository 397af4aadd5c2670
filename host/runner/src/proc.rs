//! What `/proc` tells about other processes.

use std::time::Duration;

use rustix::process::{Pid, WaitOptions};

/// Most processes that are looked at: a fork bomb must not keep the host busy.
const MOST: usize = 4096;

/// All descendants of a process. `None` where the kernel does not list children (`CONFIG_PROC_CHILDREN`).
pub(crate) fn descendants(root: Pid) -> Option<Vec<Pid>> {
    let mut found = children(root)?;
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        // One that has ended in between has left its children to somebody else in the list, or to the root.
        found.extend(children(found[next]).unwrap_or_default());
        next += 1;
    }
    found.sort_unstable_by_key(|process| process.as_raw_pid());
    found.dedup();
    Some(found)
}

/// Whether a process group has a member that is more than a zombie: those wait for their parent, and do nothing. The
/// zombies that are this process's own, as it is for orphans where it is pid 1, are reaped.
pub(crate) fn group_is_alive(group: Pid) -> bool {
    if rustix::process::getpid().is_init() {
        return loop {
            match rustix::process::waitpgid(group, WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
    }
    if rustix::process::test_kill_process_group(group).is_err() {
        return false;
    }
    // There is somebody: only who is worth a look through /proc.
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok()).any(|stat| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
        // State, parent, process group: fields 3, 4 and 5 of proc_pid_stat(5).
        let (state, member) = (fields.next(), fields.nth(1));
        member == Some(group.as_raw_pid().to_string().as_str()) && !matches!(state, Some("Z" | "X"))
    })
}

fn children(process: Pid) -> Option<Vec<Pid>> {
    let id = process.as_raw_pid();
    let mut all = Vec::new();
    // A child belongs to the thread that made it. Most processes have one.
    let main = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
    parse(&main, &mut all);
    for thread in std::fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten() {
        let name = thread.file_name();
        if name.to_str() != Some(&id.to_string())
            && let Ok(text) = std::fs::read_to_string(thread.path().join("children"))
        {
            parse(&text, &mut all);
        }
    }
    Some(all)
}

fn parse(text: &str, into: &mut Vec<Pid>) {
    into.extend(text.split_ascii_whitespace().filter_map(|id| id.parse().ok()).filter_map(Pid::from_raw));
}

/// Processor time of a process and the children that it has waited for. `None` once it is gone.
pub(crate) fn cpu_time(process: Pid) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    // The name, in parentheses, can hold anything; what follows the last one can't.
    let fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // utime, stime, cutime and cstime: fields 14 to 17 of proc_pid_stat(5), and 3 is the first behind the name.
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(ticks.saturating_mul(1000) / per_second))
}
