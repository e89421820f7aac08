//! Which signatures a peer is asked for, by the roots at which its chain may end.

use alloc::sync::Arc;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use rustls_pq::{Builder, KeyAlgorithm, Profile, Refusal};

use crate::first_usable::FirstUsable;
use crate::peers::{
    Ecdsa, HashSlhDsa, Identity, KeyPair, any_base, bases, client_config, connect, roots,
    server_config,
};

#[test]
fn schemes_suit_the_roots() {
    let ml_dsa = root(SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap());
    let slh_dsa = root(SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_128f).unwrap());
    let hash_slh_dsa = root(HashSlhDsa::generate());
    let ecdsa = root(Ecdsa::generate());
    let post_quantum = rustls_pq::verify::ML_DSA.supported_schemes();
    for (name, base) in bases() {
        println!("{name}");
        let mut classical = base.signature_verification_algorithms.supported_schemes();
        classical.retain(|scheme| !post_quantum.contains(scheme));
        let everything = [&post_quantum[..], &classical].concat();
        let classical_first = [&classical[..], &post_quantum].concat();
        for (certificates, expected) in [
            (vec![&ml_dsa], &post_quantum),
            (vec![&slh_dsa], &post_quantum),
            (vec![&hash_slh_dsa], &post_quantum),
            (vec![&ecdsa], &classical_first),
            (vec![&ecdsa, &ecdsa], &classical_first),
            (vec![&ml_dsa, &slh_dsa], &post_quantum),
            (vec![&ecdsa, &slh_dsa], &everything),
        ] {
            let builder = Builder::new(base.clone());
            let without = builder.clone().build().unwrap();
            let with = builder
                .roots(&roots(certificates.into_iter().cloned()))
                .build()
                .unwrap();
            assert_eq!(&schemes(&with), expected);
            // Within chains nothing changes.
            assert_eq!(
                with.signature_verification_algorithms.all.len(),
                without.signature_verification_algorithms.all.len()
            );
        }
    }
}

/// An unreadable root excludes nothing.
#[test]
fn unreadable_roots() {
    let mut store = roots([root(Ecdsa::generate())]);
    store.roots[0].subject_public_key_info = vec![0].into();
    let provider = Builder::new(any_base()).roots(&store).build().unwrap();
    let everything = Builder::new(any_base()).build().unwrap();
    assert_eq!(schemes(&provider), schemes(&everything));
}

#[test]
fn named_schemes_are_offered_whatever_the_roots() {
    let named = [
        SignatureScheme::ECDSA_NISTP256_SHA256,
        SignatureScheme::ML_DSA_65,
    ];
    let provider = Builder::new(any_base())
        .roots(&roots([root(Ecdsa::generate())]))
        .signature_schemes(named)
        .build()
        .unwrap();
    assert_eq!(schemes(&provider), named);
}

#[test]
fn roots_that_no_accepted_chain_ends_at() {
    let builder = Builder::new(any_base());
    let error = builder.clone().roots(&RootCertStore::empty()).build();
    assert_eq!(error.unwrap_err(), rustls_pq::Error::NoRoots);

    let pq_only = builder.clone().require_pq_authentication();
    let cnsa2 = builder.clone().profile(Profile::Cnsa2);
    let named = builder
        .clone()
        .signature_schemes([SignatureScheme::ML_DSA_65]);
    let ecdsa = || root(Ecdsa::generate());
    let post_quantum = |set| root(SigningKey::generate(set).unwrap());
    let ml_dsa_44 = || post_quantum(SignatureAlgorithm::MlDsa44);
    let ml_dsa_87 = || post_quantum(SignatureAlgorithm::MlDsa87);
    let slh_dsa = || post_quantum(SignatureAlgorithm::SlhDsaSha2_128f);
    for (builder, certificates, refused) in [
        (&pq_only, vec![ecdsa()], Some("ECDSA P-256")),
        (&cnsa2, vec![ecdsa()], Some("ECDSA P-256")),
        (&cnsa2, vec![ml_dsa_44(), ml_dsa_44()], Some("ML-DSA-44")),
        (&cnsa2, vec![slh_dsa()], Some("SLH-DSA-SHA2-128f")),
        (
            &cnsa2,
            vec![ml_dsa_44(), ecdsa()],
            Some("ML-DSA-44, ECDSA P-256"),
        ),
        (&cnsa2, vec![ml_dsa_44(), ml_dsa_87()], None),
        (&named, vec![ml_dsa_44()], Some("ML-DSA-44")),
        (&named, vec![slh_dsa()], None),
        (&builder, vec![ecdsa()], None),
    ] {
        let store = roots(certificates);
        match (builder.clone().roots(&store).build(), refused) {
            (Err(error @ rustls_pq::Error::NoSchemeForRoots { .. }), Some(keys)) => {
                let start = format!("the roots have keys for {keys}, and signatures by such keys");
                assert!(error.to_string().starts_with(&start), "{error}");
            }
            (built, refused) => {
                assert!(built.is_ok() && refused.is_none(), "{built:?}, {refused:?}");
            }
        }
    }
}

/// Roots whose signatures the provider can't verify don't influence what is asked for.
#[test]
fn roots_of_no_use_count_for_nothing() {
    let error = Builder::new(any_base())
        .roots(&with_unknown_key(root(Ecdsa::generate())))
        .build()
        .unwrap_err();
    let unknown = rustls_pq::ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.9");
    assert_eq!(
        error,
        rustls_pq::Error::NoSchemeForRoots {
            roots: vec![KeyAlgorithm::Other(unknown)]
        }
    );

    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    for beside in [root(Ecdsa::generate()), root(ml_dsa)] {
        let alone = roots([beside.clone()]);
        let alone = Builder::new(any_base()).roots(&alone).build().unwrap();
        let mut store = with_unknown_key(root(Ecdsa::generate()));
        store.add(beside).unwrap();
        let provider = Builder::new(any_base()).roots(&store).build().unwrap();
        assert_eq!(schemes(&provider), schemes(&alone));
    }
}

/// A base that verifies classical signatures in chains, but not in handshakes.
#[test]
fn classical_roots_over_keys_of_ml_dsa_alone() {
    let mut base = any_base();
    base.signature_verification_algorithms.mapping = &[];
    let classical = roots([root(Ecdsa::generate())]);
    let provider = Builder::new(base).roots(&classical).build().unwrap();
    let ml_dsa = rustls_pq::verify::ML_DSA.supported_schemes();
    assert_eq!(schemes(&provider), ml_dsa);
}

/// A root with a key on an unknown curve: the identifier of P-256 with another last arc.
fn with_unknown_key(root: CertificateDer<'static>) -> RootCertStore {
    let p256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    let mut store = roots([root]);
    let mut spki = store.roots[0].subject_public_key_info.to_vec();
    let mut windows = spki.windows(p256.len());
    let at = windows.position(|window| window == p256).unwrap();
    spki[at + p256.len() - 1] = 9;
    store.roots[0].subject_public_key_info = spki.into();
    store
}

/// From a server with two certificates that follows its list, a client gets the one that it can verify.
#[test]
fn servers_with_two_certificates() {
    let pki = TwoKinds::new();
    for (name, base) in bases() {
        println!("{name}");
        let server = pki.server(&base, Prefers::WhatThePeerLists);
        let by_roots = |store: &RootCertStore| Builder::new(base.clone()).roots(store);
        for (store, expected) in pki.trusting() {
            let client = by_roots(&store).build().unwrap();
            let outcome = connect(&client_config(client, store).into(), &server);
            assert_eq!(outcome.client.result, Ok(()));
            assert_eq!(outcome.client.leaf.as_ref(), Some(expected));
        }

        // What goes wrong without the roots.
        let client = Builder::new(base.clone()).build().unwrap();
        let client = Arc::new(client_config(client, pki.classical.roots()));
        let error = connect(&client, &server).client.result.unwrap_err();
        assert_eq!(error, CertificateError::UnknownIssuer.into());
        let refusal = Refusal::by_client(&error, &client);
        assert_eq!(
            refusal,
            Refusal::UnknownIssuer {
                asks_for_both: true
            }
        );
        assert!(refusal.to_string().contains("Builder::roots asks for"));
    }
}

/// A server that prefers one kind, whatever the client lists first.
#[test]
fn servers_that_do_not_follow_the_list() {
    let pki = TwoKinds::new();
    for (name, base) in bases() {
        println!("{name}");
        let trusting = |one: &Kind, builder: Builder| {
            let store = one.roots();
            let client = builder.roots(&store).build().unwrap();
            Arc::new(client_config(client, store))
        };
        let builder = || Builder::new(base.clone());

        // A client of the post-quantum root gives it no choice.
        let server = pki.server(&base, Prefers::Classical);
        let client = trusting(&pki.post_quantum, builder());
        let outcome = connect(&client, &server);
        assert_eq!(outcome.client.result, Ok(()));
        let expected = &pki.post_quantum.identity.chain[0];
        assert_eq!(outcome.client.leaf.as_ref(), Some(expected));
        let unknown = CertificateError::UnknownIssuer.into();
        let refusal = Refusal::by_client(&unknown, &client);
        assert!(!refusal.to_string().contains("Builder::roots"), "{refusal}");

        // One of the classical root names what it asks for.
        let server = pki.server(&base, Prefers::PostQuantum);
        let client = trusting(&pki.classical, builder());
        let error = connect(&client, &server).client.result.unwrap_err();
        assert_eq!(error, unknown);
        let refusal = Refusal::by_client(&error, &client);
        assert!(refusal.to_string().contains("Builder::signature_schemes"));
        let named = builder().signature_schemes([SignatureScheme::ECDSA_NISTP256_SHA256]);
        let outcome = connect(&trusting(&pki.classical, named), &server);
        assert_eq!(outcome.client.result, Ok(()));
    }
}

/// The same for clients: a CertificateRequest lists the schemes of the server's verifier.
#[test]
fn clients_with_two_certificates() {
    let pki = TwoKinds::new();
    for (name, base) in bases() {
        println!("{name}");
        let client = pki.client(&base);
        for (store, expected) in pki.trusting() {
            let provider = Builder::new(base.clone()).roots(&store).build().unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(store.into(), provider.into())
                    .build()
                    .unwrap();
            let plain = Builder::new(base.clone()).build().unwrap();
            let Identity { chain, key } = pki.classical.identity.clone();
            let server = ServerConfig::builder_with_provider(plain.into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_client_cert_verifier(verifier)
                .with_single_cert(chain, key)
                .unwrap();
            let outcome = connect(&client, &server.into());
            assert_eq!(outcome.server.result, Ok(()));
            assert_eq!(outcome.server.leaf.as_ref(), Some(expected));
        }
    }
}

/// A classical root signs the certificates of keys of both kinds. Under a post-quantum one, a classical key is refused unless
/// the client asks for everything.
#[test]
fn mixed_chains() {
    let post_quantum = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let classical = Ecdsa::generate();
    check(&Ecdsa::root(), &post_quantum, Ok(()));
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let refused = Error::AlertReceived(AlertDescription::HandshakeFailure);
    check(&root, &classical, Err(refused));

    fn check(root: &Issuer<impl Signer>, key: &impl KeyPair, expected: Result<(), Error>) {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let identity = Identity::issued_by(root, leaf, key);
        let store = roots([root.certificate().der().clone()]);
        let builder = Builder::new(any_base());
        let everything = builder.clone().build().unwrap();
        let server = Arc::new(server_config(everything.clone(), &identity));
        let client = client_config(everything, store.clone());
        assert_eq!(connect(&client.into(), &server).client.result, Ok(()));

        let by_roots = builder.roots(&store).build().unwrap();
        assert_eq!(
            connect(&client_config(by_roots, store).into(), &server)
                .client
                .result,
            expected
        );
    }
}

/// A certificate of each kind for the same peer.
struct TwoKinds {
    post_quantum: Kind,
    classical: Kind,
}

struct Kind {
    root: CertificateDer<'static>,
    identity: Identity,
}

impl TwoKinds {
    fn new() -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        Self {
            post_quantum: Kind::new("ML-DSA Root", key(), &key()),
            classical: Kind::new("ECDSA Root", Ecdsa::generate(), &Ecdsa::generate()),
        }
    }

    /// The sets of roots that someone may trust, each with the leaf that a peer that follows its list should send.
    fn trusting(&self) -> [(RootCertStore, &CertificateDer<'static>); 3] {
        let [first, second] = [&self.post_quantum, &self.classical];
        let both = roots([first.root.clone(), second.root.clone()]);
        [
            (first.roots(), &first.identity.chain[0]),
            (second.roots(), &second.identity.chain[0]),
            (both, &first.identity.chain[0]),
        ]
    }

    fn server(&self, base: &CryptoProvider, prefers: Prefers) -> Arc<ServerConfig> {
        let provider = Builder::new(base.clone()).build().unwrap();
        let resolver = self.resolver(&provider, prefers);
        ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(resolver)
            .into()
    }

    fn client(&self, base: &CryptoProvider) -> Arc<ClientConfig> {
        let provider = Builder::new(base.clone()).build().unwrap();
        let resolver = self.resolver(&provider, Prefers::WhatThePeerLists);
        ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.classical.roots())
            .with_client_cert_resolver(resolver)
            .into()
    }

    fn resolver(&self, provider: &CryptoProvider, prefers: Prefers) -> Arc<FirstUsable> {
        let kinds = match prefers {
            Prefers::PostQuantum | Prefers::WhatThePeerLists => {
                [&self.post_quantum, &self.classical]
            }
            Prefers::Classical => [&self.classical, &self.post_quantum],
        };
        let keys = kinds.map(|kind| {
            let Identity { chain, key } = kind.identity.clone();
            CertifiedKey::from_der(chain, key, provider).unwrap().into()
        });
        Arc::new(FirstUsable {
            keys,
            follows_list: matches!(prefers, Prefers::WhatThePeerLists),
        })
    }
}

/// What a peer with two certificates prefers.
#[derive(Clone, Copy)]
enum Prefers {
    PostQuantum,
    Classical,
    WhatThePeerLists,
}

impl Kind {
    fn new<K: KeyPair + Signer>(name: &str, root_key: K, key: &K) -> Self {
        let root = Issuer::self_signed(CertificateBuilder::ca(name), root_key).unwrap();
        // For either role.
        let leaf = CertificateBuilder::server().client_auth();
        let leaf = leaf.dns_name("localhost");
        Self {
            identity: Identity::issued_by(&root, leaf, key),
            root: root.certificate().der().clone(),
        }
    }

    fn roots(&self) -> RootCertStore {
        roots([self.root.clone()])
    }
}

impl ResolvesClientCert for FirstUsable {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.find(schemes)
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn root(key: impl Signer) -> CertificateDer<'static> {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    root.certificate().der().clone()
}

fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    provider
        .signature_verification_algorithms
        .supported_schemes()
}
