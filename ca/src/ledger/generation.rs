//! The generations of a CA's issuing key: which keys it has, had or will have, and which of them issues.

use alloc::collections::BTreeSet;

use pq_x509::pki_types::{CertificateDer, UnixTime};

use super::error::LedgerError;
use super::stage::Stage;

/// An issuing key of the CA. Certificates name the key that signed them ([`Issued::issuer`](super::Issued::issuer)); this
/// says which certificate that key has, and with it the issuer's name and key identifier.
///
/// Each generation has revocation lists of its own, and OCSP responses about its certificates are signed by its key or
/// by a responder that it certified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Generation {
    /// The key's name in the ledger, such as `issuing-2`.
    pub name: String,
    /// The key's certificate, and those above it without the root's.
    pub chain: Vec<CertificateDer<'static>>,
    /// What the key is used for.
    pub stage: Stage,
    /// Since when.
    pub since: UnixTime,
    /// Who brought it about.
    pub by: String,
}

impl Generation {
    /// The key's certificate.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }

    /// Checks what [`Ledger::change_generations`](super::Ledger::change_generations) asks of a change from one list of
    /// generations to another.
    ///
    /// # Errors
    ///
    /// [`LedgerError::NoSuccession`] if a generation is lost or changed, if one that was used is only published again, if
    /// two have the same name, if one has no certificate, or if several issue. One that was retired may issue again.
    pub fn check_change(before: &[Self], after: &[Self]) -> Result<(), LedgerError> {
        let refuse = |what| Err(LedgerError::NoSuccession(what));
        for (place, old) in before.iter().enumerate() {
            match after.get(place) {
                Some(new) if (&new.name, &new.chain) != (&old.name, &old.chain) => {
                    return refuse("a key was replaced by another");
                }
                Some(new) if new.stage == Stage::Published && old.stage != Stage::Published => {
                    return refuse("a key that was used is only published");
                }
                Some(_) => {}
                None => return refuse("a key is missing"),
            }
        }
        let names: BTreeSet<_> = after.iter().map(|one| &one.name).collect();
        if names.len() != after.len() {
            return refuse("two keys have one name");
        }
        if after.iter().any(|one| one.chain.is_empty()) {
            return refuse("a key has no certificate");
        }
        let issuing = after.iter().filter(|one| one.stage == Stage::Issuing);
        match issuing.count() {
            0 | 1 => Ok(()),
            _ => refuse("several keys issue"),
        }
    }
}
