//! Conditions of changes: what they are about is locked and read first, and then compared.

use alloc::collections::{BTreeMap, BTreeSet};

use super::locks::{Hold, Locks};
use super::searching::Search;
use super::session::{Session, Stop};
use crate::ledger::KeyHash;
use crate::ledger::condition::Condition;
use crate::ledger::filter::Filter;
use crate::ledger::serial_number::SerialNumber;

/// A [`Condition`] that the ledger's thread can have.
#[derive(Debug)]
pub(super) enum Owned {
    IssuedBy(SerialNumber, String),
    NotRevoked(SerialNumber),
    IssuerNotRevoked(SerialNumber),
    IssuerKeyNotCompromised(KeyHash),
    Issues(String),
    NoOthers(Box<Filter>, BTreeSet<SerialNumber>),
}

pub(super) fn owned(conditions: &[Condition<'_>]) -> Vec<Owned> {
    let owned = conditions.iter().map(|condition| match *condition {
        Condition::IssuedBy(number, name) => Owned::IssuedBy(*number, name.into()),
        Condition::NotRevoked(number) => Owned::NotRevoked(*number),
        Condition::IssuerNotRevoked(number) => Owned::IssuerNotRevoked(*number),
        Condition::IssuerKeyNotCompromised(key) => Owned::IssuerKeyNotCompromised(*key),
        Condition::Issues(name) => Owned::Issues(name.into()),
        Condition::NoOthers(filter, known) => Owned::NoOthers(filter.clone().into(), known.clone()),
    });
    owned.collect()
}

impl Owned {
    fn lent(&self) -> Condition<'_> {
        match self {
            Self::IssuedBy(number, name) => Condition::IssuedBy(number, name),
            Self::NotRevoked(number) => Condition::NotRevoked(number),
            Self::IssuerNotRevoked(number) => Condition::IssuerNotRevoked(number),
            Self::IssuerKeyNotCompromised(key) => Condition::IssuerKeyNotCompromised(key),
            Self::Issues(name) => Condition::Issues(name),
            Self::NoOthers(filter, known) => Condition::NoOthers(filter, known),
        }
    }

    /// Adds the locks on what the condition is about.
    pub(super) fn lock(&self, locks: &mut Locks) {
        match self {
            // Who issued a certificate never changes.
            Self::IssuedBy(..) => {}
            Self::NotRevoked(number) | Self::IssuerNotRevoked(number) => {
                locks.certificate(number, Hold::Shared);
            }
            Self::IssuerKeyNotCompromised(key) => locks.key(key, Hold::Shared),
            Self::Issues(_) => locks.generations(Hold::Shared),
            Self::NoOthers(..) => locks.records(Hold::Alone),
        }
    }
}

impl Session<'_> {
    /// Checks conditions, whose locks this transaction has.
    pub(super) async fn check(&self, conditions: &[Owned]) -> Result<(), Stop> {
        if conditions.is_empty() {
            return Ok(());
        }
        let mut numbers = Vec::new();
        let mut keys = Vec::new();
        for condition in conditions {
            match condition {
                Owned::IssuedBy(number, _)
                | Owned::NotRevoked(number)
                | Owned::IssuerNotRevoked(number) => numbers.push(*number),
                Owned::IssuerKeyNotCompromised(key) => keys.push(*key),
                Owned::Issues(_) | Owned::NoOthers(..) => {}
            }
        }
        let compromised = match keys.is_empty() {
            true => BTreeMap::new(),
            false => self.compromised(&keys).await?,
        };
        numbers.extend(compromised.values());
        let entries = match numbers.is_empty() {
            true => BTreeMap::new(),
            false => self.entries(&numbers).await?,
        };
        for condition in conditions {
            let generations = match condition {
                Owned::Issues(_) => self.generations().await?,
                _ => Vec::new(),
            };
            let matching = match condition {
                Owned::NoOthers(filter, _) => self.matching(filter).await?,
                _ => Vec::new(),
            };
            condition.lent().check(
                |number| Ok(entries.get(number).cloned()),
                |key| Ok(compromised.get(key).copied()),
                || Ok(generations),
                |_| Ok(matching),
            )?;
        }
        Ok(())
    }

    /// The numbers of all certificates that match a filter.
    async fn matching(&self, filter: &Filter) -> Result<Vec<SerialNumber>, Stop> {
        let mut search = Search::new(filter);
        let mut numbers = Vec::new();
        while let Some(entries) = self.look_on(&mut search).await? {
            numbers.extend(entries.iter().map(|entry| entry.issued.serial_number));
        }
        Ok(numbers)
    }
}
