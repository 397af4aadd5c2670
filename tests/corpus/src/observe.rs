//! Seeing what a command did.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::cases::Observe;
use crate::command::{Ended, run, session};
use crate::folder::{Folder, find};

/// How long a peer may be silent before it is given up.
const SILENCE: Duration = Duration::from_millis(500);
/// How long a process in the background may take to do something.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a command that looks may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Our own connection, the last.
const LAST: &[u8] = b"portcullis-corpus: that was all";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Listens on a TCP port or a socket file until [`Listener::heard`].
pub(crate) struct Listener {
    place: Place,
    result: mpsc::Receiver<Vec<Vec<u8>>>,
}

enum Place {
    Port(u16),
    File(PathBuf),
}

impl Listener {
    pub(crate) fn on_loopback() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("can't listen on the loopback")?;
        let port = listener.local_addr()?.port();
        let accept = move || {
            let (stream, _) = listener.accept()?;
            stream.set_read_timeout(Some(SILENCE))?;
            Ok(stream)
        };
        Ok(Self { place: Place::Port(port), result: listen(accept, |stream| drop(stream.shutdown(Shutdown::Write))) })
    }

    pub(crate) fn on_file(path: &Path) -> Result<Self> {
        let listener = UnixListener::bind(path).with_context(|| format!("can't listen on {}", path.display()))?;
        let accept = move || {
            let (stream, _) = listener.accept()?;
            stream.set_read_timeout(Some(SILENCE))?;
            Ok(stream)
        };
        let result = listen(accept, |stream| drop(stream.shutdown(Shutdown::Write)));
        Ok(Self { place: Place::File(path.to_owned()), result })
    }

    /// The port; 0 for a file.
    pub(crate) fn port(&self) -> u16 {
        match self.place {
            Place::Port(port) => port,
            Place::File(_) => 0,
        }
    }

    /// What each connection sent. They are served one after the other, so when ours is, all others were.
    pub(crate) fn heard(self) -> Result<Vec<Vec<u8>>> {
        match &self.place {
            Place::Port(port) => TcpStream::connect(("127.0.0.1", *port))?.write_all(LAST)?,
            Place::File(path) => UnixStream::connect(path)?.write_all(LAST)?,
        }
        self.result.recv().context("the listener failed")
    }
}

fn listen<S: Read + Write>(
    accept: impl Fn() -> io::Result<S> + Send + 'static,
    close: impl Fn(&S) + Send + 'static,
) -> mpsc::Receiver<Vec<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut heard = Vec::new();
        while let Ok(mut stream) = accept() {
            let (mut all, mut buffer, mut invited, mut answered) = (Vec::new(), [0; 4096], false, false);
            // Whoever falls silent, or breaks off, has said what there is.
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                all.extend_from_slice(&buffer[..count]);
                if !invited && contains(&all, "100-continue\r\n") {
                    invited = true;
                    let _gone = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                if !answered && is_complete(&all) {
                    answered = true;
                    let _gone = stream.write_all(ANSWER);
                    close(&stream);
                }
            }
            if all == LAST {
                break;
            }
            heard.push(all);
        }
        let _nobody_asks = sender.send(heard);
    });
    receiver
}

/// Whether a request is there with the body that it announces.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}

/// What listened while a command ran.
pub(crate) struct Watch {
    listener: Option<Listener>,
}

impl Watch {
    /// Starts listening, where that is what is observed.
    pub(crate) fn on(observe: &Observe) -> Result<Self> {
        let listener = match observe {
            Observe::Listener { .. } => Some(Listener::on_loopback()?),
            Observe::Unix
            | Observe::Exists { .. }
            | Observe::Absent { .. }
            | Observe::Islink { .. }
            | Observe::Contains { .. }
            | Observe::Output { .. }
            | Observe::Cmd { .. }
            | Observe::Timeout => None,
        };
        Ok(Self { listener })
    }

    /// The port that is listened on; 0 for none.
    pub(crate) fn port(&self) -> u16 {
        self.listener.as_ref().map_or(0, Listener::port)
    }

    /// The same for a socket file, once the folder is there.
    pub(crate) fn in_folder(&mut self, observe: &Observe, folder: &Folder) -> Result<()> {
        if matches!(observe, Observe::Unix) {
            self.listener = Some(Listener::on_file(&folder.outside().join("s"))?);
        }
        Ok(())
    }

    /// Whether the attack worked.
    pub(crate) fn happened(self, observe: &Observe, folder: &Folder, ended: &Ended) -> Result<bool> {
        let heard = self.listener.map(Listener::heard).transpose()?.unwrap_or_default();
        Ok(match observe {
            Observe::Exists { .. } | Observe::Absent { .. } | Observe::Islink { .. } | Observe::Contains { .. } => {
                in_files(observe, folder)
            }
            Observe::Output { text } => {
                let text = folder.fill(text);
                ended.stdout.contains(&text) || ended.stderr.contains(&text)
            }
            Observe::Listener { text } => heard.iter().any(|bytes| contains(bytes, &folder.fill(text))),
            Observe::Unix => !heard.is_empty(),
            Observe::Cmd { argv } => succeeds(folder, &folder.fill_all(argv))?,
            Observe::Timeout => ended.timed_out,
        })
    }
}

/// Waits for a change of files that is left to a process in the background, if that is what is observed. Where nothing
/// holds such processes, they are not over when the command is.
pub(crate) fn wait(observe: &Observe, folder: &Folder) {
    let is_file = matches!(
        observe,
        Observe::Exists { .. } | Observe::Absent { .. } | Observe::Islink { .. } | Observe::Contains { .. }
    );
    let started = Instant::now();
    while is_file && !in_files(observe, folder) && started.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether files are as an attack leaves them.
fn in_files(observe: &Observe, folder: &Folder) -> bool {
    match observe {
        Observe::Exists { path } => fs::symlink_metadata(folder.path(path)).is_ok(),
        Observe::Absent { path } => fs::symlink_metadata(folder.path(path)).is_err(),
        Observe::Islink { path } => fs::read_link(folder.path(path)).is_ok(),
        Observe::Contains { path, text } => {
            fs::read(folder.path(path)).is_ok_and(|bytes| contains(&bytes, &folder.fill(text)))
        }
        Observe::Output { .. } | Observe::Listener { .. } | Observe::Unix | Observe::Cmd { .. } | Observe::Timeout => {
            false
        }
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

fn succeeds(folder: &Folder, argv: &[String]) -> Result<bool> {
    let environment = folder.environment(&BTreeMap::new());
    let (name, arguments) = argv.split_first().context("there is no program to look with")?;
    let program = find(name, &environment["PATH"], folder.workspace());
    let mut command = session(program.with_context(|| format!("{name} is not installed"))?);
    command.args(arguments).current_dir(folder.workspace()).env_clear().envs(&environment);
    Ok(run(&mut command, None, LIMIT, &folder.own())?.code == Some(0))
}
