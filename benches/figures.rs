//! The project's figures: each is measured beside its baseline, both interleaved in one run.
//!
//! `cargo xtask bench [NAME…] [--json]` runs them. With `--json` each figure is one object a line:
//! `{"name","value","unit","baseline","ratio","goal","holds"}`. `value` and `baseline` are medians in `unit`, `ratio` is
//! theirs, `goal` says what must hold, and `holds` says whether it does, by the upper end of a 95 % bootstrap interval.
//! A figure `NAME/p99` compares the 99th percentiles, without a goal. What can't be measured is skipped with its reason.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a bench that can't go on panics")]

#[path = "figures/cold.rs"]
mod cold;
#[path = "figures/confined.rs"]
mod confined;
#[path = "figures/exec.rs"]
mod exec;
#[path = "figures/figure.rs"]
mod figure;
#[path = "figures/instantiate.rs"]
mod instantiate;
#[path = "figures/peer.rs"]
mod peer;

use figure::{Figure, Report};

/// A name and what measures it.
type Bench = (&'static str, fn() -> Result<Figure, String>);

const BENCHES: &[Bench] = &[
    ("exec-component-vs-tokio", exec::component_vs_tokio),
    ("exec-gate-vs-tokio", exec::gate_vs_tokio),
    ("exec-component-limits-vs-tokio", exec::component_limits_vs_tokio),
    ("exec-limits-vs-tokio", exec::limits_vs_tokio),
    ("exec-limits-vs-python", exec::limits_vs_python),
    ("exec-big-host", exec::big_host),
    ("exec-full-vs-tokio", confined::full_vs_tokio),
    ("exec-landlock-vs-tokio", confined::landlock_vs_tokio),
    ("exec-full-vs-python", confined::full_vs_python),
    ("exec-full-vs-bwrap", confined::full_vs_bwrap),
    ("exec-component-full-vs-tokio", confined::component_full_vs_tokio),
    ("exec-full-big-host", confined::full_big_host),
    ("exec-full-sustained-vs-tokio", confined::full_sustained),
    ("exec-full-cpu-vs-tokio", confined::full_cpu),
    ("confined-syscalls-grep", confined::confined_grep),
    ("confined-syscalls-git", confined::confined_git),
    ("capture-vs-pipe", exec::capture_vs_pipe),
    ("thousand-in-flight", exec::thousand_in_flight),
    ("instantiate-us", instantiate::instantiate),
    ("cold-run-vs-wasmtime", cold::cached_run),
    ("cold-run-vs-wasmtime-uncached", cold::uncached_run),
];

fn main() {
    // This program is its own peer where a figure compares two hosts.
    if let Ok(size) = std::env::var(peer::HOST) {
        return if size == "landlock" { confined::serve(&size) } else { exec::serve(&size) };
    }
    // cargo itself adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (flags, names): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with('-'));
    let json = flags.iter().any(|flag| flag == "--json");
    let unknown = names.iter().filter(|name| BENCHES.iter().all(|(known, _)| known != name));
    let unknown = unknown.chain(flags.iter().filter(|flag| *flag != "--json")).next();
    if let Some(unknown) = unknown {
        eprintln!("unknown: {unknown}; the figures are:");
        BENCHES.iter().for_each(|(name, _)| eprintln!("  {name}"));
        std::process::exit(2);
    }
    let mut report = Report::new(json);
    for (name, bench) in BENCHES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            report.add(name, bench());
        }
    }
    report.finish();
}
