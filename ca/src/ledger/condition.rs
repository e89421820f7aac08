//! What has to hold for a change of a ledger.

use alloc::collections::BTreeSet;

use pq_x509::revocation::CrlReason;

use super::KeyHash;
use super::entry::{Entry, Revocation};
use super::error::LedgerError;
use super::filter::Filter;
use super::generation::Generation;
use super::serial_number::SerialNumber;
use super::stage::Stage;

/// What has to hold for a change, so that a ledger checks and changes in one step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Condition<'a> {
    /// The certificate with this number was signed by the key with this name. Otherwise the change fails with
    /// [`LedgerError::AnotherIssuers`](super::LedgerError::AnotherIssuers).
    IssuedBy(&'a SerialNumber, &'a str),
    /// The certificate with this number is neither revoked nor on hold. Otherwise the change fails with
    /// [`LedgerError::Revoked`](super::LedgerError::Revoked).
    NotRevoked(&'a SerialNumber),
    /// The certificate with this number, that of the CA which issues, is neither revoked nor on hold, as far as this
    /// ledger knows: it need not have the certificate. Otherwise the change fails with
    /// [`LedgerError::IssuerRevoked`](super::LedgerError::IssuerRevoked).
    IssuerNotRevoked(&'a SerialNumber),
    /// No certificate for this key, that of the CA which issues, was revoked for a
    /// [compromise](Revocation::is_compromise): of its certificates, another than the one in use may be revoked.
    /// Otherwise the change fails with [`LedgerError::IssuerRevoked`](super::LedgerError::IssuerRevoked).
    IssuerKeyNotCompromised(&'a KeyHash),
    /// The key with this name is the one that issues, as far as this ledger knows: it need not have the key among its
    /// [generations](super::Ledger::generations). Otherwise the change fails with
    /// [`LedgerError::NotIssuing`](super::LedgerError::NotIssuing).
    Issues(&'a str),
    /// The certificates that match this filter have these numbers, and no other ones: nobody recorded one since somebody
    /// looked. Otherwise the change fails with
    /// [`LedgerError::RecordedMeanwhile`](super::LedgerError::RecordedMeanwhile).
    NoOthers(&'a Filter, &'a BTreeSet<SerialNumber>),
}

impl Condition<'_> {
    /// Checks the condition. `find` looks an entry up in the ledger, `compromised` a revoked certificate by its
    /// key, like [`Ledger::compromised`](super::Ledger::compromised), `generations` are the ledger's, and `matching` has the
    /// numbers of all certificates that match a filter.
    ///
    /// # Errors
    ///
    /// The error of the condition if it doesn't hold, [`LedgerError::Unknown`] if there is no entry, and the errors of
    /// the functions.
    pub fn check(
        &self,
        find: impl FnOnce(&SerialNumber) -> Result<Option<Entry>, LedgerError>,
        compromised: impl FnOnce(&KeyHash) -> Result<Option<SerialNumber>, LedgerError>,
        generations: impl FnOnce() -> Result<Vec<Generation>, LedgerError>,
        matching: impl FnOnce(&Filter) -> Result<Vec<SerialNumber>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let number = match *self {
            Self::Issues(name) => return check_issues(name, &generations()?),
            Self::NoOthers(filter, known) => {
                return match matching(filter)?.iter().all(|one| known.contains(one)) {
                    true => Ok(()),
                    false => Err(LedgerError::RecordedMeanwhile),
                };
            }
            Self::IssuedBy(number, _)
            | Self::NotRevoked(number)
            | Self::IssuerNotRevoked(number) => *number,
            Self::IssuerKeyNotCompromised(key) => match compromised(key)? {
                Some(number) => number,
                None => return Ok(()),
            },
        };
        let entry = match (find(&number)?, self) {
            (Some(entry), _) => entry,
            // A root's certificate is in no ledger, and another CA's in that CA's.
            (None, Self::IssuerNotRevoked(_)) => return Ok(()),
            (None, _) => return Err(LedgerError::Unknown(number)),
        };
        match (self, entry.revocation()) {
            (Self::IssuedBy(_, asked), _) if entry.issued.issuer != *asked => {
                Err(LedgerError::AnotherIssuers {
                    number,
                    issuer: entry.issued.issuer,
                    asked: (*asked).into(),
                })
            }
            (Self::NotRevoked(_), Some(&Revocation { reason, .. })) => {
                Err(LedgerError::Revoked { number, reason })
            }
            (Self::IssuerNotRevoked(_), Some(&Revocation { reason, .. })) => {
                Err(LedgerError::IssuerRevoked { number, reason })
            }
            (Self::IssuerKeyNotCompromised(_), revocation) => {
                let reason = revocation.map_or(CrlReason::KeyCompromise, |one| one.reason);
                Err(LedgerError::IssuerRevoked { number, reason })
            }
            _ => Ok(()),
        }
    }
}

fn check_issues(name: &str, generations: &[Generation]) -> Result<(), LedgerError> {
    match generations.iter().find(|one| one.name == name) {
        Some(one) if one.stage != Stage::Issuing => Err(LedgerError::NotIssuing {
            name: name.into(),
            stage: one.stage,
        }),
        _ => Ok(()),
    }
}
