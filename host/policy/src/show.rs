//! Showing text that others wrote, so that it can't deceive the reader.

use std::fmt::{self, Write as _};

/// Text with every character that could deceive a reader or drive a terminal written as an escape.
///
/// Control characters (C0, DEL, C1), bidirectional controls and invisible characters come out as `\u{…}`, so that
/// what is shown is what is there. See the "Trojan Source" paper (CVE-2021-42574) and CVE-2023-28486 (sudo logs).
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

/// Whether a character is invisible, or changes how others are shown.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
