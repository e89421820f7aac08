//! External account binding (RFC 8555, section 7.3.4): whoever makes an account proves by a shared key that it belongs to
//! one which the CA knows already.

use hmac::{Hmac, KeyInit, Mac};
use pq_jose::any::{AnyJwk, Flattened, write_flattened_with};
use pq_jose::encoding::json::{self, Object, present};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Sha256, Sha384, Sha512};

use crate::problem::Problem;

/// The algorithm of the proof (RFC 7518, section 3.2).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MacAlgorithm {
    /// HMAC with SHA-256, the only one that some clients have.
    #[default]
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
}

impl MacAlgorithm {
    /// All algorithms.
    pub const ALL: &'static [Self] = &[Self::Hs256, Self::Hs384, Self::Hs512];

    /// Its name, as a header has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
        }
    }

    fn mac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        match self {
            Self::Hs256 => {
                mac::<Hmac<Sha256>>(key, message).map(|mac| mac.finalize().into_bytes().to_vec())
            }
            Self::Hs384 => {
                mac::<Hmac<Sha384>>(key, message).map(|mac| mac.finalize().into_bytes().to_vec())
            }
            Self::Hs512 => {
                mac::<Hmac<Sha512>>(key, message).map(|mac| mac.finalize().into_bytes().to_vec())
            }
        }
        .unwrap_or_default()
    }

    /// Compares in constant time.
    fn is_mac(self, key: &[u8], message: &[u8], found: &[u8]) -> bool {
        match self {
            Self::Hs256 => {
                mac::<Hmac<Sha256>>(key, message).is_some_and(|mac| mac.verify_slice(found).is_ok())
            }
            Self::Hs384 => {
                mac::<Hmac<Sha384>>(key, message).is_some_and(|mac| mac.verify_slice(found).is_ok())
            }
            Self::Hs512 => {
                mac::<Hmac<Sha512>>(key, message).is_some_and(|mac| mac.verify_slice(found).is_ok())
            }
        }
    }
}

/// HMAC takes keys of any length.
fn mac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Option<M> {
    let mut mac = <M as KeyInit>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac)
}

/// Makes the proof: the member `externalAccountBinding` of a request for an account at this URL (`newAccount`).
pub fn write(
    kid: &str,
    mac_key: &[u8],
    algorithm: MacAlgorithm,
    url: &str,
    account_key: &AnyJwk,
) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let header = format!(
        r#"{{"alg":"{}","kid":{},"url":{}}}"#,
        algorithm.name(),
        text(kid),
        text(url)
    );
    let payload = account_key.to_json();
    let written = write_flattened_with(header.as_bytes(), payload.as_bytes(), |message| {
        Ok::<_, core::convert::Infallible>(algorithm.mac(mac_key, message))
    });
    match written {
        Ok(written) => written,
        Err(never) => match never {},
    }
}

/// A proof that was read and not checked yet.
#[derive(Debug)]
pub struct ExternalAccount<'a> {
    kid: String,
    algorithm: MacAlgorithm,
    signature: Flattened<'a>,
}

#[derive(Deserialize)]
struct Members {
    #[serde(default, deserialize_with = "present")]
    alg: Option<String>,
    #[serde(default, deserialize_with = "present")]
    kid: Option<String>,
    #[serde(default, deserialize_with = "present")]
    url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    nonce: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    jwk: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    crit: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    b64: Option<IgnoredAny>,
}

impl<'a> ExternalAccount<'a> {
    /// Reads the member of a request at this URL, by this account key.
    ///
    /// # Errors
    ///
    /// [`Malformed`](crate::problem::ProblemType::Malformed), if it is no proof, or one for another URL or key.
    pub fn read(member: &'a [u8], url: &str, account_key: &AnyJwk) -> Result<Self, Problem> {
        let refuse = |why: &str| {
            Problem::malformed(format!(
                "the member \"externalAccountBinding\" {why} (RFC 8555 section 7.3.4)"
            ))
        };
        let signature = Flattened::from_json(member, MAX_LEN)
            .map_err(|error| refuse(&format!("can't be read: {error}")))?;
        let Object(members): Object<Members> =
            json::read(signature.header(), MAX_LEN).map_err(|error| {
                refuse(&format!(
                    "has a protected header that can't be read: {error}"
                ))
            })?;
        let forbidden = members.nonce.is_some()
            || members.jwk.is_some()
            || members.crit.is_some()
            || members.b64.is_some();
        if forbidden {
            return Err(refuse(
                "has \"nonce\", \"jwk\", \"crit\" or \"b64\" in its header, which may not be there",
            ));
        }
        let mut all = MacAlgorithm::ALL.iter().copied();
        let algorithm = all.find(|one| Some(one.name()) == members.alg.as_deref());
        let algorithm = algorithm.ok_or_else(|| {
            refuse("has another \"alg\" in its header than HS256, HS384 or HS512")
        })?;
        if members.url.as_deref() != Some(url) {
            return Err(refuse("has another \"url\" in its header than the request"));
        }
        let kid = members
            .kid
            .ok_or_else(|| refuse("has no \"kid\" in its header"))?;
        let payload = signature
            .payload()
            .map_err(|error| refuse(&format!("can't be read: {error}")))?;
        match AnyJwk::from_json(&payload) {
            Ok(key) if key == *account_key => Ok(Self {
                kid,
                algorithm,
                signature,
            }),
            _ => Err(refuse("is not about the key that signed the request")),
        }
    }

    /// Which account it names. Nothing is proven yet.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Whether it was made by whoever has this key.
    pub fn is_by(&self, mac_key: &[u8]) -> bool {
        let message = self.signature.signed();
        self.algorithm
            .is_mac(mac_key, &message, self.signature.signature())
    }
}

/// A key of ML-DSA-87 has 3.5 KB, and in base64url 4.7 KB.
const MAX_LEN: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};

    use super::*;

    #[test]
    fn a_proof_is_of_one_key_for_one_account_at_one_url() {
        let [key, other] = [0, 1].map(|_| {
            let key = ClassicalKey::generate(ClassicalAlgorithm::Ed25519).unwrap();
            AnyJwk::of(&key).unwrap()
        });
        for algorithm in MacAlgorithm::ALL {
            let proof = write("kid-1", b"secret", *algorithm, "https://a/new", &key);
            let read = ExternalAccount::read(proof.as_bytes(), "https://a/new", &key).unwrap();
            assert_eq!(read.kid(), "kid-1");
            assert!(read.is_by(b"secret"));
            assert!(!read.is_by(b"Secret") && !read.is_by(b""));
            assert!(ExternalAccount::read(proof.as_bytes(), "https://a/", &key).is_err());
            assert!(ExternalAccount::read(proof.as_bytes(), "https://a/new", &other).is_err());
        }
    }
}
