//! What of the host's is there to attack: a process, and listeners.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process of the host's user, with a secret in its environment and so in its memory, and in a file that it has open
/// as descriptor 9. It repeats lines.
pub(crate) struct Victim {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What the victim knows.
pub(crate) const VICTIMS_SECRET: &str = "the-victims-secret-8c1f";

impl Victim {
    pub(crate) fn start() -> Self {
        // The file has no name any more: only the descriptor leads to it.
        let script = "f=$(mktemp) && printf %s \"$TOKEN\" > $f && exec 9< $f && rm $f && exec cat";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env("TOKEN", VICTIMS_SECRET).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut victim = Self { child, input, output };
        // It is `cat` by now.
        assert!(victim.answers());
        victim
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it is alive: it repeats a line. A signal that was sent before takes effect before.
    pub(crate) fn answers(&mut self) -> bool {
        let mut line = String::new();
        writeln!(self.input, "hello").is_ok() && self.output.read_line(&mut line).is_ok() && line == "hello\n"
    }

    /// What the kernel says of it.
    pub(crate) fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid())).unwrap()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A program that the attack has outside.
pub(crate) struct Accomplice(Child);

impl Accomplice {
    pub(crate) fn start(script: &str) -> Self {
        let mut command = Command::new("/usr/bin/python3");
        let mut child = command.args(["-I", "-S", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "up"));
        Self(child)
    }
}

impl Drop for Accomplice {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Listeners of the host's.
pub(crate) struct Ports {
    tcp: TcpListener,
    udp: UdpSocket,
    tcp6: Option<TcpListener>,
    udp6: Option<UdpSocket>,
    stream: UnixListener,
    datagrams: UnixDatagram,
    name: String,
}

impl Ports {
    pub(crate) fn open() -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = format!("portcullis-{}-{}", std::process::id(), tcp.local_addr().unwrap().port());
        let address = |kind| SocketAddr::from_abstract_name(format!("{name}-{kind}")).unwrap();
        let stream = UnixListener::bind_addr(&address("stream")).unwrap();
        let datagrams = UnixDatagram::bind_addr(&address("datagrams")).unwrap();
        let (tcp6, udp6) = (TcpListener::bind("[::1]:0").ok(), UdpSocket::bind("[::1]:0").ok());
        for listener in [Some(&tcp), tcp6.as_ref()].into_iter().flatten() {
            listener.set_nonblocking(true).unwrap();
        }
        for socket in [Some(&udp), udp6.as_ref()].into_iter().flatten() {
            socket.set_nonblocking(true).unwrap();
        }
        stream.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        Self { tcp, udp, tcp6, udp6, stream, datagrams, name }
    }

    /// As Python.
    pub(crate) fn values(&self) -> String {
        let tcp6 = self.tcp6.as_ref().map_or(0, |listener| listener.local_addr().unwrap().port());
        let udp6 = self.udp6.as_ref().map_or(0, |socket| socket.local_addr().unwrap().port());
        format!(
            "PORT = {}\nUDP_PORT = {}\nPORT6 = {tcp6}\nUDP_PORT6 = {udp6}\nABSTRACT_PORT = {:?}\n",
            self.tcp.local_addr().unwrap().port(),
            self.udp.local_addr().unwrap().port(),
            self.name,
        )
    }

    pub(crate) fn tcp_called(&self) -> bool {
        self.tcp.accept().is_ok()
    }

    pub(crate) fn tcp6_called(&self) -> bool {
        self.tcp6.as_ref().is_some_and(|listener| listener.accept().is_ok())
    }

    pub(crate) fn udp_received(&self) -> bool {
        self.udp.recv(&mut [0; 64]).is_ok()
    }

    pub(crate) fn udp6_received(&self) -> bool {
        self.udp6.as_ref().is_some_and(|socket| socket.recv(&mut [0; 64]).is_ok())
    }

    pub(crate) fn abstract_called(&self) -> bool {
        self.stream.accept().is_ok()
    }

    pub(crate) fn abstract_received(&self) -> bool {
        self.datagrams.recv(&mut [0; 64]).is_ok()
    }
}
