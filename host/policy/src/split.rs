//! Splitting a command line into words as Python does.

/// Why a command line can't be split. The texts are those of Python's `ValueError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A quote is not closed.
    #[error("No closing quotation")]
    NoClosingQuotation,
    /// The line ends in a backslash, or in one inside double quotes.
    #[error("No escaped character")]
    NoEscapedCharacter,
}

#[derive(Clone, Copy)]
enum State {
    /// Between words.
    Blank,
    /// In a word, outside quotes.
    Word,
    /// Between two quotes of this kind.
    Quoted(char),
    /// Behind a backslash; then back to the state that it stood in.
    Escaped(Behind),
}

#[derive(Clone, Copy)]
enum Behind {
    Word,
    DoubleQuotes,
}

/// Splits a line exactly as Python 3's `shlex.split(line)` does: POSIX mode, comments off.
///
/// Words are separated by space, tab, carriage return and newline. Single quotes keep everything; inside double
/// quotes a backslash escapes `"` and `\` only; elsewhere it takes the next character as it is, a newline too.
/// `#`, `;`, `|`, `&`, `<`, `>`, `$` and backquotes are plain text. An empty pair of quotes is an empty word.
///
/// # Errors
/// As Python's: see [`SplitError`].
///
/// # Example
/// ```
/// use portcullis_policy::{SplitError, split};
/// assert_eq!(split(r#"git commit -m "it's \"done\"" ''"#)?, ["git", "commit", "-m", r#"it's "done""#, ""]);
/// assert_eq!(split("echo 'a"), Err(SplitError::NoClosingQuotation));
/// # Ok::<(), SplitError>(())
/// ```
///
/// Source: the documentation of Python's `shlex` module, "Parsing Rules"; held against Python itself by a test.
pub fn split(line: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut state = State::Blank;
    for c in line.chars() {
        state = match state {
            State::Blank | State::Word => match c {
                ' ' | '\t' | '\r' | '\n' => {
                    if matches!(state, State::Word) {
                        words.push(std::mem::take(&mut word));
                    }
                    State::Blank
                }
                '\\' => State::Escaped(Behind::Word),
                '\'' | '"' => State::Quoted(c),
                c => {
                    word.push(c);
                    State::Word
                }
            },
            State::Quoted(quote) if c == quote => State::Word,
            State::Quoted('"') if c == '\\' => State::Escaped(Behind::DoubleQuotes),
            State::Quoted(quote) => {
                word.push(c);
                State::Quoted(quote)
            }
            State::Escaped(Behind::Word) => {
                word.push(c);
                State::Word
            }
            State::Escaped(Behind::DoubleQuotes) => {
                // Before anything else the backslash is text.
                if c != '"' && c != '\\' {
                    word.push('\\');
                }
                word.push(c);
                State::Quoted('"')
            }
        };
    }
    match state {
        State::Blank => Ok(words),
        State::Word => {
            words.push(word);
            Ok(words)
        }
        State::Quoted(_) => Err(SplitError::NoClosingQuotation),
        State::Escaped(_) => Err(SplitError::NoEscapedCharacter),
    }
}

#[cfg(test)]
mod tests;
