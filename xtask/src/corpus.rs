//! Runs collections of attacks and everyday commands: `cargo xtask corpus`.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use portcullis_corpus::{Machine, bypasses, cases, usage, uses};
use serde::Serialize;

use crate::{process, project};

/// What is asked for.
#[derive(Debug, Default)]
struct Wanted {
    bypasses: Option<PathBuf>,
    usage: Option<PathBuf>,
    only: BTreeSet<String>,
    path: Vec<String>,
    read: Vec<String>,
    portcullis: Option<PathBuf>,
    real: bool,
    json: bool,
}

/// `cargo xtask corpus`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let wanted = parse(arguments)?;
    if !wanted.real {
        bail!(
            "say --real: commands are run, attacks too, and once unconfined. Verdicts of a policy alone are not there yet"
        );
    }
    let portcullis = match &wanted.portcullis {
        Some(file) => std::path::absolute(file)?,
        None => {
            let mut build = process::cargo();
            process::run(build.current_dir(project::root()).args(["build", "--quiet", "--bin", "portcullis"]))?;
            project::portcullis()
        }
    };
    let own = env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let mut places = wanted.path.clone();
    for place in own.split(':').chain(["/usr/sbin", "/sbin"]) {
        if !places.iter().any(|there| there == place) {
            places.push(place.to_owned());
        }
    }
    let machine = Machine::new(portcullis, places.join(":"), &wanted.read);
    let is_wanted = |id: &str| wanted.only.is_empty() || wanted.only.contains(id);
    match (&wanted.bypasses, &wanted.usage) {
        (Some(file), None) => {
            let file = cases::read(file)?;
            let chosen = file.cases.iter().filter(|case| is_wanted(&case.id));
            let report = bypasses::run(chosen, &machine)?;
            print(&report, &report, wanted.json)?;
            match report.cases.iter().filter(|case| case.escaped()).count() {
                0 => Ok(()),
                count => bail!("{count} were not contained that have to be"),
            }
        }
        (None, Some(file)) => {
            let file = uses::read(file)?;
            let report = usage::run(&file, |one| is_wanted(&one.id), &machine);
            print(&report, &report, wanted.json)
        }
        _ => bail!("name one file: --bypasses FILE or --usage FILE; see cargo xtask help"),
    }
}

fn print(text: &dyn std::fmt::Display, data: &impl Serialize, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(data)?);
    } else {
        print!("{text}");
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{argument} needs a value; see cargo xtask help"));
        let list = |text: &str, separator| text.split(separator).map(str::to_owned).collect::<Vec<_>>();
        match argument.as_str() {
            "--bypasses" => wanted.bypasses = Some(value()?.into()),
            "--usage" => wanted.usage = Some(value()?.into()),
            "--only" => wanted.only.extend(list(value()?, ',')),
            "--path" => wanted.path.extend(list(value()?, ':')),
            "--read" => wanted.read.extend(list(value()?, ':')),
            "--portcullis" => wanted.portcullis = Some(Path::new(value()?).to_owned()),
            "--real" => wanted.real = true,
            "--json" => wanted.json = true,
            other => bail!("corpus does not know '{other}'; see cargo xtask help"),
        }
    }
    Ok(wanted)
}
