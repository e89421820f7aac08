//! Certificates whose key usage doesn't allow what they are used for: accepted by
//! webpki, refused by `EnforceKeyUsage`.

use alloc::sync::Arc;

use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer, TbsCertificate};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::validation::ValidationError;
use pq_x509::x509_cert::der::flagset::FlagSet;
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use rustls::HandshakeKind::Full;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{AlertDescription, CertificateError, Error, ServerConfig};
use rustls_pq::verify::EnforceKeyUsage;
use rustls_pq::{Builder, Group, Refusal};

use crate::peers::{
    Ecdsa, HashSlhDsa, Identity, KeyPair, Outcome, Pki, any_base, client_config, connect,
    mutual_client_config, roots, server_config,
};

#[test]
fn leaf_that_must_not_encipher() {
    let pki = TestPki::new();
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let key = SigningKey::generate(algorithm).unwrap();
        for (usages, forbidden) in [
            (KeyUsages::KeyEncipherment.into(), "keyEncipherment"),
            (
                KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment,
                "keyEncipherment",
            ),
            (
                KeyUsages::DigitalSignature
                    | KeyUsages::DataEncipherment
                    | KeyUsages::KeyAgreement
                    | KeyUsages::EncipherOnly
                    | KeyUsages::DecipherOnly,
                "dataEncipherment, keyAgreement, encipherOnly, decipherOnly",
            ),
        ] {
            let leaf = pki.leaf(&key, |leaf| set(leaf, usages));
            pki.assert_refused(
                &pki.identity(leaf, &key),
                "CN=Leaf",
                &KeyUsageError::ForbiddenForSignatureKey {
                    algorithm,
                    usage: forbidden.into(),
                },
            );
        }
    }
}

/// Signatures over a handshake need digitalSignature, and nothing else is enough.
#[test]
fn leaf_that_must_not_sign_handshakes() {
    let pki = TestPki::new();
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ecdsa = Ecdsa::generate();
    for key in [&ml_dsa as &dyn KeyPair, &ecdsa] {
        for usages in [
            KeyUsages::NonRepudiation.into(),
            KeyUsages::KeyCertSign | KeyUsages::CRLSign,
            FlagSet::default(),
        ] {
            let leaf = pki.leaf(key, |leaf| set(leaf, usages));
            pki.assert_refused(
                &pki.identity(leaf, key),
                "CN=Leaf",
                &KeyUsageError::WithoutDigitalSignature,
            );
        }
    }
}

/// The message ends up in logs, and the certificate's owner may have chosen the name.
#[test]
fn names_in_messages() {
    let pki = TestPki::new();
    let key = SigningKey::generate(SET).unwrap();
    let leaf = pki.leaf(&key, |leaf| {
        set(leaf, KeyUsages::NonRepudiation);
        leaf.subject = format!("CN=\u{9b}2K\u{202e}{}", "x".repeat(5000))
            .parse()
            .unwrap();
    });
    let shown = format!("CN=\\u{{9b}}2K\\u{{202e}}{}...", "x".repeat(249));
    pki.assert_refused(
        &pki.identity(leaf, &key),
        &shown,
        &KeyUsageError::WithoutDigitalSignature,
    );
}

/// RFC 9881 is about ML-DSA: an ECDSA key may agree on keys, too.
#[test]
fn classical_leaf_with_more_usages() {
    let pki = TestPki::new();
    let key = Ecdsa::generate();
    let leaf = pki.leaf(&key, |leaf| {
        set(leaf, KeyUsages::DigitalSignature | KeyUsages::KeyAgreement);
    });
    pki.assert_accepted(&pki.identity(leaf, &key));
}

#[test]
fn intermediate_that_must_not_issue() {
    for usages in [
        KeyUsages::DigitalSignature.into(),
        KeyUsages::DigitalSignature | KeyUsages::CRLSign,
        FlagSet::default(),
    ] {
        let pki = TestPki::with_ca(|ca| set(ca, usages));
        pki.assert_refused(
            &pki.usual(),
            "CN=Test CA",
            &KeyUsageError::CaWithoutKeyCertSign,
        );
    }

    let pki = TestPki::with_ca(|ca| {
        set(ca, KeyUsages::KeyCertSign | KeyUsages::KeyAgreement);
    });
    pki.assert_refused(
        &pki.usual(),
        "CN=Test CA",
        &KeyUsageError::ForbiddenForSignatureKey {
            algorithm: SET,
            usage: "keyAgreement".into(),
        },
    );
}

/// HashSLH-DSA has identifiers of its own and the rules of SLH-DSA.
#[test]
fn ca_with_a_pre_hash_key_that_must_not_encipher() {
    let pki = TestPki::new();
    let builder = CertificateBuilder::ca("Hashing CA");
    let mut ca = pki
        .issuer
        .prepare(builder, &HashSlhDsa::generate())
        .unwrap();
    set(&mut ca, KeyUsages::KeyCertSign | KeyUsages::KeyAgreement);
    let mut identity = pki.usual();
    let ca = ca.sign(&pki.ca_key).unwrap();
    identity.chain.push(ca.into_der());
    pki.assert_refused(
        &identity,
        "CN=Hashing CA",
        &KeyUsageError::ForbiddenForSignatureKey {
            algorithm: HashSlhDsa::SET,
            usage: "keyAgreement".into(),
        },
    );
}

#[test]
fn usual_chain() {
    let pki = TestPki::new();
    pki.assert_accepted(&pki.usual());
}

/// Without the extension, a key may be used for anything (RFC 5280, section 4.2.1.3).
#[test]
fn no_key_usage() {
    let pki = TestPki::with_ca(remove);
    let key = SigningKey::generate(SET).unwrap();
    let leaf = pki.leaf(&key, remove);
    pki.assert_accepted(&pki.identity(leaf, &key));
}

/// Servers send more certificates than needed, most often their own a second time.
#[test]
fn surplus_certificates() {
    let pki = TestPki::new();
    let mut identity = pki.usual();
    identity.chain.insert(1, identity.chain[0].clone());
    identity.chain.push(pki.root.clone());
    pki.assert_accepted(&identity);
}

/// A certificate that the inner verifier refuses is refused with the inner verifier's reason.
#[test]
fn inner_verifier_comes_first() {
    let pki = TestPki::with_ca(|ca| set(ca, KeyUsages::CRLSign));
    let stranger = TestPki::new();
    let [as_server, as_client] = connect_both(&pki.usual(), &stranger.root, true);
    for result in [as_server.client.result, as_client.server.result] {
        assert_eq!(result, Err(CertificateError::BadSignature.into()));
    }
}

const SET: SignatureAlgorithm = SignatureAlgorithm::MlDsa44;

fn set(tbs: &mut TbsCertificate, usages: impl Into<FlagSet<KeyUsages>>) {
    tbs.set_extension(true, &KeyUsage(usages.into())).unwrap();
}

fn remove(tbs: &mut TbsCertificate) {
    use pq_x509::x509_cert::der::oid::AssociatedOid;
    tbs.remove_extension(KeyUsage::OID);
}

/// A root and an intermediate that issue what they shouldn't.
struct TestPki {
    root: CertificateDer<'static>,
    ca: Certificate,
    ca_key: SigningKey,
    /// Has the intermediate's name and key and is never sent.
    issuer: Issuer<SigningKey>,
}

impl TestPki {
    fn new() -> Self {
        Self::with_ca(|_| {})
    }

    fn with_ca(change: impl FnOnce(&mut TbsCertificate)) -> Self {
        let generate = || SigningKey::generate(SET).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Test Root"), generate()).unwrap();
        let ca_key = generate();
        let builder = || CertificateBuilder::ca("Test CA");
        let mut ca = root.prepare(builder(), &ca_key).unwrap();
        change(&mut ca);
        Self {
            ca: ca.sign(root.signer()).unwrap(),
            issuer: root.issue_ca(builder(), ca_key.clone()).unwrap(),
            ca_key,
            root: root.certificate().der().clone(),
        }
    }

    /// A leaf for both roles.
    fn leaf(
        &self,
        key: &(impl SubjectKey + ?Sized),
        change: impl FnOnce(&mut TbsCertificate),
    ) -> Certificate {
        let builder = CertificateBuilder::server()
            .client_auth()
            .common_name("Leaf")
            .dns_name("localhost");
        let mut leaf = self.issuer.prepare(builder, key).unwrap();
        change(&mut leaf);
        leaf.sign(&self.ca_key).unwrap()
    }

    fn identity(&self, leaf: Certificate, key: &(impl KeyPair + ?Sized)) -> Identity {
        Identity {
            chain: vec![leaf.into_der(), self.ca.der().clone()],
            key: key.private_key(),
        }
    }

    /// The chain with a valid leaf.
    fn usual(&self) -> Identity {
        let key = SigningKey::generate(SET).unwrap();
        self.identity(self.leaf(&key, |_| {}), &key)
    }

    #[track_caller]
    fn assert_accepted(&self, identity: &Identity) {
        for outcome in connect_both(identity, &self.root, true) {
            outcome.assert_success(Group::X25519MLKEM768, Full);
        }
    }

    /// That `identity` is refused in both roles, and that key usage is all that is wrong
    /// with it.
    #[track_caller]
    fn assert_refused(&self, identity: &Identity, subject: &str, source: &KeyUsageError) {
        let expected = ValidationError::KeyUsage {
            subject: subject.into(),
            error: source.clone(),
        };
        let [as_server, as_client] = connect_both(identity, &self.root, true);
        for (victim, other) in [
            (as_server.client, as_server.server),
            (as_client.server, as_client.client),
        ] {
            let Err(Error::InvalidCertificate(CertificateError::Other(error))) = victim.result
            else {
                panic!("{:?}", victim.result);
            };
            assert_eq!(error.0.downcast_ref(), Some(&expected));
            let client = client_config(Builder::new(any_base()).build().unwrap(), roots([]));
            let error = CertificateError::Other(error);
            assert_eq!(
                Refusal::by_client(&Error::from(error), &client),
                Refusal::KeyUsage {
                    subject: subject.into(),
                    error: source.clone(),
                }
            );
            assert_eq!(
                other.result,
                Err(Error::AlertReceived(AlertDescription::CertificateUnknown))
            );
        }

        for outcome in connect_both(identity, &self.root, false) {
            outcome.assert_success(Group::X25519MLKEM768, Full);
        }
    }
}

/// `identity` as a server's and as a client's, before peers that trust `trusted`.
fn connect_both(
    identity: &Identity,
    trusted: &CertificateDer<'static>,
    enforce: bool,
) -> [Outcome; 2] {
    let provider = Builder::new(any_base()).build().unwrap();
    let trusted = roots([trusted.clone()]);
    let shared = (Arc::new(trusted.clone()), Arc::new(provider.clone()));
    let mut client = client_config(provider.clone(), trusted);
    if enforce {
        let webpki =
            WebPkiServerVerifier::builder_with_provider(shared.0.clone(), shared.1.clone())
                .build()
                .unwrap();
        client
            .dangerous()
            .set_certificate_verifier(Arc::new(EnforceKeyUsage::new(webpki)));
    }
    let server = server_config(provider.clone(), identity);
    let as_server = connect(&client.into(), &server.into());

    let other = Pki::new(SET);
    let client = mutual_client_config(provider, other.roots(), identity);
    let webpki = WebPkiClientVerifier::builder_with_provider(shared.0, shared.1.clone())
        .build()
        .unwrap();
    let verifier = match enforce {
        true => Arc::new(EnforceKeyUsage::new(webpki)),
        false => webpki,
    };
    let server = ServerConfig::builder_with_provider(shared.1)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(other.server.chain, other.server.key)
        .unwrap();
    let as_client = connect(&client.into(), &server.into());

    [as_server, as_client]
}
