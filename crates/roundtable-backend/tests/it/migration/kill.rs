//! Ends this process inside the store's own migration, at a statement that the test chooses.
#![expect(unsafe_code, reason = "SQLite reports its statements only to callbacks in C")]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use roundtable_backend::SqliteStore;
use rusqlite::auto_extension::register_auto_extension;
use rusqlite::ffi;

/// How many statements may still begin.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// SQLite calls it before each statement of every connection of this process.
unsafe extern "C" fn on_statement(
    _: c_uint,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
) -> c_int {
    if LEFT.fetch_sub(1, Ordering::SeqCst) == 0 {
        // No destructor runs and nothing is flushed: what a kill -9 leaves behind.
        std::process::abort();
    }
    0
}

/// SQLite calls it for every connection that is opened.
unsafe extern "C" fn on_open(
    connection: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: SQLite hands over a connection that is open, and the callback keeps no data.
    unsafe {
        let kind = ffi::SQLITE_TRACE_STMT as c_uint;
        ffi::sqlite3_trace_v2(connection, kind, Some(on_statement), std::ptr::null_mut())
    }
}

/// Opens a store, which migrates its file, and dies when so many statements have begun. Returns
/// only if the store was opened with fewer.
pub fn open_and_die(directory: &Path, statements: usize) {
    LEFT.store(statements, Ordering::SeqCst);
    // SAFETY: the routine opens and closes no connection, and changes no list of extensions.
    unsafe { register_auto_extension(on_open) }.unwrap();
    drop(SqliteStore::open(directory).unwrap());
}
