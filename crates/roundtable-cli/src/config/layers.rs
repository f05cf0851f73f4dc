//! The values of all layers in one table, and where each comes from: file < environment < flags,
//! and what nobody said is filled in at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::mistake::Mistake;
use super::origin::{Key, Origin};

/// All values, and where each comes from. It holds keys, so it cannot be printed.
#[derive(Default)]
pub(crate) struct Layers {
    table: Table,
    origins: BTreeMap<Key, Origin>,
}

impl Layers {
    /// What a file says. A mistake never repeats a line of the file: there may be a key in it.
    pub fn of_file(path: PathBuf, text: &str) -> Result<Self, Mistake> {
        let path = Arc::new(path);
        let line = |place: usize| 1 + text.bytes().take(place).filter(|b| *b == b'\n').count();
        let wrong = |error: &toml::de::Error| {
            let origin =
                Origin::File(path.clone(), line(error.span().map_or(0, |span| span.start)));
            let what = format!("invalid TOML: {}", error.message().lines().next().unwrap_or(""));
            Mistake { origin, key: Key::default(), what }
        };
        let spanned = DeTable::parse(text).map_err(|error| wrong(&error))?;
        let table = toml::from_str(text).map_err(|error| wrong(&error))?;
        let mut lines = Vec::new();
        note_lines(&Key::default(), spanned.get_ref(), &mut lines);
        let origin = |(key, place)| (key, Origin::File(path.clone(), line(place)));
        Ok(Self { table, origins: lines.into_iter().map(origin).collect() })
    }

    /// All values.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// A value.
    pub fn find(&self, key: &Key) -> Option<&Value> {
        let (first, rest) = key.0.split_first()?;
        rest.iter().try_fold(self.table.get(first)?, |value, part| match value {
            Value::Table(table) => table.get(part),
            Value::Array(values) => values.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// A text.
    pub fn text(&self, key: &Key) -> Option<&str> {
        self.find(key)?.as_str()
    }

    /// What a table or a list holds.
    pub fn parts(&self, key: &Key) -> Vec<String> {
        match self.find(key) {
            Some(Value::Table(table)) => table.keys().cloned().collect(),
            Some(Value::Array(values)) => {
                (0..values.len()).map(|index| index.to_string()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Sets a value, whatever was there.
    pub fn say(&mut self, key: Key, value: impl Into<Value>, origin: Origin) {
        let Some((last, path)) = key.0.split_last() else { return };
        let table = match path.split_first() {
            None => Some(&mut self.table),
            Some((first, rest)) => inside(self.table.entry(first).or_insert_with(empty), rest),
        };
        if let Some(table) = table {
            table.insert(last.clone(), value.into());
            self.origins.insert(key, origin);
        }
    }

    /// Sets a value that nobody said.
    pub fn fill(&mut self, key: Key, value: impl Into<Value>, origin: Origin) {
        if self.find(&key).is_none() {
            self.say(key, value, origin);
        }
    }

    /// Where a value comes from, or what it is in.
    pub fn origin(&self, key: &Key) -> Origin {
        let mut parts = key.0.as_slice();
        loop {
            if let Some(origin) = self.origins.get(&Key(parts.to_vec())) {
                return origin.clone();
            }
            match parts.split_last() {
                Some((_, rest)) => parts = rest,
                None => return Origin::usual(),
            }
        }
    }

    /// Every value that is no table, in order.
    pub fn leaves(&self) -> Vec<(Key, &Value)> {
        let mut leaves = Vec::new();
        for (name, value) in &self.table {
            add_leaves(Key::default().join(name), value, &mut leaves);
        }
        leaves
    }
}

fn empty() -> Value {
    Value::Table(Table::new())
}

/// The table at a path; nothing where the file says something else, which it is told when it is
/// checked.
fn inside<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Table> {
    match (value, path.split_first()) {
        (Value::Table(table), None) => Some(table),
        (Value::Table(table), Some((first, rest))) => {
            inside(table.entry(first).or_insert_with(empty), rest)
        }
        (Value::Array(values), Some((first, rest))) => {
            inside(values.get_mut(first.parse::<usize>().ok()?)?, rest)
        }
        _ => None,
    }
}

fn add_leaves<'a>(key: Key, value: &'a Value, leaves: &mut Vec<(Key, &'a Value)>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                add_leaves(key.join(name), value, leaves);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (index, value) in values.iter().enumerate() {
                add_leaves(key.join(&index.to_string()), value, leaves);
            }
        }
        _ => leaves.push((key, value)),
    }
}

/// Where each key stands in the text.
fn note_lines(inside: &Key, table: &DeTable<'_>, lines: &mut Vec<(Key, usize)>) {
    for (name, value) in table {
        let key = inside.join(name.get_ref());
        lines.push((key.clone(), name.span().start));
        match value.get_ref() {
            DeValue::Table(table) => note_lines(&key, table, lines),
            DeValue::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    let key = key.join(&index.to_string());
                    lines.push((key.clone(), value.span().start));
                    if let DeValue::Table(table) = value.get_ref() {
                        note_lines(&key, table, lines);
                    }
                }
            }
            _ => {}
        }
    }
}
