//! The command line.

use crate::git;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Reports on the git repository in the workspace, in Markdown.

Usage: repo-report [--commits N] [--top N]

  --commits N   recent commits to show, 0 to 100 (default 10)
  --top N       rows of every other list, 0 to 1000 (default 10)
  --help        this text

Exit status: 0 = a report; 1 = nothing could be shown, or wrong options.
";

/// What to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// Recent commits.
    pub(crate) commits: usize,
    /// Rows of every other list.
    pub(crate) top: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { commits: 10, top: 10 }
    }
}

impl Options {
    /// Reads the arguments after the program's name; none where help is asked for.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            let (place, most) = match name.as_str() {
                "--help" | "-h" => return Ok(None),
                "--commits" => (&mut options.commits, git::MOST_COMMITS),
                "--top" => (&mut options.top, 1000),
                other => return Err(format!("unknown argument '{other}'")),
            };
            let value = value.or_else(|| arguments.next()).ok_or_else(|| format!("{name} needs a number"))?;
            *place = match value.parse() {
                Ok(number) if number <= most => number,
                Ok(_) | Err(_) => return Err(format!("{name} takes a number from 0 to {most}, not '{value}'")),
            };
        }
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_their_limits() {
        assert_eq!(parse(""), Ok(Some(Options::default())));
        assert_eq!(parse("--commits 3 --top=4"), Ok(Some(Options { commits: 3, top: 4 })));
        assert_eq!(parse("--top 4 --help"), Ok(None));
        assert_eq!(parse("--commits 101"), Err("--commits takes a number from 0 to 100, not '101'".to_owned()));
        assert_eq!(parse("--top"), Err("--top needs a number".to_owned()));
        assert_eq!(parse("x"), Err("unknown argument 'x'".to_owned()));
    }
}
