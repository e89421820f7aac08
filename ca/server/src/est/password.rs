//! Passwords as they are kept: by PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2).

use core::str::FromStr;

use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The fewest rounds, and the most: each attempt takes time.
const ROUNDS: core::ops::RangeInclusive<u32> = 100_000..=10_000_000;
/// How many rounds a password takes that nobody has.
const USUAL_ROUNDS: u32 = 600_000;
/// How many bytes a salt may have.
const SALT: core::ops::RangeInclusive<usize> = 16..=64;

/// A password's hash: `pbkdf2-sha256:ROUNDS:SALT:HASH`, the last two in hexadecimal digits.
#[derive(Clone)]
pub(super) struct PasswordHash {
    rounds: u32,
    salt: Vec<u8>,
    hash: [u8; 32],
}

impl PasswordHash {
    /// One that no password has, which takes as long as others do.
    pub(super) fn nobodys() -> Self {
        Self {
            rounds: USUAL_ROUNDS,
            salt: vec![0; *SALT.start()],
            hash: [0; 32],
        }
    }

    /// Whether it is of this password. How long it takes depends on the rounds alone.
    pub(super) fn is_of(&self, password: &[u8]) -> bool {
        let mut hash = [0; 32];
        pbkdf2_hmac::<Sha256>(password, &self.salt, self.rounds, &mut hash);
        hash.ct_eq(&self.hash).into()
    }
}

/// What is no hash of a password.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoPasswordHash;

impl FromStr for PasswordHash {
    type Err = NoPasswordHash;

    fn from_str(text: &str) -> Result<Self, NoPasswordHash> {
        let parts: Vec<&str> = text.split(':').collect();
        let ["pbkdf2-sha256", rounds, salt, hash] = parts[..] else {
            return Err(NoPasswordHash);
        };
        let rounds = rounds.parse().map_err(|_| NoPasswordHash)?;
        let salt = base16ct::mixed::decode_vec(salt).map_err(|_| NoPasswordHash)?;
        let hash = base16ct::mixed::decode_vec(hash).map_err(|_| NoPasswordHash)?;
        let hash = hash.try_into().map_err(|_| NoPasswordHash)?;
        match ROUNDS.contains(&rounds) && SALT.contains(&salt.len()) {
            true => Ok(Self { rounds, salt, hash }),
            false => Err(NoPasswordHash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By Python's `hashlib.pbkdf2_hmac("sha256", b"secret", bytes(range(16)), 100000)`.
    const SECRET: &str = "pbkdf2-sha256:100000:000102030405060708090a0b0c0d0e0f:9fb9dd3c8e2944366b788c7e795a5a6350d58845b2a3d21ad65f07b55181f837";

    #[test]
    fn hashes_are_those_of_python() {
        let hash: PasswordHash = SECRET.parse().unwrap();
        assert!(hash.is_of(b"secret"));
        for other in [&b"secre"[..], b"Secret", b"", b"secret\n"] {
            assert!(!hash.is_of(other));
        }
        assert!(!PasswordHash::nobodys().is_of(b""));
    }

    #[test]
    fn what_is_too_weak_or_no_hash_is_refused() {
        for (from, to) in [
            ("100000", "99999"),
            ("100000", "10000001"),
            ("100000", ""),
            ("sha256", "sha1"),
            ("000102030405060708090a0b0c0d0e0f", "00010203"),
            (":000102", ":00010"),
            ("pbkdf2", ":pbkdf2"),
        ] {
            let text = SECRET.replacen(from, to, 1);
            assert_ne!(text, SECRET);
            assert!(text.parse::<PasswordHash>().is_err(), "{text}");
        }
        assert!(SECRET[..SECRET.len() - 2].parse::<PasswordHash>().is_err());
    }
}
