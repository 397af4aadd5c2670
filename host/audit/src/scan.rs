//! A segment line by line, in constant memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use crate::segments::{FIRST_SEGMENT, only_first};
use crate::tail::{self, Tail};
use crate::{JournalError, LINE_BYTES};

/// The whole lines that a segment had when it was opened.
///
/// What writers append later is not seen. What they repair (an unfinished last line) lies behind the whole lines:
/// so a reader never sees half of a change.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<Take<File>>,
    line: Vec<u8>,
    number: u64,
    torn: u64,
}

/// A whole line.
#[derive(Debug)]
pub(crate) struct Scanned<'l> {
    /// From 1.
    pub(crate) number: u64,
    /// Without the newline; `None` = longer than [`LINE_BYTES`].
    pub(crate) bytes: Option<&'l [u8]>,
}

impl Lines {
    pub(crate) fn open(directory: &Path) -> Result<Self, JournalError> {
        only_first(directory)?;
        let path = directory.join(FIRST_SEGMENT);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JournalError::NoJournal { path: directory.to_owned() });
            }
            Err(source) => return Err(JournalError::OpenSegment { path, source }),
        };
        match snapshot(&mut file) {
            Ok(Tail { whole, fragment }) => Ok(Self {
                path,
                reader: BufReader::new(file.take(whole)),
                line: Vec::new(),
                number: 0,
                torn: fragment.map_or(0, |fragment| fragment.bytes),
            }),
            Err(source) => Err(JournalError::Read { path, source }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes after the last whole line: what a crash left of an append.
    pub(crate) const fn torn(&self) -> u64 {
        self.torn
    }

    /// The next whole line; `None` = there are no more.
    pub(crate) fn next(&mut self) -> Result<Option<Scanned<'_>>, JournalError> {
        self.line.clear();
        let mut length = 0_usize;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(JournalError::Read { path: self.path.clone(), source });
                }
            };
            if chunk.is_empty() {
                // Only whole lines were promised, so this is the end, or the file was cut meanwhile.
                if length == 0 {
                    return Ok(None);
                }
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(JournalError::Read { path: self.path.clone(), source });
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let taken = newline.unwrap_or(chunk.len());
            length = length.saturating_add(taken);
            if length <= LINE_BYTES {
                self.line.extend_from_slice(chunk.get(..taken).unwrap_or_default());
            }
            self.reader.consume(newline.map_or(taken, |newline| newline + 1));
            if newline.is_some() {
                break;
            }
        }
        self.number += 1;
        Ok(Some(Scanned { number: self.number, bytes: (length <= LINE_BYTES).then_some(&*self.line) }))
    }
}

/// Where the whole lines end, seen while no append is under way.
fn snapshot(file: &mut File) -> io::Result<Tail> {
    match file.lock_shared() {
        Ok(()) => {}
        // A file system without locks has no writers of ours either: they refuse it.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(error) => return Err(error),
    }
    let tail = file.metadata().and_then(|metadata| {
        tail::find(metadata.len(), |bytes, offset| {
            file.seek(SeekFrom::Start(offset))?;
            file.read(bytes)
        })
    });
    // Closing the file would do it as well.
    let _ = file.unlock();
    let tail = tail?;
    file.seek(SeekFrom::Start(0))?;
    Ok(tail)
}
