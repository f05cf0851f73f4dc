//! F17: a disk that fails to sync. The calls are those of the binary itself, through a library that is
//! loaded before the C library and lets one of them fail.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::binary::Home;

/// Notes every call in a file, and lets the one with a given number fail.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;

/* SQLite does not look at what the sync of a directory returns. */
static int fails(int file) {
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return 0;
    int call = ++calls;
    int wanted = atoi(getenv("FAILING_SYNC"));
    int notes = open(getenv("SYNC_NOTES"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)!write(notes, call == wanted ? "x" : ".", 1);
    close(notes);
    return call == wanted;
}

static int forward(const char *name, int file) {
    if (fails(file)) { errno = EIO; return -1; }
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return forward("fsync", file); }
int fdatasync(int file) { return forward("fdatasync", file); }
"#;

/// The library, and where its notes go.
struct Shim(TempDir);

impl Shim {
    /// The C compiler that SQLite is built with makes it.
    fn build() -> Self {
        let shim = Self(tempfile::tempdir().unwrap());
        let source = shim.path("shim.c");
        std::fs::write(&source, SHIM).unwrap();
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-o"]).arg(shim.path("shim.so")).arg(source).arg("-ldl");
        assert!(compile.status().expect("a C compiler").success());
        shim
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the binary with a sync that fails, and says which calls there were.
    fn run(&self, home: &Home, failing: u32, arguments: &[&str]) -> (Output, String) {
        let notes = self.path("notes");
        drop(std::fs::remove_file(&notes));
        let mut command = home.command(&[("FAILING_SYNC", &failing.to_string())], arguments);
        command.env("LD_PRELOAD", self.path("shim.so")).env("SYNC_NOTES", &notes);
        (command.output().unwrap(), read(&notes))
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// SIGABRT.
const ABORTED: i32 = 6;

const ASK: [&str; 4] = ["ask", "What now?", "--model", "scripted"];

#[test]
fn f17_a_failed_sync_stops_the_process_and_nothing_is_lost_after_a_restart() {
    let shim = Shim::build();
    let (home, _) = Home::with_demo();
    let (sound, calls) = shim.run(&home, 0, &ASK);
    assert!(sound.status.success(), "{sound:?}");
    let calls = u32::try_from(calls.len()).unwrap();
    assert!(calls >= 2, "a question and its answer are commits of their own");
    let (mut aborted, mut sessions) = (0_u32, 2);
    for failing in 1..=calls {
        let (ran, calls) = shim.run(&home, failing, &ASK);
        let failed = calls.find('x');
        assert_eq!(failed, Some(calls.len() - 1), "nobody syncs again after a failure: {calls}");
        // What syncs after the answer copies the write-ahead log, which stays if that fails.
        let is_answered = ran.status.success();
        let is_aborted = ran.status.signal() == Some(ABORTED);
        assert!(is_aborted || is_answered && aborted >= 2, "sync {failing}: {ran:?}");
        aborted += u32::from(is_aborted);

        let verified = home.run(&["verify", "--json"]).ok();
        assert!(verified.starts_with(r#"{"damages":[]"#), "sync {failing}: {verified}");
        let after = home.run(&ASK);
        assert_eq!(after.code, Some(0), "sync {failing}: {after:?}");
        let known = home.run(&["sessions"]).ok().matches("ses_").count();
        let kept = sessions + usize::from(is_answered);
        assert!(known > kept, "sync {failing}: {known} sessions after {kept}");
        sessions = known;
    }
}
