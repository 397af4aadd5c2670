//! Limits, budgets and settings: numbers with a least and a most.

use std::time::Duration;

use jiff::SignedDuration;
use serde_spanned::Spanned;

use crate::file::{ComponentTable, LimitsTable, SessionTable};
use crate::value::{Bytes, Time};
use crate::{ComponentSettings, Limits, PolicyError, SessionSettings};

/// The ceilings of commands; each table only tightens the one that it stands in.
pub(super) fn command(table: LimitsTable, outer: Option<Limits>) -> Result<Limits, PolicyError> {
    let LimitsTable { wall, output } = table;
    let most = outer.unwrap_or(Limits { wall: Limits::MAX_WALL, output_bytes: Limits::MAX_OUTPUT_BYTES });
    let unset = outer.unwrap_or_default();
    let too_much = |error: PolicyError| match outer {
        Some(_) => error.help("raise the limit of the table above first, or ask for less here"),
        None => error,
    };
    Ok(Limits {
        wall: time(wall, unset.wall, most.wall).map_err(too_much)?,
        output_bytes: size(output, unset.output_bytes, 1, most.output_bytes).map_err(too_much)?,
    })
}

pub(super) fn component(table: ComponentTable) -> Result<ComponentSettings, PolicyError> {
    let ComponentTable { memory, wall, compute } = table;
    let default = ComponentSettings::default();
    Ok(ComponentSettings {
        memory: size(memory, default.memory, 1 << 16, 4 << 30)?,
        wall: time(wall, default.wall, Limits::MAX_WALL)?,
        compute: time(compute, default.compute, Limits::MAX_WALL)?,
    })
}

pub(super) fn session(table: SessionTable) -> Result<SessionSettings, PolicyError> {
    let SessionTable { calls, concurrent, denials, journal } = table;
    let default = SessionSettings::default();
    Ok(SessionSettings {
        calls: count(calls, default.calls, 1_000_000_000)?,
        concurrent: count(concurrent, default.concurrent, 1024)?,
        denials: count(denials, default.denials, 1_000_000_000)?,
        journal: size(journal, default.journal, 1 << 20, 1 << 40)?,
    })
}

fn time(time: Option<Spanned<Time>>, default: Duration, most: Duration) -> Result<Duration, PolicyError> {
    match time {
        None => Ok(default),
        Some(time) if time.get_ref().0 <= most => Ok(time.into_inner().0),
        Some(time) => Err(PolicyError::new(time.span(), format!("at most {} can be given here", written(most)))),
    }
}

/// As a policy would write it: `24h`, `1m 30s`.
fn written(time: Duration) -> String {
    SignedDuration::try_from(time).map_or_else(|_| format!("{time:?}"), |time| format!("{time:#}"))
}

fn size(size: Option<Spanned<Bytes>>, default: u64, least: u64, most: u64) -> Result<u64, PolicyError> {
    match size {
        None => Ok(default),
        Some(size) if (least..=most).contains(&size.get_ref().0) => Ok(size.into_inner().0),
        Some(size) => Err(PolicyError::new(size.span(), format!("{least} to {most} bytes can be given here"))),
    }
}

fn count(count: Option<Spanned<u64>>, default: u64, most: u64) -> Result<u64, PolicyError> {
    match count {
        None => Ok(default),
        Some(count) if (1..=most).contains(count.get_ref()) => Ok(count.into_inner()),
        Some(count) => Err(PolicyError::new(count.span(), format!("1 to {most} can be given here"))),
    }
}
