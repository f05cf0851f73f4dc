//! Vectors in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use roundtable_core::id::SessionId;
use roundtable_local::search::{Matrix, Query, VectorError};
use roundtable_ports::{
    FoundVector, NewVector, Space, VectorScope, VectorSearch, Vectors, VectorsError,
};
use serde_json::Value;

use super::MemoryStore;

/// The vectors of one space in one scope.
struct Pile {
    matrix: Matrix<String>,
    /// What each stands for, and whose words it was made of.
    about: BTreeMap<String, (Value, Option<SessionId>)>,
}

/// All vectors of a disk.
#[derive(Default)]
pub(super) struct Piles(Mutex<BTreeMap<(VectorScope, Space), Pile>>);

impl Piles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(VectorScope, Space), Pile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The greatest key in a scope.
    pub fn last_key(&self, space: &Space, scope: &VectorScope) -> Option<String> {
        let piles = self.lock();
        let pile = piles.get(&(scope.clone(), space.clone()))?;
        pile.about.last_key_value().map(|(key, _)| key.clone())
    }

    /// Puts a vector into a scope.
    pub fn put(
        &self,
        space: &Space,
        scope: &VectorScope,
        new: NewVector,
    ) -> Result<(), VectorsError> {
        new.check(space)?;
        let mut piles = self.lock();
        let name = (scope.clone(), space.clone());
        piles.entry(name).or_insert_with(|| Pile::new(space)).put(new)
    }

    /// Erases what was made of a session's words.
    pub fn erase_of(&self, session: &SessionId) -> usize {
        let mut count = 0;
        for pile in self.lock().values_mut() {
            let of_session = |(_, (_, of)): &(&String, &(Value, Option<SessionId>))| {
                of.as_ref() == Some(session)
            };
            let keys: Vec<String> =
                pile.about.iter().filter(of_session).map(|(key, _)| key.clone()).collect();
            count += keys.iter().filter(|key| pile.remove(key)).count();
        }
        count
    }
}

impl Pile {
    fn new(space: &Space) -> Self {
        Self { matrix: Matrix::new(space.dimension()), about: BTreeMap::new() }
    }

    fn put(&mut self, new: NewVector) -> Result<(), VectorsError> {
        let NewVector { key, vector, payload, session } = new;
        self.matrix.put(key.clone(), &vector).map_err(refused)?;
        self.about.insert(key, (payload, session));
        Ok(())
    }

    fn remove(&mut self, key: &String) -> bool {
        self.about.remove(key);
        self.matrix.remove(key)
    }
}

fn refused(error: VectorError) -> VectorsError {
    VectorsError::Refused(error.to_string())
}

#[async_trait]
impl Vectors for MemoryStore {
    async fn put_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        vectors: Vec<NewVector>,
    ) -> Result<(), VectorsError> {
        vectors.iter().try_for_each(|vector| vector.check(space))?;
        let mut piles = self.disk().vectors.lock();
        let name = (scope.clone(), space.clone());
        let pile = piles.entry(name).or_insert_with(|| Pile::new(space));
        vectors.into_iter().try_for_each(|new| pile.put(new))
    }

    async fn remove_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        keys: &[String],
    ) -> Result<usize, VectorsError> {
        let mut piles = self.disk().vectors.lock();
        let Some(pile) = piles.get_mut(&(scope.clone(), space.clone())) else { return Ok(0) };
        Ok(keys.iter().filter(|key| pile.remove(key)).count())
    }

    async fn erase_scope(&self, scope: &VectorScope) -> Result<usize, VectorsError> {
        let mut piles = self.disk().vectors.lock();
        let (gone, left) =
            std::mem::take(&mut *piles).into_iter().partition(|(name, _)| name.0 == *scope);
        *piles = left;
        let gone: BTreeMap<_, Pile> = gone;
        Ok(gone.values().map(|pile| pile.matrix.len()).sum())
    }

    async fn erase_vectors_of(&self, session: &SessionId) -> Result<usize, VectorsError> {
        Ok(self.disk().vectors.erase_of(session))
    }

    async fn search_vectors(
        &self,
        search: &VectorSearch,
    ) -> Result<Vec<FoundVector>, VectorsError> {
        search.check()?;
        let query = Query::new(&search.query).map_err(refused)?;
        let scopes: BTreeSet<&VectorScope> = search.scopes.iter().collect();
        let piles = self.disk().vectors.lock();
        let mut found = Vec::new();
        for scope in scopes {
            let Some(pile) = piles.get(&(scope.clone(), search.space.clone())) else { continue };
            for hit in pile.matrix.nearest(&query, search.limit).map_err(refused)? {
                let payload = pile.about.get(hit.key).map(|(payload, _)| payload.clone());
                found.push(FoundVector {
                    scope: scope.clone(),
                    key: hit.key.clone(),
                    score: hit.score,
                    payload: payload.unwrap_or_default(),
                });
            }
        }
        found.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (&a.scope, &a.key).cmp(&(&b.scope, &b.key)))
        });
        found.truncate(search.limit);
        Ok(found)
    }
}
