//! What is read, each time in one statement, which sees one moment.

use std::collections::HashMap;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::{FromSql, Type};
use pq_postgres::tokio_postgres::{Client, Row as Found};

use super::statements::Statements;
use crate::storage::MAX_PAGE_ROWS;
use crate::storage::log::{LogEntry, LogHead};
use crate::storage::row::{Page, Row, RowKey, RowPrefix, Snapshot};

pub(super) async fn get(
    client: &Client,
    statements: &Statements,
    keys: &[RowKey],
) -> Result<Snapshot, Failure> {
    let asked: Vec<&str> = keys.iter().map(RowKey::as_str).collect();
    let found = client
        .query_typed(&statements.get, &[(&asked, Type::TEXT_ARRAY)])
        .await?;
    let first = found.first().ok_or_else(no_state)?;
    let (revision, head) = state(first)?;
    let mut rows = HashMap::new();
    for row in &found {
        if let Some(key) = column::<Option<&str>>(row, 3)? {
            rows.insert(key, self::row(row, 4)?);
        }
    }
    Ok(Snapshot {
        rows: asked.iter().map(|key| rows.get(key).cloned()).collect(),
        head,
        revision,
    })
}

pub(super) async fn list(
    client: &Client,
    statements: &Statements,
    prefix: &RowPrefix,
    after: Option<&RowKey>,
    limit: usize,
) -> Result<Page, Failure> {
    let limit = limit.min(MAX_PAGE_ROWS);
    let after = after.map(RowKey::as_str);
    // Keys are visible ASCII, so this comes after all that begin with the prefix.
    let end = format!("{}\u{7f}", prefix.as_str());
    let found = client
        .query_typed(
            &statements.list,
            &[
                (&prefix.as_str(), Type::TEXT),
                (&after, Type::TEXT),
                (&end, Type::TEXT),
                (&(limit as i64 + 1), Type::INT8),
            ],
        )
        .await?;
    let mut rows = Vec::new();
    let mut more = found.len() > limit;
    for row in found.iter().take(limit) {
        let key: RowKey = column::<&str>(row, 0)?
            .parse()
            .map_err(|_| Failure::damaged("the key of a row"))?;
        rows.push((key, self::row(row, 1)?));
        more |= column::<bool>(row, 3)? && rows.len() == found.len();
    }
    Ok(Page { rows, more })
}

pub(super) async fn entries(
    client: &Client,
    statements: &Statements,
    from: u64,
    limit: usize,
) -> Result<Vec<LogEntry>, Failure> {
    let from = from.max(1);
    // No log gets there.
    let Ok(first) = i64::try_from(from) else {
        return Ok(Vec::new());
    };
    let limit = limit.min(MAX_PAGE_ROWS);
    let found = client
        .query_typed(
            &statements.entries,
            &[(&first, Type::INT8), (&(limit as i64), Type::INT8)],
        )
        .await?;
    let end = number(found.first().ok_or_else(no_state)?, 0)?;
    let mut entries = Vec::new();
    for row in &found {
        if column::<Option<i64>>(row, 1)?.is_some() {
            entries.push(LogEntry {
                sequence: number(row, 1)?,
                hash: hash(row, 2)?,
                value: column(row, 3)?,
            });
        }
    }
    let there = (from..=end).take(limit.min(entries.len().max(1)));
    let mut sequences = entries.iter().map(|entry| entry.sequence);
    for expected in there {
        if sequences.next() != Some(expected) {
            return Err(Failure::damaged(format!(
                "entry {expected} of the log is missing"
            )));
        }
    }
    match sequences.next() {
        Some(sequence) => Err(Failure::damaged(format!(
            "the log ends with {end}, and has an entry {sequence}"
        ))),
        None => Ok(entries),
    }
}

pub(super) async fn revision(client: &Client, statements: &Statements) -> Result<u64, Failure> {
    let found = client
        .query_typed_opt(&statements.revision, &[])
        .await?
        .ok_or_else(no_state)?;
    number(&found, 0)
}

pub(super) fn no_state() -> Failure {
    Failure::damaged("its table storage is empty")
}

/// What a column has.
pub(super) fn column<'r, T: FromSql<'r>>(row: &'r Found, column: usize) -> Result<T, Failure> {
    row.try_get(column)
        .map_err(|error| Failure::damaged(error.to_string()))
}

/// The storage's revision and the log's head, in the first three columns.
pub(super) fn state(row: &Found) -> Result<(u64, LogHead), Failure> {
    let head = LogHead {
        sequence: number(row, 1)?,
        hash: hash(row, 2)?,
    };
    Ok((number(row, 0)?, head))
}

/// A number that counts something.
pub(super) fn number(row: &Found, column: usize) -> Result<u64, Failure> {
    let number: i64 = self::column(row, column)?;
    u64::try_from(number).map_err(|_| Failure::damaged("a negative number"))
}

fn hash(row: &Found, column: usize) -> Result<[u8; 32], Failure> {
    let hash: &[u8] = self::column(row, column)?;
    hash.try_into()
        .map_err(|_| Failure::damaged("a hash in the log"))
}

/// A row's revision and value, in this column and the next.
fn row(found: &Found, column: usize) -> Result<Row, Failure> {
    let value: &[u8] = self::column(found, column + 1)?;
    Ok(Row {
        revision: number(found, column)?,
        value: value.to_vec(),
    })
}
