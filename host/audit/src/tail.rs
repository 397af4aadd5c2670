//! The end of a segment, read backwards in bounded steps: its cost does not depend on the journal's length.

use std::io;

use sha2::{Digest as _, Sha256};

use crate::{Hash, LINE_BYTES, TornTail};

/// Bytes read at a time. Most lines are shorter, so that one read finds the last one.
const STEP: usize = 8 * 1024;

/// The end of a segment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Bytes of whole lines.
    pub(crate) whole: u64,
    /// What follows them without a newline at its end; `None` = nothing.
    pub(crate) fragment: Option<TornTail>,
}

/// Finds the end of the whole lines in the first `length` bytes, and digests what follows them.
pub(crate) fn find(length: u64, mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<usize>) -> io::Result<Tail> {
    let whole = newline_before(length, u64::MAX, &mut read_at)?.map_or(0, |newline| newline + 1);
    if whole == length {
        return Ok(Tail { whole, fragment: None });
    }
    let mut hash = Sha256::new();
    let mut at = whole;
    let mut buffer = [0; STEP];
    while at < length {
        let bytes = read_exact(step(&mut buffer, length - at), at, &mut read_at)?;
        hash.update(bytes);
        at += bytes.len() as u64;
    }
    Ok(Tail { whole, fragment: Some(TornTail { bytes: length - whole, sha256: Hash::from(hash) }) })
}

/// The line that ends (with its newline) at `whole`: where it begins, and its bytes without the newline.
///
/// `None` instead of the bytes = it is longer than [`LINE_BYTES`], and begins at or before the offset.
pub(crate) fn last_line(
    whole: u64,
    mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<(u64, Option<Vec<u8>>)> {
    let end = whole.saturating_sub(1);
    let reach = LINE_BYTES as u64 + 1;
    let newline = newline_before(end, reach, &mut read_at)?;
    let begin = newline.map_or(end.saturating_sub(reach), |newline| newline + 1);
    let Some(length) = usize::try_from(end - begin).ok().filter(|length| *length <= LINE_BYTES) else {
        return Ok((begin, None));
    };
    let mut line = vec![0; length];
    read_exact(&mut line, begin, &mut read_at)?;
    Ok((begin, Some(line)))
}

/// The offset of the last newline among the `reach` bytes before `end`.
fn newline_before(
    end: u64,
    reach: u64,
    read_at: &mut impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<Option<u64>> {
    let mut buffer = [0; STEP];
    let least = end.saturating_sub(reach);
    let mut end = end;
    while end > least {
        let chunk = step(&mut buffer, end - least);
        let begin = end - chunk.len() as u64;
        let bytes = read_exact(chunk, begin, read_at)?;
        if let Some(index) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(begin + index as u64));
        }
        end = begin;
    }
    Ok(None)
}

/// As much of the buffer as there are bytes.
fn step(buffer: &mut [u8; STEP], bytes: u64) -> &mut [u8] {
    let length = usize::try_from(bytes).map_or(STEP, |bytes| bytes.min(STEP));
    buffer.get_mut(..length).unwrap_or_default()
}

fn read_exact<'b>(
    buffer: &'b mut [u8],
    offset: u64,
    read_at: &mut impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<&'b [u8]> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read_at(rest, offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reader(content: &[u8]) -> impl FnMut(&mut [u8], u64) -> io::Result<usize> {
        move |buffer, offset| {
            let rest = &content[usize::try_from(offset).unwrap()..];
            // Short reads, as a file system may give them.
            let length = rest.len().min(buffer.len()).min(3000);
            buffer[..length].copy_from_slice(&rest[..length]);
            Ok(length)
        }
    }

    fn check(content: &[u8]) {
        let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = &content[whole..];
        let fragment = TornTail { bytes: rest.len() as u64, sha256: Hash::of(rest) };
        let expected = Tail { whole: whole as u64, fragment: (!rest.is_empty()).then_some(fragment) };
        assert_eq!(find(content.len() as u64, reader(content)).unwrap(), expected);
        if whole > 0 {
            let line = content[..whole - 1].rsplit(|byte| *byte == b'\n').next().unwrap();
            let (begin, read) = last_line(whole as u64, reader(content)).unwrap();
            assert_eq!(read.as_deref(), (line.len() <= LINE_BYTES).then_some(line));
            if read.is_some() {
                assert_eq!(begin as usize, whole - 1 - line.len());
            }
        }
    }

    #[test]
    fn lines_at_every_border_of_a_step_are_found() {
        for length in [0, 1, STEP - 2, STEP - 1, STEP, STEP + 1, 3 * STEP, LINE_BYTES - 1, LINE_BYTES, LINE_BYTES + 1] {
            let line = vec![b'x'; length];
            check(&line);
            check(&[b"ab\n", &*line, b"\n"].concat());
            check(&[&*line, b"\n", &*line].concat());
            check(&[&*line, b"\n"].concat());
        }
    }

    proptest! {
        #[test]
        fn any_content_splits_at_its_last_newline(parts in prop::collection::vec(0_usize..9000, 0..5), end: bool) {
            let mut content = parts.iter().map(|length| "y".repeat(*length)).collect::<Vec<_>>().join("\n").into_bytes();
            if end {
                content.push(b'\n');
            }
            check(&content);
        }
    }
}
