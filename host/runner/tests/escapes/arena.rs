//! What an attack finds: a workspace to work in, places outside it with something to steal and something to spoil, and
//! a host.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use portcullis_policy::{Network, Request};
use portcullis_runner::{Level, Outcome};
use tempfile::TempDir;

use crate::attack::{Attack, Code};
use crate::host::{Accomplice, Ports, Victim};
use crate::support::{Bench, copied};

/// What every place's file holds until somebody spoils it.
const UNTOUCHED: &str = "untouched\n";

/// A folder outside the workspace.
pub(crate) struct Place {
    folder: TempDir,
    /// The content of its file `secret`.
    pub(crate) secret: String,
    socket: Option<UnixListener>,
    datagrams: Option<UnixDatagram>,
}

impl Place {
    fn new(parent: &Path, sockets: bool) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("escape-").tempdir_in(parent).ok()?;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let secret = unique("secret");
        fs::write(folder.path().join("secret"), &secret).unwrap();
        fs::write(folder.path().join("file"), UNTOUCHED).unwrap();
        let socket = sockets.then(|| UnixListener::bind(folder.path().join("socket")).unwrap());
        let datagrams = sockets.then(|| UnixDatagram::bind(folder.path().join("datagrams")).unwrap());
        for name in ["socket", "datagrams"].iter().filter(|_| sockets) {
            fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o777)).unwrap();
        }
        if let (Some(socket), Some(datagrams)) = (&socket, &datagrams) {
            socket.set_nonblocking(true).unwrap();
            datagrams.set_nonblocking(true).unwrap();
        }
        Some(Self { folder, secret, socket, datagrams })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Its file `file`, as it is now.
    pub(crate) fn file(&self) -> String {
        fs::read_to_string(self.path("file")).unwrap_or_default()
    }

    pub(crate) fn is_spoilt(&self) -> bool {
        self.file() != UNTOUCHED
    }

    /// Whether somebody connected to its socket.
    pub(crate) fn was_called(&self) -> bool {
        self.socket.as_ref().unwrap().accept().is_ok()
    }

    /// Whether somebody sent a datagram to its socket.
    pub(crate) fn was_written_to(&self) -> bool {
        self.datagrams.as_ref().unwrap().recv(&mut [0; 64]).is_ok()
    }
}

/// A bench with a world around it. Fields are dropped in this order.
pub(crate) struct Arena {
    pub(crate) victim: Option<Victim>,
    pub(crate) ports: Option<Ports>,
    accomplices: Vec<Accomplice>,
    values: Vec<(&'static str, String)>,
    /// Run when the attack is over.
    undo: Vec<Box<dyn FnOnce()>>,
    hidden: Vec<Place>,
    system: Vec<Place>,
    level: Level,
    bench: Bench,
}

impl Arena {
    /// `Err` says why this machine can't have it.
    pub(crate) fn new(attack: &Attack, level: Level) -> Result<Self, String> {
        let bench = Bench::made(level.as_str(), &policy(attack, level), |folder| {
            fs::create_dir(folder.join("bin")).unwrap();
            if attack.program.starts_with("FOLDER/") {
                copied(Path::new("/usr/bin/python3"), &folder.join("bin").join(attack.name()));
            }
        });
        let text = text(attack);
        let is_root = rustix::process::geteuid().is_root();
        let sockets = text.contains("SOCKETS");
        let home = std::env::var("HOME").unwrap_or_default();
        let mut parents = vec![bench.folder(), Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm")];
        parents.extend([Path::new(&home), Path::new("/run"), Path::new("/srv")]);
        let hidden = parents.into_iter().filter_map(|parent| Place::new(parent, sockets)).collect();
        let system = if is_root { &["/usr/local/lib", "/etc"][..] } else { &[] };
        let system = system.iter().filter_map(|parent| Place::new(Path::new(parent), sockets)).collect();
        let victim = text.contains("VICTIM").then(Victim::start);
        let ports = text.contains("PORT").then(Ports::open);
        let values = vec![("UNIQUE", unique("name"))];
        let (accomplices, undo) = (Vec::new(), Vec::new());
        let mut arena = Self { victim, ports, accomplices, values, undo, hidden, system, level, bench };
        (attack.prepare)(&mut arena)?;
        Ok(arena)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.bench.workspace()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.bench.folder()
    }

    /// Places that a confined command must neither see nor change.
    pub(crate) fn hidden(&self) -> &[Place] {
        &self.hidden
    }

    /// Places in directories of the system's.
    pub(crate) fn system(&self) -> &[Place] {
        &self.system
    }

    /// Places that it must not change.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &Place> {
        self.hidden.iter().chain(&self.system)
    }

    /// A value for attacks, under this name.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.push((name, value.into()));
    }

    pub(crate) fn value(&self, name: &str) -> String {
        self.values.iter().find(|(known, _)| *known == name).unwrap().1.clone()
    }

    /// Starts a program in Python beside the command, unconfined, and waits until it prints `up`.
    pub(crate) fn accomplice(&mut self, code: &str) {
        let script = script(self, code, Level::None);
        self.accomplices.push(Accomplice::start(&script));
    }

    /// Runs a program in Python to its end, unconfined; what it prints.
    pub(crate) fn python(&self, code: &str) -> String {
        let script = script(self, code, Level::None);
        let output = std::process::Command::new("/usr/bin/python3").args(["-I", "-S", "-c", &script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim_start_matches("ready\n").trim_end().to_owned()
    }

    pub(crate) fn afterwards(&mut self, undo: impl FnOnce() + 'static) {
        self.undo.push(Box::new(undo));
    }

    pub(crate) async fn run(&self, request: &Request) -> Outcome {
        self.bench.run(request).await
    }

    /// A program in Python, after the prelude and what it has to know.
    pub(crate) fn script(&self, code: &str) -> String {
        script(self, code, self.level)
    }

    /// An argument, its names replaced.
    pub(crate) fn filled(&self, argument: &str) -> String {
        let folder = self.folder().to_str().unwrap();
        let secret = self.hidden[0].path("secret");
        argument.replace("FOLDER", folder).replace("SECRET", secret.to_str().unwrap())
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for undo in self.undo.drain(..) {
            undo();
        }
    }
}

fn script(arena: &Arena, code: &str, level: Level) -> String {
    let paths = |places: &mut dyn Iterator<Item = &Place>, name: &str| -> Vec<PathBuf> {
        places.map(|place| place.path(name)).collect()
    };
    let mut head = format!(
        "FOLDER = {:?}\nWORKSPACE = {:?}\nOUTSIDE = {:?}\nHIDDEN = {:?}\nSECRETS = {:?}\nCONFINED = {}\n",
        arena.folder(),
        arena.workspace(),
        paths(&mut arena.outside(), ""),
        paths(&mut arena.hidden.iter(), ""),
        paths(&mut arena.hidden.iter(), "secret"),
        if level == Level::None { "False" } else { "True" },
    );
    for (name, value) in &arena.values {
        head += &format!("{name} = {value:?}\n");
    }
    if let Some(victim) = &arena.victim {
        head += &format!("VICTIM = {}\n", victim.pid());
    }
    if let Some(ports) = &arena.ports {
        head += &ports.values();
    }
    format!("{head}{}{code}", include_str!("prelude.py"))
}

fn policy(attack: &Attack, level: Level) -> String {
    let Attack { program, children, network, policy, .. } = attack;
    let (policy, children) =
        if level == Level::None { ("", String::new()) } else { (*policy, format!("children = {children}\n")) };
    let network = match network {
        Network::None => "",
        Network::Host => "confinement.network = \"host\"\n",
    };
    format!(
        "{network}{policy}\n[[program]]\nname = {:?}\nfile = {program:?}\n{children}\
         [[program.rule]]\nid = \"attack\"\ndecision = \"allow\"\nwhy = \"a test\"\n",
        attack.name(),
    )
}

/// All that an attack says.
fn text(attack: &Attack) -> String {
    let first = match attack.code {
        Code::Python(code) => code.to_owned(),
        Code::Arguments(arguments) => arguments.join(" "),
    };
    format!("{first} {}", attack.next.unwrap_or_default())
}

/// A word that nobody else has.
fn unique(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("portcullis-{what}-{}-{}-{now}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
