//! What commands can reach: paths and programs of a policy, judged by their text alone.

use serde_spanned::Spanned;

use super::Span;
use crate::file::PathList;
use crate::policy::Reach;
use crate::show::excerpt;
use crate::value::ChildrenValue;
use crate::{Children, Confinement, GuestFiles, Level, PolicyError, ProgramEntry, ProgramName, paths};

/// What holds for all commands.
pub(super) fn everyones(
    level: Level,
    deny: Option<PathList>,
    read: Option<PathList>,
    write: Option<PathList>,
) -> Result<Reach, PolicyError> {
    let deny = denied(level, deny)?;
    let write = match write {
        Some(list) => writable(list, level, &deny)?.into_iter().map(Spanned::into_inner).collect(),
        None => Confinement::DEFAULT_WRITE.map(str::to_owned).to_vec(),
    };
    Ok(Reach { read: self::read(read, level)?.unwrap_or_default(), write: paths::reduced(write), deny })
}

/// What nobody may touch. Only a level with mounts can hold that, so that only there something is denied unasked.
fn denied(level: Level, deny: Option<PathList>) -> Result<Vec<String>, PolicyError> {
    let Some(list) = deny else {
        return Ok(match level {
            Level::Full => Confinement::DEFAULT_DENY.map(str::to_owned).to_vec(),
            Level::None | Level::Limits | Level::Landlock => Vec::new(),
        });
    };
    if level != Level::Full && !list.get_ref().is_empty() {
        let message = format!("confinement level `{level}` can't keep a path from everybody: that takes mounts");
        let help = "demand `confinement.level = \"full\"`, which has them, or write `deny = []`";
        return Err(PolicyError::new(list.span(), message).help(help));
    }
    let denied = |path: &Spanned<String>| match plain(path)? {
        absolute if absolute.starts_with('/') => {
            let message = format!("`{}` is absolute; only paths of the workspace can be denied", excerpt(&absolute));
            let help = "write it as it is called from the workspace; what lies outside is out of reach unless \
                        `confinement` gives it";
            Err(PolicyError::new(path.span(), message).help(help))
        }
        workspace if workspace == "." => {
            let message = "denying `.` would leave nothing of the workspace";
            let help = "to let commands only read it, write `confinement.write = []`";
            Err(PolicyError::new(path.span(), message).help(help))
        }
        relative => Ok(relative),
    };
    checked(&list)?.iter().map(denied).collect::<Result<_, _>>().map(paths::reduced)
}

/// What may be read besides; `None` where the file does not say.
pub(super) fn read(list: Option<PathList>, level: Level) -> Result<Option<Vec<String>>, PolicyError> {
    let Some(list) = list else { return Ok(None) };
    held(level, list.span())?;
    let read = |path: &Spanned<String>| match plain(path)? {
        absolute if absolute.starts_with('/') => Ok(absolute),
        relative => {
            let message = format!("`{}` is relative; `read` takes absolute paths", excerpt(&relative));
            let help = "leave it out if it lies in the workspace, which every command may read";
            Err(PolicyError::new(path.span(), message).help(help))
        }
    };
    checked(&list)?.iter().map(read).collect::<Result<_, _>>().map(|list| Some(paths::reduced(list)))
}

/// What a program or a rule may write instead of what the table above it gives, `outer`.
pub(super) fn narrower(
    list: Option<PathList>,
    level: Level,
    everyones: &Reach,
    outer: &[String],
) -> Result<Option<Vec<String>>, PolicyError> {
    let Some(list) = list else { return Ok(None) };
    let mut narrower = Vec::new();
    for path in writable(list, level, &everyones.deny)? {
        if !outer.iter().any(|outer| paths::is_within(path.get_ref(), outer)) {
            let shown = excerpt(path.get_ref());
            let message = format!("`{shown}` does not lie within what the table above lets commands write");
            let help = "give it in `confinement.write` first, or name a path within what is given there";
            return Err(PolicyError::new(path.span(), message).help(help));
        }
        narrower.push(path.into_inner());
    }
    Ok(Some(paths::reduced(narrower)))
}

/// The paths of a list for writing, each with its place.
fn writable(list: PathList, level: Level, denied: &[String]) -> Result<Vec<Spanned<String>>, PolicyError> {
    held(level, list.span())?;
    let writable = |path: &Spanned<String>| {
        let plain = plain(path)?;
        if plain == "/" {
            let help = "name the directories that are to be written; the workspace is `.`";
            return Err(PolicyError::new(path.span(), "commands can't be let write everywhere").help(help));
        }
        if let Some(denied) = denied.iter().find(|denied| paths::is_within(&plain, denied)) {
            let message = format!("`{}` is denied to everybody, by `{}`", excerpt(&plain), excerpt(denied));
            let help = "take it out here, or out of `workspace.deny`, whose default is `[\".git/hooks\"]`";
            return Err(PolicyError::new(path.span(), message).help(help));
        }
        Ok(Spanned::new(path.span(), plain))
    };
    checked(&list)?.iter().map(writable).collect()
}

/// What the tree of a program may execute beside it.
pub(super) fn children(value: Option<Spanned<ChildrenValue>>, level: Level) -> Result<Children, PolicyError> {
    let Some(value) = value else { return Ok(Children::None) };
    let span = value.span();
    held(level, span.clone())?;
    let list = match value.into_inner() {
        ChildrenValue::None => return Ok(Children::None),
        ChildrenValue::Any => return Ok(Children::Any),
        ChildrenValue::Listed(list) if list.is_empty() => return Ok(Children::None),
        ChildrenValue::Listed(list) => Spanned::new(span, list),
    };
    checked(&list)?.iter().map(child).collect::<Result<_, _>>().map(|list| Children::Listed(paths::reduced(list)))
}

fn child(item: &Spanned<String>) -> Result<String, PolicyError> {
    let text = item.get_ref();
    if !text.contains('/') {
        literal(item)?;
        return ProgramName::new(text).map(|name| name.as_str().to_owned()).map_err(|problem| {
            PolicyError::new(item.span(), format!("the program name `{}` {problem}", excerpt(text)))
        });
    }
    let path = plain(item)?;
    if path == "/" {
        let message = "everything lies below `/`";
        return Err(PolicyError::new(item.span(), message).help("write `children = \"any\"`, if that is meant"));
    }
    if !path.starts_with('/') {
        let message = format!("`{}` is relative; a child is the name of a program or an absolute path", excerpt(&path));
        return Err(PolicyError::new(item.span(), message).help("write where it is, such as \"/usr/lib/gcc\""));
    }
    Ok(path)
}

/// A component that may write the workspace decides what a program runs that executes the workspace's own files:
/// that must be said by name. `span` is that of the program's `children`.
pub(super) fn check_workspace_code(entry: &ProgramEntry, span: Span, files: GuestFiles) -> Result<(), PolicyError> {
    let ProgramEntry { name, children, runs_workspace_code, .. } = entry;
    if files != GuestFiles::Write || *children != Children::Any || *runs_workspace_code {
        return Ok(());
    }
    let message = format!(
        "components may write the workspace (`guest-files = \"write\"`) and `{name}` may execute any file, so a \
         component could have native code run"
    );
    let help = "if that is meant, write `runs-workspace-code = true` in this [[program]]; else list its children, or \
                let components only read";
    Err(PolicyError::new(span, message).help(help))
}

/// At level `none` the kernel holds a command to nothing, and never will.
fn held(level: Level, span: Span) -> Result<(), PolicyError> {
    match level {
        Level::None => {
            let message = "this does not hold at confinement level `none`";
            let help = "leave it out, or write `confinement.level = \"landlock\"` or better";
            Err(PolicyError::new(span, message).help(help))
        }
        Level::Limits | Level::Landlock | Level::Full => Ok(()),
    }
}

fn checked(list: &PathList) -> Result<&[Spanned<String>], PolicyError> {
    let most = Confinement::MAX_PATHS;
    if list.get_ref().len() > most {
        let message = format!("at most {most} can be given here");
        return Err(PolicyError::new(list.span(), message).help("name the directory that they lie in"));
    }
    Ok(list.get_ref())
}

/// The path in its one form.
fn plain(path: &Spanned<String>) -> Result<String, PolicyError> {
    literal(path)?;
    let text = path.get_ref().as_str();
    let shown = excerpt(text);
    let refused = |message: String, help| Err(PolicyError::new(path.span(), message).help(help));
    if text.is_empty() {
        return refused("a path can't be empty".to_owned(), "the workspace is `.`");
    }
    if text.contains('\0') {
        return refused("a path can't contain NUL, which no file's name has".to_owned(), "take it out");
    }
    if text.len() > Confinement::MAX_PATH_BYTES {
        let most = Confinement::MAX_PATH_BYTES;
        return refused(format!("the path has {} bytes; a path has at most {most}", text.len()), "shorten it");
    }
    let end = text.strip_suffix('/').unwrap_or(text);
    let parts = end.strip_prefix('/').unwrap_or(end);
    let is_root = end.is_empty();
    if end != "." && !is_root && parts.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return refused(format!("`{shown}` has a part that is empty, `.` or `..`"), "write the path out, without it");
    }
    Ok(if is_root { "/" } else { end }.to_owned())
}

/// Refuses what elsewhere would stand for something else.
fn literal(path: &Spanned<String>) -> Result<(), PolicyError> {
    let text = path.get_ref();
    let refused = |what: &str, help: &str| {
        let message = format!("`{}` {what}: paths are taken as they are written", excerpt(text));
        Err(PolicyError::new(path.span(), message).help(help))
    };
    let has_class = text.split_once('[').is_some_and(|(_, rest)| rest.contains(']'));
    if has_class || text.contains(['*', '?']) {
        return refused("is a pattern", "name each file or directory; this release knows no patterns");
    }
    if text.starts_with(['~', '$']) {
        return refused("would have to be expanded", "write the path out");
    }
    Ok(())
}
