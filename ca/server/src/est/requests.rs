//! Which certificate a request gets that is sent again: the one that it got before, for a time.

use core::time::Duration;

use pq_ca::authority::AuthorityError;
use pq_ca::ledger::{Entry, RequestId};
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

use super::identity::Identity;
use crate::keys::CaKey;

/// For how long a request that is the same gets the same certificate. Clients that got no answer ask again within hours.
const SAME_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The digest of a request: who asks, for what, and the whole PKCS#10.
pub(super) fn digest(identity: &Identity, profile: &str, csr: &[u8]) -> [u8; 32] {
    let user = identity.user.as_deref().unwrap_or_default();
    let certificate = identity.certificate.as_ref();
    let certificate = certificate.map_or(&[][..], |known| known.certificate.der());
    let mut digest = Sha256::new_with_prefix(b"EST request\0");
    for part in [user.as_bytes(), certificate, profile.as_bytes(), csr] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// The number by which the ledger knows a request. It has one certificate for a number, so whoever asks at the same time, here
/// or at another server, gets one. Requests that are the same, and so long apart that another certificate is meant, are
/// numbered one after another.
pub(super) fn request_id(
    key: &dyn CaKey,
    digest: &[u8; 32],
    now: UnixTime,
) -> Result<RequestId, AuthorityError> {
    let find = |number: u64| key.entry_of_request(&numbered(digest, number));
    let Some(first) = find(0)? else {
        return Ok(numbered(digest, 0));
    };
    // The last one that is taken: the ledger has `low`, and not `high`.
    let (mut low, mut last, mut high) = (0, first, 1_u64);
    while let Some(entry) = find(high)? {
        (low, last) = (high, entry);
        high = high.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match find(middle)? {
            Some(entry) => (low, last) = (middle, entry),
            None => high = middle,
        }
    }
    Ok(match is_meant(&last, now) {
        true => numbered(digest, low),
        false => numbered(digest, high),
    })
}

/// Whether a request that is sent again means this certificate.
fn is_meant(entry: &Entry, now: UnixTime) -> bool {
    let age = now.as_secs().saturating_sub(entry.issued.at.as_secs());
    age < SAME_FOR.as_secs() && !entry.is_expired(now) && entry.revocation().is_none()
}

fn numbered(digest: &[u8; 32], number: u64) -> RequestId {
    let all = Sha256::new_with_prefix(digest).chain_update(number.to_be_bytes());
    RequestId::from_bytes(all.finalize().into())
}
