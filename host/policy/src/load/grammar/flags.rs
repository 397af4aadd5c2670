//! Options, from their keys.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_spanned::Spanned;

use super::super::Span;
use super::values::{self, Patterns};
use crate::file::{FlagTable, FlagTables, Strings};
use crate::grammar::{Flag, FlagValue, Flags, Spelling, Value};
use crate::show::excerpt;
use crate::value::Table;
use crate::{PolicyError, Syntax};

/// What reading options depends on.
pub(super) struct Reader<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) syntax: Syntax,
    pub(super) negatives: bool,
}

impl Reader<'_> {
    /// Options, and what is said of several of them.
    pub(super) fn grouped(
        &self,
        flags: FlagTables,
        conflicts: Option<Spanned<Vec<Strings>>>,
        required: Option<Spanned<Vec<Strings>>>,
    ) -> Result<Flags, PolicyError> {
        let mut flags = self.flags(flags)?;
        let conflicts = groups(conflicts, &flags, Least(2))?;
        let required = groups(required, &flags, Least(1))?;
        flags.set_groups(conflicts, required);
        Ok(flags)
    }

    fn flags(&self, tables: FlagTables) -> Result<Flags, PolicyError> {
        let mut list = Vec::with_capacity(tables.len());
        let mut names = BTreeMap::new();
        for (key, Table(table)) in tables {
            if list.len() == Flags::MAX {
                let message = format!("a table of flags has at most {} of them", Flags::MAX);
                return Err(PolicyError::new(key.span(), message).help("write two rules"));
            }
            let FlagTable {
                alias,
                repeat,
                value,
                optional,
                glued,
                min,
                max,
                values,
                pattern,
                schemes,
                hosts,
                paths,
                also,
            } = table;
            let span = key.span();
            let mut own = self.names(&key, alias)?;
            for name in &own {
                if names.insert(name.clone(), list.len()).is_some() {
                    let message = format!("the flag `{}` is listed twice", excerpt(name));
                    return Err(PolicyError::new(span, message).help("list each name once"));
                }
            }
            let keys = values::Keys { least: min, most: max, values, pattern, schemes, hosts, paths, also };
            let value = match value {
                None => {
                    let other = [optional.map(|key| key.span()), glued.map(|key| key.span()), keys.place()];
                    if let Some(span) = other.into_iter().flatten().min_by_key(|span| span.start) {
                        let message = "the flag has no `value`, so this would do nothing";
                        let help = "say what its value is, such as `value = \"text\"`, or leave this out";
                        return Err(PolicyError::new(span, message).help(help));
                    }
                    None
                }
                Some(value) => Some(self.flag_value(&own, keys.value(value, self.patterns)?, optional, glued)?),
            };
            if own.iter().any(|name| name == Flags::NUMBER) && (value.is_none() || own.len() > 1) {
                let message = format!("`{}` has a value, the number, and no other name", Flags::NUMBER);
                let help = "write \"-NUMBER\" = { value = \"int\", min = 1 }";
                return Err(PolicyError::new(span, message).help(help));
            }
            list.push(Flag { name: own.swap_remove(0), value, repeat });
        }
        Ok(Flags::new(list, names))
    }

    fn flag_value(
        &self,
        names: &[String],
        value: Value,
        optional: Option<Spanned<bool>>,
        glued: Option<Spanned<bool>>,
    ) -> Result<FlagValue, PolicyError> {
        let is_optional = optional.as_ref().is_some_and(|optional| *optional.get_ref());
        if let (true, Some(glued)) = (is_optional, &glued) {
            let message = "a value that can be missing is always glued, so this would do nothing";
            return Err(PolicyError::new(glued.span(), message).help("leave `glued` out"));
        }
        if let Some(key) = optional.map(|key| key.span()).or(glued.as_ref().map(Spanned::span))
            && names.iter().any(|name| name == Flags::NUMBER)
        {
            let message = format!("the value of `{}` is always there, in the same argument", Flags::NUMBER);
            return Err(PolicyError::new(key, message).help("leave this out"));
        }
        let spelling = match glued.map(Spanned::into_inner) {
            None => Spelling::Any,
            Some(true) => Spelling::Glued,
            Some(false) => Spelling::Apart,
        };
        Ok(FlagValue { value, spelling, optional: is_optional })
    }

    /// The names of an option: those of its key, `"-r, --recursive"`, and its aliases.
    fn names(&self, key: &Spanned<String>, alias: Vec<Spanned<String>>) -> Result<Vec<String>, PolicyError> {
        let keyed = key.get_ref().split(", ").map(|name| (name.to_owned(), key.span()));
        let aliases = alias.into_iter().map(|name| (name.get_ref().clone(), name.span()));
        keyed.chain(aliases).map(|(name, span)| self.name(&name, span).map(|()| name)).collect()
    }

    fn name(&self, name: &str, span: Range<usize>) -> Result<(), PolicyError> {
        let wrong = |message: String, help: &'static str| Err(PolicyError::new(span.clone(), message).help(help));
        let shown = excerpt(name);
        let plain = name.bytes().all(|byte| byte.is_ascii_graphic() && !b"=,".contains(&byte));
        let bare = name.strip_prefix("--").or_else(|| name.strip_prefix('-')).unwrap_or_default();
        if !plain || bare.is_empty() || bare.starts_with('-') {
            let message = format!("`{shown}` is no name of a flag");
            return wrong(message, "names are written with their dashes, such as \"-n\", \"--jobs\" or \"-n, --jobs\"");
        }
        match self.syntax {
            Syntax::None => wrong(
                "with `syntax = \"none\"` there are no flags".to_owned(),
                "leave them out, or choose another syntax",
            ),
            Syntax::Gnu | Syntax::Posix if !name.starts_with("--") && bare.len() > 1 && name != Flags::NUMBER => wrong(
                format!("`{shown}` has several letters behind one dash, which makes a cluster of flags"),
                "list each letter, or say `syntax = \"long-single-dash\"`",
            ),
            _ if self.negatives && (name == Flags::NUMBER || bare.starts_with(|c: char| c.is_ascii_digit())) => wrong(
                format!("`{shown}` can't be a flag where negative numbers are operands"),
                "take `negative-numbers` or this flag out",
            ),
            Syntax::Gnu | Syntax::Posix | Syntax::LongSingleDash => Ok(()),
        }
    }

    /// The names that a rule denies.
    pub(super) fn denied(&self, tables: FlagTables) -> Result<Vec<String>, PolicyError> {
        let mut all = Vec::new();
        for (key, Table(table)) in tables {
            let FlagTable {
                alias,
                repeat,
                value,
                optional,
                glued,
                min,
                max,
                values,
                pattern,
                schemes,
                hosts,
                paths,
                also,
            } = table;
            let keys = values::Keys { least: min, most: max, values, pattern, schemes, hosts, paths, also };
            let others = [
                value.map(|key| key.span()),
                optional.map(|key| key.span()),
                glued.map(|key| key.span()),
                keys.place(),
                repeat.then(|| key.span()),
            ];
            if let Some(span) = others.into_iter().flatten().next() {
                let message = "a rule that denies does so whatever the flag's value is";
                return Err(PolicyError::new(span, message).help("leave `{}` for the flag"));
            }
            all.extend(self.names(&key, alias)?);
        }
        Ok(all)
    }
}

/// Fewest flags that make a group meaningful.
struct Least(usize);

/// Flags by name, in groups.
fn groups(
    key: Option<Spanned<Vec<Strings>>>,
    flags: &Flags,
    Least(least): Least,
) -> Result<Vec<Vec<usize>>, PolicyError> {
    let Some(key) = key else { return Ok(Vec::new()) };
    let span = key.span();
    let place = |inner: Span| if inner.is_empty() { span.clone() } else { inner };
    let group = |Strings(names): Strings| {
        let indices = names.iter().map(|name| {
            flags.index(name.get_ref()).ok_or_else(|| {
                let message = format!("`{}` is not among the `flags`", excerpt(name.get_ref()));
                PolicyError::new(place(name.span()), message).help("list it there first")
            })
        });
        let mut indices = indices.collect::<Result<Vec<usize>, _>>()?;
        indices.sort_unstable();
        indices.dedup();
        if indices.len() < least {
            let message = format!("a group here names at least {least} different flags");
            return Err(PolicyError::new(span.clone(), message).help("name them, or leave the group out"));
        }
        Ok(indices)
    };
    key.into_inner().into_iter().map(group).collect()
}
