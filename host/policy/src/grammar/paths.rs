//! Paths among arguments, judged by their text alone.

use crate::paths::is_within;

/// What an argument that names a path is judged against. What the file system makes of the name, links above all, is
/// the kernel's to hold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place<'a> {
    /// Absolute path of the workspace, where the host says it.
    pub(crate) workspace: Option<&'a str>,
    /// Where the command runs, from the workspace down; empty = the workspace.
    pub(crate) cwd: &'a str,
    /// What nobody may touch.
    pub(crate) deny: &'a [String],
    /// Where the command may write.
    pub(crate) write: &'a [String],
}

impl Place<'_> {
    /// Whether a path lies in the workspace, and not where nobody may go.
    pub(crate) fn can_read(&self, path: &str) -> bool {
        self.inside(path).is_some_and(|path| !self.is_denied(&path))
    }

    /// Whether, besides, the command may write there.
    pub(crate) fn can_write(&self, path: &str) -> bool {
        let writable = |path: &String| self.write.iter().any(|outer| is_within(path, outer));
        self.inside(path).is_some_and(|path| writable(&path) && !self.is_denied(&path))
    }

    fn is_denied(&self, path: &str) -> bool {
        self.deny.iter().any(|outer| is_within(path, outer))
    }

    /// The path from the workspace down, if its text stays in there.
    ///
    /// `..` may only lead up from the working directory. Behind a name it is refused, even where it would stay inside:
    /// where `name/..` leads depends on whether `name` is a link.
    fn inside(&self, path: &str) -> Option<String> {
        let (path, cwd) = if path.starts_with('/') {
            let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
            let outer = self.workspace?.split('/').filter(|part| !part.is_empty());
            // A workspace at `/` would make everything a part of it.
            let mut depth = 0;
            for part in outer {
                depth += 1;
                if parts.next() != Some(part) {
                    return None;
                }
            }
            if depth == 0 {
                return None;
            }
            (parts.collect::<Vec<_>>(), "")
        } else if path.is_empty() {
            return None;
        } else {
            (path.split('/').filter(|part| !part.is_empty() && *part != ".").collect(), self.cwd)
        };
        let ups = path.iter().take_while(|part| **part == "..").count();
        let below = path.get(ups..)?;
        if below.contains(&"..") {
            return None;
        }
        let cwd: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty()).collect();
        let kept = cwd.get(..cwd.len().checked_sub(ups)?)?;
        let parts = [kept, below].concat();
        Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
    }
}
