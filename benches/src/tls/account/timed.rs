//! A provider whose calls are all timed as spans.

use alloc::sync::Arc;

use pq_x509::pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, PrivateKeyDer, ServerName,
    SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::hash::{self, HashAlgorithm};
use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{Hkdf, HkdfExpander, OkmBlock, OutputLengthError};
use rustls::crypto::{
    ActiveKeyExchange, CipherSuiteCommon, CompletedKeyExchange, CryptoProvider, GetRandomFailed,
    KeyProvider, SecureRandom, SharedSecret, SupportedKxGroup, WebPkiSupportedAlgorithms,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::sign::{Signer, SigningKey};
use rustls::{
    ConnectionTrafficSecrets, DigitallySignedStruct, DistinguishedName, Error, NamedGroup,
    ProtocolVersion, SignatureAlgorithm, SignatureScheme, SupportedCipherSuite, Tls13CipherSuite,
};
use rustls_pq::{Builder, base};

use super::Part;
use super::spans::{current, span};

/// Our provider over graviola. Its parts are never freed, because rustls needs `'static` references.
///
/// `None` if graviola does not run.
pub(super) fn provider() -> Result<Option<CryptoProvider>, rustls_pq::Error> {
    let Ok(mut base) = base::graviola() else {
        return Ok(None);
    };
    for group in &mut base.kx_groups {
        *group = leak(Timed(*group, Part::Classical));
    }
    let mut provider = Builder::new(base).build()?;
    provider.secure_random = leak(Timed(provider.secure_random, Part::Random));
    provider.key_provider = leak(Timed(provider.key_provider, Part::Signing));
    for group in &mut provider.kx_groups {
        *group = leak(Timed(*group, Part::MlKem));
    }
    provider.cipher_suites = (provider.cipher_suites.iter())
        .filter_map(|suite| Some(SupportedCipherSuite::Tls13(suite_of(suite.tls13()?))))
        .collect();
    provider.signature_verification_algorithms =
        algorithms(provider.signature_verification_algorithms);
    Ok(Some(provider))
}

fn suite_of(suite: &'static Tls13CipherSuite) -> &'static Tls13CipherSuite {
    leak(Tls13CipherSuite {
        common: CipherSuiteCommon {
            hash_provider: leak(Timed(suite.common.hash_provider, Part::Transcript)),
            ..suite.common
        },
        hkdf_provider: leak(Timed(suite.hkdf_provider, Part::KeySchedule)),
        aead_alg: leak(Timed(suite.aead_alg, Part::RecordKeys)),
        quic: None,
    })
}

fn algorithms(theirs: WebPkiSupportedAlgorithms) -> WebPkiSupportedAlgorithms {
    type Algorithm = &'static dyn SignatureVerificationAlgorithm;
    let timed = |algorithm: &Algorithm| -> Algorithm { leak(Timed(*algorithm, Part::Verifying)) };
    let all = |algorithms: &[Algorithm]| -> &'static [Algorithm] {
        Vec::leak(algorithms.iter().map(timed).collect())
    };
    WebPkiSupportedAlgorithms {
        all: all(theirs.all),
        mapping: Vec::leak(
            (theirs.mapping.iter())
                .map(|(scheme, algorithms)| (*scheme, all(algorithms)))
                .collect(),
        ),
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A verifier whose time counts as webpki's, apart from signatures.
pub(super) fn verifier(theirs: Arc<WebPkiServerVerifier>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Timed(theirs, Part::Chain))
}

/// A value whose calls are all spans of a part.
#[derive(Debug)]
struct Timed<T>(T, Part);

impl<T> Timed<T> {
    fn span<R>(&self, work: impl FnOnce(&T) -> R) -> R {
        span(self.1, || work(&self.0))
    }

    /// Calls `work`, and wraps its result in the same way.
    fn boxed<R>(&self, work: impl FnOnce(&T) -> R) -> Box<Timed<R>> {
        let made = self.span(work);
        Box::new(Timed(made, self.1))
    }
}

impl SupportedKxGroup for Timed<&'static dyn SupportedKxGroup> {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let started = self.span(|group| group.start())?;
        Ok(Box::new(Timed(started, self.1)))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        self.span(|group| group.start_and_complete(client_share))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        self.0.ffdhe_group()
    }

    fn name(&self) -> NamedGroup {
        self.0.name()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.0.usable_for_version(version)
    }
}

impl ActiveKeyExchange for Timed<Box<dyn ActiveKeyExchange>> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        let Self(exchange, part) = *self;
        span(part, || exchange.complete(server_share))
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        self.0.hybrid_component()
    }

    fn complete_hybrid_component(
        self: Box<Self>,
        server_share: &[u8],
    ) -> Result<SharedSecret, Error> {
        let Self(exchange, part) = *self;
        span(part, || exchange.complete_hybrid_component(server_share))
    }

    fn pub_key(&self) -> &[u8] {
        self.0.pub_key()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        self.0.ffdhe_group()
    }

    fn group(&self) -> NamedGroup {
        self.0.group()
    }
}

impl SecureRandom for Timed<&'static dyn SecureRandom> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        self.span(|random| random.fill(bytes))
    }
}

impl KeyProvider for Timed<&'static dyn KeyProvider> {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Ok(Arc::new(Timed(self.0.load_private_key(der)?, self.1)))
    }
}

impl SigningKey for Timed<Arc<dyn SigningKey>> {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = self.span(|key| key.choose_scheme(offered))?;
        Some(Box::new(Timed(signer, self.1)))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.0.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for Timed<Box<dyn Signer>> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.span(|signer| signer.sign(message))
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

impl SignatureVerificationAlgorithm for Timed<&'static dyn SignatureVerificationAlgorithm> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let part = match current() {
            Some(Part::Chain) => Part::VerifyingChain,
            _ => self.1,
        };
        span(part, || {
            self.0.verify_signature(public_key, message, signature)
        })
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.0.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.0.signature_alg_id()
    }
}

impl ServerCertVerifier for Timed<Arc<WebPkiServerVerifier>> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.span(|verifier| {
            verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        span(Part::SignersKey, || {
            self.0
                .verify_tls13_signature(message, certificate, signature)
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.0.root_hint_subjects()
    }
}

impl hash::Hash for Timed<&'static dyn hash::Hash> {
    fn start(&self) -> Box<dyn hash::Context> {
        self.boxed(|hash| hash.start())
    }

    fn hash(&self, data: &[u8]) -> hash::Output {
        self.span(|hash| hash.hash(data))
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn algorithm(&self) -> HashAlgorithm {
        self.0.algorithm()
    }
}

impl hash::Context for Timed<Box<dyn hash::Context>> {
    fn fork_finish(&self) -> hash::Output {
        self.span(|context| context.fork_finish())
    }

    fn fork(&self) -> Box<dyn hash::Context> {
        self.boxed(|context| context.fork())
    }

    fn finish(self: Box<Self>) -> hash::Output {
        let Self(context, part) = *self;
        span(part, || context.finish())
    }

    fn update(&mut self, data: &[u8]) {
        span(self.1, || self.0.update(data));
    }
}

impl Hkdf for Timed<&'static dyn Hkdf> {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        self.boxed(|hkdf| hkdf.extract_from_zero_ikm(salt))
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        self.boxed(|hkdf| hkdf.extract_from_secret(salt, secret))
    }

    fn extract_from_kx_shared_secret(
        &self,
        salt: Option<&[u8]>,
        exchange: Box<dyn ActiveKeyExchange>,
        peer_share: &[u8],
    ) -> Result<Box<dyn HkdfExpander>, Error> {
        let expander =
            self.span(|hkdf| hkdf.extract_from_kx_shared_secret(salt, exchange, peer_share))?;
        Ok(Box::new(Timed(expander, self.1)))
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        self.boxed(|hkdf| hkdf.expander_for_okm(okm))
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        self.span(|hkdf| hkdf.hmac_sign(key, message))
    }
}

impl HkdfExpander for Timed<Box<dyn HkdfExpander>> {
    fn expand_slice(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), OutputLengthError> {
        self.span(|expander| expander.expand_slice(info, output))
    }

    fn expand_block(&self, info: &[&[u8]]) -> OkmBlock {
        self.span(|expander| expander.expand_block(info))
    }

    fn hash_len(&self) -> usize {
        self.0.hash_len()
    }
}

impl Tls13AeadAlgorithm for Timed<&'static dyn Tls13AeadAlgorithm> {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Keyed::new(self.span(|aead| aead.encrypter(key, iv))))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Keyed::new(self.span(|aead| aead.decrypter(key, iv))))
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
}

/// A record key. Wiping it counts as making it.
struct Keyed<T>(Option<T>);

impl<T> Keyed<T> {
    fn new(key: T) -> Self {
        Self(Some(key))
    }

    fn key(&self) -> &T {
        self.0.as_ref().expect("there until it is dropped")
    }

    fn key_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("there until it is dropped")
    }
}

impl<T> Drop for Keyed<T> {
    fn drop(&mut self) {
        span(Part::RecordKeys, || drop(self.0.take()));
    }
}

impl MessageEncrypter for Keyed<Box<dyn MessageEncrypter>> {
    fn encrypt(
        &mut self,
        message: OutboundPlainMessage<'_>,
        sequence_number: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        span(Part::Records, || {
            self.key_mut().encrypt(message, sequence_number)
        })
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        self.key().encrypted_payload_len(payload_len)
    }
}

impl MessageDecrypter for Keyed<Box<dyn MessageDecrypter>> {
    fn decrypt<'a>(
        &mut self,
        message: InboundOpaqueMessage<'a>,
        sequence_number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        span(Part::Records, || {
            self.key_mut().decrypt(message, sequence_number)
        })
    }
}
