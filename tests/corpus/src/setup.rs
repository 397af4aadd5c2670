//! Making what has to be there before a command runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};

use crate::cases::Step;
use crate::command::{run, session};
use crate::folder::{Folder, find};

/// How long a step may take.
const LIMIT: Duration = Duration::from_secs(120);

/// What leaves a mark at `@OUT@/canary`.
const MARK: &str = "#include <fcntl.h>\n#include <unistd.h>\n\
    static void mark(void) { int f = open(\"@OUT@/canary\", O_CREAT | O_WRONLY, 0644); if (f >= 0) close(f); }\n";
/// With a function that those look for who load libraries of smart cards.
const WHEN_LOADED: &str = "__attribute__((constructor)) static void loaded(void) { mark(); }\n\
    int C_GetFunctionList(void **list) { (void) list; return 5; }\n";
const WHEN_AUDITING: &str = "unsigned la_version(unsigned version) { mark(); return version; }\n";
const WHEN_CONVERTING: &str = "int gconv_init(void *step) { (void) step; mark(); return 0; }\n\
    int gconv(void) { return 0; }\n";

/// Lists of steps by name.
pub(crate) type Fixtures = BTreeMap<String, Vec<Step>>;

/// Does all steps.
pub(crate) fn all(steps: &[Step], fixtures: &Fixtures, folder: &Folder) -> Result<()> {
    for step in steps {
        one(step, fixtures, folder).with_context(|| format!("the set-up failed at {step:?}"))?;
    }
    Ok(())
}

fn one(step: &Step, fixtures: &Fixtures, folder: &Folder) -> Result<()> {
    match step {
        Step::File { path, text, mode } => {
            let path = new(folder, path)?;
            fs::write(&path, folder.fill(text))?;
            let mode = u32::from_str_radix(mode.as_deref().unwrap_or("0644"), 8).context("the mode is not octal")?;
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
        Step::Symlink { path, target } => symlink(folder.fill(target), new(folder, path)?)?,
        Step::Run { argv } => command(folder, &folder.fill_all(argv))?,
        Step::Touch { path } => {
            let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
            File::open(folder.path(path))?.set_times(FileTimes::new().set_accessed(old).set_modified(old))?;
        }
        Step::Big { path, kb } => {
            let mut text = String::new();
            for line in 0..kb * 16 {
                writeln!(text, "{:063}", (line * 7919) % 100_003)?;
            }
            fs::write(new(folder, path)?, text)?;
        }
        Step::Rename { path, to } => fs::rename(folder.path(path), folder.path(to))?,
        Step::Linkprog { path, prog } => {
            let environment = folder.environment(&BTreeMap::new());
            let program = find(prog, &environment["PATH"], folder.workspace());
            symlink(program.with_context(|| format!("{prog} is not installed"))?, new(folder, path)?)?;
        }
        Step::So { path } => library(folder, path, WHEN_LOADED)?,
        Step::Auditso { path } => library(folder, path, WHEN_AUDITING)?,
        Step::Gconv { path } => library(folder, path, WHEN_CONVERTING)?,
        Step::Fixture { name } => {
            let steps = fixtures.get(name).with_context(|| format!("there is no fixture `{name}`"))?;
            all(steps, fixtures, folder)?;
        }
    }
    Ok(())
}

/// A path with all directories above it.
fn new(folder: &Folder, path: &str) -> Result<std::path::PathBuf> {
    let path = folder.path(path);
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    Ok(path)
}

fn command(folder: &Folder, argv: &[String]) -> Result<()> {
    let environment = folder.environment(&BTreeMap::new());
    let (name, arguments) = argv.split_first().context("there is no program")?;
    let program = find(name, &environment["PATH"], folder.workspace());
    let mut command = session(program.with_context(|| format!("{name} is not installed"))?);
    command.args(arguments).current_dir(folder.workspace()).env_clear().envs(&environment);
    let ended = run(&mut command, None, LIMIT, &folder.own())?;
    if ended.code != Some(0) {
        bail!("{argv:?} ended with {:?}: {}", ended.code, ended.stderr.trim_end());
    }
    Ok(())
}

fn library(folder: &Folder, path: &str, how: &str) -> Result<()> {
    let source = folder.own().join("mark.c");
    fs::write(&source, folder.fill(&format!("{MARK}{how}")))?;
    let words = ["gcc", "-w", "-shared", "-fPIC", "-o"].map(str::to_owned).into_iter();
    let files = [new(folder, path)?, source].map(|path| path.display().to_string());
    command(folder, &words.chain(files).collect::<Vec<_>>())
}
