//! Limits, budgets and settings: numbers with a least and a most.

use std::time::Duration;

use jiff::SignedDuration;
use serde_spanned::Spanned;

use crate::file::{ComponentTable, LimitsTable, SessionTable};
use crate::value::{Bytes, Time};
use crate::{ComponentSettings, KernelLimits, Level, Limits, PolicyError, SessionSettings};

/// Below this, not even the C library loads.
const LEAST_MEMORY: u64 = 1 << 20;

/// The ceilings of commands; each table only tightens the one that it stands in. `outer` of the outermost is what this
/// policy can have at all.
pub(super) fn command(table: LimitsTable, unset: Limits, most: Limits, outermost: bool) -> Result<Limits, PolicyError> {
    let LimitsTable { wall, cpu, memory, processes, file_size, open_files, output } = table;
    let too_much = |error: PolicyError| {
        if outermost { error } else { error.help("raise the limit of the table above first, or ask for less here") }
    };
    let kernel = match (unset.kernel, most.kernel) {
        (Some(unset), Some(most)) => Some(KernelLimits {
            cpu: time(cpu, unset.cpu, most.cpu).map_err(too_much)?,
            memory_bytes: size(memory, unset.memory_bytes, LEAST_MEMORY, most.memory_bytes).map_err(too_much)?,
            processes: number(processes, unset.processes, most.processes).map_err(too_much)?,
            file_size_bytes: size(file_size, unset.file_size_bytes, 1, most.file_size_bytes).map_err(too_much)?,
            open_files: number(open_files, unset.open_files, most.open_files).map_err(too_much)?,
        }),
        _ => {
            let spans = [
                cpu.map(|limit| limit.span()),
                memory.map(|limit| limit.span()),
                processes.map(|limit| limit.span()),
                file_size.map(|limit| limit.span()),
                open_files.map(|limit| limit.span()),
            ];
            if let Some(span) = spans.into_iter().flatten().next() {
                let message = "this limit does not hold at confinement level `none`";
                let help = "leave it out, or write `confinement.level = \"limits\"` or better";
                return Err(PolicyError::new(span, message).help(help));
            }
            None
        }
    };
    Ok(Limits {
        wall: time(wall, unset.wall, most.wall).map_err(too_much)?,
        kernel,
        output_bytes: size(output, unset.output_bytes, 1, most.output_bytes).map_err(too_much)?,
    })
}

/// What a policy of this level can have, where it says nothing and at the most.
pub(super) fn outermost(level: Level) -> (Limits, Limits) {
    if level == Level::None {
        (Limits { kernel: None, ..Limits::DEFAULT }, Limits { kernel: None, ..Limits::MAX })
    } else {
        (Limits::DEFAULT, Limits::MAX)
    }
}

pub(super) fn component(table: ComponentTable) -> Result<ComponentSettings, PolicyError> {
    let ComponentTable { memory, wall, compute } = table;
    let default = ComponentSettings::default();
    Ok(ComponentSettings {
        memory: size(memory, default.memory, 1 << 16, 4 << 30)?,
        wall: time(wall, default.wall, Limits::MAX.wall)?,
        compute: time(compute, default.compute, Limits::MAX.wall)?,
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

fn number(number: Option<Spanned<u64>>, default: u32, most: u32) -> Result<u32, PolicyError> {
    // `count` has ruled out what does not fit.
    count(number, default.into(), most.into()).map(|number| u32::try_from(number).unwrap_or(most))
}

fn count(count: Option<Spanned<u64>>, default: u64, most: u64) -> Result<u64, PolicyError> {
    match count {
        None => Ok(default),
        Some(count) if (1..=most).contains(count.get_ref()) => Ok(count.into_inner()),
        Some(count) => Err(PolicyError::new(count.span(), format!("1 to {most} can be given here"))),
    }
}
