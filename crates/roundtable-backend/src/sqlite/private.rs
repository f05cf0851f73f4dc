//! Conversations are nobody else's business: the data directory is its owner's alone (0700), and so
//! is every file in it (0600), whoever made them and whatever the umask is.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Permissions in a data directory that were, or are, too open. Only Unix has such permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionNotice {
    /// Other users could use it; now they cannot.
    Tightened {
        /// The file or directory.
        path: PathBuf,
        /// Its permissions before.
        before: u32,
        /// Its permissions now.
        now: u32,
    },
    /// Other users can use it, and that was left as it is.
    Exposed {
        /// The file or directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Why it was left.
        why: &'static str,
    },
}

impl std::fmt::Display for PermissionNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tightened { path, before, now } => write!(
                f,
                "{} was accessible to other users; its permissions were changed from {before:04o} to {now:04o}",
                path.display()
            ),
            Self::Exposed { path, mode, why } => write!(
                f,
                "{} is accessible to other users (permissions {mode:04o}) and was not changed \
                 because {why}; restrict it with chmod, or choose another data directory",
                path.display()
            ),
        }
    }
}

/// Makes a directory that is its owner's alone; one that exists is left as it is.
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Makes a file that is its owner's alone; one that exists is not opened. Closing a database that is
/// open elsewhere in this process would let go of its locks.
pub(super) fn make_file(path: &Path) -> io::Result<()> {
    match owners_alone(OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Has a file that is made belong to its owner alone.
pub(super) fn owners_alone(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Closes the directory and what is ours in it to other users. Weights of models are left alone:
/// they are public.
#[cfg(unix)]
pub(super) fn tighten(directory: &Path) -> Vec<PermissionNotice> {
    unix::tighten(directory)
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub(super) fn tighten(_directory: &Path) -> Vec<PermissionNotice> {
    Vec::new()
}

#[cfg(unix)]
mod unix {
    use std::fs::{Metadata, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::path::Path;

    use super::PermissionNotice;

    /// The permissions of everyone but the owner.
    const OTHERS: u32 = 0o077;

    /// The permission of others to put files, or links, into a directory.
    const OTHERS_WRITE: u32 = 0o022;

    /// What this program keeps in a data directory.
    const OURS: [&str; 6] = [
        "roundtable.db",
        "roundtable.db-wal",
        "roundtable.db-shm",
        "roundtable.db-journal",
        "mcp-pins.json",
        "nodes",
    ];

    pub fn tighten(directory: &Path) -> Vec<PermissionNotice> {
        let mut notices = Vec::new();
        // The directory first: then nobody can put a link in the place of a file.
        check(directory, false, &mut notices);
        let is_safe = is_closed(directory);
        for name in OURS {
            check(&directory.join(name), !is_safe, &mut notices);
        }
        let nodes = directory.join("nodes");
        let is_safe = is_safe && is_closed(&nodes);
        for lock in std::fs::read_dir(nodes).into_iter().flatten().flatten() {
            check(&lock.path(), !is_safe, &mut notices);
        }
        notices
    }

    /// Whether only the owner can put something into a directory.
    fn is_closed(directory: &Path) -> bool {
        std::fs::metadata(directory).is_ok_and(|found| mode(&found) & OTHERS_WRITE == 0)
    }

    fn mode(found: &Metadata) -> u32 {
        found.permissions().mode() & 0o7777
    }

    fn check(path: &Path, could_be_swapped: bool, notices: &mut Vec<PermissionNotice>) {
        // What is not there, or goes away meanwhile, is closed to everyone.
        let Ok(link) = std::fs::symlink_metadata(path) else { return };
        let Ok(found) = std::fs::metadata(path) else { return };
        let before = mode(&found);
        if before & OTHERS == 0 {
            return;
        }
        let path = path.to_owned();
        let exposed = |why| PermissionNotice::Exposed { path: path.clone(), mode: before, why };
        if link.is_symlink() {
            return notices.push(exposed("it is behind a symbolic link"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return notices.push(exposed("it belongs to another user"));
        }
        if could_be_swapped {
            return notices.push(exposed("other users can write its directory"));
        }
        let now = before & !OTHERS;
        match std::fs::set_permissions(&path, Permissions::from_mode(now)) {
            Ok(()) => notices.push(PermissionNotice::Tightened { path, before, now }),
            Err(_) => notices.push(exposed("its permissions cannot be changed")),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn open_up(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_ours_is_tightened_and_each_change_is_told() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("data");
        std::fs::create_dir_all(directory.join("nodes")).unwrap();
        let files = ["roundtable.db", "mcp-pins.json", "nodes/n.lock", "notes.txt"];
        for name in files {
            std::fs::write(directory.join(name), "").unwrap();
            open_up(&directory.join(name), 0o664);
        }
        open_up(&directory, 0o775);
        open_up(&directory.join("nodes"), 0o755);
        let told = |path: PathBuf, before, now| PermissionNotice::Tightened { path, before, now };
        let expected = [
            told(directory.clone(), 0o775, 0o700),
            told(directory.join("roundtable.db"), 0o664, 0o600),
            told(directory.join("mcp-pins.json"), 0o664, 0o600),
            told(directory.join("nodes"), 0o755, 0o700),
            told(directory.join("nodes/n.lock"), 0o664, 0o600),
        ];
        assert_eq!(tighten(&directory), expected);
        assert_eq!(tighten(&directory), []);
        assert_eq!(mode(&directory.join("notes.txt")), 0o664, "not a file of ours");
    }

    #[test]
    fn nothing_behind_a_link_is_changed() {
        let root = tempfile::tempdir().unwrap();
        let (directory, victim) = (root.path().join("data"), root.path().join("victim"));
        make_directory(&directory).unwrap();
        std::fs::write(&victim, "").unwrap();
        open_up(&victim, 0o644);
        let link = directory.join("mcp-pins.json");
        symlink(&victim, &link).unwrap();
        let why = "it is behind a symbolic link";
        let notice = PermissionNotice::Exposed { path: link, mode: 0o644, why };
        assert_eq!((tighten(&directory), mode(&victim)), (vec![notice], 0o644));
    }

    #[test]
    fn files_are_left_where_other_users_could_swap_them() {
        let root = tempfile::tempdir().unwrap();
        let (real, directory) = (root.path().join("real"), root.path().join("data"));
        make_directory(&real).unwrap();
        symlink(&real, &directory).unwrap();
        std::fs::write(real.join("roundtable.db"), "").unwrap();
        open_up(&real.join("roundtable.db"), 0o644);
        open_up(&real, 0o777);
        let exposed = |path: PathBuf, mode, why| PermissionNotice::Exposed { path, mode, why };
        let expected = [
            exposed(directory.clone(), 0o777, "it is behind a symbolic link"),
            exposed(directory.join("roundtable.db"), 0o644, "other users can write its directory"),
        ];
        assert_eq!(tighten(&directory), expected);
    }
}
