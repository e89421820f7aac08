//! The KDFs of HPKE, and the key schedule: in two stages with HKDF (RFC 9180, section 5.1), or in one stage with
//! SHAKE256.

use hkdf::{GenericHkdf, GenericHkdfExtract, HmacImpl};
use hmac::Hmac;
use hmac::digest::Output;
use sha2::{Sha256, Sha512};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use zeroize::{Zeroize, Zeroizing};

use super::Suite;
use super::aead::NONCE_LEN;

/// The function that derives keys.
///
/// `pq_cms::Kdf` has those of CMS.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Kdf {
    /// HKDF with SHA-256 (RFC 9180, section 7.2).
    #[default]
    HkdfSha256,
    /// HKDF with SHA-512 (RFC 9180, section 7.2).
    HkdfSha512,
    /// SHAKE256, in one stage (draft-ietf-hpke-pq, section 5).
    Shake256,
}

impl Kdf {
    /// All KDFs of this crate.
    pub const ALL: &'static [Self] = &[Self::HkdfSha256, Self::HkdfSha512, Self::Shake256];

    /// Its number in HPKE.
    pub const fn id(self) -> u16 {
        match self {
            Self::HkdfSha256 => 1,
            Self::HkdfSha512 => 3,
            Self::Shake256 => 0x11,
        }
    }

    /// The KDF with this number, if it is known here.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|kdf| kdf.id() == id)
    }

    /// The usual name, such as `HKDF-SHA256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HkdfSha256 => "HKDF-SHA256",
            Self::HkdfSha512 => "HKDF-SHA512",
            Self::Shake256 => "SHAKE256",
        }
    }

    /// Nh: length of a secret that others are derived from, in bytes.
    const fn secret_len(self) -> usize {
        match self {
            Self::HkdfSha256 => 32,
            Self::HkdfSha512 | Self::Shake256 => 64,
        }
    }

    /// Length of the longest secret that can be exported, in bytes (RFC 9180, section 5.3).
    pub const fn max_export_len(self) -> usize {
        match self {
            Self::HkdfSha256 | Self::HkdfSha512 => 255 * self.secret_len(),
            Self::Shake256 => u16::MAX as usize,
        }
    }
}

/// `HPKE` and the numbers of KEM, KDF and AEAD (RFC 9180, section 5.1).
#[derive(Clone, Copy)]
pub(crate) struct SuiteId([u8; 10]);

impl SuiteId {
    pub(crate) fn new(kem: u16, suite: Suite) -> Self {
        let mut id = *b"HPKE______";
        let numbers = [kem, suite.kdf.id(), suite.aead.id()];
        for (place, number) in id[4..].chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        Self(id)
    }
}

/// What a context derives from the shared secret. All of it is wiped when dropped.
pub(crate) struct Schedule {
    pub(crate) key: Zeroizing<Vec<u8>>,
    pub(crate) base_nonce: Zeroizing<[u8; NONCE_LEN]>,
    pub(crate) exporter_secret: Zeroizing<Vec<u8>>,
}

/// mode_base
const MODE: u8 = 0;

impl Schedule {
    /// KeySchedule of the base mode (RFC 9180, section 5.1; CombineSecrets of draft-ietf-hpke-hpke). The info
    /// has less than 2¹⁶ bytes.
    pub(crate) fn new(id: SuiteId, suite: Suite, secret: &[u8], info: &[u8]) -> Self {
        let mut schedule = Self {
            key: Zeroizing::new(vec![0; suite.aead.key_len()]),
            base_nonce: Zeroizing::new([0; NONCE_LEN]),
            exporter_secret: Zeroizing::new(vec![0; suite.kdf.secret_len()]),
        };
        match suite.kdf {
            Kdf::HkdfSha256 => schedule.in_two_stages::<Hmac<Sha256>>(id, secret, info),
            Kdf::HkdfSha512 => schedule.in_two_stages::<Hmac<Sha512>>(id, secret, info),
            Kdf::Shake256 => schedule.in_one_stage(id, secret, info),
        }
        schedule
    }

    fn in_two_stages<H: HmacImpl>(&mut self, id: SuiteId, secret: &[u8], info: &[u8]) {
        let id = &id.0;
        let (psk_id_hash, _) = labeled_extract::<H>(id, &[], b"psk_id_hash", &[]);
        let (info_hash, _) = labeled_extract::<H>(id, &[], b"info_hash", info);
        let context = [&[MODE][..], &psk_id_hash, &info_hash];
        let (mut prk, secret) = labeled_extract::<H>(id, secret, b"secret", &[]);
        prk[..].zeroize();
        labeled_expand(&secret, id, b"key", &context, &mut self.key);
        labeled_expand(&secret, id, b"base_nonce", &context, &mut *self.base_nonce);
        labeled_expand(&secret, id, b"exp", &context, &mut self.exporter_secret);
    }

    fn in_one_stage(&mut self, id: SuiteId, secret: &[u8], info: &[u8]) {
        // an empty psk and the secret, each after its length
        let secrets = [&[0, 0][..], &length(secret.len()), secret];
        // an empty psk_id and the info, each after its length
        let context = [&[MODE, 0, 0][..], &length(info.len()), info];
        let parts: [&mut [u8]; 3] = [
            &mut self.key,
            &mut *self.base_nonce,
            &mut self.exporter_secret,
        ];
        labeled_derive(id, &secrets, b"secret", &context, parts);
    }

    /// Export (RFC 9180, section 5.3). The output has [`Kdf::max_export_len`] at most.
    pub(crate) fn export(&self, id: SuiteId, kdf: Kdf, context: &[u8], output: &mut [u8]) {
        match kdf {
            Kdf::HkdfSha256 => self.export_by_hkdf::<Hmac<Sha256>>(id, context, output),
            Kdf::HkdfSha512 => self.export_by_hkdf::<Hmac<Sha512>>(id, context, output),
            Kdf::Shake256 => {
                labeled_derive(id, &[&self.exporter_secret], b"sec", &[context], [output]);
            }
        }
    }

    fn export_by_hkdf<H: HmacImpl>(&self, id: SuiteId, context: &[u8], output: &mut [u8]) {
        let secret = GenericHkdf::<H>::from_prk(&self.exporter_secret);
        let secret = secret.expect("it has the length of a hash");
        labeled_expand(&secret, &id.0, b"sec", &[context], output);
    }
}

/// ExtractAndExpand of a DHKEM with HKDF-SHA256 (RFC 9180, section 4.1), by the KEM's number. The context consists of
/// the encapsulated secret and the recipient's public key.
pub(crate) fn extract_and_expand(kem: u16, agreed: &[u8], context: [&[u8]; 2], secret: &mut [u8]) {
    let mut id = *b"KEM__";
    id[3..].copy_from_slice(&kem.to_be_bytes());
    let (mut prk, eae) = labeled_extract::<Hmac<Sha256>>(&id, &[], b"eae_prk", agreed);
    prk[..].zeroize();
    labeled_expand(&eae, &id, b"shared_secret", &context, secret);
}

const VERSION: &[u8] = b"HPKE-v1";

fn labeled_extract<H: HmacImpl>(
    id: &[u8],
    salt: &[u8],
    label: &[u8],
    ikm: &[u8],
) -> (Output<H>, GenericHkdf<H>) {
    let mut extract = GenericHkdfExtract::<H>::new(Some(salt));
    for part in [VERSION, id, label, ikm] {
        extract.input_ikm(part);
    }
    extract.finalize()
}

fn labeled_expand<H: HmacImpl>(
    secret: &GenericHkdf<H>,
    id: &[u8],
    label: &[u8],
    info: &[&[u8]],
    output: &mut [u8],
) {
    let length = length(output.len());
    let mut parts = vec![&length[..], VERSION, id, label];
    parts.extend(info);
    secret
        .expand_multi_info(&parts, output)
        .expect("it is no longer than HKDF makes it");
}

/// LabeledDerive (draft-ietf-hpke-hpke, section 4) by SHAKE256. The output consists of parts.
fn labeled_derive<const N: usize>(
    id: SuiteId,
    ikm: &[&[u8]],
    label: &[u8],
    context: &[&[u8]],
    output: [&mut [u8]; N],
) {
    let output_len = output.iter().map(|part| part.len()).sum();
    let mut hash = Shake256::default();
    for part in ikm {
        hash.update(part);
    }
    for part in [
        VERSION,
        &id.0,
        &length(label.len()),
        label,
        &length(output_len),
    ] {
        hash.update(part);
    }
    for part in context {
        hash.update(part);
    }
    let mut reader = hash.finalize_xof();
    for part in output {
        reader.read(part);
    }
}

/// A length in two bytes. Longer values were refused before.
fn length(len: usize) -> [u8; 2] {
    u16::try_from(len)
        .expect("lengths have two bytes")
        .to_be_bytes()
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::ChaCha20Poly1305;
    use sha3::Sha3_256;
    use zeroize::ZeroizeOnDrop;

    use super::*;

    /// A keyed cipher or hash is as secret as its key. Its crate wipes it only with a feature, which another crate
    /// of the workspace may enable and this one may lack: then this doesn't compile on its own.
    #[test]
    fn what_has_secrets_is_wiped() {
        fn is_wiped<T: ZeroizeOnDrop>() {}
        is_wiped::<Sha256>();
        is_wiped::<Sha512>();
        is_wiped::<Sha3_256>();
        is_wiped::<Shake256>();
        is_wiped::<pq_keys::gcm::Key>();
        is_wiped::<ChaCha20Poly1305>();
    }
}
