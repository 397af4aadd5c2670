use proptest::prelude::*;

use super::*;

#[test]
fn plain_text_stays_as_it_is() {
    for text in ["", "git status", "héllo wörld", "日本語", "👩", r"a\n", "`$(id)`", "\u{a0}"] {
        assert_eq!(visible(text).to_string(), text);
    }
}

/// Derived from CVE-2021-42574 ("Trojan Source") and CVE-2023-28486 (control characters in sudo's logs).
#[test]
fn text_that_deceives_comes_out_as_escapes() {
    for (text, shown) in [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
        ("\u{9b}2J", r"\u{9b}2J"),
        ("\0\u{7f}", r"\u{0}\u{7f}"),
        ("if (access\u{202e}\u{2066}) {", r"if (access\u{202e}\u{2066}) {"),
        ("user\u{200b}name", r"user\u{200b}name"),
        ("\u{feff}x\u{2028}", r"\u{feff}x\u{2028}"),
        ("tag\u{e0041}", r"tag\u{e0041}"),
        ("\u{3164}\u{115f}\u{2800}", r"\u{3164}\u{115f}\u{2800}"),
    ] {
        assert_eq!(visible(text).to_string(), shown);
    }
}

/// Unicode's `Bidi_Control`, all of it.
#[test]
fn no_bidirectional_control_gets_through() {
    let controls = ['\u{61c}', '\u{200e}', '\u{200f}'];
    for c in controls.into_iter().chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        assert!(deceives(c), "{c:?}");
    }
}

#[test]
fn an_excerpt_ends_after_200_characters() {
    assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(200));
    assert_eq!(excerpt(&"é".repeat(201)), "é".repeat(200) + "…");
    assert_eq!(excerpt(&"\u{202e}".repeat(1_000_000)), r"\u{202e}".repeat(200) + "…");
}

proptest! {
    #[test]
    fn what_is_shown_never_deceives(text in any::<String>()) {
        prop_assert!(!visible(&text).to_string().chars().any(deceives));
    }
}
