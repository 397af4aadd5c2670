//! Paths of a policy, compared by their text alone.
//!
//! A path here is normalised: absolute (`/`, `/usr/lib`) or relative to the workspace (`.`, `src/data`), without
//! empty, `.` and `..` parts and without a slash at its end. Which file it stands for, only the host can know: a
//! relative path is never compared with an absolute one.

/// Whether a path is this one, or lies below it.
pub(crate) fn is_within(path: &str, outer: &str) -> bool {
    if path.starts_with('/') != outer.starts_with('/') {
        return false;
    }
    outer == "."
        || outer == "/"
        || path.strip_prefix(outer).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// The same paths, sorted, each once, and none that lies within another: relative ones first.
pub(crate) fn reduced(mut paths: Vec<String>) -> Vec<String> {
    // By parts: what lies below a path follows it at once, before `path-2`, say.
    fn key(path: &str) -> (bool, impl Iterator<Item = &str>) {
        (path.starts_with('/'), path.split('/').filter(|part| !part.is_empty() && *part != "."))
    }
    paths.sort_unstable_by(|a, b| {
        let ((a_is_absolute, a), (b_is_absolute, b)) = (key(a), key(b));
        a_is_absolute.cmp(&b_is_absolute).then_with(|| a.cmp(b))
    });
    let mut kept: Vec<String> = Vec::with_capacity(paths.len());
    for path in paths {
        if !kept.last().is_some_and(|outer| is_within(&path, outer)) {
            kept.push(path);
        }
    }
    kept
}

/// What lies within a path of both lists, reduced.
pub(crate) fn common(one: &[String], other: &[String]) -> Vec<String> {
    let within = |paths: &[String], outers: &[String]| -> Vec<String> {
        paths.iter().filter(|path| outers.iter().any(|outer| is_within(path, outer))).cloned().collect()
    };
    reduced([within(one, other), within(other, one)].concat())
}

#[cfg(test)]
mod tests;
