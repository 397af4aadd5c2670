//! Uses `wasi:filesystem` call by call, as its arguments say, and prints one line of each answer.
//!
//! Each argument is a step, `VERB DESCRIPTOR …` in words between blanks. Descriptors have numbers: first come the
//! preopens, then what each `open` opened. An answer is `ok`, `ok VALUE` or the name of the error code (`access`). A
//! step that makes no sense is `?`. The first step that fails does not end the program: an attack goes on.

use wasi::filesystem::preopens::get_directories;
use wasi::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

/// `open D PATH [OPTIONS]`, with options `r`ead, `w`rite, `c`reate, e`x`clusive, `t`runcate, `d`irectory, `n`o follow
/// (default: `r`).
const OPEN: &str = "open";

fn main() {
    let mut descriptors: Vec<Descriptor> = get_directories().into_iter().map(|(descriptor, _)| descriptor).collect();
    for step in std::env::args().skip(1) {
        let words: Vec<&str> = step.split(' ').collect();
        println!("{}", answer(&mut descriptors, &words));
    }
}

fn answer(descriptors: &mut Vec<Descriptor>, words: &[&str]) -> String {
    let result = match *words {
        [OPEN, at, path] => open(descriptors, at, path, "r"),
        [OPEN, at, path, options] => open(descriptors, at, path, options),
        [verb, at, ref rest @ ..] => {
            take(descriptors, at).and_then(|descriptor| step(descriptors, descriptor, verb, rest))
        }
        _ => None,
    };
    match result {
        None => "?".to_owned(),
        Some(Ok(value)) if value.is_empty() => "ok".to_owned(),
        Some(Ok(value)) => format!("ok {value}"),
        Some(Err(code)) => code.name().to_owned(),
    }
}

fn take<'a>(descriptors: &'a [Descriptor], number: &str) -> Option<&'a Descriptor> {
    descriptors.get(number.parse::<usize>().ok()?)
}

type Answer = Option<Result<String, ErrorCode>>;

fn open(descriptors: &mut Vec<Descriptor>, at: &str, path: &str, options: &str) -> Answer {
    let has = |option| options.contains(option);
    let mut open_flags = OpenFlags::empty();
    open_flags.set(OpenFlags::CREATE, has('c'));
    open_flags.set(OpenFlags::EXCLUSIVE, has('x'));
    open_flags.set(OpenFlags::TRUNCATE, has('t'));
    open_flags.set(OpenFlags::DIRECTORY, has('d'));
    let mut flags = DescriptorFlags::empty();
    flags.set(DescriptorFlags::READ, has('r'));
    flags.set(DescriptorFlags::WRITE, has('w'));
    let opened = take(descriptors, at)?.open_at(follow(!has('n')), path, open_flags, flags);
    Some(opened.map(|descriptor| {
        descriptors.push(descriptor);
        String::new()
    }))
}

fn step(descriptors: &[Descriptor], at: &Descriptor, verb: &str, rest: &[&str]) -> Answer {
    let nothing = |()| String::new();
    Some(match (verb, rest) {
        ("read", []) => read(at),
        // Opens and reads; the descriptor gets no number.
        ("cat", [path]) => {
            at.open_at(follow(true), path, OpenFlags::empty(), DescriptorFlags::READ).and_then(|opened| read(&opened))
        }
        ("cut", [path]) => {
            at.open_at(follow(true), path, OpenFlags::TRUNCATE, DescriptorFlags::WRITE).map(|_| String::new())
        }
        ("write", [text]) => at.write(text.as_bytes(), 0).map(|written| written.to_string()),
        ("list", []) => list(at),
        ("stat", [path]) => at.stat_at(follow(true), path).map(kind),
        ("stat-link", [path]) => at.stat_at(follow(false), path).map(kind),
        ("hash", [path]) => at.metadata_hash_at(follow(true), path).map(|_| String::new()),
        ("hash-link", [path]) => at.metadata_hash_at(follow(false), path).map(|_| String::new()),
        ("times", [path]) => at.set_times_at(follow(true), path, NewTimestamp::Now, NewTimestamp::Now).map(nothing),
        ("times-link", [path]) => {
            at.set_times_at(follow(false), path, NewTimestamp::Now, NewTimestamp::Now).map(nothing)
        }
        ("readlink", [path]) => at.readlink_at(path),
        ("mkdir", [path]) => at.create_directory_at(path).map(nothing),
        ("rmdir", [path]) => at.remove_directory_at(path).map(nothing),
        ("unlink", [path]) => at.unlink_file_at(path).map(nothing),
        ("symlink", [target, path]) => at.symlink_at(target, path).map(nothing),
        ("link", [old, to, new]) => at.link_at(follow(false), old, take(descriptors, to)?, new).map(nothing),
        ("rename", [old, to, new]) => at.rename_at(old, take(descriptors, to)?, new).map(nothing),
        _ => return None,
    })
}

fn read(file: &Descriptor) -> Result<String, ErrorCode> {
    file.read(4096, 0).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
}

/// What a file is, in a word.
fn kind(stat: DescriptorStat) -> String {
    format!("{:?}", stat.type_).trim_start_matches("DescriptorType::").to_owned()
}

/// The names in a directory, sorted, with commas.
fn list(directory: &Descriptor) -> Result<String, ErrorCode> {
    let entries = directory.read_directory()?;
    let mut names = Vec::new();
    while let Some(entry) = entries.read_directory_entry()? {
        names.push(entry.name);
    }
    names.sort_unstable();
    Ok(names.join(","))
}

fn follow(links: bool) -> PathFlags {
    if links { PathFlags::SYMLINK_FOLLOW } else { PathFlags::empty() }
}
