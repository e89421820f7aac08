//! Whether the files of a CA's folder are of one CA.

use core::ops::ControlFlow;

use pq_x509::certificate::{Certificate, SignatureError};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::ext::pkix::AuthorityKeyIdentifier;

use super::Role;
use crate::authority::{CA_PROFILE, public_key};
use crate::ledger::{Filter, Generation, Issued, Ledger, LedgerError, SerialNumber};

/// Whether the root issued a certificate.
pub(super) fn is_issued_by(root: &Certificate, certificate: &Certificate) -> bool {
    let is_signed = match certificate.verify_signature(root, &[]) {
        Ok(()) => true,
        // a key that only the program can use
        Err(SignatureError::UnsupportedAlgorithm(_)) => names_key_of(root, certificate),
        Err(_) => false,
    };
    is_signed && certificate.issuer() == root.subject()
}

fn names_key_of(root: &Certificate, certificate: &Certificate) -> bool {
    let named = certificate.parsed().tbs_certificate().get_extension();
    let named: Option<(bool, AuthorityKeyIdentifier)> = named.ok().flatten();
    let named = named.and_then(|(_, named)| named.key_identifier);
    named.is_some_and(|named| root.subject_key_id() == Some(named.as_bytes()))
}

/// Whether a chain is signed from one certificate to the next, and the last one by the root.
pub(super) fn leads_to(root: &Certificate, chain: &[Certificate]) -> bool {
    let above = chain.iter().skip(1).chain([root]);
    !chain.is_empty()
        && chain
            .iter()
            .zip(above)
            .all(|(one, above)| is_issued_by(above, one))
}

/// Whether the ledger has this issuing certificate as that of the first key, as it does since the CA was made: as one of
/// its own that the root issued, or with the generations, once there are some.
pub(super) fn has_issuing(
    ledger: &impl Ledger,
    issuing: &Certificate,
) -> Result<bool, LedgerError> {
    let mut generations = ledger.generations()?.into_iter();
    if let Some(first) = generations.find(|one| one.name == Role::Issuing.name()) {
        return Ok(first.certificate() == Some(issuing.der()));
    }
    let Ok(number) = SerialNumber::of(issuing) else {
        return Ok(false);
    };
    let entry = ledger.entry(&number)?;
    let is_own = entry.is_some_and(|entry| is_issuing_key(&entry.issued));
    let kept = ledger.certificate(&number)?;
    Ok(is_own && kept.is_some_and(|kept| kept == *issuing.der()))
}

/// Whether a certificate is for one of the CA's own issuing keys: the root certifies other CAs, too.
fn is_issuing_key(issued: &Issued) -> bool {
    issued.issuer == Role::Root.name() && issued.profile == CA_PROFILE
}

/// The number of the issuing certificate that the ledger has by this root: of several, the one for this key, if the key is
/// known and has one; otherwise all of them, first the one that was issued last, and those that are revoked last.
pub(super) fn issuing_by(
    ledger: &impl Ledger,
    root: &Certificate,
    key: Option<&SubjectPublicKeyInfoDer<'_>>,
) -> Result<Vec<SerialNumber>, LedgerError> {
    let mut found = Vec::new();
    let followed = numbers_of_next(&ledger.generations()?);
    ledger.find(&Filter::all(), &mut |entry| {
        if is_issuing_key(&entry.issued) && !followed.contains(&entry.issued.serial_number) {
            found.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    found.sort_by_key(|entry| (entry.revocation().is_none(), entry.issued.at));
    let is_for = |certificate: &Certificate| {
        key.is_some_and(|key| public_key(certificate).is_ok_and(|own| own == *key))
    };
    let mut all = Vec::new();
    for entry in found.iter().rev() {
        let number = entry.issued.serial_number;
        match of_root(ledger, root, &number)? {
            Some(certificate) if is_for(&certificate) => return Ok(vec![number]),
            Some(_) => all.push(number),
            None => {}
        }
    }
    Ok(all)
}

/// The numbers of the certificates of keys that followed the first one.
fn numbers_of_next(generations: &[Generation]) -> Vec<SerialNumber> {
    let next = generations
        .iter()
        .filter(|one| one.name != Role::Issuing.name());
    let certificates = next.filter_map(|one| Certificate::from_der(one.certificate()?).ok());
    certificates
        .filter_map(|one| SerialNumber::of(&one).ok())
        .collect()
}

/// Whether a ledger can be that of a root: it is empty, or has certificates by the root, of which one is checked.
pub(super) fn can_be_of_root(
    ledger: &impl Ledger,
    root: &Certificate,
) -> Result<bool, LedgerError> {
    let (mut is_empty, mut issued) = (true, None);
    ledger.find(&Filter::all(), &mut |entry| {
        is_empty = false;
        if entry.issued.issuer != Role::Root.name() {
            return ControlFlow::Continue(());
        }
        issued = Some(entry.issued.serial_number);
        ControlFlow::Break(())
    })?;
    let Some(number) = issued else {
        return Ok(is_empty);
    };
    is_of_root(ledger, root, &number)
}

/// Whether the ledger has a certificate of this number that the root issued.
fn is_of_root(
    ledger: &impl Ledger,
    root: &Certificate,
    number: &SerialNumber,
) -> Result<bool, LedgerError> {
    Ok(of_root(ledger, root, number)?.is_some())
}

/// The certificate of this number, if the root issued it.
fn of_root(
    ledger: &impl Ledger,
    root: &Certificate,
    number: &SerialNumber,
) -> Result<Option<Certificate>, LedgerError> {
    let kept = ledger.certificate(number)?;
    let certificate = kept.and_then(|kept| Certificate::from_der(&kept).ok());
    Ok(certificate.filter(|certificate| is_issued_by(root, certificate)))
}
