//! Files that go with a message.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use roundtable::core::message::Attachment;

/// How many bytes of a file are read. A message takes less of an image, and far less of a text.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Reads a file. A device or a directory is not one, and a file that is too large is not read whole.
pub(super) fn read(path: &Path, name: &str) -> anyhow::Result<Attachment> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    if !is_file {
        bail!("{shown} is not a file");
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{shown} is larger than {LARGEST} bytes");
    }
    Ok(Attachment::from_bytes(name, &bytes)?)
}
