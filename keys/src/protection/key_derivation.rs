//! PBKDF2 and scrypt: how their parameters are read, checked and written, and the derivation itself, after its cost was
//! charged.

use der::asn1::{AnyRef, Null, OctetStringRef, Uint};
use der::{Choice, Decode, DecodeValue, Encode};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use spki::{AlgorithmIdentifierOwned, AlgorithmIdentifierRef};
use zeroize::Zeroizing;

use super::algorithms::{KeyDerivation, Prf};
use super::asn1::{PBKDF2, Pbkdf2Params, SCRYPT, ScryptParams, number, saturated};
use super::cost::Budget;
use super::error::ProtectionError;
use crate::keys::random;

/// A key derivation, with its salt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Derivation {
    pub(crate) how: KeyDerivation,
    salt: Vec<u8>,
    /// The length of the key, if the file has it.
    pub(crate) key_len: Option<u64>,
}

/// How many bytes of a new salt are random. RFC 8018 section 4.1 wants at least 8.
const SALT_LEN: usize = 16;

/// The end of a salt if a digest stands beside the key: see [`integrity`](super::integrity). A salt of another program ends
/// so with a probability of 2⁻⁶⁴.
const DIGESTED: [u8; 8] = *b"+SHA-512";

/// Length of the longest salt that is read, in bytes.
pub(crate) const MAX_SALT_LEN: usize = 1024;

impl Derivation {
    /// With a fresh salt, which can say that a digest stands beside the key. A file need not say how long the derived key
    /// is.
    pub(crate) fn fresh(
        how: KeyDerivation,
        key_len: Option<u64>,
        is_digested: bool,
    ) -> Result<Self, ProtectionError> {
        check(how)?;
        if how.is_by_sha1() {
            return Err(ProtectionError::Sha1IsOnlyRead);
        }
        let mut salt = vec![0; SALT_LEN];
        random::fill(&mut salt)?;
        if is_digested {
            salt.extend(DIGESTED);
        }
        Ok(Self { how, salt, key_len })
    }

    /// Whether the salt says that a digest stands beside the key.
    pub(crate) fn is_digested(&self) -> bool {
        self.salt.ends_with(&DIGESTED)
    }

    /// Reads a known key derivation. Refuses no cost that [`KeyDerivation`] can express.
    pub(crate) fn read(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Self, ProtectionError> {
        let parameters = algorithm.parameters;
        match algorithm.oid {
            PBKDF2 => Self::of_pbkdf2(&params(parameters)?),
            SCRYPT => Self::of_scrypt(&params(parameters)?),
            other => Err(ProtectionError::UnsupportedKeyDerivation(other)),
        }
    }

    fn of_pbkdf2(params: &Pbkdf2Params<'_>) -> Result<Self, ProtectionError> {
        let prf = match &params.prf {
            // the default (RFC 8018 appendix A.2)
            None => Prf::HmacSha1,
            Some(algorithm) => read_prf(algorithm)?,
        };
        let how = KeyDerivation::Pbkdf2 {
            prf,
            iterations: read_iterations(&params.iterations)?,
        };
        Self::with_salt(how, params.salt, params.key_len.as_ref())
    }

    fn of_scrypt(params: &ScryptParams<'_>) -> Result<Self, ProtectionError> {
        let [n, r, p] = [&params.n, &params.r, &params.p].map(saturated);
        let how = match (u32::try_from(r), u32::try_from(p)) {
            // A saturated N is no power of two.
            (Ok(r), Ok(p)) if n.is_power_of_two() => KeyDerivation::Scrypt {
                log_n: n.trailing_zeros() as u8,
                r,
                p,
            },
            _ => return Err(UNUSABLE_SCRYPT),
        };
        Self::with_salt(how, params.salt, params.key_len.as_ref())
    }

    fn with_salt(
        how: KeyDerivation,
        salt: &OctetStringRef,
        key_len: Option<&Uint>,
    ) -> Result<Self, ProtectionError> {
        check(how)?;
        let salt = salt.as_bytes();
        if salt.len() > MAX_SALT_LEN {
            return Err(ProtectionError::SaltLength {
                found: salt.len(),
                limit: MAX_SALT_LEN,
            });
        }
        Ok(Self {
            how,
            salt: salt.to_vec(),
            key_len: key_len.map(saturated),
        })
    }

    /// Refuses the length that the file gives for the key, if there is one and it is not the needed one.
    pub(crate) fn check_key_len(&self, needed: usize) -> Result<(), ProtectionError> {
        match self.key_len {
            Some(found) if found != needed as u64 => {
                Err(ProtectionError::KeyLength { found, needed })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn to_identifier(&self) -> der::Result<AlgorithmIdentifierOwned> {
        let salt = OctetStringRef::new(&self.salt)?;
        let key_len = self.key_len.map(number).transpose()?;
        let (oid, parameters) = match self.how {
            KeyDerivation::Pbkdf2 { prf, iterations } => {
                let params = Pbkdf2Params {
                    salt,
                    iterations: number(iterations)?,
                    key_len,
                    prf: Some(AlgorithmIdentifierRef {
                        oid: prf.oid(),
                        parameters: Some(AnyRef::NULL),
                    }),
                };
                (PBKDF2, params.to_der()?)
            }
            KeyDerivation::Scrypt { log_n, r, p } => {
                let params = ScryptParams {
                    salt,
                    n: number(1_u64 << log_n)?,
                    r: number(r)?,
                    p: number(p)?,
                    key_len,
                };
                (SCRYPT, params.to_der()?)
            }
        };
        Ok(AlgorithmIdentifierOwned {
            oid,
            parameters: Some(Decode::from_der(&parameters)?),
        })
    }

    /// Charges the budget, and derives the key.
    pub(crate) fn derive(
        &self,
        passphrase: &[u8],
        len: usize,
        budget: &mut Budget,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        budget.spend(self.how, len)?;
        let mut key = Zeroizing::new(vec![0; len]);
        match self.how {
            KeyDerivation::Pbkdf2 { prf, iterations } => {
                let derive = match prf {
                    Prf::HmacSha1 => pbkdf2_hmac::<Sha1>,
                    Prf::HmacSha256 => pbkdf2_hmac::<Sha256>,
                    Prf::HmacSha384 => pbkdf2_hmac::<Sha384>,
                    Prf::HmacSha512 => pbkdf2_hmac::<Sha512>,
                };
                derive(passphrase, &self.salt, iterations, &mut key);
            }
            KeyDerivation::Scrypt { log_n, r, p } => {
                let params = scrypt::Params::new(log_n, r, p).ok();
                params
                    .and_then(|p| scrypt::scrypt(passphrase, &self.salt, &p, &mut key).ok())
                    .ok_or(UNUSABLE_SCRYPT)?;
            }
        }
        Ok(key)
    }
}

/// Refuses more iterations than 32 bits can count: nobody has the time for them.
pub(crate) fn read_iterations(iterations: &Uint) -> Result<u32, ProtectionError> {
    let found = saturated(iterations);
    u32::try_from(found).map_err(|_| ProtectionError::TooManyIterations {
        found,
        limit: u32::MAX.into(),
    })
}

/// HMAC of one of the known hash functions; its parameters are NULL, or absent.
pub(crate) fn read_prf(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Prf, ProtectionError> {
    if let Some(parameters) = algorithm.parameters {
        parameters.decode_as::<Null>()?;
    }
    Prf::of(algorithm.oid).ok_or(ProtectionError::UnsupportedPrf(algorithm.oid))
}

const UNUSABLE_SCRYPT: ProtectionError =
    ProtectionError::Parameters("scrypt is not defined for its N, r and p (RFC 7914 section 2)");

/// Refuses parameters that are not defined, whatever they cost.
fn check(how: KeyDerivation) -> Result<(), ProtectionError> {
    match how {
        KeyDerivation::Pbkdf2 { iterations: 0, .. } => {
            Err(ProtectionError::Parameters("PBKDF2 has no iterations"))
        }
        KeyDerivation::Scrypt { log_n, r, p } => {
            let is_defined =
                (1..=63).contains(&log_n) && (1..1 << 30).contains(&(u64::from(r) * u64::from(p)));
            is_defined.then_some(()).ok_or(UNUSABLE_SCRYPT)
        }
        KeyDerivation::Pbkdf2 { .. } => Ok(()),
    }
}

pub(crate) fn params<'a, T: Choice<'a> + DecodeValue<'a, Error = der::Error>>(
    parameters: Option<AnyRef<'a>>,
) -> Result<T, ProtectionError> {
    let parameters = parameters.ok_or(ProtectionError::Parameters("they are missing"))?;
    Ok(parameters.decode_as()?)
}
