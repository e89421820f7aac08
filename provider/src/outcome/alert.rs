//! The alert after a signature that could not be made. rustls sends none: the error of a key passes through it, and what it
//! has prepared until then is sent without the alert that says why no more comes.
//!
//! In TLS 1.3 the alert is encrypted under the server's handshake traffic secret, which rustls shows its `KeyLog` when it has
//! derived it. The alert is made right then, so nothing here keeps a secret: the record is kept, which has none in it. It is the
//! first record under that key, as are the server's other messages after its ServerHello if the handshake goes on; so the record
//! is thrown away as soon as rustls has sent those, which it tells by showing the next secret. The two are never both sent.

use alloc::sync::Arc;
use core::{fmt, mem};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::crypto::cipher::{AeadKey, Iv, OutboundChunks, OutboundPlainMessage};
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use rustls::{
    ContentType, KeyLog, ProtocolVersion, ServerConfig, SupportedCipherSuite, Tls13CipherSuite,
};
use zeroize::Zeroizing;

use crate::hello::Offer;

/// The alert `internal_error` (RFC 9846, section 6) for one connection, until it is clear whether the server has signed.
pub(super) struct AlertInReserve {
    /// The suite that rustls will choose if it chooses TLS 1.3.
    suite: Option<&'static Tls13CipherSuite>,
    /// Who else is shown secrets.
    key_log: Arc<dyn KeyLog>,
    record: Mutex<Record>,
}

enum Record {
    /// As long as there is no secret. If there never is one before the signature, it is TLS 1.2.
    Plain,
    Encrypted(Vec<u8>),
    /// It was taken, can't be made or isn't true.
    None,
}

impl AlertInReserve {
    /// For a client with this offer. It has to be the `key_log` of the connection.
    pub(super) fn new(offer: &Offer, config: &ServerConfig) -> Self {
        Self {
            suite: suite_for(offer, config),
            key_log: config.key_log.clone(),
            record: Mutex::new(Record::Plain),
        }
    }

    /// The record with the alert, once.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        match mem::replace(&mut *self.record(), Record::None) {
            Record::Plain => Some(PLAIN.into()),
            Record::Encrypted(record) => Some(record),
            Record::None => None,
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The secret of the server's messages before its Finished, and the one after it.
const HANDSHAKE: &str = "SERVER_HANDSHAKE_TRAFFIC_SECRET";
const APPLICATION: &str = "SERVER_TRAFFIC_SECRET_0";

impl KeyLog for AlertInReserve {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if self.key_log.will_log(label) {
            self.key_log.log(label, client_random, secret);
        }
        let record = match label {
            HANDSHAKE => self
                .suite
                .and_then(|suite| encrypted(suite, secret))
                .map_or(Record::None, Record::Encrypted),
            APPLICATION => Record::None,
            _ => return,
        };
        *self.record() = record;
    }

    fn will_log(&self, label: &str) -> bool {
        [HANDSHAKE, APPLICATION].contains(&label) || self.key_log.will_log(label)
    }
}

impl fmt::Debug for AlertInReserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertInReserve").finish_non_exhaustive()
    }
}

/// What rustls chooses in TLS 1.3: the first suite of the client's list that the server has, or the other way round.
fn suite_for(offer: &Offer, config: &ServerConfig) -> Option<&'static Tls13CipherSuite> {
    let suites = &config.crypto_provider().cipher_suites;
    let mut ours = suites.iter().filter_map(SupportedCipherSuite::tls13);
    match config.ignore_client_order {
        true => ours.find(|one| offer.cipher_suites.contains(&one.common.suite)),
        false => offer.cipher_suites.iter().find_map(|theirs| {
            let mut ours = ours.clone();
            ours.find(|one| one.common.suite == *theirs)
        }),
    }
}

/// fatal (2), internal_error
const ALERT: [u8; 2] = [2, INTERNAL_ERROR];
const INTERNAL_ERROR: u8 = 80;
/// The type of the record, the version, the length and the alert.
const PLAIN: [u8; 7] = [21, 3, 3, 0, 2, 2, INTERNAL_ERROR];

/// The first record under a secret (RFC 9846, sections 5.2 and 7.3), with the alert in it.
fn encrypted(suite: &Tls13CipherSuite, secret: &[u8]) -> Option<Vec<u8>> {
    // Of another suite, if rustls has chosen differently after all.
    if secret.len() != suite.common.hash_provider.output_len() {
        return None;
    }
    pq_core::wiping_stack(|| {
        let expander = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(secret));
        let mut key = Zeroizing::new([0; 32]);
        let mut iv = Zeroizing::new([0; 12]);
        let key_len = suite.aead_alg.key_len();
        expand(&*expander, b"tls13 key", key.get_mut(..key_len)?)?;
        expand(&*expander, b"tls13 iv", &mut *iv)?;
        // rustls makes keys of other lengths only itself.
        if key_len != key.len() {
            return encrypted_with_gcm(&key[..key_len], &iv);
        }
        let message = OutboundPlainMessage {
            typ: ContentType::Alert,
            version: ProtocolVersion::TLSv1_3,
            payload: OutboundChunks::Single(&ALERT),
        };
        let mut encrypter = (suite.aead_alg).encrypter(AeadKey::from(*key), Iv::from(*iv));
        Some(encrypter.encrypt(message, 0).ok()?.encode())
    })
}

/// HKDF-Expand-Label with an empty context (RFC 9846, section 7.1).
fn expand(expander: &dyn HkdfExpander, label: &[u8], output: &mut [u8]) -> Option<()> {
    let len = u16::try_from(output.len()).ok()?.to_be_bytes();
    let label_len = [u8::try_from(label.len()).ok()?];
    let info: [&[u8]; 4] = [&len, &label_len, label, &[0]];
    expander.expand_slice(&info, output).ok()
}

/// With AES-128-GCM.
#[cfg(feature = "graviola")]
fn encrypted_with_gcm(key: &[u8], iv: &[u8; pq_keys::gcm::NONCE_LEN]) -> Option<Vec<u8>> {
    use pq_keys::gcm::{Key, TAG_LEN};

    // TLSInnerPlaintext: the alert, and its type.
    let [level, description] = ALERT;
    let mut text = [level, description, u8::from(ContentType::Alert)];
    let len = u16::try_from(text.len() + TAG_LEN).ok()?.to_be_bytes();
    let header = [u8::from(ContentType::ApplicationData), 3, 3, len[0], len[1]];
    let tag = Key::new(key)?.seal(iv, &header, &mut text).ok()?;
    Some([&header[..], &text, &tag].concat())
}

/// Without graviola there is no AES here but what rustls has.
#[cfg(not(feature = "graviola"))]
fn encrypted_with_gcm(_: &[u8], _: &[u8; 12]) -> Option<Vec<u8>> {
    None
}

#[cfg(test)]
mod tests {
    use rustls::AlertDescription;

    use super::*;

    #[test]
    fn numbers_are_those_of_rustls() {
        assert_eq!(
            AlertDescription::from(INTERNAL_ERROR),
            AlertDescription::InternalError
        );
        assert_eq!(PLAIN[0], u8::from(ContentType::Alert));
    }
}
