//! A store in this process, beside the same key without it.

use core::error::Error;
use core::hint::black_box;

use pq_keys::signing::{Unverified, verify_batch};

use super::fixture::{Key, MESSAGES, Signed, Stored, messages};
use crate::schemes::inputs::INPUTS;
use crate::timing::Passes;

/// The rows of a table, each with the name of who does it.
pub(super) type Named = Vec<(&'static str, Passes<'static>)>;

/// The row of the same key without a store.
pub(super) const WITHOUT: &str = "pq-keys";

/// How many verifications a call has.
const BATCH: usize = 32;

/// A key and two stores that have it.
struct Kept {
    key: Key,
    stores: [(&'static str, Stored); 2],
}

impl Kept {
    fn new() -> Result<Self, Box<dyn Error>> {
        let key = Key::generate()?;
        let stores = [
            ("pq-keystore/memory", Stored::in_memory(&key)?),
            ("pq-keystore/redb", Stored::in_redb(&key)?),
        ];
        Ok(Self { key, stores })
    }

    /// A row of the key alone and one of each store, with passes of this number of operations.
    fn rows(
        self,
        operations: usize,
        without: impl Fn(&Key) + 'static,
        with: impl Fn(&Stored) + Clone + 'static,
    ) -> Named {
        let Self { key, stores } = self;
        let mut rows = vec![(WITHOUT, Passes::new(operations, move || without(&key)))];
        rows.extend(stores.into_iter().map(|(name, stored)| {
            let with = with.clone();
            (name, Passes::new(operations, move || with(&stored)))
        }));
        rows
    }
}

pub(super) fn signing() -> Result<Named, Box<dyn Error>> {
    let (ours, stores) = (messages(), messages());
    Ok(Kept::new()?.rows(
        MESSAGES,
        move |key| ours.iter().for_each(|message| key.sign(message)),
        move |stored| stores.iter().for_each(|message| stored.sign(message)),
    ))
}

pub(super) fn verification() -> Result<Named, Box<dyn Error>> {
    let kept = Kept::new()?;
    let (ours, stores) = (kept.key.signed(INPUTS)?, kept.key.signed(INPUTS)?);
    Ok(kept.rows(
        INPUTS,
        move |key| {
            for (message, signature) in &ours {
                let verified = key
                    .verifying
                    .verify(black_box(message), black_box(signature));
                black_box(verified).expect("a valid signature");
            }
        },
        move |stored| stores.iter().for_each(|signed| stored.verify(signed)),
    ))
}

pub(super) fn batches() -> Result<Named, Box<dyn Error>> {
    let kept = Kept::new()?;
    let (ours, stores) = (kept.key.signed(BATCH)?, kept.key.signed(BATCH)?);
    Ok(kept.rows(
        BATCH,
        move |key| {
            for verified in verify_batch(&unverified(key, &ours)) {
                black_box(verified).expect("a valid signature");
            }
        },
        move |stored| stored.verify_batch(&stores),
    ))
}

fn unverified<'a>(key: &'a Key, signed: &'a [Signed]) -> Vec<Unverified<'a>> {
    let item = |(message, signature): &'a Signed| Unverified {
        key: &key.verifying,
        message,
        context: &[],
        signature,
    };
    black_box(signed).iter().map(item).collect()
}
