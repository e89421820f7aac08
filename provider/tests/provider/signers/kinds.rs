//! What signs handshakes, and which signers are refused.

use alloc::sync::Arc;

use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer, alg_id};
use rustls::{ClientConfig, Error, ProtocolVersion, ServerConfig, SignatureScheme, version};
use rustls_pq::identity::{Identity, IdentityError, IdentitySet};
use rustls_pq::sign::SignatureCheck;
use rustls_pq::{Builder, KeyAlgorithm, Profile};

use super::{Acting, Classical, World, identities, provider, server};
use crate::peers::{
    Ecdsa, HashSlhDsa, KeyPair, Pki, any_base, connect, mutual_server_config, with_groups,
};

const RSA_PEM: &str = include_str!("../rsa-2048.pem");

fn ecdsa_p384() -> Classical {
    let key = Ecdsa::generate_for(&ring::signature::ECDSA_P384_SHA384_ASN1_SIGNING);
    Classical::new(
        key.private_key(),
        SignatureScheme::ECDSA_NISTP384_SHA384,
        alg_id::ECDSA_SHA384,
    )
}

fn ed25519() -> Classical {
    let random = ring::rand::SystemRandom::new();
    let key = ring::signature::Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.as_ref().to_vec());
    Classical::new(key.into(), SignatureScheme::ED25519, alg_id::ED25519)
}

fn rsa(scheme: SignatureScheme, identifier: alg_id::AlgorithmIdentifier) -> Classical {
    let key = PrivateKeyDer::from_pem_slice(RSA_PEM.as_bytes()).unwrap();
    Classical::new(key, scheme, identifier)
}

/// Every kind that has a scheme, with this scheme.
fn every_kind() -> Vec<(SignatureScheme, Arc<dyn Signer>)> {
    use SignatureScheme as Scheme;
    let post_quantum = |algorithm| Arc::new(SigningKey::generate(algorithm).unwrap()) as _;
    vec![
        (Scheme::ML_DSA_44, post_quantum(SignatureAlgorithm::MlDsa44)),
        (Scheme::ML_DSA_65, post_quantum(SignatureAlgorithm::MlDsa65)),
        (Scheme::ML_DSA_87, post_quantum(SignatureAlgorithm::MlDsa87)),
        (
            rustls_pq::verify::slh_dsa::SLHDSA_SHA2_128F,
            post_quantum(SignatureAlgorithm::SlhDsaSha2_128f),
        ),
        (Scheme::ECDSA_NISTP256_SHA256, Arc::new(Ecdsa::generate())),
        (Scheme::ECDSA_NISTP384_SHA384, Arc::new(ecdsa_p384())),
        (Scheme::ED25519, Arc::new(ed25519())),
        (
            Scheme::RSA_PSS_SHA256,
            Arc::new(rsa(Scheme::RSA_PSS_SHA256, alg_id::RSA_PSS_SHA256)),
        ),
        (
            Scheme::RSA_PSS_SHA384,
            Arc::new(rsa(Scheme::RSA_PSS_SHA384, alg_id::RSA_PSS_SHA384)),
        ),
        (
            Scheme::RSA_PSS_SHA512,
            Arc::new(rsa(Scheme::RSA_PSS_SHA512, alg_id::RSA_PSS_SHA512)),
        ),
    ]
}

#[test]
fn servers_sign_with_every_kind() {
    let world = World::new();
    for (scheme, signer) in every_kind() {
        for check in [SignatureCheck::Each, SignatureCheck::LeftOut] {
            let identity = world
                .try_identity(signer.clone(), check, &provider())
                .unwrap();
            assert!(identity.may_block());
            let key = identity.certified_key().key.clone();
            assert!(key.choose_scheme(&[]).is_none());
            assert_eq!(key.choose_scheme(&[scheme]).unwrap().scheme(), scheme);
            let outcome = connect(&world.client(), &server(identity).into());
            let expected = KeyAlgorithm::of_spki_der(&signer.spki()).unwrap();
            assert_eq!(outcome.server.result, Ok(()), "{scheme:?}");
            let negotiated = outcome.client.negotiated.unwrap();
            assert_eq!(negotiated.peer.unwrap().key, expected);
        }
    }
}

/// A client's certificate, at servers that demand one.
#[test]
fn clients_sign_with_every_kind() {
    let world = World::new();
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let server = Arc::new(mutual_server_config(provider(), &pki.server, world.roots()));
    for (scheme, signer) in every_kind() {
        let client = client_with(&pki, world.identity(signer.clone()));
        let outcome = connect(&client, &server);
        assert_eq!(outcome.client.result, Ok(()), "{scheme:?}");
        let expected = KeyAlgorithm::of_spki_der(&signer.spki()).unwrap();
        assert_eq!(
            outcome.server.negotiated.unwrap().peer.unwrap().key,
            expected
        );
    }
}

/// rustls sends no alert, and the server has no signature: the client has to close the connection.
#[test]
fn clients_whose_signer_fails() {
    let world = World::new();
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let server = Arc::new(mutual_server_config(provider(), &pki.server, world.roots()));
    let failing = Acting::new(|_, _| Err(SignError::transient("on holiday")));
    let client = client_with(&pki, world.identity(failing));
    let outcome = connect(&client, &server);
    let error = outcome.client.result.unwrap_err();
    let refusal = rustls_pq::Refusal::by_client(&error, &client);
    let rustls_pq::Refusal::NotSigned {
        reason,
        is_transient,
    } = &refusal
    else {
        panic!("{refusal}");
    };
    assert!(*is_transient);
    assert!(reason.contains("on holiday"), "{reason}");
    assert_eq!(outcome.server.negotiated, None);
}

fn client_with(pki: &Pki, identity: Identity) -> Arc<ClientConfig> {
    let client = ClientConfig::builder_with_provider(provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(pki.roots())
        .with_client_cert_resolver(identities(identity));
    client.into()
}

#[test]
fn tls12() {
    let world = World::new();
    let signers: [Arc<dyn Signer>; 4] = [
        Arc::new(Ecdsa::generate()),
        Arc::new(ecdsa_p384()),
        Arc::new(ed25519()),
        Arc::new(rsa(SignatureScheme::RSA_PSS_SHA256, alg_id::RSA_PSS_SHA256)),
    ];
    for signer in signers {
        let identities = identities(world.identity(signer));
        let server = ServerConfig::builder_with_provider(any_base().into())
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities);
        let outcome = connect(&world.client(), &server.into());
        let negotiated = outcome.client.negotiated.unwrap();
        assert_eq!(negotiated.version, ProtocolVersion::TLSv1_2);
    }
}

/// A signer is one of several, and the choice among them is as ever.
#[test]
fn beside_a_key_in_memory() {
    let world = World::new();
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let elsewhere = world.identity(Ecdsa::generate());
    let in_memory = pki.server.checked();
    assert!(!in_memory.may_block());
    let set = IdentitySet::new()
        .with_default(in_memory)
        .with_default(elsewhere);
    let server = Arc::new(super::server_over(
        Arc::new(rustls_pq::identity::Identities::new(set)),
        provider(),
    ));
    // A client that names no ML-DSA.
    let classical = crate::peers::client_config(any_base(), world.roots());
    for (client, expected) in [
        (Arc::new(classical), KeyAlgorithm::EcdsaP256),
        (
            crate::peers::client_config(provider(), pki.roots()).into(),
            KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65),
        ),
    ] {
        let outcome = connect(&client, &server);
        let negotiated = outcome.client.negotiated.unwrap();
        assert_eq!(negotiated.peer.unwrap().key, expected);
    }
}

#[test]
fn another_public_key() {
    let world = World::new();
    let [one, other] = [(); 2].map(|()| Arc::new(Ecdsa::generate()));
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let others: [Arc<dyn Signer>; 2] = [other, Arc::new(ml_dsa)];
    for other in others {
        // Whether signatures are checked or not.
        for check in [SignatureCheck::Each, SignatureCheck::LeftOut] {
            let chain = world.chain(&one);
            let error = Identity::with_signer(chain, other.clone(), check, &provider());
            let error = error.unwrap_err();
            assert!(matches!(error, IdentityError::Mismatch { .. }), "{error}");
        }
    }
    let none = Identity::with_signer(vec![], one, SignatureCheck::Each, &provider());
    assert!(matches!(none, Err(IdentityError::NoCertificate)));
}

/// A key that says that its signatures are of another algorithm.
struct Saying<K> {
    key: K,
    oid: &'static str,
}

impl<K: SubjectKey> SubjectKey for Saying<K> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl<K: SubjectKey + Send + Sync> Signer for Saying<K> {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::new_unwrap(self.oid),
            parameters: None,
        }
    }

    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        panic!("it is refused before that");
    }
}

#[test]
fn signatures_that_tls_has_no_scheme_for() {
    let world = World::new();
    let refused = |signer: Arc<dyn Signer>| {
        let refused = world.try_identity(signer, SignatureCheck::LeftOut, &provider());
        let error = refused.unwrap_err();
        assert!(matches!(error, IdentityError::NoScheme { .. }), "{error}");
        error.to_string()
    };
    // The hash of another curve, and one that is broken.
    for (oid, name) in [
        ("1.2.840.10045.4.3.3", "ECDSA with SHA-384"),
        ("1.2.840.10045.4.1", "ECDSA with SHA-1"),
        ("1.3.101.112", "Ed25519"),
    ] {
        let key = Ecdsa::generate();
        let error = refused(Arc::new(Saying { key, oid }));
        assert!(error.contains(name), "{error}");
    }
    // Of another set.
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let oid = "2.16.840.1.101.3.4.3.18";
    refused(Arc::new(Saying { key, oid }));
    // PKCS#1, which TLS 1.3 doesn't have.
    refused(Arc::new(rsa(
        SignatureScheme::RSA_PKCS1_SHA256,
        alg_id::RSA_PKCS1_SHA256,
    )));
    // RSA-PSS with the default parameters, those of SHA-1.
    let key = rsa(SignatureScheme::RSA_PSS_SHA256, alg_id::RSA_PSS_SHA256);
    let oid = "1.2.840.113549.1.1.10";
    refused(Arc::new(Saying { key, oid }));
    refused(Arc::new(HashSlhDsa::generate()));
}

#[cfg(feature = "composite")]
#[test]
fn composites() {
    use rustls_pq::composite::{CompositeAlgorithm, CompositeKey};

    let key = CompositeKey::generate(CompositeAlgorithm::MlDsa65EcdsaP256Sha512).unwrap();
    let refused = World::new().try_identity(key, SignatureCheck::Each, &provider());
    let error = refused.unwrap_err();
    assert!(matches!(error, IdentityError::NoScheme { .. }), "{error}");
}

/// An Ed448 key, for which nobody here has an implementation.
struct Ed448(Vec<u8>);

impl Ed448 {
    fn new() -> Self {
        // SEQUENCE { SEQUENCE { id-Ed448 }, BIT STRING }
        let mut spki = vec![0x30, 67, 0x30, 5, 6, 3, 0x2b, 0x65, 0x71, 3, 58, 0];
        spki.extend([7; 56]);
        // The sign.
        spki.push(0);
        Self(spki)
    }
}

impl SubjectKey for Ed448 {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.0.as_slice().into()
    }
}

#[test]
fn signatures_that_nobody_here_verifies() {
    let world = World::new();
    let signer = || Saying {
        key: Ed448::new(),
        oid: "1.3.101.113",
    };
    let refused = world.try_identity(signer(), SignatureCheck::Each, &provider());
    let error = refused.unwrap_err();
    assert!(
        matches!(error, IdentityError::Unverifiable { .. }),
        "{error}"
    );
    let identity = world.try_identity(signer(), SignatureCheck::LeftOut, &provider());
    assert_eq!(identity.unwrap().key_algorithm(), KeyAlgorithm::Ed448);
}

/// What a provider's own keys may not sign with, keys elsewhere may not either.
#[test]
fn restrictions_of_the_provider() {
    let world = World::new();
    let builder = || Builder::new(any_base());
    let cnsa = builder().profile(Profile::Cnsa2).build().unwrap();
    let post_quantum = builder().require_pq_authentication().build().unwrap();
    let plain = builder().build().unwrap();
    let foreign = any_base();
    let groups = with_groups(&any_base(), [rustls_pq::Group::X25519MLKEM768]);
    for (scheme, signer) in every_kind() {
        let is_ml_dsa = [
            SignatureScheme::ML_DSA_44,
            SignatureScheme::ML_DSA_65,
            SignatureScheme::ML_DSA_87,
        ]
        .contains(&scheme);
        let is_slh_dsa = scheme == rustls_pq::verify::slh_dsa::SLHDSA_SHA2_128F;
        for (provider, allowed) in [
            (&cnsa, scheme == SignatureScheme::ML_DSA_87),
            (&post_quantum, is_ml_dsa),
            (&plain, !is_slh_dsa),
            (&foreign, !is_slh_dsa),
            (&groups, !is_slh_dsa),
        ] {
            let result = world.try_identity(signer.clone(), SignatureCheck::LeftOut, provider);
            match result {
                Ok(_) => assert!(allowed, "{scheme:?}"),
                Err(IdentityError::Key(Error::Other(_))) => assert!(!allowed, "{scheme:?}"),
                Err(error) => panic!("{scheme:?}: {error}"),
            }
        }
    }
}

/// A server that accepts nothing but ML-DSA from clients may sign with ECDSA itself.
#[cfg(feature = "graviola")]
#[test]
fn a_provider_that_verifies_less_than_it_signs() {
    let world = World::new();
    let builder = Builder::new(any_base()).signature_schemes([SignatureScheme::ML_DSA_65]);
    let provider = builder.build().unwrap();
    let identity = world.try_identity(Ecdsa::generate(), SignatureCheck::Each, &provider);
    let server = super::server_over(identities(identity.unwrap()), provider);
    let outcome = connect(&world.client(), &server.into());
    assert_eq!(outcome.server.result, Ok(()));
}
