//! Replaces a file as a whole, through a fresh temporary file beside it and never through a link.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes the whole file or nothing of it. A file that exists keeps its permissions; a new one is
/// its owner's alone. A link in its place is replaced, and what it points at is left alone.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = file.parent().filter(|path| !path.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    // Made exclusively, with a random name and for its owner alone: nobody can plant one.
    let mut fresh = tempfile::Builder::new().prefix(".roundtable-").tempfile_in(directory)?;
    fresh.write_all(bytes)?;
    if let Some(permissions) = permissions(file) {
        fresh.as_file().set_permissions(permissions)?;
    }
    fresh.as_file().sync_all()?;
    fresh.persist(file).map_err(|error| error.error)?;
    // The file has its name once the directory is on the disk.
    std::fs::File::open(directory)?.sync_all()
}

fn permissions(file: &Path) -> Option<Permissions> {
    let found = std::fs::symlink_metadata(file).ok()?;
    found.is_file().then(|| found.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(file: &Path) -> u32 {
        std::fs::symlink_metadata(file).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_file_is_its_owners_alone_and_an_old_one_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("it.json");
        replace(&file, b"new").unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), mode(&file)), (b"new".to_vec(), 0o600));
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        replace(&file, b"newer").unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), mode(&file)), (b"newer".to_vec(), 0o644));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_through_links_whoever_planted_them() {
        let directory = tempfile::tempdir().unwrap();
        let (file, victim) = (directory.path().join("it.json"), directory.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        for planted in ["it.json", "it.json.new", "it.new"] {
            symlink(&victim, directory.path().join(planted)).unwrap();
        }
        replace(&file, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }
}
