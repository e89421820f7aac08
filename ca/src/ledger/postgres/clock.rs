//! The time, compared with the last one that the ledger knows.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::UnixTime;

use super::auditing::Noted;
use super::changing::Worker;
use super::rows::{seconds, time};
use super::session::{Session, Stop, column};
use crate::ledger::audit::Deed;
use crate::ledger::clock;
use crate::ledger::error::LedgerError;

/// What the ledger knows of the time.
pub(super) struct Clock {
    /// How often somebody confirmed it.
    pub(super) era: i64,
    /// The last time since then, in seconds since 1970.
    pub(super) last: Option<u64>,
}

impl Clock {
    pub(super) fn check(&self, now: UnixTime) -> Result<(), LedgerError> {
        clock::check(now, self.last)
    }

    pub(super) fn check_is_not_ahead(&self, now: UnixTime) -> Result<(), LedgerError> {
        clock::check_is_not_ahead(now, self.last)
    }
}

impl Session<'_> {
    pub(super) async fn clock(&self) -> Result<Clock, Stop> {
        let rows = self
            .query(
                "SELECT l.era, GREATEST(l.confirmed, \
                 (SELECT max(issued_at) FROM @.certificates WHERE era = l.era), \
                 (SELECT max(begun_at) FROM @.lists WHERE begun_era = l.era)) FROM @.ledger l",
                &[],
            )
            .await?;
        let row = rows.first();
        let row = row.ok_or_else(|| Failure::damaged("its table ledger is empty"))?;
        let last = column::<Option<i64>>(row, 1)?.map(time).transpose()?;
        let last = last.map(|last| last.as_secs());
        Ok(Clock {
            era: column(row, 0)?,
            last,
        })
    }
}

impl Worker {
    pub(super) async fn check_time(&self, now: UnixTime) -> Result<(), LedgerError> {
        self.read(async |session| Ok(session.clock().await?.check(now)?))
            .await
    }

    pub(super) async fn confirm_time(&self, now: UnixTime, by: &str) -> Result<(), LedgerError> {
        self.change(async |session| {
            let statement = "UPDATE @.ledger SET era = era + 1, confirmed = $1";
            session
                .query(statement, &[(&seconds(now)?, Type::INT8)])
                .await?;
            let deed = Deed::TimeConfirmed {
                at: now,
                by: by.into(),
            };
            Ok(session.note(&Noted::new(deed, now, by)?).await?)
        })
        .await
    }
}
