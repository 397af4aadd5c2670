//! Counts what tests and checks came to.

use std::fmt;
use std::ops::AddAssign;

/// Passed, failed, and why something was skipped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Number of tests that passed.
    pub(crate) passed: u64,
    /// Number of tests and checks that failed.
    pub(crate) failed: u64,
    /// A reason for each thing that was skipped.
    pub(crate) skips: Vec<String>,
}

impl Tally {
    /// One failure.
    pub(crate) fn failure() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// Something skipped, for this reason.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self { skips: vec![reason.into()], ..Self::default() }
    }

    /// Counts a line of a test program's output, where it is a result:
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub(crate) fn read_result(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        let count_of = |name: &str| {
            let field = counts.split("; ").find_map(|field| field.strip_suffix(name));
            field.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        self.passed += count_of("passed");
        self.failed += count_of("failed");
        self.skips.extend((0..count_of("ignored")).map(|_| "a test is marked as ignored".to_owned()));
    }

    /// Counts what tests wrote to their file of skips: `SKIP: reason` per line.
    pub(crate) fn read_skips(&mut self, text: &str) {
        let reasons = text.lines().map(|line| line.strip_prefix("SKIP:").unwrap_or(line).trim());
        self.skips.extend(reasons.filter(|reason| !reason.is_empty()).map(str::to_owned));
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skips.extend(other.skips);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skips.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_skips_add_up() {
        let mut tally = Tally::default();
        tally.read_result(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        tally.read_result("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read_result("test something ... ok");
        tally.read_skips("SKIP: no user namespaces\n\nSKIP: no network\n");
        tally += Tally::failure();
        assert_eq!(tally.to_string(), "5 passed, 5 failed, 3 skipped");
        assert_eq!(tally.skips, ["a test is marked as ignored", "no user namespaces", "no network"]);
    }
}
