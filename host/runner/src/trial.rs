//! Finding out how far this host can confine commands, by confining one.

use std::ffi::CString;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::executables::Kin;
use crate::guard::{self, GuardError, Kind};
use crate::key::{Confined, Key};
use crate::pool;
use crate::reach::Reach;
use crate::ruleset::OLDEST;
use crate::sandbox::Sandbox;
use crate::sys::{self, Directory, Order, Program, Strings};
use crate::view::View;
use crate::workspace::Workspace;

/// Where the trial starts: there on every system, and nothing is written.
const PLACE: &str = "/usr";
/// How long it may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Confines a program that ends at once, with everything on.
pub(crate) fn run(kind: Kind) -> Result<(), GuardError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| GuardError::new(what, &error);
    match sys::landlock_abi() {
        Some(abi) if abi >= OLDEST => {}
        Some(abi) => {
            let why = format!("the kernel's has version {abi}, and {OLDEST} is the oldest that will do");
            return Err(failed("use Landlock", &why));
        }
        None => return Err(failed("use Landlock", &"the kernel has none, or it is switched off")),
    }
    let workspace = Workspace::open(PLACE.as_ref()).map_err(|error| failed("open a directory for a trial", &error))?;
    let view = View {
        workspace: workspace.path().to_owned(),
        identity: workspace.identity(),
        read: Vec::new(),
        programs: Vec::new(),
        write: Vec::new(),
        deny: Vec::new(),
        executable: false,
    };
    let view = (kind == Kind::Namespaces).then_some(view);
    let key = Arc::new(Key { kind, confined: Some(Confined { network: false, kin: Kin::None, view }) });
    let mut sandbox = Sandbox::make(&key)?;
    let ended = execute(&mut sandbox, &workspace);
    // The kind of the trial is nobody else's.
    sandbox.end(PATIENCE);
    pool::clear(sandbox);
    ended
}

fn execute(sandbox: &mut Sandbox, workspace: &Workspace) -> Result<(), GuardError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| GuardError::new(what, &error);
    let ruleset =
        sandbox.ruleset(&Reach::trial(workspace.path())).map_err(|error| failed("make a Landlock ruleset", &error))?;
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| failed("open /dev/null", &errno))?;
    let nul = |error: std::ffi::NulError| failed("name the trial", &error);
    let argv = Strings::new(["portcullis-guard"]).map_err(nul)?;
    let env = Strings::new(Vec::<String>::new()).map_err(nul)?;
    let path = CString::new(workspace.path()).map_err(nul)?;
    let (device, inode) = workspace.identity();
    let order = Order {
        // Without a lifeline it ends itself.
        program: Program::Open(guard::program()?),
        argv: &argv,
        env: &env,
        stdin: None,
        outputs: [null.as_fd(); 2],
        directory: Directory { workspace: &path, relative: c".", device, inode },
        limits: &[],
        ruleset: ruleset.as_ref().map(|ruleset| ruleset.as_fd()),
    };
    let started = sandbox.order(&order).and_then(|ordered| sandbox.confirm(ordered, None));
    let child = started.map_err(|error| failed(error.step.what(), &error.error))?;
    let timeout = rustix::event::Timespec::try_from(PATIENCE).ok();
    let mut ends = [rustix::event::PollFd::new(&child.pidfd, rustix::event::PollFlags::IN)];
    // Interrupted or not: what has not ended is killed with its sandbox.
    let _ended = rustix::event::poll(&mut ends, timeout.as_ref());
    sandbox.kill(child.pid);
    let _zombie = sys::wait(child.pid);
    Ok(())
}
