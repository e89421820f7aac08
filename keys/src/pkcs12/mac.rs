//! The two kinds of MAC over a PKCS#12 file, made and verified: PBMAC1 (RFC 9879), and the one of RFC 7292 with its own
//! key derivation. Both are verified with SHA-1, too: HMAC doesn't need that nobody finds collisions. None is made with it.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{ID_SHA_1, ID_SHA_256, ID_SHA_384, ID_SHA_512};
use der::asn1::{AnyRef, Null, OctetStringRef};
use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use hmac::digest::block_api::BlockSizeUser;
use hmac::{EagerHash, Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierRef;
use zeroize::{Zeroize, Zeroizing};

use super::asn1::{DigestInfo, MacData, PBMAC1, Pbmac1Params};
use super::error::MacError;
use crate::keys::random;
use crate::protection::cost::Budget;
use crate::protection::{
    Derivation, KeyDerivation, MAX_SALT_LEN, Prf, ProtectionError, number, params, read_iterations,
    read_prf,
};

/// The MAC of a PKCS#12 file: with the passphrase, it shows that the file is unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Pkcs12Mac {
    /// PBMAC1 (RFC 9879), which OpenSSL reads from version 3.4 on: HMAC with a key of PBKDF2.
    Pbmac1 {
        /// The function of PBKDF2 and of the MAC itself.
        prf: Prf,
        /// The iterations of PBKDF2.
        iterations: u32,
    },
    /// HMAC with a key of PKCS#12's own derivation (RFC 7292 appendix B), which all programs read.
    Classic {
        /// The hash function of the derivation and of HMAC.
        prf: Prf,
        /// The iterations of the derivation.
        iterations: u32,
    },
}

impl Default for Pkcs12Mac {
    /// PBMAC1 with HMAC-SHA-256 and 600,000 iterations.
    fn default() -> Self {
        Self::Pbmac1 {
            prf: Prf::HmacSha256,
            iterations: 600_000,
        }
    }
}

impl Pkcs12Mac {
    /// The older MAC with SHA-256 and 600,000 iterations.
    pub const CLASSIC: Self = Self::Classic {
        prf: Prf::HmacSha256,
        iterations: 600_000,
    };
}

/// Length of a new salt, in bytes.
const SALT_LEN: usize = 16;

/// Accepted lengths of keys of PBMAC1, in bytes: from HMAC-SHA-1's to HMAC-SHA-512's. RFC 9879 wants
/// the length of the MAC.
const KEY_LENS: core::ops::RangeInclusive<u64> = 20..=64;

/// Whether a MAC or its key is by SHA-1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IsBySha1 {
    /// One of them is.
    Yes,
    /// Neither is.
    No,
}

/// Checks that the MAC is that of the content, compared in constant time.
pub fn verify(
    data: &MacData<'_>,
    content: &[u8],
    passphrase: &str,
    budget: &mut Budget,
) -> Result<IsBySha1, MacError> {
    let (algorithm, digest) = (&data.mac.algorithm, data.mac.digest.as_bytes());
    let (is_right, is_by_sha1) = if algorithm.oid == PBMAC1 {
        let (derivation, prf, key_len) = read_pbmac1(algorithm)?;
        let key = derivation.derive(passphrase.as_bytes(), key_len, budget)?;
        let is_by_sha1 = prf == Prf::HmacSha1 || derivation.how.is_by_sha1();
        ((functions(prf).is_mac)(&key, content, digest), is_by_sha1)
    } else {
        let prf = read_hash(algorithm)?;
        let salt = checked_salt(data.salt.as_bytes())?;
        let iterations = match &data.iterations {
            None => 1,
            Some(iterations) => read_iterations(iterations)?,
        };
        let check = |passphrase: &[u8], budget: &mut Budget| {
            let key = derive(prf, passphrase, salt, iterations, budget)?;
            Ok::<_, MacError>((functions(prf).is_mac)(&key, content, digest))
        };
        let is_right = check(&terminated(passphrase), budget)?
            // For an empty passphrase, a program may have used no bytes at all, without the terminator.
            || passphrase.is_empty() && check(&[], budget)?;
        (is_right, prf == Prf::HmacSha1)
    };
    match (is_right, is_by_sha1) {
        (false, _) => Err(MacError::WrongPassphraseOrChanged),
        (true, true) => Ok(IsBySha1::Yes),
        (true, false) => Ok(IsBySha1::No),
    }
}

/// The DER of a MacData.
pub fn make(
    mac: Pkcs12Mac,
    content: &[u8],
    passphrase: &str,
    budget: &mut Budget,
) -> Result<Vec<u8>, MacError> {
    let mut salt = [0; SALT_LEN];
    random::fill(&mut salt).map_err(|error| MacError::Protection(error.into()))?;
    let (algorithm, prf, key, iterations) = match mac {
        Pkcs12Mac::Pbmac1 { prf, iterations } => {
            let how = KeyDerivation::Pbkdf2 { prf, iterations };
            let derivation = Derivation::fresh(how, Some(prf.output_len() as u64), false)?;
            let identifier = derivation.to_identifier()?;
            let params = Pbmac1Params {
                key_derivation: identifier.owned_to_ref(),
                mac: null_parameters(prf.oid()),
            };
            let key = derivation.derive(passphrase.as_bytes(), prf.output_len(), budget)?;
            // The salt and the iterations of MacData mean nothing for PBMAC1, but have to be there.
            (Some(params.to_der()?), prf, key, 1)
        }
        Pkcs12Mac::Classic { prf, iterations } => {
            if prf == Prf::HmacSha1 {
                return Err(ProtectionError::Sha1IsOnlyRead.into());
            }
            let key = derive(prf, &terminated(passphrase), &salt, iterations, budget)?;
            (None, prf, key, iterations)
        }
    };
    let digest = (functions(prf).mac)(&key, content);
    let algorithm = match &algorithm {
        Some(params) => AlgorithmIdentifierRef {
            oid: PBMAC1,
            parameters: Some(AnyRef::from_der(params)?),
        },
        None => null_parameters(hash_oid(prf)),
    };
    let data = MacData {
        mac: DigestInfo {
            algorithm,
            digest: OctetStringRef::new(&digest)?,
        },
        salt: OctetStringRef::new(&salt)?,
        // A default is left out in DER.
        iterations: match iterations {
            1 => None,
            more => Some(number(more)?),
        },
    };
    Ok(data.to_der()?)
}

fn null_parameters(oid: ObjectIdentifier) -> AlgorithmIdentifierRef<'static> {
    AlgorithmIdentifierRef {
        oid,
        parameters: Some(AnyRef::NULL),
    }
}

const NO_ITERATIONS: MacError = MacError::Parameters("it has no iterations");

fn checked_salt(salt: &[u8]) -> Result<&[u8], MacError> {
    match salt.len() > MAX_SALT_LEN {
        true => Err(MacError::Parameters("its salt is too long")),
        false => Ok(salt),
    }
}

/// What derives the key, the function of the MAC, and how many bytes the key has.
fn read_pbmac1(
    algorithm: &AlgorithmIdentifierRef<'_>,
) -> Result<(Derivation, Prf, usize), MacError> {
    let params: Pbmac1Params<'_> = params(algorithm.parameters)?;
    let derivation = Derivation::read(&params.key_derivation)?;
    let prf = read_prf(&params.mac)?;
    match derivation.key_len {
        Some(len) if KEY_LENS.contains(&len) => Ok((derivation, prf, len as usize)),
        Some(_) => Err(MacError::Parameters("its key must have 20 to 64 bytes")),
        None => Err(MacError::Parameters(
            "it must say how long its key is (RFC 9879)",
        )),
    }
}

/// The hash function of a MAC of RFC 7292, by the function that is HMAC with it.
fn read_hash(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Prf, MacError> {
    let prf = Prf::ALL
        .into_iter()
        .find(|prf| hash_oid(*prf) == algorithm.oid);
    let prf = prf.ok_or(MacError::Unsupported(algorithm.oid))?;
    if let Some(parameters) = algorithm.parameters {
        parameters.decode_as::<Null>()?;
    }
    Ok(prf)
}

fn hash_oid(prf: Prf) -> ObjectIdentifier {
    match prf {
        Prf::HmacSha1 => ID_SHA_1,
        Prf::HmacSha256 => ID_SHA_256,
        Prf::HmacSha384 => ID_SHA_384,
        Prf::HmacSha512 => ID_SHA_512,
    }
}

/// The passphrase as RFC 7292 appendix B.1 has it: a BMPString and two zero bytes.
fn terminated(passphrase: &str) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(bmp(passphrase));
    bytes.extend([0, 0]);
    bytes
}

/// UTF-16, which everybody writes in a BMPString.
pub fn bmp(text: &str) -> Vec<u8> {
    // In one buffer, since it may be a passphrase.
    let mut bytes = Vec::with_capacity(2 * text.len() + 2);
    bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
    bytes
}

/// Charges the budget, and derives the key of a MAC of RFC 7292.
fn derive(
    prf: Prf,
    passphrase: &[u8],
    salt: &[u8],
    iterations: u32,
    budget: &mut Budget,
) -> Result<Zeroizing<Vec<u8>>, MacError> {
    if iterations == 0 {
        return Err(NO_ITERATIONS);
    }
    budget.spend_iterations(iterations.into(), 1)?;
    Ok((functions(prf).derive)(passphrase, salt, iterations))
}

/// Derives a key from a passphrase and a salt, in some iterations.
type Derive = fn(&[u8], &[u8], u32) -> Zeroizing<Vec<u8>>;

/// The functions that use the hash function of a HMAC.
struct Functions {
    /// The MAC under a key, of a content.
    mac: fn(&[u8], &[u8]) -> Vec<u8>,
    /// Whether the last argument is that MAC, compared in constant time.
    is_mac: fn(&[u8], &[u8], &[u8]) -> bool,
    derive: Derive,
}

fn functions(prf: Prf) -> Functions {
    match prf {
        Prf::HmacSha1 => functions_of::<Sha1>(),
        Prf::HmacSha256 => functions_of::<Sha256>(),
        Prf::HmacSha384 => functions_of::<Sha384>(),
        Prf::HmacSha512 => functions_of::<Sha512>(),
    }
}

fn functions_of<D: Digest + EagerHash + BlockSizeUser>() -> Functions {
    fn hmac<D: EagerHash>(key: &[u8], content: &[u8]) -> Hmac<D> {
        let hmac = <Hmac<D> as KeyInit>::new_from_slice(key);
        hmac.expect("HMAC takes keys of any length")
            .chain_update(content)
    }
    Functions {
        mac: |key, content| hmac::<D>(key, content).finalize().into_bytes().to_vec(),
        is_mac: |key, content, mac| hmac::<D>(key, content).verify_slice(mac).is_ok(),
        derive: derive_by::<D>,
    }
}

/// RFC 7292 appendix B.2 for a key that is as long as a hash, so that its loop ends after one block.
fn derive_by<D: Digest + BlockSizeUser>(
    passphrase: &[u8],
    salt: &[u8],
    iterations: u32,
) -> Zeroizing<Vec<u8>> {
    /// For the key of a MAC.
    const ID: u8 = 3;
    let block_len = D::block_size();
    let blocks_of = |bytes: &[u8], hash: D| {
        let len = bytes.len().next_multiple_of(block_len);
        let repeated: Zeroizing<Vec<u8>> =
            Zeroizing::new(bytes.iter().copied().cycle().take(len).collect());
        hash.chain_update(&**repeated)
    };
    let hash = D::new().chain_update(vec![ID; block_len]);
    let hash = blocks_of(passphrase, blocks_of(salt, hash));
    let mut digest = hash.finalize();
    for _ in 1..iterations {
        digest = D::digest(&digest);
    }
    let key = Zeroizing::new(digest.to_vec());
    digest.as_mut_slice().zeroize();
    key
}
