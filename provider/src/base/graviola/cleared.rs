//! Clears the upper halves of vector registers after graviola has wiped the keys and shared secrets of connections:
//! [`Clearing`] says why.
//!
//! It doesn't clear after keys of TLS 1.2, of certificates and of tickets, which are rare here. On AArch64 there
//! is nothing to clear, but each key still costs an allocation.

use pq_keys::classical::Clearing;
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{ConnectionTrafficSecrets, Error, NamedGroup, ProtocolVersion};
use rustls_graviola::kx;

/// `provider`, which is graviola's, with the classical groups of this module in place of its own.
pub(crate) fn in_place(mut provider: CryptoProvider) -> CryptoProvider {
    static OURS: [Classical; 3] = [
        Classical(&kx::X25519),
        Classical(&kx::P256),
        Classical(&kx::P384),
    ];

    for group in &mut provider.kx_groups {
        let same = |ours: &&Classical| ours.name() == group.name();
        if let Some(ours) = OURS.iter().find(same) {
            *group = ours;
        }
    }
    provider
}

/// A classical group whose key exchanges are [`Cleared`].
#[derive(Debug)]
struct Classical(&'static dyn SupportedKxGroup);

impl SupportedKxGroup for Classical {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Cleared::new(self.0.start()?))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let _clearing = Clearing;
        self.0.start_and_complete(client_share)
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        self.0.ffdhe_group()
    }

    fn name(&self) -> NamedGroup {
        self.0.name()
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.0.usable_for_version(version)
    }
}

/// An AEAD whose keys are [`Cleared`].
pub(crate) struct RecordProtection(pub(crate) &'static dyn Tls13AeadAlgorithm);

impl Tls13AeadAlgorithm for RecordProtection {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Cleared::new(self.0.encrypter(key, iv))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Cleared::new(self.0.decrypter(key, iv))
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.extract_keys(key, iv)
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }
}

/// A value that wipes itself when dropped. The upper halves are cleared afterwards.
struct Cleared<T: ?Sized> {
    value: Box<T>,
    _clearing: Clearing,
}

impl<T: ?Sized> Cleared<T> {
    fn new(value: Box<T>) -> Box<Self> {
        Box::new(Self {
            value,
            _clearing: Clearing,
        })
    }
}

impl ActiveKeyExchange for Cleared<dyn ActiveKeyExchange> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        let Self { value, _clearing } = *self;
        value.complete(server_share)
    }

    fn pub_key(&self) -> &[u8] {
        self.value.pub_key()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        self.value.ffdhe_group()
    }

    fn group(&self) -> NamedGroup {
        self.value.group()
    }
}

impl MessageEncrypter for Cleared<dyn MessageEncrypter> {
    fn encrypt(
        &mut self,
        message: OutboundPlainMessage<'_>,
        sequence_number: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        self.value.encrypt(message, sequence_number)
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        self.value.encrypted_payload_len(payload_len)
    }
}

impl MessageDecrypter for Cleared<dyn MessageDecrypter> {
    fn decrypt<'a>(
        &mut self,
        message: InboundOpaqueMessage<'a>,
        sequence_number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        self.value.decrypt(message, sequence_number)
    }
}

/// Whether the upper halves are in use after `what`. `None` if there are none, or if this CPU does not
/// tell; a line on stderr says so then.
#[cfg(test)]
pub(crate) fn left_in_use(what: impl FnOnce()) -> Option<bool> {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = pq_core::arch::Avx2::detect() {
        cpu.clear_upper_halves();
        // Some CPUs report them as always in use.
        let tells = cpu.upper_halves_in_use() == Some(false);
        what();
        return match tells {
            true => cpu.upper_halves_in_use(),
            false => {
                tell(DOES_NOT_SAY);
                None
            }
        };
    }
    what();
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
const DOES_NOT_SAY: &str = "not checked: this CPU does not say whether upper halves are in use";

/// Writes to stderr directly: the test harness hides what tests print when they pass.
#[cfg(all(test, target_arch = "x86_64"))]
fn tell(line: &str) {
    use std::io::{Write, stderr};

    writeln!(stderr(), "{line}").expect("stderr is open");
}

#[cfg(test)]
mod tests {
    use rustls::crypto::cipher::NONCE_LEN;

    use super::*;
    use crate::base;

    #[test]
    fn groups() {
        for group in base::graviola().unwrap().kx_groups {
            // `Builder` replaces it.
            if group.name() == NamedGroup::X25519MLKEM768 {
                continue;
            }
            let [completed, abandoned] = [(); 2].map(|()| group.start().unwrap());
            let share = abandoned.pub_key().to_vec();
            let complete = || drop(completed.complete(&share).unwrap());
            assert_ne!(left_in_use(complete), Some(true), "{:?}", group.name());
            assert_ne!(
                left_in_use(|| drop(abandoned)),
                Some(true),
                "{:?}",
                group.name()
            );
            let answer = || drop(group.start_and_complete(&share).unwrap());
            assert_ne!(left_in_use(answer), Some(true), "{:?}", group.name());
        }
    }

    #[test]
    fn keys_of_suites() {
        let provider = base::graviola().unwrap();
        let suites = provider
            .cipher_suites
            .iter()
            .filter_map(|suite| suite.tls13());
        for suite in suites {
            let aead = suite.aead_alg;
            let suite = suite.common.suite;
            // rustls makes only keys of 32 bytes from bytes; graviola goes by the length.
            let key = || AeadKey::from([0; 32]);
            let iv = || Iv::from([0; NONCE_LEN]);
            let (encrypter, decrypter) = (aead.encrypter(key(), iv()), aead.decrypter(key(), iv()));
            assert_ne!(left_in_use(|| drop(encrypter)), Some(true), "{suite:?}");
            assert_ne!(left_in_use(|| drop(decrypter)), Some(true), "{suite:?}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn graviola_leaves_none_in_use_where_none_are_cleared() {
        let cpu = pq_core::arch::Avx2::detect().unwrap();
        let key = graviola::aead::AesGcm::new(&[0; 16]);
        match left_in_use(|| drop(key)) {
            None => {}
            Some(left) if cpu.slowed_by_zero_halves() => {
                // If graviola left none in use anywhere, this module would not be needed.
                tell(&format!(
                    "cleared here; graviola leaves them in use: {left}"
                ));
            }
            Some(left) => assert!(!left),
        }
    }

    /// Halves that are not zero show whether `Clearing` cleared them.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn needless_clearing_is_left_out() {
        let cpu = pq_core::arch::Avx2::detect().unwrap();
        // Who asks first clears them, too.
        let slowed = cpu.slowed_by_zero_halves();
        cpu.set_upper_half();
        let before = cpu.upper_halves_in_use();
        drop(Clearing);
        let after = cpu.upper_halves_in_use();
        cpu.clear_upper_halves();
        if (before, cpu.upper_halves_in_use()) == (Some(true), Some(false)) {
            assert_eq!(after, Some(!slowed));
        } else {
            tell(DOES_NOT_SAY);
        }
    }
}
