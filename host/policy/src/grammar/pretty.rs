//! Git's language of commit formats (`git log --format=…`).

/// Formats that git has by name; others would be aliases from the repository's configuration.
const NAMED: [&str; 10] = ["oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw", ""];

/// What stands behind `%`, apart from those with letters for a person or with parentheses.
const PLACEHOLDERS: [&str; 31] = [
    "n", "%", "H", "h", "T", "t", "P", "p", "d", "D", "S", "e", "s", "f", "b", "B", "N", "m", "gD", "gd", "gn", "gN",
    "ge", "gE", "gs", "Cred", "Cgreen", "Cblue", "Creset", "C(", "w(",
];

/// Author and committer: `%an`, `%ci`.
const PERSON: &str = "nNeElLdDrtiIsh";

/// Whether the text is a commit format, each placeholder of which only prints what the commit holds.
///
/// Refused are `%G…`, for which git starts `gpg` or what the configuration names in its stead, `%(describe)`, for which it
/// starts itself, names of formats that are not git's own, and what git of today does not know.
///
/// Source: `git-log(1)`, "Pretty formats", git 2.47.
pub(super) fn is_plain_format(text: &str) -> bool {
    let format = match text.strip_prefix("format:").or_else(|| text.strip_prefix("tformat:")) {
        Some(format) => format,
        None if text.contains('%') => text,
        None => return NAMED.contains(&text),
    };
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        // `%+d`, `%-b`, `% s`: with a line break or a blank before what is not empty.
        let (behind, modified) = behind.strip_prefix(['+', '-', ' ']).map_or((behind, false), |behind| (behind, true));
        match placeholder(behind) {
            // Git takes `%-%G?` for a `%-` that it does not know, and then `%G?`.
            Some(_) if modified && behind.starts_with('%') => return false,
            Some(length) => rest = &behind[length..],
            None => return false,
        }
    }
    true
}

/// The length of the placeholder that the text begins with.
fn placeholder(text: &str) -> Option<usize> {
    // What git can't read in parentheses it prints, and then reads what is in there.
    let closed = |open: usize| {
        let close = open + text[open..].find(')')?;
        (!text[open..close].contains('%')).then_some(close + 1)
    };
    if let Some(hex) = text.strip_prefix('x') {
        let digits = hex.bytes().take(2).filter(u8::is_ascii_hexdigit).count();
        return (digits == 2).then_some(3);
    }
    if let Some(person) = text.strip_prefix(['a', 'c']) {
        return person.starts_with(|letter| PERSON.contains(letter)).then_some(2);
    }
    if text.starts_with("(trailers") || text.starts_with("(decorate") {
        let behind = &text["(trailers".len()..];
        return if behind.starts_with([':', ')']) { closed(1) } else { None };
    }
    // Columns: `%<(20,trunc)`, `%>>|(30)`.
    if text.starts_with(['<', '>']) {
        let open = text.trim_start_matches(['<', '>']).trim_start_matches('|');
        return if open.starts_with('(') { closed(text.len() - open.len()) } else { None };
    }
    let known = PLACEHOLDERS.iter().filter(|known| text.starts_with(**known)).max_by_key(|known| known.len())?;
    if known.ends_with('(') { closed(known.len()) } else { Some(known.len()) }
}
