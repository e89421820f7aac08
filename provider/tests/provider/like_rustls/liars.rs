//! Peers that lie about their certificate, the signature by its key, and what they have seen of the
//! handshake. In TLS 1.3 all of this is encrypted, so nobody else could change it on the way.
//!
//! The liar is rustls's own provider over ring.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

use rustls::client::ResolvesClientCert;
use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{Hkdf, HkdfExpander, OkmBlock};
use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::version::{TLS12, TLS13};
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, Error, NamedGroup, ServerConfig,
    SignatureAlgorithm, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
    Tls13CipherSuite,
};

use super::{Key, Pki, Side, Verdict, assert_same_end, narrowed};
use crate::peers::any_base;

/// With every base there are the same error and the same alert as with every provider of rustls.
#[test]
fn same_errors_and_alerts() {
    let pki = Pki::new();
    for case in cases() {
        assert_same_end(&case.name(), case.alert, |provider| {
            let [tested, liar] = [provider, case.liar()]
                .map(|provider| narrowed(provider, case.suite, NamedGroup::X25519));
            let (client, server) = case.tested.first((tested, liar));
            let client = case.client(&pki, client);
            let server = case.server(&pki, server);
            Verdict::of(case.tested, client, server, |_| {})
        });
    }
}

struct Case {
    tested: Side,
    version: &'static SupportedProtocolVersion,
    suite: CipherSuite,
    /// The liar's key.
    key: Key,
    lie: Lie,
    alert: AlertDescription,
}

/// What the liar does.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// Sends no certificate.
    NoCertificate,
    /// Flips a bit in the signature of its certificate.
    Certificate,
    /// Flips a bit in its own signature.
    Signature,
    /// Sends an empty signature.
    NoSignature,
    /// States another scheme than it has signed with.
    Scheme(SignatureScheme),
    /// Flips a bit in its Finished.
    Finished,
}

fn cases() -> Vec<Case> {
    use AlertDescription as Alert;
    let mut cases = Vec::new();
    for tested in [Side::Client, Side::Server] {
        for (version, key, suite) in [
            (&TLS13, Key::Ecdsa, CipherSuite::TLS13_AES_128_GCM_SHA256),
            (&TLS13, Key::Rsa, CipherSuite::TLS13_AES_128_GCM_SHA256),
            (
                &TLS12,
                Key::Ecdsa,
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            ),
            (
                &TLS12,
                Key::Rsa,
                CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            ),
        ] {
            let (other_scheme, alert) = match key {
                Key::Ecdsa => (SignatureScheme::ECDSA_NISTP384_SHA384, Alert::DecryptError),
                // TLS 1.3 allows this scheme in chains only.
                Key::Rsa if version == &TLS13 => {
                    (SignatureScheme::RSA_PKCS1_SHA256, Alert::IllegalParameter)
                }
                Key::Rsa => (SignatureScheme::RSA_PKCS1_SHA256, Alert::DecryptError),
            };
            for (lie, alert) in [
                (Lie::Certificate, Alert::DecryptError),
                (Lie::Signature, Alert::DecryptError),
                (Lie::NoSignature, Alert::DecryptError),
                (Lie::Scheme(other_scheme), alert),
                (
                    Lie::Scheme(SignatureScheme::Unknown(0xfefe)),
                    Alert::IllegalParameter,
                ),
            ] {
                cases.push(Case {
                    tested,
                    version,
                    suite,
                    key,
                    lie,
                    alert,
                });
            }
            if tested == Side::Server {
                cases.push(Case {
                    tested,
                    version,
                    suite,
                    key,
                    lie: Lie::NoCertificate,
                    alert: Alert::CertificateRequired,
                });
            }
        }
        for suite in [
            CipherSuite::TLS13_AES_128_GCM_SHA256,
            CipherSuite::TLS13_AES_256_GCM_SHA384,
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        ] {
            cases.push(Case {
                tested,
                version: &TLS13,
                suite,
                key: Key::Ecdsa,
                lie: Lie::Finished,
                alert: Alert::DecryptError,
            });
        }
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        let Self {
            tested,
            suite,
            key,
            lie,
            ..
        } = self;
        format!("{tested:?}, {suite:?}, {key:?}, {lie:?}")
    }

    fn liar(&self) -> CryptoProvider {
        let mut liar = any_base();
        if let Lie::Finished = self.lie {
            // A client computes the server's Finished first, to compare it.
            let lies_at = match self.tested {
                Side::Client => 1,
                Side::Server => 2,
            };
            for suite in &mut liar.cipher_suites {
                if let SupportedCipherSuite::Tls13(honest) = suite {
                    *suite = LyingHkdf::in_suite(honest, lies_at);
                }
            }
        }
        liar
    }

    fn client(&self, pki: &Pki, provider: CryptoProvider) -> ClientConfig {
        if self.tested == Side::Client {
            return pki.client(provider, self.version);
        }
        let liar = self.certified(pki, &provider);
        let config = ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[self.version])
            .unwrap()
            .with_root_certificates(pki.roots());
        match self.lie {
            Lie::NoCertificate => config.with_no_client_auth(),
            _ => config.with_client_cert_resolver(Arc::new(liar)),
        }
    }

    fn server(&self, pki: &Pki, provider: CryptoProvider) -> ServerConfig {
        if self.tested == Side::Client {
            let liar = self.certified(pki, &provider);
            return ServerConfig::builder_with_provider(provider.into())
                .with_protocol_versions(&[self.version])
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(liar));
        }
        let provider = Arc::new(provider);
        let verifier = WebPkiClientVerifier::builder_with_provider(pki.roots(), provider.clone());
        let identity = pki.identity(self.key);
        ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[self.version])
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(identity.chain, identity.key)
            .unwrap()
    }

    fn certified(&self, pki: &Pki, provider: &CryptoProvider) -> Shown {
        let mut identity = pki.identity(self.key);
        if let Lie::Certificate = self.lie {
            // The signature comes last.
            let mut leaf = identity.chain[0].to_vec();
            *leaf.last_mut().unwrap() ^= 1;
            identity.chain[0] = leaf.into();
        }
        let key = provider.key_provider.load_private_key(identity.key);
        let key = Arc::new(LyingKey(key.unwrap(), self.lie));
        Shown(Arc::new(CertifiedKey::new(identity.chain, key)))
    }
}

/// Sends this certificate in either role.
#[derive(Debug)]
struct Shown(Arc<CertifiedKey>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

impl ResolvesClientCert for Shown {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct LyingKey(Arc<dyn SigningKey>, Lie);

impl SigningKey for LyingKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = self.0.choose_scheme(offered)?;
        Some(Box::new(LyingSigner(signer, self.1)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

#[derive(Debug)]
struct LyingSigner(Box<dyn Signer>, Lie);

impl Signer for LyingSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = self.0.sign(message)?;
        match self.1 {
            Lie::Signature => *signature.last_mut().unwrap() ^= 1,
            Lie::NoSignature => signature.clear(),
            _ => {}
        }
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        match self.1 {
            Lie::Scheme(scheme) => scheme,
            _ => self.0.scheme(),
        }
    }
}

/// An HKDF that lies in Finished: in a full handshake rustls uses [`Hkdf::hmac_sign`] for nothing else.
struct LyingHkdf {
    honest: &'static dyn Hkdf,
    calls: AtomicUsize,
    lies_at: usize,
}

impl LyingHkdf {
    fn in_suite(honest: &'static Tls13CipherSuite, lies_at: usize) -> SupportedCipherSuite {
        let common = &honest.common;
        let lying = Tls13CipherSuite {
            common: CipherSuiteCommon {
                suite: common.suite,
                hash_provider: common.hash_provider,
                confidentiality_limit: common.confidentiality_limit,
            },
            hkdf_provider: Box::leak(Box::new(Self {
                honest: honest.hkdf_provider,
                calls: AtomicUsize::new(0),
                lies_at,
            })),
            aead_alg: honest.aead_alg,
            quic: honest.quic,
        };
        SupportedCipherSuite::Tls13(Box::leak(Box::new(lying)))
    }
}

impl Hkdf for LyingHkdf {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        self.honest.extract_from_zero_ikm(salt)
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        self.honest.extract_from_secret(salt, secret)
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        self.honest.expander_for_okm(okm)
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        let mut tag = self.honest.hmac_sign(key, message).as_ref().to_vec();
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.lies_at {
            tag[0] ^= 1;
        }
        Tag::new(&tag)
    }
}
