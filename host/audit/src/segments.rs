//! The names of a journal's files.

use std::io;
use std::path::Path;

use crate::JournalError;

/// The segment that begins with record 0. A segment is named after its first record.
pub(crate) const FIRST_SEGMENT: &str = "00000000000000000000.jsonl";

/// Refuses a journal that goes on in segments which this release does not follow: to append to the first of them,
/// or to verify only that one, would be wrong without anybody noticing.
pub(crate) fn only_first(directory: &Path) -> Result<(), JournalError> {
    let failed = |source: io::Error| {
        let path = directory.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            JournalError::NoJournal { path }
        } else {
            JournalError::OpenDirectory { path, source }
        }
    };
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = Path::new(&name);
        if name.extension().is_some_and(|extension| extension == "jsonl") && name != Path::new(FIRST_SEGMENT) {
            return Err(JournalError::MoreSegments {
                path: directory.to_owned(),
                segment: name.to_string_lossy().into_owned(),
            });
        }
    }
    Ok(())
}
