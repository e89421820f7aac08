//! Whether the ledger is in force, and its records as a move reads and writes them.

use core::time::Duration;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::{CertificateDer, UnixTime};

use super::changing::Worker;
use super::locks::{Hold, Locks};
use super::recording::Written;
use super::rows::{ENTRY, entry, list_number, seconds, time};
use super::session::{Session, Stop, column};
use super::text::{escaped, unescaped};
use crate::ledger::audit::Deed;
use crate::ledger::entry::{Entry, NewEntry, State};
use crate::ledger::error::LedgerError;
use crate::ledger::events;
use crate::ledger::moving::{
    KeptEntry, KeptLists, KeptRevocation, Move, MoveId, Rest, Standing, Use,
};
use crate::ledger::serial_number::SerialNumber;

/// How many records are read at once.
const PAGE: i64 = 500;

impl Worker {
    pub(super) async fn standing(&self) -> Result<Standing, LedgerError> {
        self.read_anything(async |session| session.standing().await)
            .await
    }

    /// Makes a change of a move, if the standing is as before.
    async fn change_by_move(
        &self,
        before: &Standing,
        act: impl AsyncFn(&Session<'_>) -> Result<(), Stop>,
    ) -> Result<(), LedgerError> {
        self.change_anything(async |session| {
            let mut locks = Locks::default();
            locks.standing(Hold::Alone);
            session.lock(&locks).await?;
            match session.standing().await? == *before {
                true => act(session).await,
                false => Err(LedgerError::OtherMove(self.description.clone()).into()),
            }
        })
        .await
    }

    pub(super) async fn change_standing(
        &self,
        before: &Standing,
        after: &Standing,
    ) -> Result<(), LedgerError> {
        self.change_by_move(before, async |session| session.set_standing(after).await)
            .await
    }

    pub(super) async fn receive(
        &self,
        before: &Standing,
        arriving: &Move,
    ) -> Result<(), LedgerError> {
        let after = Standing::Arriving(arriving.clone());
        self.change_by_move(before, async |session| {
            match before {
                Standing::Arriving(_) => session.empty().await?,
                _ if session.is_empty().await? => {}
                _ => return Err(LedgerError::NotEmpty(self.description.clone()).into()),
            }
            session.set_standing(&after).await
        })
        .await
    }

    pub(super) async fn put_entries(
        &self,
        by: &Move,
        entries: &[KeptEntry],
    ) -> Result<(), LedgerError> {
        self.change_by_move(&Standing::Arriving(by.clone()), async |session| {
            let written = entries.iter().map(|one| Written {
                entry: &one.entry,
                era: None,
                revocation: None,
            });
            session.write(&written.collect::<Vec<_>>(), false).await?;
            session.put_revocations(entries).await
        })
        .await
    }

    pub(super) async fn put_history(&self, by: &Move, history: &[Deed]) -> Result<(), LedgerError> {
        self.change_by_move(&Standing::Arriving(by.clone()), async |session| {
            session.put_history(history).await
        })
        .await
    }

    pub(super) async fn put_rest(&self, by: &Move, rest: &Rest) -> Result<(), LedgerError> {
        self.change_by_move(&Standing::Arriving(by.clone()), async |session| {
            session.put_rest(rest).await
        })
        .await
    }
}

impl Session<'_> {
    /// Checks that the ledger may be used in this way. Of changes, the one that it stops being in force waits for those that were
    /// begun.
    pub(super) async fn check_standing(&self, wanted: Use, ledger: &str) -> Result<(), Stop> {
        let mut locks = Locks::default();
        if wanted == Use::Changing {
            locks.standing(Hold::Shared);
        }
        // The second statement sees what was committed before the lock was there.
        let (locked, standing) = tokio::join!(self.lock(&locks), self.standing());
        locked?;
        Ok(standing?.check(wanted, || ledger.into())?)
    }

    async fn standing(&self) -> Result<Standing, Stop> {
        let statement = "SELECT standing, elsewhere, target, attempt FROM @.ledger";
        let rows = self.query(statement, &[]).await?;
        let row = rows.first();
        let row = row.ok_or_else(|| Failure::damaged("its table ledger is empty"))?;
        let id = |at| {
            let bytes = column::<Option<&[u8]>>(row, at)?;
            let id = bytes.map(|bytes| bytes.try_into().map(MoveId::from_bytes));
            id.transpose()
                .map_err(|_| Failure::damaged("the number of a move"))
        };
        let by = || {
            let missing = || Failure::damaged("a move without its number");
            Ok::<_, Failure>(Move {
                other: unescaped(column(row, 1)?)?,
                target: id(2)?.ok_or_else(missing)?,
                attempt: id(3)?.ok_or_else(missing)?,
            })
        };
        Ok(match column::<i16>(row, 0)? {
            0 => Standing::InForce { came_by: id(2)? },
            1 => Standing::Leaving(by()?),
            2 => Standing::Left(by()?),
            3 => Standing::Arriving(by()?),
            _ => return Err(Failure::damaged("a standing that there is not").into()),
        })
    }

    async fn set_standing(&self, standing: &Standing) -> Result<(), Stop> {
        let (number, by) = match standing {
            Standing::InForce { .. } => (0_i16, None),
            Standing::Leaving(by) => (1, Some(by)),
            Standing::Left(by) => (2, Some(by)),
            Standing::Arriving(by) => (3, Some(by)),
        };
        let target = match standing {
            Standing::InForce { came_by } => came_by.as_ref(),
            _ => by.map(|by| &by.target),
        };
        let target = target.map(|id| &id.as_bytes()[..]);
        let attempt = by.map(|by| &by.attempt.as_bytes()[..]);
        let elsewhere = by.map(|by| escaped(&by.other));
        self.query(
            "UPDATE @.ledger SET standing = $1, elsewhere = $2, target = $3, attempt = $4",
            &[
                (&number, Type::INT2),
                (&elsewhere, Type::TEXT),
                (&target, Type::BYTEA),
                (&attempt, Type::BYTEA),
            ],
        )
        .await?;
        Ok(())
    }

    /// Whether nothing was ever recorded.
    async fn is_empty(&self) -> Result<bool, Stop> {
        let rows = self
            .query(
                "SELECT 1 WHERE EXISTS (SELECT FROM @.certificates) OR EXISTS (SELECT FROM @.lists) \
                 OR EXISTS (SELECT FROM @.generations) OR EXISTS (SELECT FROM @.events) \
                 OR EXISTS (SELECT FROM @.ledger WHERE confirmed IS NOT NULL)",
                &[],
            )
            .await?;
        Ok(rows.is_empty())
    }

    /// Removes what came by a move that was interrupted.
    async fn empty(&self) -> Result<(), Stop> {
        for table in [
            "certificates",
            "names",
            "keys",
            "lists",
            "generations",
            "events",
        ] {
            self.query(&format!("DELETE FROM @.{table}"), &[]).await?;
        }
        self.query("UPDATE @.ledger SET era = 0, confirmed = NULL", &[])
            .await?;
        Ok(())
    }

    pub(super) async fn entries_after(
        &self,
        after: Option<&SerialNumber>,
    ) -> Result<Vec<KeptEntry>, Stop> {
        let after = after.map_or(&[][..], SerialNumber::as_bytes);
        let statement = format!(
            "SELECT {ENTRY}, c.last_list::text, c.certificate FROM @.certificates c WHERE c.serial > $1 \
             ORDER BY c.serial LIMIT {PAGE}"
        );
        let rows = self.query(&statement, &[(&after, Type::BYTEA)]).await?;
        let kept = rows.iter().map(|row| {
            let (last_list, certificate) = (row.len() - 2, row.len() - 1);
            let Entry { issued, state } = entry(row)?;
            let revoked = match state {
                State::Valid => None,
                State::Revoked(revocation) => Some(KeptRevocation {
                    revocation,
                    last_list: list_number(column(row, last_list)?)?,
                }),
            };
            Ok(KeptEntry {
                entry: NewEntry {
                    issued,
                    certificate: CertificateDer::from(column::<Vec<u8>>(row, certificate)?),
                },
                revoked,
            })
        });
        kept.collect()
    }

    async fn put_revocations(&self, entries: &[KeptEntry]) -> Result<(), Stop> {
        let revoked = || {
            entries
                .iter()
                .filter_map(|one| Some((&one.entry.issued.serial_number, one.revoked.as_ref()?)))
        };
        let serials: Vec<&[u8]> = revoked().map(|(number, _)| number.as_bytes()).collect();
        let times = revoked().map(|(_, one)| seconds(one.revocation.at));
        let times = times.collect::<Result<Vec<i64>, Failure>>()?;
        let reasons: Vec<i16> = revoked()
            .map(|(_, one)| one.revocation.reason as i16)
            .collect();
        let by: Vec<String> = revoked()
            .map(|(_, one)| escaped(&one.revocation.by))
            .collect();
        let lists: Vec<String> = revoked()
            .map(|(_, one)| one.last_list.to_string())
            .collect();
        self.query(
            "UPDATE @.certificates c
            SET revoked_at = n.at, reason = n.reason, revoked_by = n.said_by, last_list = n.last_list::numeric
            FROM unnest($1, $2, $3, $4, $5) AS n (serial, at, reason, said_by, last_list)
            WHERE c.serial = n.serial",
            &[
                (&serials, Type::BYTEA_ARRAY),
                (&times, Type::INT8_ARRAY),
                (&reasons, Type::INT2_ARRAY),
                (&by, Type::TEXT_ARRAY),
                (&lists, Type::TEXT_ARRAY),
            ],
        )
        .await?;
        Ok(())
    }

    pub(super) async fn rest(&self) -> Result<Rest, Stop> {
        let statement = "SELECT issuer, begun::text, written::text, written_at FROM @.lists";
        let rows = self.query(statement, &[]).await?;
        let lists = rows.iter().map(|row| {
            Ok(KeptLists {
                issuer: unescaped(column(row, 0)?)?,
                begun: list_number(column(row, 1)?)?,
                written: list_number(column(row, 2)?)?,
                written_at: time(column(row, 3)?)?,
            })
        });
        let mut lists = lists.collect::<Result<Vec<_>, Failure>>()?;
        lists.sort_unstable_by(|one, other| one.issuer.cmp(&other.issuer));
        Ok(Rest {
            lists,
            generations: self.generations().await?,
            clock: self
                .clock()
                .await?
                .last
                .map(|last| UnixTime::since_unix_epoch(Duration::from_secs(last))),
        })
    }

    async fn put_rest(&self, rest: &Rest) -> Result<(), Stop> {
        let Rest {
            lists,
            generations,
            clock,
        } = rest;
        for one in lists {
            let KeptLists {
                issuer,
                begun,
                written,
                written_at,
            } = one;
            self.put_lists(issuer, *begun, *written, *written_at)
                .await?;
        }
        self.set_generations(generations).await?;
        let clock = clock.map(seconds).transpose()?;
        self.query(
            "UPDATE @.ledger SET confirmed = $1",
            &[(&clock, Type::INT8)],
        )
        .await?;
        Ok(())
    }

    /// Writes what was done, for the chain, which is made of that in this order.
    async fn put_history(&self, history: &[Deed]) -> Result<(), Stop> {
        let kinds: Vec<&str> = history.iter().map(Deed::name).collect();
        let bodies: Vec<Vec<u8>> = history.iter().map(events::encode).collect();
        self.query(
            "INSERT INTO @.events (what, at, said_by, body)
            SELECT n.what, 0, '', n.body FROM unnest($1, $2) WITH ORDINALITY AS n (what, body, place) ORDER BY n.place",
            &[(&kinds, Type::TEXT_ARRAY), (&bodies, Type::BYTEA_ARRAY)],
        )
        .await?;
        Ok(())
    }
}
