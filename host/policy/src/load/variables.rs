//! Environment variables of a policy.

use std::collections::BTreeMap;

use serde_spanned::Spanned;

use crate::PolicyError;
use crate::environment::hook;
use crate::file::EnvTable;
use crate::names::VariableName;
use crate::policy::Environment;
use crate::show::excerpt;

/// The variables of a table on top of those of the table above it.
pub(super) fn environment(table: EnvTable, outer: &Environment) -> Result<Environment, PolicyError> {
    let EnvTable { set, pass, guest } = table;
    for name in &guest {
        if let Some(pattern) = hook(name.get_ref()) {
            let shown = excerpt(name.get_ref());
            let message = format!("guests can never set `{shown}`: it can make programs run other code ({pattern})");
            let help = "set it here, under `env.set`, if every command should have it";
            return Err(PolicyError::new(name.span(), message).help(help));
        }
    }
    let mut merged = outer.clone();
    merged.set.extend(self::set(set)?);
    for (names, merged) in [(pass, &mut merged.pass), (guest, &mut merged.guest)] {
        for name in names {
            merged.insert(checked(&name)?);
        }
    }
    Ok(merged)
}

fn checked(name: &Spanned<String>) -> Result<VariableName, PolicyError> {
    VariableName::new(name.get_ref()).map_err(|problem| PolicyError::new(name.span(), problem))
}

pub(super) fn set(
    set: BTreeMap<Spanned<VariableName>, Spanned<String>>,
) -> Result<BTreeMap<VariableName, String>, PolicyError> {
    let variable = |(name, value): (Spanned<VariableName>, Spanned<String>)| {
        if value.get_ref().contains('\0') {
            let message = "the value of a variable can't contain NUL, which no program can receive";
            return Err(PolicyError::new(value.span(), message).help("take it out"));
        }
        Ok((name.into_inner(), value.into_inner()))
    };
    set.into_iter().map(variable).collect()
}
