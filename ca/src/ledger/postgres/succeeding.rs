//! The generations of the issuing key, as they follow one another.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;

use super::auditing::Noted;
use super::changing::Worker;
use super::conditions::Owned;
use super::locks::Hold;
use super::recording::locks_to_record;
use super::rows::seconds;
use super::session::{Session, Stop};
use super::text::escaped;
use crate::ledger::audit::Deed;
use crate::ledger::entry::NewEntry;
use crate::ledger::error::LedgerError;
use crate::ledger::generation::Generation;

impl Worker {
    pub(super) async fn change_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'static>],
        conditions: &[Owned],
    ) -> Result<(), LedgerError> {
        let mut locks = locks_to_record(entries, conditions);
        locks.generations(Hold::Alone);
        self.change(async |session| {
            session.lock(&locks).await?;
            session.check(conditions).await?;
            if session.generations().await? != before {
                return Err(LedgerError::GenerationsChanged.into());
            }
            Generation::check_change(before, after)?;
            session.record(entries).await?;
            session.set_generations(after).await?;
            let last = after.iter().max_by_key(|one| one.since);
            let Some(Generation { since, by, .. }) = last else {
                return Ok(());
            };
            let deed = Deed::Succeeded(Vec::new(), after.to_vec());
            Ok(session.note(&Noted::new(deed, *since, by)?).await?)
        })
        .await
    }
}

impl Session<'_> {
    pub(super) async fn set_generations(&self, generations: &[Generation]) -> Result<(), Stop> {
        self.query("DELETE FROM @.generations", &[]).await?;
        for (place, generation) in generations.iter().enumerate() {
            let place = i32::try_from(place).map_err(|_| Failure::Limit("generations"))?;
            let chain: Vec<&[u8]> = generation.chain.iter().map(|one| &**one).collect();
            let stage = i16::from(generation.stage.number());
            self.query(
                "INSERT INTO @.generations (place, name, chain, stage, since, brought_about_by) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
                &[
                    (&place, Type::INT4),
                    (&escaped(&generation.name), Type::TEXT),
                    (&chain, Type::BYTEA_ARRAY),
                    (&stage, Type::INT2),
                    (&seconds(generation.since)?, Type::INT8),
                    (&escaped(&generation.by), Type::TEXT),
                ],
            )
            .await?;
        }
        Ok(())
    }
}
