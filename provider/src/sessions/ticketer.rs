//! Tickets encrypted by whatever provider a server has: rustls offers no AEAD of a provider but its record protection.

use core::fmt;

use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, Iv, NONCE_LEN, OutboundChunks, OutboundPlainMessage,
    Tls13AeadAlgorithm,
};
use rustls::crypto::{CryptoProvider, SecureRandom};
use rustls::server::ProducesTickets;
use rustls::{ContentType, ProtocolVersion};
use zeroize::Zeroizing;

/// Encrypts tickets with one key and an AEAD of a provider.
///
/// rustls exposes a provider's AEADs only as the record protection of TLS 1.3 (RFC 9846, section
/// 5.2). So a ticket is a random nonce and then the content of one record, the first with this
/// nonce.
pub(crate) struct Ticketer {
    aead: &'static dyn Tls13AeadAlgorithm,
    /// Boxed, so that the key is not moved.
    key: Box<Zeroizing<[u8; KEY_LEN]>>,
    random: &'static dyn SecureRandom,
}

/// The key length of AES-256-GCM and ChaCha20-Poly1305: rustls makes no other keys from bytes.
const KEY_LEN: usize = 32;

impl Ticketer {
    /// A ticketer with a new key, if the provider has an AEAD with keys of 256 bits.
    ///
    /// # Errors
    ///
    /// If there is no randomness for the key.
    pub(crate) fn new(provider: &CryptoProvider) -> Result<Option<Self>, rustls::Error> {
        let suites = provider.cipher_suites.iter();
        suites
            .filter_map(|suite| Some(suite.tls13()?.aead_alg))
            .find(|aead| aead.key_len() == KEY_LEN)
            .map(|aead| Self::by(aead, provider.secure_random))
            .transpose()
    }

    /// Another ticketer of the same kind, with a new key.
    pub(crate) fn renewed(&self) -> Result<Self, rustls::Error> {
        Self::by(self.aead, self.random)
    }

    fn by(
        aead: &'static dyn Tls13AeadAlgorithm,
        random: &'static dyn SecureRandom,
    ) -> Result<Self, rustls::Error> {
        let mut key = Box::new(Zeroizing::new([0; KEY_LEN]));
        random.fill(&mut **key)?;
        Ok(Self { aead, key, random })
    }

    fn key(&self) -> AeadKey {
        AeadKey::from(**self.key)
    }
}

impl ProducesTickets for Ticketer {
    fn enabled(&self) -> bool {
        true
    }

    /// Twelve hours, like the ticketers of graviola, AWS-LC and ring.
    fn lifetime(&self) -> u32 {
        12 * 60 * 60
    }

    fn encrypt(&self, session: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let record = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_3,
            payload: OutboundChunks::Single(session),
        };
        let mut encrypter = self.aead.encrypter(self.key(), Iv::from(nonce));
        let record = encrypter.encrypt(record, 0).ok()?;
        Some([&nonce, record.payload.as_ref()].concat())
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let (nonce, record) = ticket.split_first_chunk()?;
        let mut record = Zeroizing::new(record.to_vec());
        let record = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_3,
            &mut record,
        );
        let mut decrypter = self.aead.decrypter(self.key(), Iv::from(*nonce));
        let session = decrypter.decrypt(record, 0).ok()?;
        Some(session.payload.to_vec())
    }
}

impl fmt::Debug for Ticketer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticketer").finish_non_exhaustive()
    }
}
