//! What is wrong with a policy file, and where.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level as Severity, Renderer, Snippet};

use crate::{Policy, visible};

/// A policy file that can't be used: what is wrong, at which line and column, and what to do.
///
/// Displays as a report with the line and a caret. [`PolicyError::render`] does the same with colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl PolicyError {
    /// The message may repeat the file's text as it is: whatever deceives is escaped here.
    pub(crate) fn new(span: Range<usize>, message: impl AsRef<str>) -> Self {
        let message = visible(message.as_ref()).to_string();
        Self { name: String::new(), text: String::new(), span, message, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Fills in the file that the error is in.
    pub(crate) fn in_file(mut self, name: &str, text: &str) -> Self {
        // What is longer than any policy is not kept: such an error is about its first line.
        let text = &text[..text.floor_char_boundary(Policy::MAX_BYTES)];
        self.name = visible(name).to_string();
        text.clone_into(&mut self.text);
        // A span must end inside the text and on character boundaries, whoever computed it.
        let floor = |index: usize| text.floor_char_boundary(index.min(text.len()));
        self.span = floor(self.span.start)..floor(self.span.end.max(self.span.start));
        self
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        position(&self.text, self.span.start).0
    }

    /// Column, from 1, in characters.
    #[must_use]
    pub fn column(&self) -> usize {
        position(&self.text, self.span.start).1
    }

    /// The report, with ANSI colours.
    #[must_use]
    pub fn render(&self) -> String {
        self.report(&Renderer::styled())
    }

    fn report(&self, renderer: &Renderer) -> String {
        let annotation = AnnotationKind::Primary.span(self.span.clone());
        let snippet = Snippet::source(&self.text).path(&self.name).annotation(annotation);
        let title = Severity::ERROR.primary_title(&self.message);
        let mut group = Group::with_title(title).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Severity::HELP.message(help));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(&Renderer::plain()))
    }
}

impl std::error::Error for PolicyError {}

/// Line and column, both from 1, of a byte of a text.
fn position(text: &str, index: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(index.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Where the lines of a text end, to look up many lines in a long text.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(newline, _)| newline).collect())
    }

    /// The line, from 1, of a byte.
    pub(crate) fn at(&self, index: usize) -> usize {
        self.0.partition_point(|newline| *newline < index) + 1
    }
}
