//! Running a command unconfined, and under `portcullis exec` at level `full`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

use crate::command::{Ended, run, session};
use crate::folder::{Folder, find, managers};

/// Exit codes of `portcullis` that are not a command's, unless a command has them too.
const OWN_CODES: [i32; 3] = [125, 126, 127];
/// What `portcullis` says of a policy that it can't read.
const POLICY: &str = "the policy is wrong";
/// Where commands have the system's directories anyway.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];

/// What runs commands, and where they are.
#[derive(Debug, Clone)]
pub struct Machine {
    portcullis: PathBuf,
    path: String,
    read: Vec<String>,
}

/// A command with all that it gets.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) cwd: Option<&'a str>,
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) stdin: Option<&'a str>,
    pub(crate) limit: Duration,
}

/// What the policy lets a command execute beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Children {
    None,
    Any,
}

/// What became of a confined command.
#[derive(Debug)]
pub(crate) enum Confined {
    Ended(Ended),
    /// It did not run: why.
    Refused(String),
}

impl Machine {
    /// This `portcullis`, and programs on this search path; commands may read these directories besides the system's.
    /// Where programs lie outside those, their directories are added.
    #[must_use]
    pub fn new(portcullis: PathBuf, path: String, read: &[String]) -> Self {
        let places = path.split(':').filter(|place| Path::new(place).is_dir()).map(str::to_owned);
        let all = places.chain(managers().map(|(_, place)| place)).chain(read.iter().cloned());
        let read = all.filter(|place| !SYSTEM.iter().any(|system| Path::new(place).starts_with(system))).collect();
        Self { portcullis, path, read }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Where a program lies; `None` = it is not installed.
    pub(crate) fn find(&self, program: &str, folder: &Folder) -> Option<PathBuf> {
        find(program, &self.path, folder.workspace())
    }

    pub(crate) fn unconfined(&self, wanted: &Wanted<'_>, folder: &Folder) -> Result<Ended> {
        let argv = folder.fill_all(wanted.argv);
        let environment = folder.environment(wanted.env);
        let (name, arguments) = argv.split_first().context("there is no program")?;
        let cwd = folder.path(wanted.cwd.unwrap_or("."));
        let program = find(name, &environment["PATH"], &cwd).with_context(|| format!("{name} is not installed"))?;
        let mut command = session(program);
        command.args(arguments).current_dir(cwd).env_clear().envs(&environment);
        run(&mut command, wanted.stdin.map(|text| folder.fill(text)).as_deref(), wanted.limit, &folder.own())
    }

    /// Runs it by the real program, with a policy that lets its program have any arguments.
    pub(crate) fn confined(&self, wanted: &Wanted<'_>, children: Children, folder: &Folder) -> Result<Confined> {
        let argv = folder.fill_all(wanted.argv);
        let (first, arguments) = argv.split_first().context("there is no program")?;
        let cwd = folder.path(wanted.cwd.unwrap_or("."));
        let file = find(first, &self.path, &cwd).with_context(|| format!("{first} is not installed"))?;
        let name = Path::new(first).file_name().and_then(|name| name.to_str()).context("the program has no name")?;
        let policy = folder.own().join("policy.toml");
        fs::write(&policy, self.policy(name, &file, wanted, children, folder).to_string())?;

        let mut command = session(&self.portcullis);
        command.args(["-q", "exec", "--policy"]).arg(policy).arg("--workspace").arg(folder.workspace());
        if let Ok(below) = cwd.strip_prefix(folder.workspace())
            && below != Path::new("")
        {
            command.arg("--cwd").arg(below);
        }
        command.arg("--").arg(name).args(arguments).current_dir(folder.workspace()).env_clear();
        command.env("HOME", folder.own()).env("PATH", &self.path);
        let stdin = wanted.stdin.map(|text| folder.fill(text));
        let ended = run(&mut command, stdin.as_deref(), wanted.limit, &folder.own())?;
        let message = ended.stderr.lines().find_map(|line| line.strip_prefix("portcullis: "));
        match (ended.code, message) {
            (Some(125), Some(POLICY)) => bail!("our own policy is wrong: {}", ended.stderr.trim_end()),
            (Some(code), Some(message)) if OWN_CODES.contains(&code) => Ok(Confined::Refused(message.to_owned())),
            _ => Ok(Confined::Ended(ended)),
        }
    }

    fn policy(&self, name: &str, file: &Path, wanted: &Wanted<'_>, children: Children, folder: &Folder) -> Table {
        let texts = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
        // Homes are not there for commands; these are, and each command's own.
        let mut environment = folder.environment(&BTreeMap::new());
        environment.insert("HOME".to_owned(), "/tmp".to_owned());
        environment.insert("CARGO_HOME".to_owned(), "/tmp/cargo".to_owned());
        environment.extend(wanted.env.iter().map(|(name, value)| (name.clone(), folder.fill(value))));
        let environment: Table = environment.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let rule = table([("id", "any".into()), ("decision", "allow".into()), ("why", "it is tried out".into())]);
        let children = match children {
            Children::None => "none",
            Children::Any => "any",
        };
        let program = table([
            ("name", name.into()),
            ("file", file.display().to_string().into()),
            ("children", children.into()),
            ("rule", Value::Array(vec![rule.into()])),
        ]);
        let limits = table([
            ("wall", "10m".into()),
            ("cpu", "10m".into()),
            ("memory", "4GiB".into()),
            ("processes", Value::Integer(4096)),
            ("file-size", "4GiB".into()),
        ]);
        let confinement = table([("level", "full".into()), ("network", "none".into()), ("read", texts(&self.read))]);
        table([
            ("version", Value::Integer(1)),
            ("limits", limits.into()),
            ("confinement", confinement.into()),
            ("env", table([("set", environment.into())]).into()),
            ("program", Value::Array(vec![program.into()])),
        ])
    }
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
