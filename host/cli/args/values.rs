//! How values are written on the command line.

use std::time::Duration;

use portcullis_audit::Durability;

pub(super) fn durability(text: &str) -> Result<Durability, String> {
    match text {
        "interval" => Ok(Durability::Interval),
        "record" => Ok(Durability::Record),
        _ => Err("write `interval` or `record`".to_owned()),
    }
}

pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| "write a span of time such as 500ms, 30s or 5m".to_owned())
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let bytes = text.parse::<bytesize::ByteSize>().map(|size| size.as_u64());
    bytes.map_err(|_| "write a number of bytes such as 4096, 64KiB or 1MB".to_owned())
}
