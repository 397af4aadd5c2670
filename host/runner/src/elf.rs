//! The little that is read of an executable: which loader it asks for.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Longest path that Linux takes (`PATH_MAX`).
const LONGEST: u64 = 4096;

/// The loader (`PT_INTERP`) of a 64-bit little-endian ELF executable (`elf(5)`); `None` where it needs none, or is no
/// such file.
pub(crate) fn loader(file: &File) -> Option<String> {
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).ok()?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let half = |bytes: &[u8], at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (offset, size, count) = (word(&header, 32)?, half(&header, 54)?, half(&header, 56)?);
    for index in 0..u64::from(count) {
        let mut entry = [0; 56];
        let at = offset.checked_add(index.checked_mul(u64::from(size))?)?;
        file.read_exact_at(&mut entry, at).ok()?;
        const INTERPRETER: [u8; 4] = 3_u32.to_le_bytes();
        if entry.starts_with(&INTERPRETER) {
            let (offset, length) = (word(&entry, 8)?, word(&entry, 32)?);
            let mut path = vec![0; usize::try_from(length.min(LONGEST)).ok()?];
            file.read_exact_at(&mut path, offset).ok()?;
            let end = path.iter().position(|&byte| byte == 0)?;
            path.truncate(end);
            return String::from_utf8(path).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_loader_of_a_program_is_there() {
        let found = loader(&File::open("/proc/self/exe").unwrap()).unwrap();
        assert!(found.starts_with('/') && std::fs::exists(&found).unwrap(), "{found}");
    }

    #[test]
    fn what_is_no_elf_file_or_a_broken_one_has_none() {
        let whole = std::fs::read("/proc/self/exe").unwrap();
        let mut broken = whole[..4096].to_vec();
        // Program headers far outside, and more of them than there are bytes.
        broken[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        broken[56..58].copy_from_slice(&u16::MAX.to_le_bytes());
        for bytes in [&b""[..], b"#!/bin/sh\n", &whole[..63], &whole[..64], &broken] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            assert_eq!(loader(&file), None);
        }
    }
}
