//! Events, which a change writes in its own transaction, and the chain that they become afterwards: so nobody waits for the
//! chain who issues.

use pq_keys::random;
use pq_postgres::Failure;
use pq_postgres::tokio_postgres::Row;
use pq_postgres::tokio_postgres::types::Type;
use sha2::{Digest, Sha256};

use super::changing::Worker;
use super::locks::digest;
use super::rows::{revocation, seconds, serial_number, time};
use super::session::{Session, Stop, column};
use super::text::{escaped, unescaped};
use crate::ledger::audit::{AuditEvent, AuditHead, Deed};
use crate::ledger::error::LedgerError;
use crate::ledger::events;

/// How many events are chained in one transaction, and read at once.
const PAGE: i64 = 1000;

impl Worker {
    /// Chains what is not chained yet.
    pub(super) async fn chain_all(&self) -> Result<(), LedgerError> {
        let chain = async |session: &Session<'_>| {
            session.lock_chain().await?;
            session.chain().await
        };
        while self.change(chain).await? == PAGE as usize {}
        Ok(())
    }

    /// The same, whether or not the ledger is in force.
    pub(super) async fn chain_anything(&self) -> Result<(), LedgerError> {
        let chain = async |session: &Session<'_>| {
            session.lock_chain().await?;
            session.chain().await
        };
        while self.change_anything(chain).await? == PAGE as usize {}
        Ok(())
    }

    /// The next events after this one for a move, from the first one on if it is none; none at the end.
    pub(super) async fn history_after(
        &self,
        head: Option<AuditHead>,
    ) -> Result<Vec<AuditEvent>, LedgerError> {
        self.read_anything(async |session| {
            let head = match head {
                Some(head) => head,
                None => session.chain_start().await?,
            };
            session.chained_after(head).await
        })
        .await
    }

    /// Chains some of what is not chained yet, once in many calls and unless somebody else does. If this fails, somebody
    /// does it later.
    pub(super) async fn chain_now_and_then(&self) {
        let mut chance = [0];
        if random::fill(&mut chance).is_ok() && chance == [0] {
            let _ = self
                .change(async |session| match session.try_to_lock_chain().await? {
                    true => session.chain().await,
                    false => Ok(0),
                })
                .await;
        }
    }

    /// The next events after this one, in their order; none at the end.
    pub(super) async fn chained_after(
        &self,
        head: AuditHead,
    ) -> Result<Vec<AuditEvent>, LedgerError> {
        self.read(async |session| session.chained_after(head).await)
            .await
    }

    /// What is before the first event.
    pub(super) async fn chain_start(&self) -> Result<AuditHead, LedgerError> {
        self.read(async |session| Ok(session.chain_start().await?))
            .await
    }
}

/// The head after an event of these bytes. The records of a journal are hashed in the same way.
fn head_after(head: &AuditHead, event: &[u8]) -> AuditHead {
    let mut digest = Sha256::new_with_prefix(head.digest);
    digest.update((event.len() as u64).to_le_bytes());
    digest.update(event);
    AuditHead {
        number: head.number.saturating_add(1),
        digest: digest.finalize().into(),
    }
}

/// The digest of an event or of the ledger itself.
fn digest_of(bytes: &[u8]) -> Result<[u8; 32], Failure> {
    let bytes = bytes.try_into();
    bytes.map_err(|_| Failure::damaged("the digest of an event"))
}

fn number_of(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|_| Failure::damaged("the number of an event"))
}

impl Session<'_> {
    /// Writes an event about no certificate, or about one.
    pub(super) async fn note(&self, event: &Noted<'_>) -> Result<(), Failure> {
        let Noted { deed, at, by } = event;
        // Each word stays what it was in the first version.
        let what = match deed {
            Deed::TimeConfirmed { .. } => "confirmed",
            _ => deed.name(),
        };
        self.query(
            "INSERT INTO @.events (what, at, said_by, body) VALUES ($1, $2, $3, $4)",
            &[
                (&what, Type::TEXT),
                (at, Type::INT8),
                (&escaped(by), Type::TEXT),
                (&events::encode(deed), Type::BYTEA),
            ],
        )
        .await?;
        Ok(())
    }

    fn chain_lock(&self) -> i64 {
        digest(&[b"pq-ca chain\0", self.schema().as_bytes()].concat()).cast_signed()
    }

    async fn lock_chain(&self) -> Result<(), Failure> {
        let statement = "SELECT pg_advisory_xact_lock($1)";
        self.query(statement, &[(&self.chain_lock(), Type::INT8)])
            .await?;
        Ok(())
    }

    async fn try_to_lock_chain(&self) -> Result<bool, Failure> {
        let statement = "SELECT pg_try_advisory_xact_lock($1)";
        let rows = self
            .query(statement, &[(&self.chain_lock(), Type::INT8)])
            .await?;
        rows.first().map_or(Ok(false), |row| column(row, 0))
    }

    async fn chain_start(&self) -> Result<AuditHead, Failure> {
        let rows = self.query("SELECT chain_start FROM @.ledger", &[]).await?;
        let row = rows.first();
        let row = row.ok_or_else(|| Failure::damaged("its table ledger is empty"))?;
        Ok(AuditHead {
            number: 0,
            digest: digest_of(column(row, 0)?)?,
        })
    }

    async fn chain_end(&self) -> Result<AuditHead, Failure> {
        let rows = self
            .query(
                "SELECT number, digest FROM @.events WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1",
                &[],
            )
            .await?;
        match rows.first() {
            None => self.chain_start().await,
            Some(row) => Ok(AuditHead {
                number: number_of(column(row, 0)?)?,
                digest: digest_of(column(row, 1)?)?,
            }),
        }
    }

    /// Chains the first events that are not chained yet and that are committed, under the lock of the chain. Returns how
    /// many.
    async fn chain(&self) -> Result<usize, Stop> {
        let mut head = self.chain_end().await?;
        let waiting = self
            .query(
                "SELECT event, body, what, serial, at, reason, said_by FROM @.events WHERE number IS NULL \
                 ORDER BY event LIMIT $1",
                &[(&PAGE, Type::INT8)],
            )
            .await?;
        if waiting.is_empty() {
            return Ok(0);
        }
        let (mut rows, mut numbers) = (Vec::new(), Vec::new());
        let (mut digests, mut bodies) = (Vec::new(), Vec::new());
        for row in &waiting {
            let body: Option<&[u8]> = column(row, 1)?;
            let body = match body {
                Some(body) => body.to_vec(),
                None => events::encode(&of_first_version(row)?),
            };
            head = head_after(&head, &body);
            rows.push(column::<i64>(row, 0)?);
            let number = i64::try_from(head.number);
            numbers.push(number.map_err(|_| Failure::Limit("events"))?);
            digests.push(head.digest.to_vec());
            bodies.push(body);
        }
        let chained = self
            .query(
                "UPDATE @.events e SET number = n.number, digest = n.digest, body = n.body
                FROM unnest($1, $2, $3, $4) AS n (event, number, digest, body)
                WHERE e.event = n.event AND e.number IS NULL RETURNING 1",
                &[
                    (&rows, Type::INT8_ARRAY),
                    (&numbers, Type::INT8_ARRAY),
                    (&digests, Type::BYTEA_ARRAY),
                    (&bodies, Type::BYTEA_ARRAY),
                ],
            )
            .await?;
        match chained.len() == waiting.len() {
            true => Ok(chained.len()),
            false => Err(Failure::damaged("an event has gone under a lock").into()),
        }
    }

    async fn chained_after(&self, mut head: AuditHead) -> Result<Vec<AuditEvent>, Stop> {
        let after = i64::try_from(head.number).map_err(|_| Failure::Limit("events"))?;
        let rows = self
            .query(
                "SELECT number, digest, body FROM @.events WHERE number > $1 ORDER BY number LIMIT $2",
                &[(&after, Type::INT8), (&PAGE, Type::INT8)],
            )
            .await?;
        let read = rows.iter().map(|row| {
            let before = head;
            let body: &[u8] = column(row, 2)?;
            head = head_after(&before, body);
            let number = head.number;
            let wrong = |what| Failure::damaged(format!("event {number} of its audit: {what}"));
            if number_of(column(row, 0)?)? != number {
                return Err(wrong("it is missing").into());
            }
            if digest_of(column(row, 1)?)? != head.digest {
                return Err(wrong("it, or one before it, was changed").into());
            }
            let deed = events::decode(body).map_err(|_| wrong("it can't be read"))?;
            Ok(AuditEvent { before, head, deed })
        });
        read.collect()
    }
}

/// An event that is not of one certificate.
pub(super) struct Noted<'a> {
    deed: Deed,
    at: i64,
    by: &'a str,
}

impl<'a> Noted<'a> {
    pub(super) fn new(
        deed: Deed,
        at: pq_x509::pki_types::UnixTime,
        by: &'a str,
    ) -> Result<Self, Failure> {
        let at = seconds(at)?;
        Ok(Self { deed, at, by })
    }
}

/// What an event says that a program of the first version wrote.
fn of_first_version(row: &Row) -> Result<Deed, Failure> {
    let number = || serial_number(column(row, 3)?);
    let (at, by) = (time(column(row, 4)?)?, unescaped(column(row, 6)?)?);
    Ok(match column(row, 2)? {
        "revoked" => Deed::Revoked(vec![(revocation(row, 4)?, vec![number()?])]),
        "reinstated" => Deed::Reinstated {
            number: number()?,
            at,
            by,
        },
        "confirmed" => Deed::TimeConfirmed { at, by },
        _ => return Err(Failure::damaged("an event that there is not")),
    })
}
