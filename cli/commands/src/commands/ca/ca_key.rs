//! The CA's own keys: how one in the folder is opened, and how a new one is kept.

use pq_ca::authority::Authority;
use pq_ca::folder::{Folder, Role, StoredKey};
use pq_ca::ledger::LocalLedger;
use pq_keys::protection::Protection;
use pq_keys::{SignError, Signer, SubjectKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use zeroize::Zeroizing;

use crate::documents;
use crate::failure::Failure;
use crate::keys::{Algorithm, KeyError, Narrow, PrivateKey, SigningKey};
use crate::passphrases::{CaPassphraseOptions, Passphrase};

/// How to open the key of the CA that a command uses.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CaKeyOptions {
    #[command(flatten)]
    passphrase: CaPassphraseOptions,
}

impl CaKeyOptions {
    /// The CA with its key, which may be under a passphrase.
    pub(super) fn authority(
        &self,
        folder: &Folder,
        role: Role,
    ) -> Result<Authority<SigningKey, LocalLedger>, Failure> {
        folder.authority_with(role, |path, text| {
            let file = path.display().to_string();
            Ok(documents::ca_key(&file, text, &self.passphrase)?)
        })
    }
}

/// A new key of a CA, with the text of its file.
pub(super) struct NewCaKey {
    key: SigningKey,
    pem: Zeroizing<String>,
}

impl NewCaKey {
    pub(super) fn generate(
        algorithm: Algorithm,
        passphrase: Option<&Passphrase>,
    ) -> Result<Self, Failure> {
        if let Algorithm::PostQuantum(kem @ pq_keys::Algorithm::Kem(_)) = algorithm {
            return Err(Failure::Unsupported(kem));
        }
        let key = PrivateKey::generate(algorithm)?;
        let pem = match passphrase {
            Some(passphrase) => {
                let protection = Protection::default();
                Zeroizing::new(key.to_encrypted_pkcs8_pem(passphrase, &protection)?)
            }
            None => key.to_pkcs8_pem()?,
        };
        Ok(Self {
            key: SigningKey::narrow(key)?,
            pem,
        })
    }
}

impl SubjectKey for NewCaKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for NewCaKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.key.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        Signer::sign(&self.key, message)
    }
}

impl StoredKey for NewCaKey {
    type Error = KeyError;

    fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        let key = SigningKey::from_pem(text)?;
        let pem = key.to_pem()?;
        Ok(Self { key, pem })
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        Ok(self.pem.clone())
    }
}
