//! The two kinds of MAC over a PKCS#12 file, made and verified: PBMAC1 (RFC 9879), and the one of RFC 7292 with its own
//! key derivation. Both are verified with SHA-1, too: HMAC doesn't need that nobody finds collisions. None is made with it.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{ID_SHA_1, ID_SHA_256, ID_SHA_384, ID_SHA_512};
use der::asn1::{AnyRef, Null, OctetStringRef};
use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use hmac::digest::block_api::BlockSizeUser;
use hmac::{EagerHash, Hmac, KeyInit, Mac};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierRef;
use zeroize::{Zeroize, Zeroizing};

use super::asn1::{DigestInfo, MacData, PBMAC1, Pbmac1Params};
use super::error::MacError;
use crate::keys::random;
use crate::protection::cost::Budget;
use crate::protection::{
    Derivation, HMAC_WITH_SHA_1, KeyDerivation, MAX_SALT_LEN, PBKDF2, Pbkdf2Params, Prf,
    ProtectionError, number, params, read_iterations, read_prf, saturated,
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
        let (derivation, hash, key_len) = read_pbmac1(algorithm)?;
        let is_by_sha1 = hash == Hash::Sha1 || matches!(derivation, Pbkdf::Sha1 { .. });
        let key = derivation.derive(passphrase.as_bytes(), key_len, budget)?;
        ((functions(hash).is_mac)(&key, content, digest), is_by_sha1)
    } else {
        let hash = read_hash(algorithm)?;
        let salt = checked_salt(data.salt.as_bytes())?;
        let iterations = match &data.iterations {
            None => 1,
            Some(iterations) => read_iterations(iterations)?,
        };
        let check = |passphrase: &[u8], budget: &mut Budget| {
            let key = derive(hash, passphrase, salt, iterations, budget)?;
            Ok::<_, MacError>((functions(hash).is_mac)(&key, content, digest))
        };
        let is_right = check(&terminated(passphrase), budget)?
            // For an empty passphrase, a program may have used no bytes at all, without the terminator.
            || passphrase.is_empty() && check(&[], budget)?;
        (is_right, hash == Hash::Sha1)
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
            let derivation = Derivation::fresh(how, Some(prf.output_len() as u64))?;
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
            let key = derive(
                Hash::Of(prf),
                &terminated(passphrase),
                &salt,
                iterations,
                budget,
            )?;
            (None, prf, key, iterations)
        }
    };
    let digest = (functions(Hash::Of(prf)).mac)(&key, content);
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

/// The hash function of a MAC.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Hash {
    Sha1,
    Of(Prf),
}

/// What derives the key of PBMAC1.
enum Pbkdf<'a> {
    Known(Derivation),
    /// PBKDF2 by its default function, HMAC-SHA-1 (RFC 8018 appendix A.2), which no other key is derived by here.
    Sha1 {
        salt: &'a [u8],
        iterations: u32,
    },
}

impl<'a> Pbkdf<'a> {
    /// With the length of the key, if the file has it.
    fn read(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<(Self, Option<u64>), MacError> {
        if let Some(by_sha1) = Self::read_sha1(algorithm)? {
            return Ok(by_sha1);
        }
        let derivation = Derivation::read(algorithm)?;
        let key_len = derivation.key_len;
        Ok((Self::Known(derivation), key_len))
    }

    /// `None` if it is by another function.
    fn read_sha1(
        algorithm: &AlgorithmIdentifierRef<'a>,
    ) -> Result<Option<(Self, Option<u64>)>, MacError> {
        if algorithm.oid != PBKDF2 {
            return Ok(None);
        }
        let params: Pbkdf2Params<'a> = params(algorithm.parameters)?;
        if params.prf.is_some_and(|prf| prf.oid != HMAC_WITH_SHA_1) {
            return Ok(None);
        }
        check_null(params.prf.as_ref())?;
        let iterations = read_iterations(&params.iterations)?;
        let salt = checked_salt(params.salt.as_bytes())?;
        if iterations == 0 {
            return Err(NO_ITERATIONS);
        }
        let by_sha1 = Self::Sha1 { salt, iterations };
        Ok(Some((by_sha1, params.key_len.as_ref().map(saturated))))
    }

    fn derive(
        &self,
        passphrase: &[u8],
        len: usize,
        budget: &mut Budget,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        match self {
            Self::Known(derivation) => derivation.derive(passphrase, len, budget),
            Self::Sha1 { salt, iterations } => {
                let blocks = len.div_ceil(Sha1::output_size());
                budget.spend_iterations((*iterations).into(), blocks as u64)?;
                let mut key = Zeroizing::new(vec![0; len]);
                pbkdf2_hmac::<Sha1>(passphrase, salt, *iterations, &mut key);
                Ok(key)
            }
        }
    }
}

const NO_ITERATIONS: MacError = MacError::Parameters("it has no iterations");

fn checked_salt(salt: &[u8]) -> Result<&[u8], MacError> {
    match salt.len() > MAX_SALT_LEN {
        true => Err(MacError::Parameters("its salt is too long")),
        false => Ok(salt),
    }
}

/// Parameters of a hash function are NULL, or absent.
fn check_null(algorithm: Option<&AlgorithmIdentifierRef<'_>>) -> Result<(), MacError> {
    if let Some(parameters) = algorithm.and_then(|algorithm| algorithm.parameters) {
        parameters.decode_as::<Null>()?;
    }
    Ok(())
}

/// What derives the key, the function of the MAC, and how many bytes the key has.
fn read_pbmac1<'a>(
    algorithm: &AlgorithmIdentifierRef<'a>,
) -> Result<(Pbkdf<'a>, Hash, usize), MacError> {
    let params: Pbmac1Params<'a> = params(algorithm.parameters)?;
    let (derivation, key_len) = Pbkdf::read(&params.key_derivation)?;
    let hash = match params.mac.oid {
        HMAC_WITH_SHA_1 => {
            check_null(Some(&params.mac))?;
            Hash::Sha1
        }
        _ => Hash::Of(read_prf(&params.mac)?),
    };
    match key_len {
        Some(len) if KEY_LENS.contains(&len) => Ok((derivation, hash, len as usize)),
        Some(_) => Err(MacError::Parameters("its key must have 20 to 64 bytes")),
        None => Err(MacError::Parameters(
            "it must say how long its key is (RFC 9879)",
        )),
    }
}

/// The hash function of a MAC of RFC 7292.
fn read_hash(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Hash, MacError> {
    let known = [Prf::HmacSha256, Prf::HmacSha384, Prf::HmacSha512];
    let mut known = known.into_iter();
    let hash = match known.find(|prf| hash_oid(*prf) == algorithm.oid) {
        Some(prf) => Hash::Of(prf),
        None if algorithm.oid == ID_SHA_1 => Hash::Sha1,
        None => return Err(MacError::Unsupported(algorithm.oid)),
    };
    check_null(Some(algorithm))?;
    Ok(hash)
}

fn hash_oid(prf: Prf) -> ObjectIdentifier {
    match prf {
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
    hash: Hash,
    passphrase: &[u8],
    salt: &[u8],
    iterations: u32,
    budget: &mut Budget,
) -> Result<Zeroizing<Vec<u8>>, MacError> {
    if iterations == 0 {
        return Err(NO_ITERATIONS);
    }
    budget.spend_iterations(iterations.into(), 1)?;
    Ok((functions(hash).derive)(passphrase, salt, iterations))
}

/// Derives a key from a passphrase and a salt, in some iterations.
type Derive = fn(&[u8], &[u8], u32) -> Zeroizing<Vec<u8>>;

/// The functions that use a hash function.
struct Functions {
    /// The MAC under a key, of a content.
    mac: fn(&[u8], &[u8]) -> Vec<u8>,
    /// Whether the last argument is that MAC, compared in constant time.
    is_mac: fn(&[u8], &[u8], &[u8]) -> bool,
    derive: Derive,
}

fn functions(hash: Hash) -> Functions {
    match hash {
        Hash::Sha1 => functions_of::<Sha1>(),
        Hash::Of(Prf::HmacSha256) => functions_of::<Sha256>(),
        Hash::Of(Prf::HmacSha384) => functions_of::<Sha384>(),
        Hash::Of(Prf::HmacSha512) => functions_of::<Sha512>(),
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
