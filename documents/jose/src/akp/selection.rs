//! Finds the key that verifies a signature among several, for JWS and COSE. What a header claims can only exclude keys.

use super::algorithm::Algorithm;
use super::key::PublicKey;

/// A public key that may have an identifier.
pub(crate) trait Identified {
    type Kid: PartialEq + ?Sized;

    fn kid(&self) -> Option<&Self::Kid>;

    fn public(&self) -> &PublicKey;
}

/// Why none of some keys verifies a signature.
#[derive(Debug)]
pub(crate) enum NoKey {
    /// There are no keys.
    None,
    /// No key has the requested identifier.
    OtherKid,
    /// The candidate keys have these algorithms, and the signature claims another one.
    OtherAlgorithm(Vec<Algorithm>),
    /// The signature is not valid.
    Invalid,
}

/// The key that a signature is valid under. The claimed key identifier and the claimed algorithm (`None` if it is
/// unknown) can only exclude keys: each key verifies with its own algorithm.
pub(crate) fn verify<'k, K: Identified>(
    keys: &'k [K],
    kid: Option<&K::Kid>,
    algorithm: Option<Algorithm>,
    message: &[u8],
    signature: &[u8],
) -> Result<&'k K, NoKey> {
    if keys.is_empty() {
        return Err(NoKey::None);
    }
    let mut others = Vec::new();
    let mut is_tried = false;
    for key in keys {
        if let (Some(kid), Some(of_key)) = (kid, key.kid())
            && kid != of_key
        {
            continue;
        }
        let of_key = key.public().algorithm();
        if Some(of_key) != algorithm {
            if !others.contains(&of_key) {
                others.push(of_key);
            }
            continue;
        }
        is_tried = true;
        if key.public().key().verify(message, signature).is_ok() {
            return Ok(key);
        }
    }
    Err(match (is_tried, others.is_empty()) {
        (true, _) => NoKey::Invalid,
        (false, true) => NoKey::OtherKid,
        (false, false) => NoKey::OtherAlgorithm(others),
    })
}
