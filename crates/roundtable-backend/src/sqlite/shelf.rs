//! What a process holds of the vectors, to search them quickly: a matrix per space and scope, read
//! when it is first searched and brought up to date by the next search after a change, whoever made
//! it. It is never written to but from the file, so it cannot differ from it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use roundtable_local::search::{Matrix, VectorError};
use roundtable_ports::LogError;
use rusqlite::{Connection, params};

use super::vectors::Mark;
use super::writer::unavailable;

/// How much a process holds. Beyond that, what was not searched for the longest time is let go.
const MOST_BYTES: usize = 1 << 30;

/// A space and a scope.
type Name = (String, String);

/// The matrix of a space and scope, and how far it is.
pub(super) struct Held {
    number: i64,
    version: i64,
    matrix: Matrix<Arc<str>>,
}

/// Why a matrix cannot be searched as of a moment.
pub(super) enum Stale {
    /// It is further already.
    Overtaken,
    /// The rows cannot be read.
    Log(LogError),
}

impl Held {
    fn new(dimension: usize) -> Self {
        Self { number: 0, version: 0, matrix: Matrix::new(dimension) }
    }

    fn is_at(&self, mark: Mark) -> bool {
        (self.number, self.version) == (mark.number, mark.version)
    }

    fn is_past(&self, mark: Mark) -> bool {
        (self.number, self.version) > (mark.number, mark.version)
    }
}

/// A place on the shelf.
struct Slot {
    held: Arc<RwLock<Held>>,
    bytes: usize,
    /// When it was last used, as a count of searches.
    used: u64,
}

/// What is held.
pub(super) struct Shelf {
    slots: Mutex<HashMap<Name, Slot>>,
    most: usize,
}

impl Shelf {
    pub fn new() -> Self {
        Self { slots: Mutex::default(), most: MOST_BYTES }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Name, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of a scope that is gone.
    pub fn forget(&self, scope: &str) {
        self.slots().retain(|(_, held), _| held != scope);
    }

    /// Lets go of everything.
    pub fn clear(&self) {
        self.slots().clear();
    }

    /// Searches a matrix as of a mark. `read` brings it there, if it is not so far.
    pub fn nearest<T>(
        &self,
        name: &Name,
        mark: Mark,
        dimension: usize,
        read: impl Fn(&mut Held) -> Result<(), LogError>,
        search: impl FnOnce(&Matrix<Arc<str>>) -> Result<T, VectorError>,
    ) -> Result<T, Stale> {
        let held = self.take(name, dimension);
        loop {
            {
                let held = held.read().unwrap_or_else(PoisonError::into_inner);
                if held.is_at(mark) {
                    let found = search(&held.matrix);
                    let bytes = held.matrix.bytes();
                    drop(held);
                    self.note(name, bytes);
                    let refused = |error: VectorError| LogError::Unavailable(error.to_string());
                    return found.map_err(|error| Stale::Log(refused(error)));
                }
                if held.is_past(mark) {
                    return Err(Stale::Overtaken);
                }
            }
            let mut held = held.write().unwrap_or_else(PoisonError::into_inner);
            if !held.is_at(mark) && !held.is_past(mark) {
                read(&mut held).map_err(|error| {
                    // What is half read is read again.
                    *held = Held::new(dimension);
                    Stale::Log(error)
                })?;
            }
        }
    }

    fn take(&self, name: &Name, dimension: usize) -> Arc<RwLock<Held>> {
        let mut slots = self.slots();
        let slot = slots.entry(name.clone()).or_insert_with(|| Slot {
            held: Arc::new(RwLock::new(Held::new(dimension))),
            bytes: 0,
            used: 0,
        });
        slot.held.clone()
    }

    /// Notes a search, and makes room if there is too much.
    fn note(&self, name: &Name, bytes: usize) {
        let mut slots = self.slots();
        let now = slots.values().map(|slot| slot.used).max().unwrap_or(0) + 1;
        if let Some(slot) = slots.get_mut(name) {
            (slot.bytes, slot.used) = (bytes, now);
        }
        while slots.len() > 1 && slots.values().map(|slot| slot.bytes).sum::<usize>() > self.most {
            let oldest = slots.iter().min_by_key(|(_, slot)| slot.used);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { return };
            slots.remove(&oldest);
        }
    }
}

/// Brings a matrix to a mark: what was removed goes, what came later is read.
pub(super) fn catch_up(
    connection: &Connection,
    held: &mut Held,
    mark: Mark,
) -> Result<(), LogError> {
    if held.number != mark.number {
        *held = Held { number: mark.number, ..Held::new(held.matrix.width()) };
    }
    if held.version > 0 && mark.removed > held.version {
        let left = keys(connection, mark.number)?;
        let gone: Vec<Arc<str>> =
            held.matrix.keys().filter(|key| !left.contains(*key)).cloned().collect();
        gone.iter().for_each(|key| {
            held.matrix.remove(key);
        });
    }
    read_later(connection, held)?;
    held.version = mark.version;
    Ok(())
}

fn keys(connection: &Connection, number: i64) -> Result<BTreeSet<Arc<str>>, LogError> {
    let sql = "SELECT key FROM vector WHERE scope = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let keys = statement.query_map([number], |row| row.get(0)).and_then(Iterator::collect);
    keys.map_err(|error| unavailable(&error))
}

fn read_later(connection: &Connection, held: &mut Held) -> Result<(), LogError> {
    let sql = "SELECT key, numbers FROM vector WHERE scope = ?1 AND version > ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let rows = statement.query(params![held.number, held.version]);
    let mut rows = rows.map_err(|error| unavailable(&error))?;
    let mut vector = Vec::new();
    while let Some(row) = rows.next().map_err(|error| unavailable(&error))? {
        let key: Arc<str> = row.get(0).map_err(|error| unavailable(&error))?;
        let damaged = || {
            let what = format!("the vector \"{key}\" is damaged; remove it, or embed it again");
            LogError::Unavailable(what)
        };
        let numbers = row.get_ref(1).ok().and_then(|value| value.as_blob().ok());
        let numbers = numbers.ok_or_else(damaged)?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        vector.clear();
        vector.extend(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        if !rest.is_empty() || held.matrix.put(key.clone(), &vector).is_err() {
            return Err(damaged());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_searched_for_the_longest_time_is_let_go() {
        let shelf = Shelf { most: 3_000, ..Shelf::new() };
        let mark = Mark { number: 1, version: 1, removed: 0 };
        let search = |scope: &str| {
            let name = ("space".to_owned(), scope.to_owned());
            let mut reads = 0;
            let counted = std::cell::RefCell::new(&mut reads);
            let read = |held: &mut Held| {
                **counted.borrow_mut() += 1;
                *held = Held { number: 1, version: 1, matrix: Matrix::new(64) };
                let refused = |_| LogError::Unavailable("refused".to_owned());
                (0..3).try_for_each(|key: u32| {
                    held.matrix.put(key.to_string().into(), &[1.0; 64]).map_err(refused)
                })
            };
            assert!(matches!(shelf.nearest(&name, mark, 64, read, |found| Ok(found.len())), Ok(3)));
            reads
        };
        assert_eq!([search("a"), search("b"), search("a")], [1, 1, 0]);
        assert_eq!(search("c"), 1, "there is room for two");
        assert_eq!([search("a"), search("b")], [0, 1], "b was used least recently");
    }
}
