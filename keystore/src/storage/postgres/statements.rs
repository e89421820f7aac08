//! The statements, with the name of the schema in them.

use crate::storage::MAX_PAGE_LEN;

/// The commits whose marks are kept, so that a process whose answer was lost finds its own.
const MARKS: u64 = 10_000;

pub(super) struct Statements {
    /// Waits for the one row that each commit locks: revision, sequence, hash.
    pub(super) lock: String,
    /// Revisions of the rows with keys $1.
    pub(super) revisions: String,
    /// Writes a change, and says what it has written.
    pub(super) write: String,
    /// The mark of the commit with revision $1.
    pub(super) mark: String,
    /// Rows with keys $1, with the revision and the head.
    pub(super) get: String,
    /// Rows from $1, after $2 if it is not null, before $3, with the first $4 of them.
    pub(super) list: String,
    /// At most $2 entries from $1 on.
    pub(super) entries: String,
    /// The storage's revision.
    pub(super) revision: String,
}

impl Statements {
    pub(super) fn new(channel: &str) -> Self {
        let schema = format!("\"{channel}\"");
        Self {
            lock: format!("SELECT revision, sequence, hash FROM {schema}.storage FOR UPDATE"),
            revisions: format!("SELECT key, revision FROM {schema}.rows WHERE key = ANY ($1)"),
            write: format!(
                "WITH put AS (
                    INSERT INTO {schema}.rows (key, revision, value)
                    SELECT p.key, $1, p.value FROM unnest($2, $3) AS p (key, value)
                    ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, value = excluded.value
                    RETURNING 1
                ), deleted AS (
                    DELETE FROM {schema}.rows WHERE key = ANY ($4) RETURNING 1
                ), appended AS (
                    INSERT INTO {schema}.log (sequence, hash, value)
                    SELECT e.sequence, e.hash, e.value FROM unnest($5, $6, $7) AS e (sequence, hash, value)
                    RETURNING 1
                ), marked AS (
                    INSERT INTO {schema}.commits (revision, mark) VALUES ($1, $8)
                ), forgotten AS (
                    DELETE FROM {schema}.commits WHERE revision <= $1 - {MARKS}
                )
                UPDATE {schema}.storage SET revision = $1, sequence = $9, hash = $10
                WHERE revision = $1 - 1
                RETURNING (SELECT count(*) FROM put), (SELECT count(*) FROM deleted),
                    (SELECT count(*) FROM appended), pg_notify('{channel}', $1::text)"
            ),
            mark: format!("SELECT mark FROM {schema}.commits WHERE revision = $1"),
            get: format!(
                "SELECT s.revision, s.sequence, s.hash, r.key, r.revision, r.value
                FROM {schema}.storage s LEFT JOIN {schema}.rows r ON r.key = ANY ($1)"
            ),
            // The rows beyond the page are not sent, but for the one that says that there are more.
            list: format!(
                "SELECT key, revision, value, more FROM (
                    SELECT key, revision, value, lead(key) OVER w IS NOT NULL AS more,
                        sum(length(value)) OVER w - length(value) AS before
                    FROM {schema}.rows WHERE key >= $1 AND ($2 IS NULL OR key > $2) AND key < $3
                    WINDOW w AS (ORDER BY key) ORDER BY key LIMIT $4
                ) AS page WHERE before < {MAX_PAGE_LEN} ORDER BY key"
            ),
            // With where the log ends, of the same moment.
            entries: format!(
                "SELECT s.sequence, e.sequence, e.hash, e.value
                FROM {schema}.storage s LEFT JOIN (
                    SELECT sequence, hash, value,
                        sum(length(value)) OVER (ORDER BY sequence) - length(value) AS before
                    FROM {schema}.log WHERE sequence >= $1 ORDER BY sequence LIMIT $2
                ) AS e ON e.before < {MAX_PAGE_LEN} ORDER BY e.sequence"
            ),
            revision: format!("SELECT revision FROM {schema}.storage"),
        }
    }
}
