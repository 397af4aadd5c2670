//! Asks for one command after the other, and makes a section of each answer.
//!
//! A command that is denied, missing, too slow or too talkative costs its own section, and the section says so.

use crate::command::{Command, Ended, Output, Refusal, Stream};
use crate::git::{self, Head, Tally};
use crate::options::Options;
use crate::report::{Section, escape, size};

/// The report's sections. `run` gets every command run.
pub(crate) fn survey(options: &Options, run: &dyn Fn(&Command) -> Result<Output, Refusal>) -> Vec<Section> {
    let survey = Survey { options, run };
    let (overview, tree, found) = survey.state();
    match found {
        Found::NoRepository => vec![overview],
        Found::NoCommits => vec![overview, tree, survey.marks()],
        Found::Commits => {
            let [commits, authors, files] = [survey.commits(), survey.authors(), survey.files()];
            vec![overview, commits, authors, tree, files, survey.marks()]
        }
    }
}

/// What the first command found out; the rest depends on it.
enum Found {
    NoRepository,
    NoCommits,
    Commits,
}

struct Survey<'a> {
    options: &'a Options,
    run: &'a dyn Fn(&Command) -> Result<Output, Refusal>,
}

impl Survey<'_> {
    /// The overview, the working tree, and whether there is more to ask for.
    fn state(&self) -> (Section, Section, Found) {
        let mut overview = Section::new("Overview");
        let mut tree = Section::new("Working tree");
        let command = Command::new("git", git::STATUS).reason("the branch and the changes of the working tree");
        let Some(output) = self.ask(&command, &[0, 128], &mut tree) else {
            // Refused: the other commands may still be allowed.
            self.count(&mut overview);
            return (overview, tree, Found::Commits);
        };
        if output.ended == Ended::Exited(128) {
            overview.note(format!("nothing to report on: {}", complaint(&output.stderr)));
            return (overview, tree, Found::NoRepository);
        }

        let (head, changes) = git::status(&output.stdout);
        let unborn = matches!(head, Some(Head::Unborn { .. }));
        if let Some(head) = head {
            overview.item(describe(&head));
        }
        if !unborn {
            self.count(&mut overview);
        }
        let rows = changes.iter().map(|change| vec![escape(&change.letters.replace(' ', "·")), escape(&change.path)]);
        match changes.len() {
            0 if output.stdout.missing > 0 => {}
            0 => tree.item("clean".to_owned()),
            _ => self.table(&mut tree, &["State", "Path"], rows.collect(), self.options.top),
        }
        (overview, tree, if unborn { Found::NoCommits } else { Found::Commits })
    }

    fn count(&self, overview: &mut Section) {
        let command = Command::new("git", git::COUNT).reason("the number of commits");
        if let Some(output) = self.ask(&command, &[0], overview)
            && let Some(count) = git::count(&output.stdout)
        {
            overview.item(format!("Commits: {count}"));
        }
    }

    fn commits(&self) -> Section {
        let mut section = Section::new("Recent commits");
        let command = Command::new("git", git::LOG).reason("the recent commits");
        if let Some(output) = self.ask(&command, &[0], &mut section) {
            let commits = git::commits(&output.stdout).into_iter().take(self.options.commits);
            let rows = commits.map(|commit| {
                [commit.date, commit.hash, commit.author, commit.subject].iter().map(|field| escape(field)).collect()
            });
            section.table(&["Date", "Commit", "Author", "Subject"], rows.collect());
        }
        section
    }

    fn authors(&self) -> Section {
        let mut section = Section::new("Authors");
        let command = Command::new("git", git::AUTHORS).reason("who wrote the commits");
        if let Some(output) = self.ask(&command, &[0], &mut section) {
            let authors = git::authors(&output.stdout);
            let rows = authors.iter().map(|author| vec![author.count.to_string(), escape(&author.name)]);
            self.table(&mut section, &["Commits", "Author"], rows.collect(), self.options.top);
        }
        section
    }

    fn files(&self) -> Section {
        let mut section = Section::new("Largest files");
        let command = Command::new("git", git::FILES).reason("the sizes of the tracked files");
        let Some(output) = self.ask(&command, &[0], &mut section) else {
            return section;
        };
        let files = git::files(&output.stdout);
        let largest = &files[..files.len().min(self.options.top)];
        let lines = self.lines(largest, &mut section);
        let rows = largest.iter().map(|file| {
            let lines = lines.iter().find(|counted| counted.name == file.name);
            vec![size(file.count), lines.map_or_else(String::new, |l| l.count.to_string()), escape(&file.name)]
        });
        section.table(&["Size", "Lines", "File"], rows.collect());
        let total = files.iter().map(|file| file.count).sum();
        section.item(format!("{} in {} of the last commit", size(total), counted(files.len() as u64, "regular file")));
        section
    }

    /// The lines of these files, as they are in the working tree. Some may be gone: `wc` then ends with 1.
    fn lines(&self, files: &[Tally], section: &mut Section) -> Vec<Tally> {
        if files.is_empty() {
            return Vec::new();
        }
        let arguments = git::line_count_arguments(files);
        let command = Command::new("wc", &arguments).reason("the lines of the largest files");
        let output = self.ask(&command, &[0, 1], section);
        output.map(|output| git::line_counts(&output.stdout)).unwrap_or_default()
    }

    fn marks(&self) -> Section {
        let mut section = Section::new("TODO and FIXME");
        let command = Command::new("git", git::MARKS).reason("where work is marked as unfinished");
        // `git grep` ends with 1 where it finds nothing.
        if let Some(output) = self.ask(&command, &[0, 1], &mut section) {
            let marks = git::marks(&output.stdout);
            let lines: u64 = marks.iter().map(|mark| mark.count).sum();
            section.item(format!("{} in {}", counted(lines, "line"), counted(marks.len() as u64, "tracked file")));
            let rows = marks.iter().map(|mark| vec![mark.count.to_string(), escape(&mark.name)]);
            if !marks.is_empty() {
                self.table(&mut section, &["Lines", "File"], rows.collect(), self.options.top);
            }
        }
        section
    }

    /// A table of at most `most` rows, with a remark about the rest.
    fn table(&self, section: &mut Section, heads: &'static [&'static str], mut rows: Vec<Vec<String>>, most: usize) {
        let more = rows.len().saturating_sub(most);
        rows.truncate(most);
        section.table(heads, rows);
        if more > 0 {
            section.note(format!("and {more} more"));
        }
    }

    /// Runs a command. What it has to say is there if it ended with one of the codes in `fine`, or was stopped
    /// halfway; whatever the reader must know goes into the section.
    fn ask(&self, command: &Command, fine: &[u8], section: &mut Section) -> Option<Output> {
        let label = command.label();
        let output = match (self.run)(command) {
            Ok(output) => output,
            Err(refusal) => {
                let Refusal { verb, code, message } = refusal;
                section.note(format!("not shown: {verb} `{label}` ({}): {}", escape(&code), escape(&message)));
                return None;
            }
        };
        match &output.ended {
            Ended::Exited(code) if !fine.contains(code) => {
                let complaint = complaint(&output.stderr);
                section.note(format!("not shown: `{label}` {}: {complaint}", output.ended));
                return None;
            }
            Ended::Exited(_) => {}
            Ended::Stopped(how) => section.note(format!("incomplete: `{label}` {}", escape(how))),
        }
        if output.stdout.missing > 0 {
            let dropped = size(output.stdout.missing);
            section.note(format!("incomplete: {dropped} of the output of `{label}` were more than the limit keeps"));
        }
        Some(output)
    }
}

fn describe(head: &Head) -> String {
    match head {
        Head::Branch { name, upstream } if upstream.is_empty() => format!("Branch: {}", escape(name)),
        Head::Branch { name, upstream } => format!("Branch: {}, tracking {}", escape(name), escape(upstream)),
        Head::Unborn { name } => format!("Branch: {}, without any commit yet", escape(name)),
        Head::Detached => "No branch: HEAD is detached".to_owned(),
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The first line that a command wrote to standard error.
fn complaint(stderr: &Stream) -> String {
    let text = stderr.text();
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => escape(line),
        None => "it did not say why".to_owned(),
    }
}

#[cfg(test)]
mod tests;
