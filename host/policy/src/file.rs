//! The policy file as TOML: its keys, each refused if unknown. What they mean is in `load.rs`, how a value is
//! written in `value.rs`.

use std::collections::BTreeMap;

use serde_spanned::Spanned;

use crate::names::VariableName;
mod arguments;

pub(crate) use arguments::{AfterTable, BeforeTable, FlagTable, FlagTables, SlotTable, Slots, Strings, TypeName};

use crate::value::{Bytes, ChildrenValue, Table, Time, Word, table, tables};
use crate::{Effect, GuestFiles, Level, Network, ProgramName, RuleId, Syntax};

/// A list of paths; each, and the list, with its place.
pub(crate) type PathList = Spanned<Vec<Spanned<String>>>;

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PolicyFile {
    /// Checked before all else, by `load.rs`.
    #[serde(rename = "version")]
    pub(crate) _version: u32,
    #[serde(default, deserialize_with = "table")]
    pub(crate) workspace: WorkspaceTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) component: ComponentTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) session: SessionTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) limits: LimitsTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) programs: ProgramsTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) env: EnvTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) confinement: ConfinementTable,
    #[serde(default, deserialize_with = "tables")]
    pub(crate) program: Vec<ProgramTable>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WorkspaceTable {
    pub(crate) guest_files: Option<Word<GuestFiles>>,
    pub(crate) deny: Option<PathList>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ComponentTable {
    pub(crate) memory: Option<Spanned<Bytes>>,
    pub(crate) wall: Option<Spanned<Time>>,
    pub(crate) compute: Option<Spanned<Time>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SessionTable {
    pub(crate) calls: Option<Spanned<u64>>,
    pub(crate) concurrent: Option<Spanned<u64>>,
    pub(crate) denials: Option<Spanned<u64>>,
    pub(crate) journal: Option<Spanned<Bytes>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LimitsTable {
    pub(crate) wall: Option<Spanned<Time>>,
    pub(crate) cpu: Option<Spanned<Time>>,
    pub(crate) memory: Option<Spanned<Bytes>>,
    pub(crate) processes: Option<Spanned<u64>>,
    pub(crate) file_size: Option<Spanned<Bytes>>,
    pub(crate) open_files: Option<Spanned<u64>>,
    pub(crate) output: Option<Spanned<Bytes>>,
}

impl LimitsTable {
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { wall, cpu, memory, processes, file_size, open_files, output } = self;
        wall.is_none()
            && cpu.is_none()
            && memory.is_none()
            && processes.is_none()
            && file_size.is_none()
            && open_files.is_none()
            && output.is_none()
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ProgramsTable {
    pub(crate) path: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct EnvTable {
    #[serde(default)]
    pub(crate) set: BTreeMap<Spanned<VariableName>, Spanned<String>>,
    #[serde(default)]
    pub(crate) pass: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) guest: Vec<Spanned<String>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ConfinementTable {
    pub(crate) level: Option<Word<Level>>,
    pub(crate) network: Option<Spanned<Word<Network>>>,
    pub(crate) read: Option<PathList>,
    pub(crate) write: Option<PathList>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ProgramTable {
    pub(crate) name: Spanned<ProgramName>,
    pub(crate) file: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "table")]
    pub(crate) limits: LimitsTable,
    pub(crate) network: Option<Spanned<Word<Network>>>,
    pub(crate) children: Option<Spanned<ChildrenValue>>,
    pub(crate) read: Option<PathList>,
    pub(crate) write: Option<PathList>,
    #[serde(default)]
    pub(crate) runs_workspace_code: bool,
    pub(crate) syntax: Option<Spanned<Word<Syntax>>>,
    #[serde(default, deserialize_with = "table")]
    pub(crate) env: EnvTable,
    #[serde(default, deserialize_with = "tables")]
    pub(crate) rule: Vec<RuleTable>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RuleTable {
    pub(crate) id: Spanned<RuleId>,
    pub(crate) decision: Word<Effect>,
    pub(crate) why: Spanned<String>,
    pub(crate) leading_arguments: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) exact_arguments: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) syntax: Option<Spanned<Word<Syntax>>>,
    pub(crate) negative_numbers: Option<Spanned<bool>>,
    pub(crate) before_subcommand: Option<Spanned<Table<BeforeTable>>>,
    pub(crate) subcommand: Option<Spanned<Strings>>,
    pub(crate) flags: Option<Spanned<FlagTables>>,
    pub(crate) conflicts: Option<Spanned<Vec<Strings>>>,
    pub(crate) required: Option<Spanned<Vec<Strings>>>,
    pub(crate) positionals: Option<Spanned<Slots>>,
    pub(crate) after_double_dash: Option<Spanned<Table<AfterTable>>>,
    #[serde(default, deserialize_with = "table")]
    pub(crate) limits: LimitsTable,
    pub(crate) network: Option<Spanned<Word<Network>>>,
    pub(crate) write: Option<PathList>,
    #[serde(default, deserialize_with = "table")]
    pub(crate) env: RuleEnvTable,
    #[serde(default, deserialize_with = "table")]
    pub(crate) examples: ExamplesTable,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RuleEnvTable {
    #[serde(default)]
    pub(crate) set: BTreeMap<Spanned<VariableName>, Spanned<String>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ExamplesTable {
    #[serde(default)]
    pub(crate) allow: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) deny: Vec<Spanned<String>>,
}
