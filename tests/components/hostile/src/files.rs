//! What WASI itself gives: files, sockets, environment.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::TcpStream;

use crate::say;

/// Prints `ok N "TEXT"` (the first 4 KiB), or `error KIND: MESSAGE`. Opening a FIFO waits for a writer.
pub(crate) fn read(path: &str) {
    say(&match read_some(path) {
        Ok(bytes) => format!("ok {} {:?}", bytes.len(), String::from_utf8_lossy(&bytes)),
        Err(error) => failure(&error),
    });
}

fn read_some(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(4096).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes `hostile` and a line break. Prints `ok`, or `error KIND: MESSAGE`.
pub(crate) fn write(path: &str) {
    say(&match fs::write(path, "hostile\n") {
        Ok(()) => "ok".to_owned(),
        Err(error) => failure(&error),
    });
}

/// Prints `connected`, or `error KIND: MESSAGE`.
pub(crate) fn connect() {
    say(&match TcpStream::connect(("127.0.0.1", 1)) {
        Ok(_) => "connected".to_owned(),
        Err(error) => failure(&error),
    });
}

/// Prints `variables N`, and each one.
pub(crate) fn list_environment() {
    let variables: Vec<_> = std::env::vars_os().collect();
    say(&format!("variables {}", variables.len()));
    variables.iter().for_each(|(name, value)| say(&format!("{name:?}={value:?}")));
}

fn failure(error: &io::Error) -> String {
    format!("error {:?}: {error}", error.kind())
}
