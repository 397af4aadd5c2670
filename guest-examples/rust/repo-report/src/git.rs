//! The commands that the report asks for, and what their output says.
//!
//! Every argument list is constant, so that the policy can allow exactly these and nothing else. Options of the
//! tool (`--commits`, `--top`) cut what comes back; they never change what is asked for.

use crate::command::Stream;

/// Commits that [`LOG`] asks for: the most that `--commits` can show.
pub(crate) const MOST_COMMITS: usize = 100;

/// Branch and changes of the working tree. Submodules stay out: git would read their configuration too.
pub(crate) const STATUS: &[&str] =
    &["status", "--porcelain=v1", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all"];

/// Number of commits. `HEAD --` says that HEAD is a revision, whatever the files are called.
pub(crate) const COUNT: &[&str] = &["rev-list", "--count", "HEAD", "--"];

/// The latest commits: abbreviated hash, date, author, subject. `log.showSignature` in a repository's
/// configuration would start the program that it names for gpg; the option turns it off.
pub(crate) const LOG: &[&str] = &[
    "log",
    "--no-show-signature",
    "--no-patch",
    "--no-color",
    "--encoding=UTF-8",
    "--max-count=100",
    "--format=%h%x00%as%x00%aN%x00%s",
    "HEAD",
    "--",
];

/// Commits per author. Without `HEAD`, `git shortlog` reads a log from its standard input.
pub(crate) const AUTHORS: &[&str] = &["shortlog", "--summary", "--numbered", "HEAD", "--"];

/// Every file of the last commit with its size.
pub(crate) const FILES: &[&str] = &["ls-tree", "-r", "-l", "-z", "HEAD"];

/// How often the marks of unfinished work occur in tracked text files, per file.
pub(crate) const MARKS: &[&str] =
    &["grep", "--no-color", "--no-recurse-submodules", "-z", "--count", "-I", "-e", "TODO", "-e", "FIXME"];

/// Where HEAD points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    /// A branch, and what git says about its upstream (may be empty).
    Branch { name: String, upstream: String },
    /// A branch that has no commit yet.
    Unborn { name: String },
    /// No branch.
    Detached,
}

/// One changed path of the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// git's two letters: index and working tree.
    pub(crate) letters: String,
    /// The path; the new one where it was renamed.
    pub(crate) path: String,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Abbreviated hash.
    pub(crate) hash: String,
    /// Author's date, `YYYY-MM-DD`.
    pub(crate) date: String,
    /// Author's name.
    pub(crate) author: String,
    /// First line of the message.
    pub(crate) subject: String,
}

/// A name, and how much there is of it: commits of an author, bytes of a file, marks in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How much.
    pub(crate) count: u64,
    /// Of what.
    pub(crate) name: String,
}

/// Reads the output of [`STATUS`]. The head is none where git wrote no such line.
///
/// Only the beginning of a cut output is read: a rename takes two records, which a cut could part.
pub(crate) fn status(stdout: &Stream) -> (Option<Head>, Vec<Change>) {
    let mut head = None;
    let mut changes = Vec::new();
    let mut records = whole(&stdout.head, 0, stdout.missing > 0).into_iter();
    while let Some(record) = records.next() {
        if let Some(line) = record.strip_prefix("## ") {
            head = Some(parse_head(line));
        } else if let Some((letters, path)) = record.split_at_checked(2)
            && let Some(path) = path.strip_prefix(' ')
        {
            if letters.contains(['R', 'C']) {
                records.next(); // the old path
            }
            changes.push(Change { letters: letters.to_owned(), path: path.to_owned() });
        }
    }
    (head, changes)
}

fn parse_head(line: &str) -> Head {
    let (name, upstream) = line.split_once("...").unwrap_or((line, ""));
    if let Some(name) = name.strip_prefix("No commits yet on ") {
        Head::Unborn { name: name.to_owned() }
    } else if name == "HEAD (no branch)" {
        Head::Detached
    } else {
        Head::Branch { name: name.to_owned(), upstream: upstream.to_owned() }
    }
}

/// Reads the output of [`COUNT`].
pub(crate) fn count(stdout: &Stream) -> Option<u64> {
    stdout.text().trim().parse().ok()
}

/// Reads the output of [`LOG`].
pub(crate) fn commits(stdout: &Stream) -> Vec<Commit> {
    let parse = |record: String| {
        let mut fields = record.splitn(4, '\0').map(str::to_owned);
        Some(Commit { hash: fields.next()?, date: fields.next()?, author: fields.next()?, subject: fields.next()? })
    };
    records(stdout, b'\n').into_iter().filter_map(parse).collect()
}

/// Reads the output of [`AUTHORS`].
pub(crate) fn authors(stdout: &Stream) -> Vec<Tally> {
    let parse = |record: String| {
        let (count, name) = record.split_once('\t')?;
        Some(Tally { count: count.trim().parse().ok()?, name: name.to_owned() })
    };
    records(stdout, b'\n').into_iter().filter_map(parse).collect()
}

/// Reads the output of [`FILES`]: regular files only, the largest first. Symbolic links and submodules have no
/// size of their own.
pub(crate) fn files(stdout: &Stream) -> Vec<Tally> {
    let parse = |record: String| {
        let (about, name) = record.split_once('\t')?;
        let mut about = about.split_ascii_whitespace();
        let regular = about.next()?.starts_with("100");
        let size = about.nth(2)?.parse().ok()?;
        regular.then(|| Tally { count: size, name: name.to_owned() })
    };
    let mut files: Vec<_> = records(stdout, 0).into_iter().filter_map(parse).collect();
    largest_first(&mut files);
    files
}

/// Reads the output of [`MARKS`]: the files with the most marks first.
///
/// Only the beginning of a cut output is read: a name may hold a line break, so its end can't be found again.
pub(crate) fn marks(stdout: &Stream) -> Vec<Tally> {
    let text = String::from_utf8_lossy(&stdout.head);
    let mut rest = &*text;
    let mut marks = Vec::new();
    while let Some((name, after)) = rest.split_once('\0')
        && let Some((count, after)) = after.split_once('\n')
    {
        marks.extend(count.parse().ok().map(|count| Tally { count, name: name.to_owned() }));
        rest = after;
    }
    largest_first(&mut marks);
    marks
}

/// The arguments of `wc` that count the lines of these files, which git listed.
///
/// After `--` nothing is an option, and `./` keeps a file called `-` from meaning the standard input. Names with
/// control characters are left out: `wc` would print them in another spelling.
pub(crate) fn line_count_arguments(files: &[Tally]) -> Vec<String> {
    let plain = files.iter().filter(|file| !file.name.contains(char::is_control));
    let operands = plain.map(|file| format!("./{}", file.name));
    ["-l", "--"].map(str::to_owned).into_iter().chain(operands).collect()
}

/// Reads the output of `wc -l`, with the names as [`FILES`] spells them.
pub(crate) fn line_counts(stdout: &Stream) -> Vec<Tally> {
    let parse = |record: String| {
        let (count, name) = record.trim_start().split_once(" ./")?;
        Some(Tally { count: count.parse().ok()?, name: name.to_owned() })
    };
    records(stdout, b'\n').into_iter().filter_map(parse).collect()
}

fn largest_first(tallies: &mut [Tally]) {
    tallies.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
}

/// The whole records of a stream. Where the host cut it, the two that the cut touches are left out.
fn records(stream: &Stream, separator: u8) -> Vec<String> {
    let mut records = whole(&stream.head, separator, stream.missing > 0);
    if let Some(end_of_torn) = stream.tail.iter().position(|byte| *byte == separator) {
        records.extend(whole(&stream.tail[end_of_torn + 1..], separator, false));
    }
    records
}

/// The records of one piece, less the last one where that is torn.
fn whole(bytes: &[u8], separator: u8, torn: bool) -> Vec<String> {
    let mut pieces: Vec<_> = bytes.split(|byte| *byte == separator).collect();
    if torn {
        pieces.pop();
    }
    let texts = pieces.into_iter().filter(|piece| !piece.is_empty());
    texts.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
}

#[cfg(test)]
mod tests;
