//! The time, compared with the last one that the ledger knows.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::UnixTime;

use super::changing::Worker;
use super::rows::{seconds, time};
use super::session::{Session, Stop, column};
use super::text::escaped;
use crate::ledger::error::LedgerError;
use crate::ledger::{AHEAD, BEHIND};

/// What the ledger knows of the time.
pub(super) struct Clock {
    /// How often somebody confirmed it.
    pub(super) era: i64,
    /// The last time since then.
    last: Option<UnixTime>,
}

impl Clock {
    pub(super) fn check(&self, now: UnixTime) -> Result<(), LedgerError> {
        self.check_is_not_ahead(now)?;
        match self.last {
            Some(last) if now.as_secs().saturating_add(BEHIND.as_secs()) < last.as_secs() => {
                Err(LedgerError::Clock { now, last })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_is_not_ahead(&self, now: UnixTime) -> Result<(), LedgerError> {
        match self.last {
            Some(last) if now.as_secs() > last.as_secs().saturating_add(AHEAD.as_secs()) => {
                Err(LedgerError::Clock { now, last })
            }
            _ => Ok(()),
        }
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
            session
                .query(
                    "WITH said AS (INSERT INTO @.events (what, at, said_by) VALUES ('confirmed', $1, $2)) \
                     UPDATE @.ledger SET era = era + 1, confirmed = $1",
                    &[(&seconds(now)?, Type::INT8), (&escaped(by), Type::TEXT)],
                )
                .await?;
            Ok(())
        })
        .await
    }
}
