//! SLH-DSA: in chains by default, in handshakes on request.

use alloc::sync::Arc;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::HandshakeKind::Full;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, ServerConfig, SignatureScheme,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::verify::slh_dsa::{SLH_DSA, SLHDSA_SHA2_128F, SLHDSA_SHAKE_128F};
use rustls_pq::{Authentication, Builder, Group, KeyAlgorithm, Profile};

use crate::peers::{
    Ecdsa, HashSlhDsa, Identity, KeyPair, Outcome, any_base, bases, client_config, connect,
    mutual_server_config, roots, server_config,
};

/// An ML-DSA-87 leaf under an SLH-DSA root, for either role.
struct Recommended {
    root: rustls::pki_types::CertificateDer<'static>,
    server: Identity,
}

impl Recommended {
    fn new() -> Self {
        Self::with_leaf(SignatureAlgorithm::MlDsa87)
    }

    fn with_leaf(leaf: SignatureAlgorithm) -> Self {
        let root = SigningKey::generate(SignatureAlgorithm::SlhDsaShake128f).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
        let key = SigningKey::generate(leaf).unwrap();
        let leaf = root
            .issue(
                CertificateBuilder::server()
                    .client_auth()
                    .dns_name("localhost"),
                &key,
            )
            .unwrap();
        Self {
            root: root.certificate().der().clone(),
            server: Identity {
                chain: vec![leaf.into_der()],
                key: key.private_key(),
            },
        }
    }

    fn connect(&self, client: CryptoProvider, server: CryptoProvider) -> Outcome {
        let client = client_config(client, roots([self.root.clone()]));
        connect(
            &Arc::new(client),
            &server_config(server, &self.server).into(),
        )
    }
}

fn experimental() -> CryptoProvider {
    Builder::new(any_base())
        .experimental_slh_dsa()
        .build()
        .unwrap()
}

#[test]
fn roots_are_accepted_over_every_base() {
    let pki = Recommended::new();
    for (name, base) in bases() {
        println!("{name}");
        let plain = Builder::new(base.clone());
        let strict = plain.clone().require_pq_authentication();
        let named = plain
            .clone()
            .signature_schemes([SignatureScheme::ML_DSA_87]);
        for client in [plain.clone(), strict, named] {
            let outcome = pki.connect(client.build().unwrap(), plain.clone().build().unwrap());
            outcome.assert_success(Group::X25519MLKEM768, Full);
        }
    }
}

/// CNSA 2.0 has ML-DSA-87 only.
#[test]
fn a_profile_that_names_its_signatures_has_no_others() {
    let pki = Recommended::new();
    for builder in [
        Builder::new(any_base()).profile(Profile::Cnsa2),
        Builder::new(any_base())
            .profile(Profile::Cnsa2)
            .signature_schemes([SignatureScheme::ML_DSA_87]),
    ] {
        let cnsa2 = builder.build().unwrap();
        let server = Builder::new(any_base())
            .profile(Profile::All)
            .build()
            .unwrap();
        let outcome = pki.connect(cnsa2, server);
        assert!(
            matches!(
                outcome.client.result,
                Err(Error::InvalidCertificate(
                    CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                ))
            ),
            "{:?}",
            outcome.client.result
        );
    }
}

#[test]
fn nothing_is_advertised_unless_asked_for() {
    let is_slh_dsa = |scheme: &SignatureScheme| (0x0911..=0x091c).contains(&u16::from(*scheme));
    let schemes = |provider: &CryptoProvider| {
        provider
            .signature_verification_algorithms
            .supported_schemes()
    };
    let default = Builder::new(any_base()).build().unwrap();
    assert!(!schemes(&default).iter().any(is_slh_dsa));

    let schemes = schemes(&experimental());
    let slh_dsa: Vec<_> = schemes.iter().copied().filter(is_slh_dsa).collect();
    assert_eq!(slh_dsa, SLH_DSA.supported_schemes());
    assert_eq!(slh_dsa.len(), 12);
    // After ML-DSA and before everything classical.
    assert_eq!(schemes[3..15], slh_dsa);
}

/// The error for a named scheme says what else is needed, and not that there is no such scheme.
#[test]
fn schemes_that_are_named_are_not_enough() {
    for scheme in SLH_DSA.supported_schemes() {
        let named = Builder::new(any_base()).signature_schemes([scheme]);
        let error = named.clone().build().unwrap_err();
        assert_eq!(error, rustls_pq::Error::SlhDsaIsExperimental { scheme });
        let text = error.to_string();
        for part in ["experimental", "`Builder::experimental_slh_dsa`"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(named.experimental_slh_dsa().build().is_ok());
    }
}

#[test]
fn leaves_need_both_sides_to_ask() {
    let pki = Recommended::with_leaf(SignatureAlgorithm::SlhDsaSha2_128f);
    let outcome = pki.connect(experimental(), experimental());
    outcome.assert_success(Group::X25519MLKEM768, Full);
    let peer = outcome.client.negotiated.unwrap().peer.unwrap();
    assert_eq!(peer.scheme, Some(SLHDSA_SHA2_128F));
    let algorithm = SignatureAlgorithm::SlhDsaSha2_128f;
    assert_eq!(peer.key, KeyAlgorithm::PostQuantum(algorithm));
    assert!(peer.is_post_quantum);

    // A client that has not opted in gets no such signature.
    let default = Builder::new(any_base()).build().unwrap();
    let outcome = pki.connect(default.clone(), experimental());
    assert_eq!(
        outcome.client.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );

    // A server that has not opted in refuses such a key, and says what to do.
    let error = default
        .key_provider
        .load_private_key(pki.server.key.clone_key())
        .unwrap_err()
        .to_string();
    assert!(error.contains("experimental_slh_dsa()"), "{error}");
    assert!(error.contains("SLH-DSA-SHA2-128f"), "{error}");
}

#[test]
fn signing_and_verifying_can_be_narrowed() {
    let pki = Recommended::with_leaf(SignatureAlgorithm::SlhDsaShake128f);
    let only = |scheme| {
        Builder::new(any_base())
            .experimental_slh_dsa()
            .signature_schemes([scheme])
            .build()
            .unwrap()
    };
    pki.connect(only(SLHDSA_SHAKE_128F), experimental())
        .assert_success(Group::X25519MLKEM768, Full);
    let outcome = pki.connect(only(SLHDSA_SHA2_128F), experimental());
    assert_eq!(
        outcome.client.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );
}

/// HashSLH-DSA is as post-quantum as SLH-DSA.
#[test]
fn pre_hash_signatures_count() {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), HashSlhDsa::generate()).unwrap();
    let ca = CertificateBuilder::ca("CA").path_len(0);
    let ca = root.issue_ca(ca, HashSlhDsa::generate()).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let leaf = || CertificateBuilder::server().dns_name("localhost");
    let ca_certificate = ca.certificate().der().clone();
    let pre_hash = Identity {
        chain: vec![
            ca.issue(leaf(), &key).unwrap().into_der(),
            ca_certificate.clone(),
        ],
        key: key.private_key(),
    };
    let provider = Builder::new(any_base()).build().unwrap();
    let client = client_config(provider.clone(), roots([root.certificate().der().clone()]));
    let outcome = connect(&client.into(), &server_config(provider, &pre_hash).into());
    outcome.assert_success(Group::X25519MLKEM768, Full);
    assert!(outcome.client.negotiated.unwrap().has_pq_authentication());
    assert_eq!(
        Authentication::of(&[ca_certificate]).unwrap().key,
        KeyAlgorithm::HashSlhDsa(HashSlhDsa::SET)
    );

    // A server's identity is as strong, but no scheme of a client covers it.
    let root = Ecdsa::root();
    let ecdsa = Identity::issued_by(&root, leaf(), &Ecdsa::generate());
    let set = IdentitySet::new()
        .strongest_first()
        .with_default(ecdsa.checked())
        .with_default(pre_hash.checked());
    let strongest = set.identities().next().unwrap();
    assert_eq!(strongest.certified_key().cert, pre_hash.chain);
    let mut schemes = SLH_DSA.supported_schemes();
    schemes.extend([
        SignatureScheme::ML_DSA_87,
        SignatureScheme::ECDSA_NISTP256_SHA256,
    ]);
    let choice = Identities::new(set).choose_for(None, &schemes, &schemes);
    assert_eq!(choice.unwrap().identity.certified_key().cert, ecdsa.chain);
}

/// A peer that compares its chain with the other side's list (RFC 9846, section 4.4.2.2), as BouncyCastle
/// does: it sends a chain under an SLH-DSA root only if the other side lists SLH-DSA.
#[derive(Debug)]
struct Strict(Arc<CertifiedKey>);

impl Strict {
    fn new(identity: &Identity, provider: &CryptoProvider) -> Arc<Self> {
        let Identity { chain, key } = identity.clone();
        let key = CertifiedKey::from_der(chain, key, provider).unwrap();
        Arc::new(Self(key.into()))
    }

    fn shown_to(&self, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let is_verifiable = schemes.contains(&SLHDSA_SHAKE_128F);
        is_verifiable.then(|| Arc::clone(&self.0))
    }
}

impl ResolvesServerCert for Strict {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.shown_to(hello.signature_schemes())
    }
}

impl ResolvesClientCert for Strict {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.shown_to(schemes)
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[test]
fn servers_that_check_their_own_chain() {
    let Recommended { root, server } = Recommended::new();
    let provider = Builder::new(any_base()).build().unwrap();
    let strict = Strict::new(&server, &provider);
    let server = ServerConfig::builder_with_provider(provider.clone().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(strict);
    let server = Arc::new(server);
    for (client, is_shown) in [(provider, false), (experimental(), true)] {
        let client = client_config(client, roots([root.clone()]));
        let outcome = connect(&client.into(), &server);
        let refused = Err(Error::AlertReceived(AlertDescription::AccessDenied));
        assert_eq!(
            outcome.client.result,
            if is_shown { Ok(()) } else { refused }
        );
    }
}

#[test]
fn clients_that_check_their_own_chain() {
    let pki = Recommended::new();
    let provider = Builder::new(any_base()).build().unwrap();
    let client = ClientConfig::builder_with_provider(provider.clone().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots([pki.root.clone()]))
        .with_client_cert_resolver(Strict::new(&pki.server, &provider));
    let client = Arc::new(client);
    for (server, is_shown) in [(provider, false), (experimental(), true)] {
        let server = mutual_server_config(server, &pki.server, roots([pki.root.clone()]));
        let outcome = connect(&client, &server.into());
        let refused = Err(Error::NoCertificatesPresented);
        assert_eq!(
            outcome.server.result,
            if is_shown { Ok(()) } else { refused }
        );
        assert_eq!(outcome.server.leaf.is_some(), is_shown);
    }
}
