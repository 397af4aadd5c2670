//! Confined commands, against the same commands unconfined.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_gate::Request;

use crate::exec::{Bench, ECHO, TRUE, component_at};
use crate::figure::{Figure, Goal};
use crate::peer;

const ROUNDS: (usize, usize) = (50, 1500);
const FEWER: (usize, usize) = (50, 800);

/// Everything on ÷ tokio.
pub(crate) fn full_vs_tokio() -> Result<Figure, String> {
    let bench = Bench::confined("full")?;
    let session = bench.session();
    Ok(Figure::interleaved(ROUNDS, Some(Goal::Ratio(1.25)), || bench.gate(&session, ECHO), || bench.tokio(ECHO)))
}

/// Where there are no user namespaces: Landlock, the filter and no powers ÷ tokio, both in such a host.
pub(crate) fn landlock_vs_tokio() -> Result<Figure, String> {
    let mut host = peer::without_user_namespaces("landlock")?;
    let host = std::cell::RefCell::new(&mut host);
    let ask = |what: &str| host.borrow_mut().ask(what);
    Ok(Figure::interleaved(ROUNDS, Some(Goal::Ratio(1.12)), || ask("ours"), || ask("tokio")))
}

/// Everything on ÷ Python's `subprocess.run`, unconfined.
pub(crate) fn full_vs_python() -> Result<Figure, String> {
    let bench = Bench::confined("full")?;
    let session = bench.session();
    let mut python = peer::python()?;
    Ok(Figure::interleaved(FEWER, Some(Goal::Ratio(1.0)), || bench.gate(&session, ECHO), || python.time()))
}

/// Everything on ÷ bubblewrap with new namespaces of every kind, which does less.
pub(crate) fn full_vs_bwrap() -> Result<Figure, String> {
    let bench = Bench::confined("full")?;
    let session = bench.session();
    let bwrap = || {
        let start = Instant::now();
        let mut command = Command::new("bwrap");
        command.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]);
        command.args(["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc"]);
        command.args(["--dev", "/dev", "--tmpfs", "/tmp", "/usr/bin/echo", "hello"]);
        let output = command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).output();
        let time = start.elapsed();
        output.map(|output| (time, output.status.success())).map_err(|error| error.to_string())
    };
    match bwrap() {
        Ok((_, true)) => {}
        Ok((_, false)) => return Err("bubblewrap does not work here".to_owned()),
        Err(error) => return Err(format!("bubblewrap is not installed: {error}")),
    }
    let goal = Some(Goal::Ratio(0.33));
    Ok(Figure::interleaved((10, 300), goal, || bench.gate(&session, ECHO), || bwrap().unwrap().0))
}

/// A component's call, with policy and journal ÷ tokio.
pub(crate) fn component_full_vs_tokio() -> Result<Figure, String> {
    component_at(&Bench::confined("full")?, TRUE, Some(Goal::Ratio(1.40)))
}

/// Everything on, in a host with 2 GiB of heap and 64 threads ÷ in a small one.
pub(crate) fn full_big_host() -> Result<Figure, String> {
    let (mut big, mut small) = (peer::host("big-full")?, peer::host("small-full")?);
    Ok(Figure::interleaved(FEWER, Some(Goal::Ratio(1.10)), || big.time(), || small.time()))
}

/// What a host of [`peer::without_user_namespaces`] does.
pub(crate) fn serve(level: &str) {
    let bench = match Bench::confined(level) {
        Ok(bench) => bench,
        Err(why) => {
            eprintln!("{why}");
            return;
        }
    };
    let session = bench.session();
    println!();
    for line in std::io::stdin().lines() {
        let time = if line.unwrap() == "ours" { bench.gate(&session, ECHO) } else { bench.tokio(ECHO) };
        println!("{}", time.as_nanos());
    }
}

/// How long a tool takes for a large tree when every system call is confined ÷ when none is.
pub(crate) fn confined_grep() -> Result<Figure, String> {
    tree("grep", &["-r", "-c", "needle", "."])
}

/// The same for `git status`.
pub(crate) fn confined_git() -> Result<Figure, String> {
    tree("git", &["-c", "core.fsmonitor=false", "status", "--porcelain"])
}

fn tree(program: &'static str, arguments: &'static [&'static str]) -> Result<Figure, String> {
    let (confined, open) = (Bench::confined("full")?, Bench::new("none"));
    for bench in [&confined, &open] {
        plant(bench.workspace())?;
    }
    let sessions = (confined.session(), open.session());
    let run = |bench: &Bench, session| bench.gate_whatever(session, (program, arguments));
    Ok(Figure::interleaved(
        (3, 40),
        Some(Goal::Ratio(1.10)),
        || run(&confined, &sessions.0),
        || run(&open, &sessions.1),
    ))
}

/// A repository of 5000 small files in 100 directories.
fn plant(workspace: &Path) -> Result<(), String> {
    for directory in 0..100 {
        let directory = workspace.join(format!("directory-{directory}"));
        std::fs::create_dir(&directory).unwrap();
        for file in 0..50 {
            std::fs::write(directory.join(format!("file-{file}.txt")), format!("line {file}\n").repeat(40)).unwrap();
        }
    }
    for arguments in [&["init", "-q", "."][..], &["add", "."]] {
        let status = Command::new("git").args(arguments).current_dir(workspace).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("git is not installed".to_owned());
        }
    }
    Ok(())
}

/// Commands per second over 10 seconds, four at once, the refilling of the pool included: time per command ÷ tokio's.
pub(crate) fn full_sustained() -> Result<Figure, String> {
    let bench = Bench::confined("full")?;
    sustained(&bench, false)
}

/// The same, as processor time of this process and its children per command.
pub(crate) fn full_cpu() -> Result<Figure, String> {
    let bench = Bench::confined("full")?;
    sustained(&bench, true)
}

const SUSTAINED: Duration = Duration::from_secs(10);
const PIECES: usize = 20;

fn sustained(bench: &Bench, processor_time: bool) -> Result<Figure, String> {
    let session = bench.session();
    let piece = SUSTAINED.as_secs_f64() / PIECES as f64;
    let measure = |run: &dyn Fn(u32)| {
        let (start, cpu) = (Instant::now(), used());
        let mut commands = 0;
        while start.elapsed().as_secs_f64() < piece {
            run(4);
            commands += 4;
        }
        if processor_time { (used() - cpu) / commands } else { start.elapsed() / commands }
    };
    let ours = |count: u32| {
        bench.runtime().block_on(crate::exec::all(count as usize, || async {
            session.exec(Request::new("echo").args(["hello"])).await.unwrap();
        }));
    };
    let tokio = |count: u32| {
        bench.runtime().block_on(crate::exec::all(count as usize, || async {
            let mut command = tokio::process::Command::new("/usr/bin/echo");
            command.arg("hello").env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            assert!(command.output().await.unwrap().status.success());
        }));
    };
    Ok(Figure::interleaved((1, PIECES), None, || measure(&ours), || measure(&tokio)))
}

/// Processor time of this process and of the children that it has reaped.
fn used() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // utime, stime, cutime and cstime of proc_pid_stat(5).
    let fields = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}
