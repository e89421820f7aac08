//! Whether the files of a CA's folder are of one CA.

use alloc::collections::BTreeSet;
use core::ops::ControlFlow;

use pq_x509::certificate::{Certificate, SignatureError};
use pq_x509::issuing::IssueError;
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::ext::pkix::AuthorityKeyIdentifier;

use super::{FolderError, Role};
use crate::authority::{CA_PROFILE, is_adopted};
use crate::ledger::{Entry, Filter, Generation, KeyHash, Ledger, LedgerError, SerialNumber};

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
/// its own that the root issued, or with the generations, once there are some. `key` is the first key, if that is known; it
/// is asked for only if there are several certificates.
pub(super) fn has_issuing(
    ledger: &impl Ledger,
    issuing: &Certificate,
    key: impl FnOnce() -> Result<Option<SubjectPublicKeyInfoDer<'static>>, FolderError>,
) -> Result<bool, FolderError> {
    let generations = ledger.generations()?;
    if let Some(first) = generations
        .iter()
        .find(|one| one.name == Role::Issuing.name())
    {
        return Ok(first.certificate() == Some(issuing.der()));
    }
    let Ok(number) = SerialNumber::of(issuing) else {
        return Ok(false);
    };
    let kept = ledger.certificate(&number)?;
    if kept.is_none_or(|kept| kept != *issuing.der()) {
        return Ok(false);
    }
    let own = own_keys(ledger, &generations)?;
    let is_it = |entry: &Entry| entry.issued.serial_number == number;
    Ok(match own.len() {
        1 => own.iter().any(is_it),
        _ => first_among(own, key()?.as_ref())?.iter().any(is_it),
    })
}

/// The entries of certificates for the CA's own issuing keys, without those of which it is recorded that they followed the
/// first one. The root certifies other CAs, too.
fn own_keys(ledger: &impl Ledger, generations: &[Generation]) -> Result<Vec<Entry>, LedgerError> {
    let mut found = Vec::new();
    let followed = numbers_of_next(generations);
    let own = Filter::all()
        .issuer(Role::Root.name())
        .profiles([CA_PROFILE]);
    ledger.find(&own, &mut |entry| {
        if !followed.contains(&entry.issued.serial_number) {
            found.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Those among the certificates of own keys that may be that of the first one. It was in the ledger from the beginning, and
/// later ones come there without their generations only if they are adopted. If that leaves several, it is the one for
/// this key, if the key is known and has one.
fn first_among(
    mut own: Vec<Entry>,
    key: Option<&SubjectPublicKeyInfoDer<'_>>,
) -> Result<Vec<Entry>, FolderError> {
    if !own.iter().all(|one| is_adopted(&one.issued)) {
        own.retain(|one| !is_adopted(&one.issued));
    }
    if own.len() > 1
        && let Some(key) = key
    {
        let key = KeyHash::of(key).map_err(IssueError::SubjectKey)?;
        if own.iter().any(|one| one.issued.key == key) {
            own.retain(|one| one.issued.key == key);
        }
    }
    Ok(own)
}

/// The numbers of the issuing certificates by this root that the ledger has and that may be that of the first key, whose
/// public half is `key` if it is known. Of one key there is the newest, or a valid one.
pub(super) fn issuing_by(
    ledger: &impl Ledger,
    root: &Certificate,
    key: Option<&SubjectPublicKeyInfoDer<'_>>,
) -> Result<Vec<SerialNumber>, FolderError> {
    let mut own = Vec::new();
    for entry in own_keys(ledger, &ledger.generations()?)? {
        if is_of_root(ledger, root, &entry.issued.serial_number)? {
            own.push(entry);
        }
    }
    let mut first = first_among(own, key)?;
    first.sort_by_key(|entry| (entry.revocation().is_none(), entry.issued.at));
    let mut keys = BTreeSet::new();
    let newest = first.iter().rev();
    let newest = newest.filter(|entry| keys.insert(entry.issued.key));
    Ok(newest.map(|entry| entry.issued.serial_number).collect())
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
    let kept = ledger.certificate(number)?;
    let certificate = kept.and_then(|kept| Certificate::from_der(&kept).ok());
    Ok(certificate.is_some_and(|certificate| is_issued_by(root, &certificate)))
}
