//! A report in Markdown.
//!
//! What comes from a repository or from the host goes through [`escape`] before it gets here: a commit's subject
//! must not become markup, nor reach a terminal as control characters.

use std::fmt;

/// Characters of repository data that a report shows of one value.
const LONGEST_VALUE: usize = 160;

/// A titled part of the report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    title: &'static str,
    blocks: Vec<Block>,
}

#[derive(Debug, PartialEq, Eq)]
enum Block {
    Items(Vec<String>),
    Table { heads: &'static [&'static str], rows: Vec<Vec<String>> },
    Note(String),
}

impl Section {
    /// An empty section.
    pub(crate) fn new(title: &'static str) -> Self {
        Self { title, blocks: Vec::new() }
    }

    /// Adds an item to the list that the section ends with, or begins one.
    pub(crate) fn item(&mut self, item: String) {
        match self.blocks.last_mut() {
            Some(Block::Items(items)) => items.push(item),
            Some(Block::Table { .. } | Block::Note(_)) | None => self.blocks.push(Block::Items(vec![item])),
        }
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, heads: &'static [&'static str], rows: Vec<Vec<String>>) {
        self.blocks.push(Block::Table { heads, rows });
    }

    /// Adds a remark about what is not there.
    pub(crate) fn note(&mut self, text: String) {
        self.blocks.push(Block::Note(text));
    }

    /// Whether it says anything besides remarks.
    pub(crate) fn shows_something(&self) -> bool {
        self.blocks.iter().any(|block| !matches!(block, Block::Note(_)))
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}", self.title)?;
        self.blocks.iter().try_for_each(|block| write!(f, "\n{block}"))
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(items) => items.iter().try_for_each(|item| writeln!(f, "- {item}")),
            Self::Table { heads, rows } => {
                writeln!(f, "| {} |", heads.join(" | "))?;
                writeln!(f, "|{}", " --- |".repeat(heads.len()))?;
                rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
            }
            Self::Note(text) => writeln!(f, "_{text}_"),
        }
    }
}

/// Text as Markdown that shows exactly this text on one line, cut where it is very long.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (index, character) in text.chars().enumerate() {
        if index == LONGEST_VALUE {
            escaped.push('…');
            break;
        }
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' => {
                escaped.extend(['\\', character]);
            }
            c if c.is_control() || reorders(c) => escaped.extend(c.escape_unicode().flat_map(literal)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Characters that make a line read in another order than it is written in, or that can't be seen.
fn reorders(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `\u{1b}` as Markdown.
fn literal(character: char) -> Vec<char> {
    match character {
        '\\' | '{' | '}' => vec!['\\', character],
        c => vec![c],
    }
}

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut tenths, mut unit) = (bytes, 0, 0);
    while whole >= 1024 && unit + 1 < units.len() {
        tenths = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit += 1;
    }
    if unit == 0 { format!("{whole} B") } else { format!("{whole}.{tenths} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_markdown() {
        let mut section = Section::new("Authors");
        assert!(!section.shows_something());
        section.note("incomplete".to_owned());
        assert!(!section.shows_something());
        section.table(&["Commits", "Author"], vec![vec!["2".to_owned(), "Ann".to_owned()]]);
        section.item("one".to_owned());
        section.item("two".to_owned());
        assert!(section.shows_something());
        let expected =
            "## Authors\n\n_incomplete_\n\n| Commits | Author |\n| --- | --- |\n| 2 | Ann |\n\n- one\n- two\n";
        assert_eq!(section.to_string(), expected);
    }

    #[test]
    fn repository_data_is_never_markup_or_control() {
        assert_eq!(escape("a|b `c` <img> [x](y) a&b"), r"a\|b \`c\` \<img\> \[x\](y) a\&b");
        assert_eq!(escape("red\u{1b}[31m\r\n"), r"red\\u\{1b\}\[31m\\u\{d\}\\u\{a\}");
        assert_eq!(escape("a\u{202e}b"), r"a\\u\{202e\}b");
        assert_eq!(escape("grüße 日本"), "grüße 日本");
    }

    #[test]
    fn a_long_value_is_cut() {
        let shown = escape(&"x".repeat(500));
        assert_eq!(shown.chars().count(), LONGEST_VALUE + 1);
        assert!(shown.ends_with('…'));
    }

    #[test]
    fn sizes_for_people() {
        assert_eq!([size(0), size(1023), size(1024), size(1_700_000)], ["0 B", "1023 B", "1.0 KiB", "1.6 MiB"]);
        assert_eq!(size(u64::MAX), "16777215.9 TiB");
    }
}
