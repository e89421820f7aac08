//! Nonces (RFC 8555, section 6.5) that replicas share without a table: each says when it was made, and has a MAC by a key
//! that all of them have. Each process keeps in memory, bounded, which it saw. Where that is full, the oldest time that is
//! accepted moves forward, so that nothing is forgotten which would still be accepted.
//!
//! What is sent again to *another* replica is good there once more. Therefore an order and an account keep the digest of
//! their nonce, by which a second one is refused, and whatever changes an account has to have a later nonce than the change
//! before.
//!
//! It uses [`objects`](crate::objects).

use alloc::collections::BTreeSet;
use core::fmt;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use pq_jose::encoding::base64url;
use pq_keys::random;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::objects::Time;

/// Makes nonces, and takes each once.
pub struct Nonces {
    key: [u8; 32],
    lifetime: Duration,
    capacity: usize,
    seen: Mutex<Seen>,
}

/// A nonce that was good.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Nonce {
    /// When it was made.
    pub made: Time,
    /// What stands for it.
    pub digest: NonceDigest,
}

/// What stands for a nonce in what was made by it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NonceDigest(pub [u8; 16]);

/// A nonce is not good: it was used, is too old, or is no nonce at all.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("the nonce is not good, or no longer: try again with the one of this answer")]
pub struct BadNonce;

/// Time and random part.
type Body = [u8; BODY_LEN];

#[derive(Default)]
struct Seen {
    /// In the order of their times.
    bodies: BTreeSet<Body>,
    /// What was made before is refused.
    floor: u64,
}

impl Nonces {
    /// With this key, which replicas share.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            key,
            lifetime: Duration::from_secs(3600),
            capacity: 1 << 18,
            seen: Mutex::default(),
        }
    }

    /// With another lifetime than an hour.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Keeps at most this many that were used. Each takes some 40 bytes of memory.
    #[must_use]
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            ..self
        }
    }

    /// A new nonce.
    ///
    /// # Errors
    ///
    /// If the operating system has no randomness.
    pub fn make(&self, now: Time) -> Result<String, random::RandomnessError> {
        let mut nonce = [0; LEN];
        nonce[..8].copy_from_slice(&now.as_secs().to_be_bytes());
        random::fill(&mut nonce[8..BODY_LEN])?;
        let mac = self.mac(&nonce[..BODY_LEN]).finalize().into_bytes();
        nonce[BODY_LEN..].copy_from_slice(&mac[..MAC_LEN]);
        Ok(base64url::encode(&nonce))
    }

    /// Checks a nonce without using it.
    ///
    /// # Errors
    ///
    /// [`BadNonce`].
    pub fn check(&self, nonce: &str, now: Time) -> Result<Nonce, BadNonce> {
        let (nonce, body) = self.read(nonce, now)?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match nonce.made.as_secs() < seen.floor || seen.bodies.contains(&body) {
            true => Err(BadNonce),
            false => Ok(nonce),
        }
    }

    /// Uses a nonce: it is good once.
    ///
    /// # Errors
    ///
    /// [`BadNonce`].
    pub fn take(&self, nonce: &str, now: Time) -> Result<Nonce, BadNonce> {
        let (nonce, body) = self.read(nonce, now)?;
        let oldest = now.as_secs().saturating_sub(self.lifetime.as_secs());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if nonce.made.as_secs() < seen.floor || !seen.bodies.insert(body) {
            return Err(BadNonce);
        }
        while let Some(first) = seen.bodies.first() {
            let made = made(first);
            if made >= oldest && seen.bodies.len() <= self.capacity {
                break;
            }
            // Whatever else was made then goes as well.
            seen.floor = seen.floor.max(made.saturating_add(1));
            let floor = seen.floor;
            let mut first_kept = [0; BODY_LEN];
            first_kept[..8].copy_from_slice(&floor.to_be_bytes());
            seen.bodies = seen.bodies.split_off(&first_kept);
        }
        Ok(nonce)
    }

    fn read(&self, text: &str, now: Time) -> Result<(Nonce, Body), BadNonce> {
        let nonce = base64url::decode(text).map_err(|_| BadNonce)?;
        let nonce: [u8; LEN] = nonce.try_into().map_err(|_| BadNonce)?;
        let (body, mac) = nonce.split_at(BODY_LEN);
        self.mac(body)
            .verify_truncated_left(mac)
            .map_err(|_| BadNonce)?;
        let body = Body::try_from(body).map_err(|_| BadNonce)?;
        let made = made(&body);
        let now = now.as_secs();
        let is_current = made.saturating_add(self.lifetime.as_secs()) >= now
            && made <= now.saturating_add(MAX_SKEW);
        let digest = Sha256::digest(body);
        let digest = NonceDigest(core::array::from_fn(|n| digest[n]));
        let nonce = Nonce {
            made: Time::from_secs(made),
            digest,
        };
        is_current.then_some((nonce, body)).ok_or(BadNonce)
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.key);
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(b"ACME nonce");
        mac.update(body);
        mac
    }
}

fn made(body: &Body) -> u64 {
    let (time, _) = body.split_first_chunk().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*time)
}

/// Time and 16 random bytes.
const BODY_LEN: usize = 24;
const MAC_LEN: usize = 16;
const LEN: usize = BODY_LEN + MAC_LEN;

/// How many seconds the clock of another replica may be ahead.
pub(crate) const MAX_SKEW: u64 = 60;

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nonces")
            .field("lifetime", &self.lifetime)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_secs(1_000_000 + seconds)
    }

    #[test]
    fn a_nonce_is_good_once_and_for_its_time() {
        let nonces = Nonces::new([7; 32]).with_lifetime(Duration::from_secs(100));
        let replica = Nonces::new([7; 32]);
        let other = Nonces::new([8; 32]);
        let nonce = nonces.make(at(0)).unwrap();
        assert_eq!(other.take(&nonce, at(0)), Err(BadNonce));
        let found = nonces.take(&nonce, at(100)).unwrap();
        assert_eq!(found.made, at(0));
        assert_eq!(nonces.check(&nonce, at(100)), Err(BadNonce));
        assert_eq!(nonces.take(&nonce, at(100)), Err(BadNonce));
        // The other replica knows it by its digest alone.
        assert_eq!(replica.take(&nonce, at(1)), Ok(found));
        let late = nonces.make(at(0)).unwrap();
        assert!(nonces.check(&late, at(100)).is_ok());
        assert_eq!(nonces.take(&late, at(101)), Err(BadNonce));
        let early = nonces.make(at(161)).unwrap();
        assert_eq!(nonces.take(&early, at(100)), Err(BadNonce));
        assert!(nonces.take(&early, at(101)).is_ok());
        for bad in ["", "AAAA", &format!("{late}="), &late[1..], "ä"] {
            assert_eq!(nonces.take(bad, at(0)), Err(BadNonce));
        }
        for place in 0..late.len() {
            let mut changed = late.clone().into_bytes();
            changed[place] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(nonces.take(&changed, at(0)), Err(BadNonce));
        }
    }

    #[test]
    fn what_is_forgotten_is_not_accepted_again() {
        let nonces = Nonces::new([7; 32]).with_capacity(10);
        let mut used = Vec::new();
        for second in 0..40 {
            for _ in 0..3 {
                let nonce = nonces.make(at(second)).unwrap();
                assert!(nonces.take(&nonce, at(second)).is_ok());
                used.push(nonce);
            }
            assert!(nonces.seen.lock().unwrap().bodies.len() <= 10);
        }
        for nonce in used {
            assert_eq!(nonces.take(&nonce, at(40)), Err(BadNonce));
        }
    }
}
