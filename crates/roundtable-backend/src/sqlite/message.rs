//! Messages, found by their words: the full-text index says where the words are, and the rows say who
//! may read them. Both are read as of one moment.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::projection::COMPLETION;
use roundtable_core::search::{WordQuery, snippet};
use roundtable_core::stage::Name;
use roundtable_ports::{
    FoundMessage, LogError, MessageFilter, MessageKey, MessageSearch, MessageText, MessageVector,
    NewVector, SearchViewer, Space, VectorsError,
};
use rusqlite::{Connection, OptionalExtension as _, ToSql, named_params, params};

use super::append::nanoseconds;
use super::lineage::parsed;
use super::vectors::{self, lost};
use super::writer::unavailable;
use super::{SqliteStore, limit};

/// What a filter lets through. A message counts when its take does, as in the view `Messages`.
const FILTER: &str = "(:any_tenant OR session.tenant IS :tenant) \
     AND CASE WHEN :kind IS NULL THEN session.kind <> :unlisted ELSE session.kind = :kind END \
     AND (:session IS NULL OR session.id = :session) \
     AND (:archived OR NOT session.archived) \
     AND (:until IS NULL OR message.at <= :until) \
     AND CASE :viewer WHEN 'everything' THEN 1 \
       WHEN 'person' THEN NOT message.whisper \
         OR (message.turn IS NULL AND message.sender = :who AND :who <> '') \
       ELSE message.receivers IS NULL \
         OR EXISTS (SELECT 1 FROM json_each(message.receivers) WHERE value = :who) END \
     AND EXISTS (SELECT 1 FROM round WHERE round.session = message.session \
       AND round.number = message.cycle AND round.active \
       AND CASE WHEN message.turn IS NULL THEN round.said = message.number ELSE round.id = message.round END)";

#[async_trait]
impl MessageSearch for SqliteStore {
    async fn find_messages(
        &self,
        words: &WordQuery,
        filter: &MessageFilter,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<FoundMessage>, LogError> {
        let (words, filter) = (words.clone(), filter.clone());
        let find = move |connection: &Connection| {
            let hits = find(connection, &words, &filter, skip, limit)?;
            let read = |(id, score): (i64, f64)| {
                let found = read(connection, id, &words)?;
                Ok(FoundMessage { score, ..found })
            };
            hits.into_iter().map(read).collect()
        };
        self.readers.read(find).await
    }

    async fn read_messages(
        &self,
        keys: &[MessageKey],
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Result<Vec<FoundMessage>, LogError> {
        let (keys, words, filter) = (keys.to_vec(), words.clone(), filter.clone());
        let read_all = move |connection: &Connection| {
            let ids = keys.iter().map(|key| find_key(connection, key, &filter));
            let ids: Vec<Option<i64>> = ids.collect::<Result<_, _>>()?;
            ids.into_iter().flatten().map(|id| read(connection, id, &words)).collect()
        };
        self.readers.read(read_all).await
    }

    async fn list_unindexed(
        &self,
        space: &Space,
        sessions: &[SessionId],
        limit: usize,
    ) -> Result<Vec<MessageText>, LogError> {
        let (space, sessions) = (space.to_string(), sessions.to_vec());
        let list = move |connection: &Connection| {
            let mut texts = Vec::new();
            for session in &sessions {
                if texts.len() >= limit {
                    break;
                }
                texts.extend(unindexed(connection, &space, session, limit - texts.len())?);
            }
            Ok(texts)
        };
        self.readers.read(list).await
    }

    async fn index_messages(
        &self,
        space: &Space,
        new: Vec<MessageVector>,
    ) -> Result<(), VectorsError> {
        let space = space.clone();
        let index = move |connection: &Connection| {
            for MessageVector { of, vector } in &new {
                if has_text(connection, of).map_err(lost)? {
                    put_vector(connection, &space, &of.key, vector.clone())?;
                }
            }
            Ok(())
        };
        // What is refused is no failure of the commit: it goes through as a value.
        let write = move |connection: &Connection| match index(connection) {
            Ok(()) => Ok(Ok(())),
            Err(VectorsError::Unavailable(what)) => Err(LogError::Unavailable(what)),
            Err(refused) => Ok(Err(refused)),
        };
        self.writer.write(write).await.map_err(lost)?
    }
}

/// The words as the index takes them. They are letters and digits in quotes: none of them is syntax.
fn matching(words: &WordQuery) -> String {
    let quoted = words.phrases().map(|phrase| format!("\"{}\"", phrase.join(" ")));
    quoted.collect::<Vec<_>>().join(if words.is_any() { " OR " } else { " AND " })
}

/// The rows of the messages with these words, and how well they fit.
fn find(
    connection: &Connection,
    words: &WordQuery,
    filter: &MessageFilter,
    skip: usize,
    most: usize,
) -> Result<Vec<(i64, f64)>, LogError> {
    // The order of the tables is fixed: the index is asked once, not once for every message.
    let sql = format!(
        "SELECT message.id, bm25(message_text) AS score FROM message_text \
         CROSS JOIN message ON message.id = message_text.rowid \
         CROSS JOIN session ON session.number = message.session \
         WHERE message_text MATCH :words AND {FILTER} \
         ORDER BY score, message.id DESC LIMIT :limit OFFSET :skip"
    );
    let (words, most, skip) = (matching(words), limit(most), limit(skip));
    let more: [(&str, &dyn ToSql); 3] = [(":words", &words), (":limit", &most), (":skip", &skip)];
    filtered(connection, &sql, filter, &more, |row| {
        let score: f64 = row.get(1)?;
        // The index calls what fits best the smallest number.
        Ok((row.get(0)?, -score))
    })
}

/// The row of a message, if the filter lets it through.
fn find_key(
    connection: &Connection,
    key: &MessageKey,
    filter: &MessageFilter,
) -> Result<Option<i64>, LogError> {
    let sql = format!(
        "SELECT message.id FROM session JOIN message ON message.session = session.number \
         WHERE session.id = :id AND message.number = :number AND {FILTER}"
    );
    let id = key.session.as_str();
    let more: [(&str, &dyn ToSql); 2] = [(":id", &id), (":number", &key.number)];
    Ok(filtered(connection, &sql, filter, &more, |row| row.get(0))?.into_iter().next())
}

/// Runs a query with a filter in it.
fn filtered<T>(
    connection: &Connection,
    sql: &str,
    filter: &MessageFilter,
    more: &[(&str, &dyn ToSql)],
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, LogError> {
    let (viewer, who) = match &filter.viewer {
        SearchViewer::Everything => ("everything", ""),
        SearchViewer::Person(name) => ("person", name.as_str()),
        SearchViewer::Agent(id) => ("agent", id.as_str()),
    };
    let tenant = filter.tenant.as_ref().and_then(Option::as_ref);
    let session = filter.session.as_ref().map(SessionId::as_str);
    let kind = filter.kind.as_ref().map(Name::as_str);
    let until = filter.until.map(nanoseconds);
    let (any_tenant, completion) = (filter.tenant.is_none(), COMPLETION);
    let unlisted = completion.as_str();
    let mut values = named_params! {
        ":any_tenant": any_tenant, ":tenant": tenant, ":kind": kind, ":session": session,
        ":unlisted": unlisted,
        ":archived": filter.archived, ":until": until, ":viewer": viewer, ":who": who,
    }
    .to_vec();
    values.extend_from_slice(more);
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let rows = statement.query_map(values.as_slice(), read).and_then(Iterator::collect);
    rows.map_err(|error| unavailable(&error))
}

/// A message as a row has it.
struct Stored {
    session: String,
    number: u64,
    kind: String,
    title: String,
    round: u32,
    sender: String,
    turn: Option<String>,
    at: i64,
    text: String,
    /// The session's number, and the row of the event that has the text.
    place: (i64, i64),
}

fn read(connection: &Connection, id: i64, words: &WordQuery) -> Result<FoundMessage, LogError> {
    let sql = "SELECT session.id, message.number, session.kind, session.topic, message.cycle, message.sender, \
               message.turn, message.at, message_content.text, message.session, message.body FROM message \
               JOIN session ON session.number = message.session \
               JOIN message_content ON message_content.id = message.id WHERE message.id = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let stored = statement.query_row([id], |row| {
        Ok(Stored {
            session: row.get(0)?,
            number: row.get(1)?,
            kind: row.get(2)?,
            title: row.get(3)?,
            round: row.get(4)?,
            sender: row.get(5)?,
            turn: row.get(6)?,
            at: row.get(7)?,
            text: row.get(8)?,
            place: (row.get(9)?, row.get(10)?),
        })
    });
    let stored = stored.map_err(|error| unavailable(&error))?;
    let damaged = |what: &str| LogError::Unavailable(format!("a message has no valid {what}"));
    let at = Timestamp::from_nanosecond(i128::from(stored.at)).map_err(|_| damaged("time"))?;
    Ok(FoundMessage {
        seq: seq_of(connection, &stored)?,
        key: MessageKey { session: parsed(&stored.session)?, number: stored.number },
        kind: stored.kind.try_into().map_err(|_| damaged("kind of session"))?,
        title: stored.title,
        round: stored.round,
        sender: stored.sender,
        by_agent: stored.turn.is_some(),
        at,
        snippet: snippet(&stored.text, words),
        score: 0.0,
    })
}

/// The event that made it a message: the end of its turn, or the opening of its round. It comes soon
/// after the event that has the text.
fn seq_of(connection: &Connection, stored: &Stored) -> Result<Seq, LogError> {
    let sql = "SELECT id & 0xffffffff FROM event WHERE id BETWEEN max(?1 << 32, ?2) AND (?1 << 32) | 0xffffffff \
               AND CASE WHEN ?3 IS NOT NULL THEN kind = 'turn_ended' AND turn = ?3 \
               ELSE kind = 'round_opened' AND round = (\
               SELECT round.id FROM round WHERE round.session = ?1 AND round.number = ?4 AND round.active) END \
               ORDER BY id LIMIT 1";
    let (session, body) = stored.place;
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement
        .query_row(params![session, body, stored.turn, stored.round], |row| row.get(0).map(Seq))
        .optional();
    found
        .map_err(|error| unavailable(&error))?
        .ok_or_else(|| LogError::Unavailable(format!("message {} has no event", stored.number)))
}

/// Messages beyond the last one that has a vector.
fn unindexed(
    connection: &Connection,
    space: &str,
    session: &SessionId,
    most: usize,
) -> Result<Vec<MessageText>, LogError> {
    let scope =
        MessageKey::scope(session).map_err(|error| LogError::Unavailable(error.to_string()))?;
    let sql = "SELECT message.number, message_content.text FROM session \
               JOIN message ON message.session = session.number \
               JOIN message_content ON message_content.id = message.id \
               WHERE session.id = ?1 AND message.number > coalesce((SELECT CAST(max(key) AS INTEGER) FROM vector \
               WHERE scope = (SELECT number FROM vector_scope WHERE scope = ?2 AND space = ?3)), 0) \
               ORDER BY message.number LIMIT ?4";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let values = params![session.as_str(), scope.as_str(), space, limit(most)];
    let rows = statement
        .query_map(values, |row| {
            let key = MessageKey { session: session.clone(), number: row.get(0)? };
            Ok(MessageText { key, text: row.get(1)? })
        })
        .and_then(Iterator::collect);
    rows.map_err(|error| unavailable(&error))
}

/// Whether the message says this now.
fn has_text(connection: &Connection, of: &MessageText) -> Result<bool, LogError> {
    let sql = "SELECT 1 FROM session JOIN message ON message.session = session.number \
               JOIN message_content ON message_content.id = message.id \
               WHERE session.id = ?1 AND message.number = ?2 AND message_content.text = ?3";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let values = params![of.key.session.as_str(), of.key.number, of.text];
    statement.exists(values).map_err(|error| unavailable(&error))
}

fn put_vector(
    connection: &Connection,
    space: &Space,
    key: &MessageKey,
    vector: Vec<f32>,
) -> Result<(), VectorsError> {
    let new = NewVector {
        key: key.vector_key(),
        vector,
        payload: key.number.into(),
        session: Some(key.session.clone()),
    };
    new.check(space)?;
    let scope = MessageKey::scope(&key.session)?;
    vectors::put(connection, &space.to_string(), scope.as_str(), &[new.into()]).map_err(lost)
}

#[cfg(test)]
mod tests {
    use roundtable_core::search::stem;

    use super::*;

    /// The words of the project's own pages.
    const TEXTS: [&str; 4] = [
        include_str!("../../../../README.md"),
        include_str!("../../../../ARCHITECTURE.md"),
        include_str!("../../../../GLOSSARY.md"),
        include_str!("../../../../docs/guides/configuration.md"),
    ];

    #[test]
    fn the_index_stems_words_as_the_core_does() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "CREATE VIRTUAL TABLE word USING fts5 (text, tokenize = 'porter unicode61');
                      CREATE VIRTUAL TABLE term USING fts5vocab (word, row);";
        connection.execute_batch(tables).unwrap();
        let words = TEXTS.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
        let words: std::collections::BTreeSet<String> = words.map(str::to_lowercase).collect();
        assert!(words.len() > 1_000);
        for word in words.iter().filter(|word| !word.is_empty()) {
            connection.execute("DELETE FROM word", []).unwrap();
            connection.execute("INSERT INTO word (text) VALUES (?1)", [word]).unwrap();
            let term: String =
                connection.query_row("SELECT term FROM term", [], |row| row.get(0)).unwrap();
            assert_eq!(stem(word), term, "{word}");
        }
    }

    #[test]
    fn words_reach_the_index_in_quotes() {
        let query = WordQuery::parse("a* \"b c\" OR").unwrap();
        assert_eq!(matching(&query), "\"a\" AND \"b c\" AND \"or\"");
        assert_eq!(matching(&query.any()), "\"a\" OR \"b c\" OR \"or\"");
    }
}
