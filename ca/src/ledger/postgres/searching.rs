//! Searches, page by page in the order of expiry. Each condition that an index has is in the statement, and the rest is
//! compared afterwards.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::{ToSql, Type};
use pq_x509::pki_types::UnixTime;

use super::locks::digest;
use super::rows::{ENTRY, entry};
use super::session::{Session, Stop, Value};
use super::text::escaped;
use crate::ledger::entry::Entry;
use crate::ledger::filter::{Filter, NameFilter};
use crate::ledger::name;

/// How many entries are read at once.
const PAGE: i64 = 1000;

/// The most bytes of a name that are in the index.
pub(super) const NAME_LEN: usize = 255;

/// A search, and how far it got.
#[derive(Clone, Debug)]
pub(super) struct Search {
    filter: Filter,
    /// The expiry and the number of the last entry that was read.
    after: Option<(i64, Vec<u8>)>,
    is_at_end: bool,
}

impl Search {
    pub(super) fn new(filter: &Filter) -> Self {
        Self {
            filter: filter.clone(),
            after: None,
            is_at_end: false,
        }
    }

    /// Notes what was read.
    fn go_on(&mut self, page: &[Entry]) {
        self.is_at_end = page.len() < PAGE as usize;
        if let Some(last) = page.last() {
            let expiry = in_column(last.issued.not_after);
            self.after = Some((expiry, last.issued.serial_number.as_bytes().to_vec()));
        }
    }
}

/// A time, or the last one that a column can have.
fn in_column(time: UnixTime) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// The beginning of a name that is in the index.
pub(super) fn indexed(name: &[u8]) -> &[u8] {
    &name[..name.len().min(NAME_LEN)]
}

impl Session<'_> {
    /// Continues a search, and returns more entries, which may be none of a whole page, or `None` at the end.
    pub(super) async fn look_on(&self, search: &mut Search) -> Result<Option<Vec<Entry>>, Stop> {
        if search.is_at_end {
            return Ok(None);
        }
        let mut page = self.page(search).await?;
        search.go_on(&page);
        page.retain(|entry| search.filter.matches(entry));
        Ok(Some(page))
    }

    /// The next entries of a search, of which some may not match.
    async fn page(&self, search: &Search) -> Result<Vec<Entry>, Stop> {
        let Search { filter, after, .. } = search;
        let wanted = match &filter.name {
            None => None,
            Some(NameFilter::Exactly(wanted)) => match name::reversed(wanted) {
                Some(name) => Some((indexed(&name).to_vec(), indexed(&name).to_vec())),
                // No name is like this.
                None => return Ok(Vec::new()),
            },
            // All names are below nothing.
            Some(NameFilter::Domain(domain)) => match name::reversed(domain) {
                Some(name) => Some((indexed(&name).to_vec(), below(indexed(&name)))),
                None => Some((Vec::new(), vec![0xff; NAME_LEN])),
            },
        };
        let issuer = filter.issuer.as_deref();
        let issuer =
            issuer.map(|issuer| (digest(issuer.as_bytes()).cast_signed(), escaped(issuer)));
        let profiles: Option<Vec<String>> =
            (filter.profiles.as_ref()).map(|all| all.iter().map(|one| escaped(one)).collect());
        let keys: Option<Vec<&[u8]>> =
            (filter.keys.as_ref()).map(|all| all.iter().map(|key| &key.as_bytes()[..]).collect());
        let (from, before) = (filter.expires_from, filter.expires_before);
        let (from, before) = (from.map(in_column), before.map(in_column));

        let mut asked = Asked::default();
        if let Some((first, last)) = &wanted {
            let (first, last) = (
                asked.value(first, Type::BYTEA),
                asked.value(last, Type::BYTEA),
            );
            asked.that(format!(
                "c.serial IN (SELECT serial FROM @.names WHERE name >= {first} AND name <= {last})"
            ));
        }
        if let Some(keys) = &keys {
            let keys = asked.value(keys, Type::BYTEA_ARRAY);
            asked.that(format!(
                "c.serial IN (SELECT serial FROM @.keys WHERE key = ANY ({keys}))"
            ));
        }
        if let Some((id, issuer)) = &issuer {
            let (id, issuer) = (asked.value(id, Type::INT8), asked.value(issuer, Type::TEXT));
            asked.that(format!("c.issuer_id = {id} AND c.issuer = {issuer}"));
        }
        if let Some(profiles) = &profiles {
            let profiles = asked.value(profiles, Type::TEXT_ARRAY);
            asked.that(format!("c.profile = ANY ({profiles})"));
        }
        match filter.revoked {
            None => {}
            Some(true) => asked.that("c.reason IS NOT NULL".into()),
            Some(false) => asked.that("c.reason IS NULL".into()),
        }
        if let Some(from) = &from {
            let from = asked.value(from, Type::INT8);
            asked.that(format!("c.not_after >= {from}"));
        }
        if let Some(before) = &before {
            let before = asked.value(before, Type::INT8);
            asked.that(format!("c.not_after < {before}"));
        }
        if let Some((expiry, number)) = after {
            let (expiry, number) = (
                asked.value(expiry, Type::INT8),
                asked.value(number, Type::BYTEA),
            );
            asked.that(format!(
                "(c.not_after, length(c.serial), c.serial) > ({expiry}, length({number}), {number})"
            ));
        }
        let Asked { conditions, values } = asked;
        let statement = format!(
            "SELECT {ENTRY} FROM @.certificates c {conditions} ORDER BY c.not_after, length(c.serial), c.serial LIMIT {PAGE}"
        );
        let rows = self.query(&statement, &values).await?;
        let entries = rows.iter().map(entry).collect::<Result<_, Failure>>();
        Ok(entries?)
    }
}

/// The conditions of a statement, and their values.
#[derive(Default)]
struct Asked<'v> {
    conditions: String,
    values: Vec<Value<'v>>,
}

impl<'v> Asked<'v> {
    /// Adds a value, and returns what stands for it.
    fn value(&mut self, value: &'v (dyn ToSql + Sync), kind: Type) -> String {
        self.values.push((value, kind));
        format!("${}", self.values.len())
    }

    /// Adds a condition.
    fn that(&mut self, condition: String) {
        self.conditions += match self.conditions.is_empty() {
            true => "WHERE ",
            false => " AND ",
        };
        self.conditions += &condition;
    }
}

/// What comes after all names below a domain: none has this byte.
fn below(domain: &[u8]) -> Vec<u8> {
    let mut last = domain.to_vec();
    last.resize(NAME_LEN + 1, 0xff);
    last
}
