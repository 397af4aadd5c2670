//! Showing text that others wrote, so that it can't deceive the reader.

use std::fmt::{self, Write as _};
use std::time::Duration;

/// Text with every character that could deceive a reader or drive a terminal written as an escape.
///
/// Control characters (C0, DEL, C1), bidirectional controls and invisible characters come out as `\u{…}`; newline,
/// carriage return and tab as `\n`, `\r` and `\t`. Backslashes stay as they are: this is for readers, and can't be
/// read back. See the "Trojan Source" paper (CVE-2021-42574) and CVE-2023-28486 (sudo logs).
///
/// ```
/// assert_eq!(portcullis_policy::visible("a\u{1b}[2Jb\u{202e}").to_string(), r"a\u{1b}[2Jb\u{202e}");
/// ```
#[must_use]
pub fn visible(text: &str) -> Visible<'_> {
    Visible(text)
}

/// Made by [`visible`]; shows through its `Display`.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a>(&'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c if deceives(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Most characters of somebody else's text that a message repeats.
const EXCERPT: usize = 200;

/// As [`visible`], and at most 200 characters of the text, then `…`: what a message may repeat of a text that can be
/// as long as a guest likes.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).to_string(),
    }
}

/// A span of time as a policy would write it: `0s`, `1m 30s`, `10h`.
///
/// ```
/// assert_eq!(portcullis_policy::span(std::time::Duration::from_secs(36_000)), "10h");
/// ```
#[must_use]
pub fn span(time: Duration) -> String {
    // What it can't hold, billions of years, is told in seconds.
    jiff::SignedDuration::try_from(time).map_or_else(|_| format!("{time:?}"), |time| format!("{time:#}"))
}

/// Whether a character is invisible, drives a terminal, or changes how others are shown.
///
/// Beside control characters: Unicode's `Default_Ignorable_Code_Point` (`DerivedCoreProperties.txt`), line and
/// paragraph separator, interlinear annotation, the format controls of Egyptian hieroglyphs, and the empty Braille
/// pattern.
pub(crate) fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
