//! JSON in printable ASCII: whatever a guest puts into a record, the file stays one line of visible characters.
//!
//! Control characters, DEL, C1, bidirectional controls and invisible characters would let a record rewrite the
//! screen of the person who reads it. A list of them goes out of date with every Unicode release, so every
//! character outside 0x20 to 0x7e is escaped. The exact text is still in the record.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Appends the JSON form of `value` to `out`.
pub(crate) fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), serde_json::Error> {
    value.serialize(&mut Serializer::with_formatter(out, Ascii))
}

/// The longest prefix of `text` whose escaped form has at most `room` bytes.
///
/// Returns the prefix's length in `text` and in its escaped form.
pub(crate) fn fit(text: &str, room: usize) -> (usize, usize) {
    let mut written = 0;
    for (at, char) in text.char_indices() {
        let width = width(char);
        if width > room - written {
            return (at, written);
        }
        written += width;
    }
    (text.len(), written)
}

/// Whether the byte may stand in a journal as it is.
pub(crate) const fn printable(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

/// Bytes that [`write`] makes of this character.
const fn width(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        '\u{1_0000}'.. => 12,
        _ => 6,
    }
}

struct Ascii;

impl Formatter for Ascii {
    /// `serde_json` escapes quotes, backslashes and everything below 0x20, and hands on the rest.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(printable) {
            return out.write_all(fragment.as_bytes());
        }
        for char in fragment.chars() {
            match u8::try_from(char) {
                Ok(byte) if printable(byte) => out.write_all(&[byte])?,
                Ok(byte) => self.write_char_escape(out, CharEscape::AsciiControl(byte))?,
                Err(_) => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        write!(out, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terminal_tricks_become_visible_escapes() {
        let mut out = Vec::new();
        write(&mut out, "a\0\n\r\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{200b}\u{2066}\u{feff}é\u{1f600}\"\\").unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#""a\u0000\n\r\u001b[2J\u007f\u009b\u202e\u200b\u2066\ufeff\u00e9\ud83d\ude00\"\\""#
        );
    }

    proptest! {
        #[test]
        fn any_text_is_printable_reads_back_and_has_the_width_foreseen(text in "(?s).*") {
            let mut out = Vec::new();
            write(&mut out, &text).unwrap();
            prop_assert!(out.iter().copied().all(printable));
            prop_assert_eq!(fit(&text, usize::MAX), (text.len(), out.len() - 2));
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }

        #[test]
        fn a_prefix_that_fits_is_the_longest_one(text in "(?s).*", room in 0_usize..40) {
            let (kept, written) = fit(&text, room);
            prop_assert!(written <= room);
            if let Some(next) = text[kept..].chars().next() {
                prop_assert!(written + width(next) > room);
            }
        }
    }
}
