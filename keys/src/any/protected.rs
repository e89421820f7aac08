//! Private keys of every algorithm written under a passphrase, in the form that suits the cipher: one that vouches for
//! itself where the cipher doesn't.

use alloc::string::String;
use alloc::vec::Vec;

use der::asn1::BitStringRef;
use der::{Decode, Encode};
use pkcs8::PrivateKeyInfoRef;
use zeroize::Zeroizing;

use super::private_key::{AnyPrivateKey, form_left};
use super::signing_key::AnySigningKey;
use crate::keys::{PrivateKey, PrivateKeyForm};
use crate::protection::{EncryptedPrivateKey, Protection, ProtectionError};

impl AnyPrivateKey {
    /// The form in which a post-quantum key is written under a passphrase: the one that
    /// [suits the protection](Protection::preferred_form), or the expanded one if it was read without its seed. `None` for
    /// other keys, which have one form only.
    pub fn form_under(&self, protection: &Protection) -> Option<PrivateKeyForm> {
        match self {
            Self::PostQuantum(key) => Some(form_under(key, protection)),
            Self::XWing(_) | Self::Composite(_) | Self::Classical(_) => None,
        }
    }

    /// Puts the key under a passphrase: EncryptedPrivateKeyInfo (RFC 5958, section 3) as DER, which
    /// [`read_private_key`](super::read_private_key) reads.
    ///
    /// AES-GCM detects every change of the file, so a key under it is written as it is in the clear. AES-CBC detects none,
    /// and a changed seed is another key. So there a key is written with what shows that it is the same: ML-DSA and ML-KEM
    /// as seed and expanded key, and X-Wing and composite keys with the public key behind the private one (PKCS#8 of
    /// version 2). Keys of ECDSA, RSA and SLH-DSA have their public part within them. Reading compares;
    /// [`EncryptedPrivateKey`] says what this leaves out. Ed25519 keys are written as everybody writes them, a seed alone,
    /// because OpenSSL before 3.5 and others read nothing else: for these, choose AES-GCM.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_der(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Vec<u8>, ProtectionError> {
        Ok(self.encrypt(passphrase, protection)?.as_der().to_vec())
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`to_encrypted_pkcs8_der`](Self::to_encrypted_pkcs8_der).
    pub fn to_encrypted_pkcs8_pem(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<String, ProtectionError> {
        Ok(self.encrypt(passphrase, protection)?.to_pem())
    }

    fn encrypt(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<EncryptedPrivateKey, ProtectionError> {
        let pkcs8 = match self {
            Self::PostQuantum(key) => key.to_pkcs8_der_as(form_under(key, protection))?,
            Self::XWing(key) => {
                vouched(key.to_pkcs8_der(), key.public_key().as_bytes(), protection)?
            }
            Self::Composite(key) => {
                vouched(key.to_pkcs8_der(), key.public_key().as_bytes(), protection)?
            }
            // Of Ed25519 as well: OpenSSL reads version 2 from its version 3.5 on.
            Self::Classical(key) => key.to_pkcs8_der(),
        };
        EncryptedPrivateKey::encrypt(&pkcs8, passphrase, protection)
    }
}

fn form_under(key: &PrivateKey, protection: &Protection) -> PrivateKeyForm {
    form_left(key, |algorithm| protection.preferred_form(algorithm))
}

/// PKCS#8 of version 2 (RFC 5958), made of version 1 if the cipher authenticates nothing: what reads it compares the
/// public key with the private one.
fn vouched(
    pkcs8: Zeroizing<Vec<u8>>,
    public_key: &[u8],
    protection: &Protection,
) -> der::Result<Zeroizing<Vec<u8>>> {
    if protection.cipher().is_authenticated() {
        return Ok(pkcs8);
    }
    let info = PrivateKeyInfoRef {
        public_key: Some(BitStringRef::from_bytes(public_key)?),
        ..PrivateKeyInfoRef::from_der(&pkcs8)?
    };
    Ok(Zeroizing::new(info.to_der()?))
}

impl AnySigningKey {
    /// Puts the key under a passphrase, as [`AnyPrivateKey::to_encrypted_pkcs8_der`] does.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_der(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Vec<u8>, ProtectionError> {
        AnyPrivateKey::from(self.clone()).to_encrypted_pkcs8_der(passphrase, protection)
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_pem(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<String, ProtectionError> {
        AnyPrivateKey::from(self.clone()).to_encrypted_pkcs8_pem(passphrase, protection)
    }
}
