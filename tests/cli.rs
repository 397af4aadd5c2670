//! The command line, from end to end: what a person or a script sees of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics, its helpers too")]

mod support;

mod cli {
    mod arguments;
    mod check;
    mod component_cache;
    mod components;
    mod exec;
    mod formats;
    mod help;
    mod init;
    mod journal;
    mod journal_show;
    mod journal_verify;
    mod places;
    mod policy;
    mod signals;
    mod status_line;
    mod streams;
    mod terminal;
    mod trust;

    use super::support::Ended;

    /// What portcullis prints where it did nothing: one message.
    fn failed(code: i32, message: &str) -> Ended {
        Ended { code: Some(code), stdout: String::new(), stderr: format!("portcullis: {message}\n") }
    }

    /// What portcullis prints where it did what it was told, and all went well.
    fn printed(stdout: impl Into<String>) -> Ended {
        Ended { code: Some(0), stdout: stdout.into(), stderr: String::new() }
    }

    /// Asserts that portcullis did nothing and said why in one line, which ends in this code. The words between are
    /// the business of those who wrote them.
    #[track_caller]
    fn assert_refused(ended: &Ended, exit: i32, code: &str) {
        let Ended { code: found, stdout, stderr } = ended;
        assert_eq!((*found, stdout.as_str()), (Some(exit), ""), "{stderr}");
        assert!(stderr.starts_with("portcullis: ") && stderr.ends_with(&format!("{code}]\n")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}
