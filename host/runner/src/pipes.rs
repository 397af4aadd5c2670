//! The pipes between a command and the host.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::pipe::PipeFlags;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::drain::Drain;
use crate::feed::Feed;
use crate::{Input, Output, StartError, Streams};

/// The command's ends. While we hold them our own never see the end.
#[derive(Debug)]
pub(crate) struct Theirs {
    /// `None` = there is no input.
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    /// `None` = merged into standard output.
    stderr: Option<OwnedFd>,
}

/// The host's ends, and what they are for.
pub(crate) struct Ours {
    stdin: Option<(OwnedFd, Input)>,
    stdout: (OwnedFd, Option<Output>),
    stderr: Option<(OwnedFd, Option<Output>)>,
}

/// Makes the pipes of a command.
pub(crate) fn pipes(streams: Streams, merge_stderr: bool) -> Result<(Theirs, Ours), StartError> {
    let Streams { input, stdout, stderr } = streams;
    let (stdin_theirs, stdin_ours) = match input {
        Input::Empty => (None, None),
        input @ (Input::Bytes(_) | Input::Reader(_)) => {
            pipe().map(|(read, write)| (Some(read), Some((write, input))))?
        }
    };
    let (stdout_ours, stdout_theirs) = pipe()?;
    let (stderr_ours, stderr_theirs) =
        if merge_stderr { (None, None) } else { pipe().map(|(read, write)| (Some((read, stderr)), Some(write)))? };
    let theirs = Theirs { stdin: stdin_theirs, stdout: stdout_theirs, stderr: stderr_theirs };
    Ok((theirs, Ours { stdin: stdin_ours, stdout: (stdout_ours, stdout), stderr: stderr_ours }))
}

impl Theirs {
    /// Descriptor 0 of the command.
    pub(crate) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.stdin.as_ref().map(OwnedFd::as_fd)
    }

    /// Descriptors 1 and 2.
    pub(crate) fn outputs(&self) -> [BorrowedFd<'_>; 2] {
        [self.stdout.as_fd(), self.stderr.as_ref().unwrap_or(&self.stdout).as_fd()]
    }
}

impl Ours {
    /// Registers them with the current runtime. Of each output at most `most` bytes are kept.
    pub(crate) fn register(self, most: u64) -> Result<(Option<Feed>, Drain, Option<Drain>), StartError> {
        let drain = |(pipe, copy)| Ok(Drain::new(Receiver::from_owned_fd(pipe).map_err(StartError::Pipe)?, copy, most));
        let feed = |(pipe, input)| Ok(Feed { pipe: Sender::from_owned_fd(pipe).map_err(StartError::Pipe)?, input });
        Ok((self.stdin.map(feed).transpose()?, drain(self.stdout)?, self.stderr.map(drain).transpose()?))
    }
}

/// A pipe: where one reads, where one writes.
fn pipe() -> Result<(OwnedFd, OwnedFd), StartError> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| StartError::Pipe(errno.into()))
}
