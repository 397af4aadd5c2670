//! Keeping the head and the tail of a stream in bounded memory.

use crate::{Captured, Gap};

/// Takes in a stream of any length and keeps its first and last bytes.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    head_most: usize,
    /// A ring once it is full: `tail_start` is then its oldest byte.
    tail: Vec<u8>,
    tail_most: usize,
    tail_start: usize,
    total: u64,
}

impl Capture {
    /// Keeps at most `most` bytes: the first half (rounded up) from the head, the rest from the tail.
    pub(crate) fn new(most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let head_most = most.div_ceil(2);
        Self { head: Vec::new(), head_most, tail: Vec::new(), tail_most: most - head_most, tail_start: 0, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_most - self.head.len()));
        self.head.extend_from_slice(head);
        // Of a piece longer than the tail only its end can stay.
        let rest = &rest[rest.len().saturating_sub(self.tail_most)..];
        let (growing, wrapping) = rest.split_at(rest.len().min(self.tail_most - self.tail.len()));
        self.tail.extend_from_slice(growing);
        let (to_end, from_start) = wrapping.split_at(wrapping.len().min(self.tail.len() - self.tail_start));
        self.tail[self.tail_start..][..to_end.len()].copy_from_slice(to_end);
        self.tail[..from_start.len()].copy_from_slice(from_start);
        if !self.tail.is_empty() {
            self.tail_start = (self.tail_start + wrapping.len()) % self.tail.len();
        }
    }

    pub(crate) fn finish(self) -> Captured {
        let Self { head: mut bytes, mut tail, tail_start, total, .. } = self;
        let at = bytes.len() as u64;
        tail.rotate_left(tail_start);
        bytes.append(&mut tail);
        let missing = total - bytes.len() as u64;
        Captured { bytes, total, gap: (missing > 0).then_some(Gap { at, missing }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(most: u64, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(most);
        pieces.iter().for_each(|piece| capture.push(piece));
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let whole = Captured { bytes: b"abcdef".to_vec(), total: 6, gap: None };
        assert_eq!(capture(6, &[b"abcdef"]), whole);
        assert_eq!(capture(6, &[b"ab", b"", b"cdef"]), whole);
        assert_eq!(capture(1000, &[b"abc", b"def"]), whole);
        assert_eq!(capture(0, &[]), Captured::default());
    }

    #[test]
    fn head_and_tail_are_kept_and_the_gap_is_exact_however_the_stream_is_cut() {
        let stream: Vec<u8> = (0..=255).collect();
        for most in [0, 1, 2, 3, 7, 64, 100, 255] {
            for piece in [1, 2, 3, 5, 17, 64, 255, 256] {
                let pieces: Vec<&[u8]> = stream.chunks(piece).collect();
                let head = usize::try_from(most).unwrap().div_ceil(2);
                let tail = usize::try_from(most).unwrap() - head;
                let expected = Captured {
                    bytes: [&stream[..head], &stream[256 - tail..]].concat(),
                    total: 256,
                    gap: Some(Gap { at: head as u64, missing: 256 - most }),
                };
                assert_eq!(capture(most, &pieces), expected, "most {most}, pieces of {piece}");
            }
        }
    }
}
