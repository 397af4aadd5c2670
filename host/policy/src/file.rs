//! The policy file as TOML: its keys, each refused if unknown. What the keys mean is in `policy.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer};
use serde_spanned::Spanned;

use crate::names::VariableName;
use crate::{Effect, GuestFiles, Level, Network, ProgramName, RuleId};

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PolicyFile {
    pub(crate) version: Spanned<u32>,
    #[serde(default)]
    pub(crate) workspace: WorkspaceTable,
    #[serde(default)]
    pub(crate) component: ComponentTable,
    #[serde(default)]
    pub(crate) session: SessionTable,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    #[serde(default)]
    pub(crate) programs: ProgramsTable,
    #[serde(default)]
    pub(crate) env: EnvTable,
    #[serde(default)]
    pub(crate) confinement: ConfinementTable,
    #[serde(default)]
    pub(crate) program: Vec<ProgramTable>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WorkspaceTable {
    pub(crate) guest_files: Option<GuestFiles>,
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
    pub(crate) output: Option<Spanned<Bytes>>,
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
    pub(crate) pass: Vec<Spanned<VariableName>>,
    #[serde(default)]
    pub(crate) guest: Vec<Spanned<VariableName>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ConfinementTable {
    pub(crate) level: Option<Level>,
    pub(crate) network: Option<Network>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ProgramTable {
    pub(crate) name: Spanned<ProgramName>,
    pub(crate) file: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    pub(crate) network: Option<Network>,
    #[serde(default)]
    pub(crate) env: EnvTable,
    #[serde(default)]
    pub(crate) rule: Vec<RuleTable>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RuleTable {
    pub(crate) id: Spanned<RuleId>,
    pub(crate) decision: Effect,
    pub(crate) why: Spanned<String>,
    pub(crate) leading_arguments: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) exact_arguments: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    pub(crate) network: Option<Network>,
    #[serde(default)]
    pub(crate) env: RuleEnvTable,
    #[serde(default)]
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

/// A span of time such as `"30s"`, `"10m"`, `"1h 30m"`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time(pub(crate) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
        match time {
            Some(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err(de::Error::custom(format!(
                "`{}` is no span of time above zero; write it as \"500ms\", \"30s\", \"10m\" or \"1h 30m\"",
                text.escape_debug()
            ))),
        }
    }
}

/// A number of bytes such as `"100KB"` (100 000) or `"256MiB"` (256 × 1024 × 1024).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<bytesize::ByteSize>() {
            Ok(size) if size.as_u64() > 0 => Ok(Self(size.as_u64())),
            _ => Err(de::Error::custom(format!(
                "`{}` is no number of bytes above zero; write it as \"100KB\", \"64KiB\" or \"256MiB\"",
                text.escape_debug()
            ))),
        }
    }
}
