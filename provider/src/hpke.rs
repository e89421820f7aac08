//! HPKE for Encrypted ClientHello (ECH, RFC 9849), which hides a client's ClientHello, and so the name that it asks for,
//! from everybody but the server.
//!
//! rustls has ECH for clients. It takes a server's ECHConfigList, which DNS has in `HTTPS` records, and
//! [`ALL_SUPPORTED_SUITES`]:
//!
//! ```
//! # use std::sync::Arc;
//! use rustls::client::{EchConfig, EchMode};
//! use rustls::pki_types::EchConfigListBytes;
//! use rustls::{ClientConfig, RootCertStore};
//! use rustls_pq::{Builder, hpke};
//!
//! fn client(
//!     roots: RootCertStore,
//!     list: EchConfigListBytes<'_>, // the record's parameter `ech`
//! ) -> Result<ClientConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
//!     let ech = EchConfig::new(list, hpke::ALL_SUPPORTED_SUITES)?;
//!     Ok(ClientConfig::builder_with_provider(provider)
//!         .with_ech(EchMode::Enable(ech))?
//!         .with_root_certificates(roots)
//!         .with_no_client_auth())
//! }
//! # assert!(client(RootCertStore::empty(), vec![].into()).is_err());
//! ```
//!
//! Ask DNS for the record through a resolver that you trust and over an encrypted connection: who sees the question knows
//! the name.
//!
//! # Accepted or rejected
//!
//! After a handshake, rustls's [`ech_status`](rustls::client::ClientConnection::ech_status) says whether the server
//! accepted. A server that can't decrypt the ClientHello goes on with the name that its configuration makes public.
//! rustls then verifies the chain for that name, ends the connection, and reports
//! [`ServerRejectedEncryptedClientHello`](rustls::PeerIncompatible::ServerRejectedEncryptedClientHello). Such a server
//! may have sent new configurations: [`EchRejection`] has them, for one more attempt. `examples/small` has the whole client,
//! `encrypted_client_hello.rs`.
//!
//! # GREASE
//!
//! A client without a configuration can send an extension that looks like ECH, so that an observer can't tell the
//! connections that use ECH, and so that no network comes to depend on its absence. Servers ignore it. Take
//! [`DH_KEM_X25519_HKDF_SHA256_AES_128`] for that, which browsers take too, and a key that nobody has:
//!
//! ```
//! use rustls::client::{EchGreaseConfig, EchMode};
//! use rustls_pq::hpke;
//!
//! # fn main() -> Result<(), rustls::Error> {
//! let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
//! let (placeholder, _) = suite.generate_key_pair()?;
//! let mode = EchMode::Grease(EchGreaseConfig::new(suite, placeholder));
//! # let _ = mode;
//! # Ok(())
//! # }
//! ```
//!
//! # Which suites
//!
//! | KEM | KDF | for |
//! |---|---|---|
//! | DHKEM(X25519, HKDF-SHA256) | HKDF-SHA256 | what servers of today have |
//! | DHKEM(P-256, HKDF-SHA256) | HKDF-SHA256 | servers that need NIST's curves; with the feature `graviola`, where it runs |
//! | X-Wing (MLKEM768-X25519) | HKDF-SHA256, SHAKE256 | protection against quantum computers, by draft-ietf-hpke-pq |
//!
//! Each of them with AES-128-GCM, AES-256-GCM and ChaCha20-Poly1305. The server's list decides: rustls takes its first
//! configuration that has a suite of these. With the first two KEMs a quantum computer will read the names of recorded
//! connections, but nothing else of them if their key exchange is post-quantum.

// This room uses `outcome` and `tls`.

use core::error::Error as StdError;
use core::fmt;

use pq_hpke::{
    Aead, HpkeError, Kdf, Kem, Receiver, RecipientKey, RecipientPublicKey, Sender, Suite,
};
use rustls::crypto::hpke::{
    EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey, HpkePublicKey, HpkeSealer, HpkeSuite,
};
use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::enums::{HpkeAead, HpkeKdf, HpkeKem};
use rustls::internal::msgs::handshake::HpkeSymmetricCipherSuite;
use rustls::pki_types::EchConfigListBytes;
use rustls::{Error, PeerIncompatible};

use crate::outcome::Cause;
use crate::tls::other;

/// All suites, for [`EchConfig::new`](rustls::client::EchConfig::new).
pub static ALL_SUPPORTED_SUITES: &[&dyn Hpke] = &[
    X_WING_SHAKE256_AES_128,
    X_WING_SHAKE256_AES_256,
    X_WING_SHAKE256_CHACHA20_POLY1305,
    X_WING_HKDF_SHA256_AES_128,
    X_WING_HKDF_SHA256_AES_256,
    X_WING_HKDF_SHA256_CHACHA20_POLY1305,
    DH_KEM_X25519_HKDF_SHA256_AES_128,
    DH_KEM_X25519_HKDF_SHA256_AES_256,
    DH_KEM_X25519_HKDF_SHA256_CHACHA20_POLY1305,
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_AES_128,
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_AES_256,
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_CHACHA20_POLY1305,
];

macro_rules! suites {
    ($($(#[$attributes:meta])* $name:ident: $kem:ident, $kdf:ident, $aead:ident;)+) => {$(
        $(#[$attributes])*
        pub static $name: &dyn Hpke = &PqHpke {
            kem: Kem::$kem,
            suite: Suite {
                kdf: Kdf::$kdf,
                aead: Aead::$aead,
            },
        };
    )+};
}

suites! {
    /// X-Wing, SHAKE256 and AES-128-GCM.
    X_WING_SHAKE256_AES_128: XWing, Shake256, Aes128Gcm;
    /// X-Wing, SHAKE256 and AES-256-GCM.
    X_WING_SHAKE256_AES_256: XWing, Shake256, Aes256Gcm;
    /// X-Wing, SHAKE256 and ChaCha20-Poly1305.
    X_WING_SHAKE256_CHACHA20_POLY1305: XWing, Shake256, ChaCha20Poly1305;
    /// X-Wing, HKDF-SHA256 and AES-128-GCM.
    X_WING_HKDF_SHA256_AES_128: XWing, HkdfSha256, Aes128Gcm;
    /// X-Wing, HKDF-SHA256 and AES-256-GCM.
    X_WING_HKDF_SHA256_AES_256: XWing, HkdfSha256, Aes256Gcm;
    /// X-Wing, HKDF-SHA256 and ChaCha20-Poly1305.
    X_WING_HKDF_SHA256_CHACHA20_POLY1305: XWing, HkdfSha256, ChaCha20Poly1305;
    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM.
    DH_KEM_X25519_HKDF_SHA256_AES_128: DhX25519, HkdfSha256, Aes128Gcm;
    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
    DH_KEM_X25519_HKDF_SHA256_AES_256: DhX25519, HkdfSha256, Aes256Gcm;
    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305.
    DH_KEM_X25519_HKDF_SHA256_CHACHA20_POLY1305: DhX25519, HkdfSha256, ChaCha20Poly1305;
    /// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM.
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_AES_128: DhP256, HkdfSha256, Aes128Gcm;
    /// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_AES_256: DhP256, HkdfSha256, Aes256Gcm;
    /// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305.
    #[cfg(feature = "graviola")]
    DH_KEM_P256_HKDF_SHA256_CHACHA20_POLY1305: DhP256, HkdfSha256, ChaCha20Poly1305;
}

/// A server's answer that it can't decrypt the ClientHello. It has proved that it has the public name of the configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EchRejection {
    /// The configurations that the server sent, for [`EchConfig::new`](rustls::client::EchConfig::new) and one more attempt.
    /// `None` if it sent none: then it has no ECH any more, and another attempt would have to do without.
    pub retry_configs: Option<EchConfigListBytes<'static>>,
}

impl EchRejection {
    /// Finds it in rustls's error, in the I/O error of a stream, or in another one around these. `None` if the handshake
    /// failed for another reason.
    pub fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        match Cause::of(error) {
            Cause::Tls(Error::PeerIncompatible(
                PeerIncompatible::ServerRejectedEncryptedClientHello(configs),
            )) => Some(Self {
                retry_configs: configs
                    .as_ref()
                    .map(|configs| configs.get_encoding().into()),
            }),
            _ => None,
        }
    }
}

/// A suite of pq-hpke behind rustls's trait.
///
/// Errors are [`Error::DecryptError`] for what is not authentic, and otherwise [`Error::Other`] around an [`HpkeError`].
struct PqHpke {
    kem: Kem,
    suite: Suite,
}

impl Hpke for PqHpke {
    fn seal(
        &self,
        info: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        pub_key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Vec<u8>), Error> {
        let (enc, mut sealer) = self.setup_sealer(info, pub_key)?;
        Ok((enc, sealer.seal(aad, plaintext)?))
    }

    fn setup_sealer(
        &self,
        info: &[u8],
        pub_key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Box<dyn HpkeSealer + 'static>), Error> {
        let recipient = RecipientPublicKey::from_bytes(self.kem, &pub_key.0);
        let recipient = recipient.map_err(|error| refused(error.into()))?;
        let (enc, sender) = Sender::new(&recipient, self.suite, info).map_err(refused)?;
        Ok((EncapsulatedSecret(enc), Box::new(Sealer(sender))))
    }

    fn open(
        &self,
        enc: &EncapsulatedSecret,
        info: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        secret_key: &HpkePrivateKey,
    ) -> Result<Vec<u8>, Error> {
        self.setup_opener(enc, info, secret_key)?
            .open(aad, ciphertext)
    }

    fn setup_opener(
        &self,
        enc: &EncapsulatedSecret,
        info: &[u8],
        secret_key: &HpkePrivateKey,
    ) -> Result<Box<dyn HpkeOpener + 'static>, Error> {
        let key = RecipientKey::from_bytes(self.kem, secret_key.secret_bytes());
        let key = key.map_err(|error| refused(error.into()))?;
        let receiver = Receiver::new(&key, self.suite, &enc.0, info).map_err(refused)?;
        Ok(Box::new(Opener(receiver)))
    }

    fn generate_key_pair(&self) -> Result<(HpkePublicKey, HpkePrivateKey), Error> {
        let key = RecipientKey::generate(self.kem).map_err(|error| refused(error.into()))?;
        let public_key = HpkePublicKey(key.public_key().as_bytes().to_vec());
        let bytes = key.to_bytes().expect("a key that was generated has a seed");
        Ok((public_key, bytes.to_vec().into()))
    }

    fn suite(&self) -> HpkeSuite {
        HpkeSuite {
            kem: HpkeKem::from(self.kem.id()),
            sym: HpkeSymmetricCipherSuite {
                kdf_id: HpkeKdf::from(self.suite.kdf.id()),
                aead_id: HpkeAead::from(self.suite.aead.id()),
            },
        }
    }
}

impl fmt::Debug for PqHpke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Suite { kdf, aead } = self.suite;
        write!(f, "{}, {}, {}", self.kem, kdf.name(), aead.name())
    }
}

#[derive(Debug)]
struct Sealer(Sender);

impl HpkeSealer for Sealer {
    fn seal(&mut self, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.seal(aad, plaintext).map_err(refused)
    }
}

#[derive(Debug)]
struct Opener(Receiver);

impl HpkeOpener for Opener {
    fn open(&mut self, aad: &[u8], ciphertext: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = self.0.open(aad, ciphertext).map_err(refused)?;
        Ok(core::mem::take(&mut *message))
    }
}

fn refused(error: HpkeError) -> Error {
    match error {
        HpkeError::NotAuthentic => Error::DecryptError,
        error => other(error),
    }
}
