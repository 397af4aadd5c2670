//! `portcullis doctor`: what this host can hold commands to.

use std::io;

use portcullis_policy::{Level, visible};
use portcullis_runner::{Capability, probe, reached_level};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, BAD, DIM, DOUBT, GOOD, STRONG};

/// Version of the JSON shape below.
const SCHEMA: u32 = 1;
/// Exit code where commands can be held to less than level `full`.
const LESS: u8 = 1;

pub(crate) fn doctor(arguments: &args::Doctor) -> Result<u8, Failure> {
    let args::Doctor { json } = *arguments;
    let capabilities = probe();
    let report = Report {
        schema: SCHEMA,
        level: reached_level(&capabilities),
        user: rustix::process::geteuid().as_raw(),
        kernel: kernel_release(),
        capabilities: capabilities.iter().map(CapabilityJson::of).collect(),
    };
    if json {
        output::print_json(&report)?;
    } else {
        output::print(|out| report.write(out))?;
    }
    Ok(if report.is_well() { 0 } else { LESS })
}

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    /// `None` = no command can be started.
    level: Option<Level>,
    user: u32,
    kernel: String,
    capabilities: Vec<CapabilityJson<'a>>,
}

#[derive(Serialize)]
struct CapabilityJson<'a> {
    name: &'a str,
    holds: bool,
    detail: &'a str,
    remedy: Option<&'a str>,
}

impl<'a> CapabilityJson<'a> {
    fn of(capability: &'a Capability) -> Self {
        let Capability { name, holds, detail, remedy } = capability;
        Self { name, holds: *holds, detail, remedy: remedy.as_deref() }
    }
}

impl Report<'_> {
    /// Whether commands can be confined with everything that there is.
    fn is_well(&self) -> bool {
        self.level == Some(Level::Full)
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Self { schema: _, level, user, kernel, capabilities } = self;
        let (style, verdict) = match level {
            Some(level) if self.is_well() => (GOOD, format!("confinement level `{level}`")),
            Some(level) => (DOUBT, format!("confinement level `{level}`, with parts missing")),
            None => (BAD, "no command can be started".to_owned()),
        };
        writeln!(out, "{style}{verdict}{style:#}, as user {user} on Linux {}\n", visible(kernel))?;
        for CapabilityJson { name, holds, detail, remedy } in capabilities {
            let (style, holds) = if *holds { (GOOD, "yes") } else { (DOUBT, "no") };
            writeln!(out, "  {style}{holds:<3}{style:#}  {STRONG}{name:<17}{STRONG:#}  {}", visible(detail))?;
            if let Some(remedy) = remedy {
                writeln!(out, "       {DIM}{:<17}{DIM:#}  {remedy}", "to get it")?;
            }
        }
        Ok(())
    }
}

fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").map_or_else(|_| "?".to_owned(), |text| text.trim().to_owned())
}
