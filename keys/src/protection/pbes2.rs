//! PBES2, which joins a key derivation and a cipher: its parameters read and written, and data encrypted and decrypted
//! by it. PKCS#12 uses it, too.

use der::asn1::{AnyRef, OctetStringRef};
use der::referenced::OwnedToRef;
use der::{Decode, Encode, Tag, Tagged};
use spki::{AlgorithmIdentifierOwned, AlgorithmIdentifierRef};
use zeroize::Zeroizing;

use super::algorithms::{Cipher, Protection};
use super::asn1::{GcmParameters, PBES2, Pbes2Params};
use super::cipher;
use super::cost::Budget;
use super::error::ProtectionError;
use super::key_derivation::{Derivation, params};
use crate::keys::random;

/// PBES2 (RFC 8018 section 6.2) with its parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pbes2 {
    derivation: Derivation,
    cipher: Cipher,
    iv: Vec<u8>,
}

impl Pbes2 {
    /// With fresh salt and initialization vector.
    pub fn fresh(protection: &Protection, is_digested: bool) -> Result<Self, ProtectionError> {
        let cipher = protection.cipher();
        let mut iv = vec![0; cipher.iv_len()];
        random::fill(&mut iv)?;
        Ok(Self {
            derivation: Derivation::fresh(protection.key_derivation(), None, is_digested)?,
            cipher,
            iv,
        })
    }

    /// Reads the parameters. Refuses unknown and impossible ones.
    pub fn read(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Self, ProtectionError> {
        if algorithm.oid != PBES2 {
            return Err(ProtectionError::UnsupportedScheme(algorithm.oid));
        }
        let params: Pbes2Params<'_> = params(algorithm.parameters)?;
        let (cipher, iv) = read_cipher(&params.cipher)?;
        let derivation = Derivation::read(&params.key_derivation)?;
        derivation.check_key_len(cipher.key_len())?;
        Ok(Self {
            derivation,
            cipher,
            iv,
        })
    }

    /// Whether the salt says that a digest stands beside the key.
    pub fn is_digested(&self) -> bool {
        self.derivation.is_digested()
    }

    /// The ciphers and the cost, without salt and initialization vector.
    pub fn protection(&self) -> Protection {
        Protection::default()
            .with_key_derivation(self.derivation.how)
            .with_cipher(self.cipher)
    }

    /// The AlgorithmIdentifier with the parameters.
    pub fn to_identifier(&self) -> der::Result<AlgorithmIdentifierOwned> {
        let key_derivation = self.derivation.to_identifier()?;
        let params = Pbes2Params {
            key_derivation: key_derivation.owned_to_ref(),
            cipher: AlgorithmIdentifierRef {
                oid: self.cipher.oid(),
                parameters: Some(OctetStringRef::new(&self.iv)?.into()),
            },
        };
        Ok(AlgorithmIdentifierOwned {
            oid: PBES2,
            parameters: Some(Decode::from_der(&params.to_der()?)?),
        })
    }

    /// Charges the budget, and encrypts.
    pub fn encrypt(
        &self,
        passphrase: &[u8],
        plaintext: &[u8],
        budget: &mut Budget,
    ) -> Result<Vec<u8>, ProtectionError> {
        let key = self
            .derivation
            .derive(passphrase, self.cipher.key_len(), budget)?;
        cipher::encrypt(self.cipher, &key, &self.iv, plaintext).ok_or(WRONG_IV)
    }

    /// Charges the budget, and decrypts.
    pub fn decrypt(
        &self,
        passphrase: &[u8],
        ciphertext: &[u8],
        budget: &mut Budget,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        let key = self
            .derivation
            .derive(passphrase, self.cipher.key_len(), budget)?;
        cipher::decrypt(self.cipher, &key, &self.iv, ciphertext)
            .ok_or(ProtectionError::WrongPassphraseOrChanged)
    }
}

const WRONG_IV: ProtectionError =
    ProtectionError::Parameters("the initialization vector has a wrong length");

/// A cipher and its initialization vector. For GCM there are two encodings, and both are read: only the
/// nonce, as for CBC, which Botan and RustCrypto write, and the GCMParameters of RFC 5084.
fn read_cipher(
    algorithm: &AlgorithmIdentifierRef<'_>,
) -> Result<(Cipher, Vec<u8>), ProtectionError> {
    let cipher =
        Cipher::of(algorithm.oid).ok_or(ProtectionError::UnsupportedCipher(algorithm.oid))?;
    let iv = match algorithm.parameters {
        Some(parameters) if cipher.is_authenticated() && parameters.tag() == Tag::Sequence => {
            nonce_of_rfc_5084(parameters)?
        }
        parameters => params::<&OctetStringRef>(parameters)?.as_bytes(),
    };
    match iv.len() == cipher.iv_len() {
        true => Ok((cipher, iv.to_vec())),
        false => Err(WRONG_IV),
    }
}

fn nonce_of_rfc_5084(parameters: AnyRef<'_>) -> Result<&[u8], ProtectionError> {
    const TAG_LEN: u8 = 16;
    let parameters: GcmParameters<'_> = parameters.decode_as()?;
    match parameters.tag_len {
        Some(TAG_LEN) => Ok(parameters.nonce.as_bytes()),
        _ => Err(ProtectionError::Parameters(
            "the tag of AES-GCM does not have 16 bytes",
        )),
    }
}
