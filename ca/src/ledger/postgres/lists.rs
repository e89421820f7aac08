//! Revocation lists: their numbers, and what stands on them.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::UnixTime;

use super::auditing::Noted;
use super::changing::Worker;
use super::locks::{Hold, Locks, digest};
use super::rows::{list_number, revocation, seconds, serial_number, time};
use super::session::{Session, Stop, column};
use super::text::escaped;
use crate::ledger::audit::Deed;
use crate::ledger::entry::Revocation;
use crate::ledger::error::LedgerError;
use crate::ledger::serial_number::SerialNumber;
use crate::ledger::{GREATEST_NUMBER, KEPT, lists};

/// What is known of an issuer's revocation lists. Before the first one, numbers are 0.
#[derive(Clone, Copy, Default)]
struct Lists {
    /// The number of the last one that was begun.
    begun: u64,
    /// The number and the time of the last one of which somebody said that it was written where clients get it.
    written: u64,
    written_at: u64,
}

impl Lists {
    /// Checks that there is a list of this number.
    fn check(self, issuer: &str, number: u64) -> Result<Self, LedgerError> {
        lists::check_numbered(issuer, number, self.begun)?;
        Ok(self)
    }
}

/// What belongs on a list.
type Listed = Vec<(SerialNumber, Revocation)>;

fn lock_of(issuer: &str) -> Locks {
    let mut locks = Locks::default();
    locks.lists(issuer, Hold::Alone);
    locks
}

impl Worker {
    pub(super) async fn numbered_list(
        &self,
        issuer: &str,
        given: Option<u64>,
        now: UnixTime,
    ) -> Result<(u64, Listed), LedgerError> {
        let mut locks = lock_of(issuer);
        // Whether a great number may be given, depends on them.
        locks.generations(Hold::Shared);
        self.change(async |session| {
            session.lock(&locks).await?;
            let clock = session.clock().await?;
            clock.check(now)?;
            let lists = session.lists_of(issuer).await?;
            let number = match given {
                None => lists.begun.saturating_add(1),
                Some(number) if number > lists.begun && session.may_be_given(number).await? => {
                    number
                }
                Some(number) => {
                    return Err(LedgerError::NotAboveLists {
                        issuer: issuer.into(),
                        number,
                        last: lists.begun,
                    }
                    .into());
                }
            };
            let listed = session.listed(issuer, lists, now).await?;
            session.begin_list(issuer, number, now, clock.era).await?;
            let deed = Deed::ListBegun {
                issuer: issuer.into(),
                number,
                at: now,
            };
            session.note(&Noted::new(deed, now, "")?).await?;
            Ok((number, listed))
        })
        .await
    }

    pub(super) async fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError> {
        self.read(async |session| {
            let begun = session.lists_of(issuer).await?.check(issuer, number)?.begun;
            Ok(lists::check_begun(issuer, number, begun)?)
        })
        .await
    }

    pub(super) async fn confirm_list(
        &self,
        issuer: &str,
        number: u64,
        at: UnixTime,
    ) -> Result<(), LedgerError> {
        let locks = lock_of(issuer);
        self.change(async |session| {
            session.lock(&locks).await?;
            let lists = session.lists_of(issuer).await?.check(issuer, number)?;
            lists::check_written(issuer, number, lists.written)?;
            if lists.written < number {
                session
                    .query(
                        "UPDATE @.lists SET written = $2::text::numeric, written_at = $3 WHERE issuer_id = $1",
                        &[
                            (&id(issuer), Type::INT8),
                            (&number.to_string(), Type::TEXT),
                            (&seconds(at)?, Type::INT8),
                        ],
                    )
                    .await?;
                let deed = Deed::ListWritten {
                    issuer: issuer.into(),
                    number,
                    at,
                };
                session.note(&Noted::new(deed, at, "")?).await?;
            }
            Ok(())
        })
        .await
    }
}

fn id(issuer: &str) -> i64 {
    digest(issuer.as_bytes()).cast_signed()
}

impl Session<'_> {
    async fn lists_of(&self, issuer: &str) -> Result<Lists, Stop> {
        let rows = self
            .query(
                "SELECT begun::text, written::text, written_at FROM @.lists WHERE issuer_id = $1 AND issuer = $2",
                &[(&id(issuer), Type::INT8), (&escaped(issuer), Type::TEXT)],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Ok(Lists::default());
        };
        Ok(Lists {
            begun: list_number(column(row, 0)?)?,
            written: list_number(column(row, 1)?)?,
            written_at: time(column(row, 2)?)?.as_secs(),
        })
    }

    /// Whether a list may have this number, which was given. Above the greatest one only if it follows the last list of
    /// another generation: those of one name share a sequence.
    async fn may_be_given(&self, number: u64) -> Result<bool, Stop> {
        if number <= GREATEST_NUMBER {
            return Ok(true);
        }
        for generation in self.generations().await? {
            if self.lists_of(&generation.name).await?.begun == number - 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What belongs on a list of the time `now`. A certificate has to have been on the last list that clients could get, and
    /// both lists have to be from long after its expiry, before it is left out (RFC 5280 section 3.3).
    async fn listed(&self, issuer: &str, lists: Lists, now: UnixTime) -> Result<Listed, Stop> {
        let time = lists.written_at.min(now.as_secs());
        let kept = time.saturating_sub(KEPT.as_secs());
        let kept = i64::try_from(kept).unwrap_or(i64::MAX);
        let rows = self
            .query(
                "SELECT serial, revoked_at, reason, revoked_by FROM @.certificates \
                 WHERE issuer_id = $1 AND issuer = $2 AND reason IS NOT NULL \
                 AND (last_list >= $3::text::numeric OR not_after >= $4) ORDER BY serial",
                &[
                    (&id(issuer), Type::INT8),
                    (&escaped(issuer), Type::TEXT),
                    (&lists.written.to_string(), Type::TEXT),
                    (&kept, Type::INT8),
                ],
            )
            .await?;
        let listed = rows
            .iter()
            .map(|row| Ok((serial_number(column(row, 0)?)?, revocation(row, 1)?)));
        listed.collect()
    }

    /// Writes what is known of an issuer's lists, which came from another ledger. Their times say nothing of today.
    pub(super) async fn put_lists(
        &self,
        issuer: &str,
        begun: u64,
        written: u64,
        written_at: UnixTime,
    ) -> Result<(), Failure> {
        self.query(
            "INSERT INTO @.lists (issuer_id, issuer, begun, begun_at, begun_era, written, written_at)
            VALUES ($1, $2, $3::text::numeric, 0, -1, $4::text::numeric, $5)",
            &[
                (&id(issuer), Type::INT8),
                (&escaped(issuer), Type::TEXT),
                (&begun.to_string(), Type::TEXT),
                (&written.to_string(), Type::TEXT),
                (&seconds(written_at)?, Type::INT8),
            ],
        )
        .await?;
        Ok(())
    }

    /// A list is begun. If the clock was set back, it had run ahead when a list was written, which counts as one of now at
    /// most.
    async fn begin_list(
        &self,
        issuer: &str,
        number: u64,
        now: UnixTime,
        era: i64,
    ) -> Result<(), Failure> {
        let rows = self
            .query(
                "INSERT INTO @.lists AS l (issuer_id, issuer, begun, begun_at, begun_era)
                VALUES ($1, $2, $3::text::numeric, $4, $5)
                ON CONFLICT (issuer_id) DO UPDATE SET
                    begun = excluded.begun,
                    begun_at = CASE WHEN l.begun_era = excluded.begun_era
                        THEN GREATEST(l.begun_at, excluded.begun_at) ELSE excluded.begun_at END,
                    begun_era = excluded.begun_era,
                    written_at = LEAST(l.written_at, excluded.begun_at)
                WHERE l.issuer = excluded.issuer RETURNING 1",
                &[
                    (&id(issuer), Type::INT8),
                    (&escaped(issuer), Type::TEXT),
                    (&number.to_string(), Type::TEXT),
                    (&seconds(now)?, Type::INT8),
                    (&era, Type::INT8),
                ],
            )
            .await?;
        match rows.is_empty() {
            true => Err(Failure::damaged("two issuers with one digest")),
            false => Ok(()),
        }
    }
}
