//! Everything that a command's process needs, made before it exists: it may not allocate.

use std::ffi::{CString, NulError};
use std::os::fd::BorrowedFd;

use portcullis_policy::{Allowed, KernelLimits, Limits};

use crate::Approved;
use crate::pipes::Theirs;
use crate::sandbox::Sandbox;
use crate::sys::{Directory, Order, Program, ResourceLimit, Strings};

/// The values of one command, in the kernel's own forms.
#[derive(Debug)]
pub(crate) struct Prepared {
    argv: Strings,
    env: Strings,
    workspace: CString,
    relative: CString,
    limits: Vec<ResourceLimit>,
    /// Where the program is in the command's own tree of files; `None` = it has none.
    inside: Option<CString>,
}

impl Prepared {
    /// Fails where a string contains NUL, which validation has ruled out for everything that a caller gives.
    pub(crate) fn new(approved: &Approved, sandbox: &Sandbox) -> Result<Self, NulError> {
        let allowed = approved.allowed();
        let relative = if allowed.cwd().is_empty() { "." } else { allowed.cwd() };
        Ok(Self {
            argv: Strings::new(argv(allowed))?,
            env: Strings::new(environment(allowed, sandbox.temporary()))?,
            workspace: CString::new(approved.workspace())?,
            relative: CString::new(relative)?,
            inside: sandbox.key().has_tree().then(|| CString::new(approved.program().executable_path())).transpose()?,
            limits: resource_limits(allowed.limits(), sandbox),
        })
    }

    /// What to hand to the process that becomes the command.
    /// A confined one has a ruleset.
    pub(crate) fn order<'a>(
        &'a self,
        approved: &'a Approved,
        ends: &'a Theirs,
        ruleset: Option<BorrowedFd<'a>>,
    ) -> Order<'a> {
        let (device, inode) = approved.directory();
        let identity = approved.allowed().identity();
        Order {
            program: match &self.inside {
                Some(path) => Program::Inside { path, device: identity.device, inode: identity.inode },
                None => Program::Open(approved.program().executable()),
            },
            argv: &self.argv,
            env: &self.env,
            stdin: ends.input(),
            outputs: ends.outputs(),
            directory: Directory { workspace: &self.workspace, relative: &self.relative, device, inode },
            limits: &self.limits,
            ruleset,
        }
    }
}

/// As it was decided; and where a command has a directory of its own for temporary files, it is told.
fn environment(allowed: &Allowed, temporary: Option<&str>) -> Vec<String> {
    let told = temporary
        .filter(|_| allowed.env().iter().all(|(name, _)| name != "TMPDIR"))
        .map(|path| format!("TMPDIR={path}"));
    allowed.env().iter().map(|(name, value)| format!("{name}={value}")).chain(told).collect()
}

/// argv[0] is the entry's name. A script runs as execve(2) would run it: the interpreter's path, its argument, the
/// script's path.
fn argv(allowed: &Allowed) -> Vec<&str> {
    let identity = allowed.identity();
    let mut argv = Vec::with_capacity(allowed.arguments().len() + 3);
    match &identity.script {
        None => argv.push(allowed.program().as_str()),
        Some(script) => {
            argv.push(identity.path.as_str());
            argv.extend(script.interpreter_argument.as_deref());
            argv.push(&script.path);
        }
    }
    argv.extend(allowed.arguments().iter().map(String::as_str));
    argv
}

/// The limits that the kernel holds per process; those of the whole tree are the sandbox's.
fn resource_limits(limits: Limits, sandbox: &Sandbox) -> Vec<ResourceLimit> {
    let equal = |resource, value| ResourceLimit { resource, soft: value, hard: value };
    // No core dumps, ever: they would write what the command had in memory to where the host says.
    let mut all = vec![equal(RLIMIT_CORE, 0)];
    let Some(KernelLimits { cpu, memory_bytes, processes, file_size_bytes, open_files }) = limits.kernel else {
        return all;
    };
    // The kernel counts whole seconds; the tree's time is watched more finely.
    let seconds = cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0);
    all.extend([
        equal(RLIMIT_FSIZE, file_size_bytes),
        equal(RLIMIT_NOFILE, open_files.into()),
        ResourceLimit { resource: RLIMIT_CPU, soft: seconds, hard: seconds + 1 },
    ]);
    if !sandbox.limits_memory() {
        // Not the address space: runtimes reserve much more of that than they use.
        all.push(equal(RLIMIT_DATA, memory_bytes));
    }
    if sandbox.counts_processes_by_rlimit() {
        // In a user namespace of its own only the command's processes count, and the guard.
        all.push(equal(RLIMIT_NPROC, u64::from(processes) + 1));
    }
    all
}

const RLIMIT_CPU: i32 = libc::RLIMIT_CPU as i32;
const RLIMIT_FSIZE: i32 = libc::RLIMIT_FSIZE as i32;
const RLIMIT_DATA: i32 = libc::RLIMIT_DATA as i32;
const RLIMIT_CORE: i32 = libc::RLIMIT_CORE as i32;
const RLIMIT_NPROC: i32 = libc::RLIMIT_NPROC as i32;
const RLIMIT_NOFILE: i32 = libc::RLIMIT_NOFILE as i32;
