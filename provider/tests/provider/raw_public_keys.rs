//! Raw public keys in the place of certificates (RFC 7250).

use alloc::sync::Arc;

use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, HandshakeKind, OtherError,
    PeerIncompatible, ServerConfig,
};
use rustls_pq::verify::{PinnedKeys, UnknownKey};
use rustls_pq::{Authentication, Builder, Group, KeyAlgorithm, Profile, Refusal};

use crate::peers::{
    Ecdsa, KeyPair, Outcome, Pki, any_base, bases, client_config, connect, server_config,
};

#[test]
fn post_quantum_keys_over_every_base() {
    for algorithm in [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::MlDsa65,
        SignatureAlgorithm::MlDsa87,
    ] {
        for (base, provider) in bases() {
            // Profile::Cnsa2 has keys that may sign only with some schemes.
            for profile in [Profile::RequirePq, Profile::Cnsa2] {
                if profile == Profile::Cnsa2 && algorithm != SignatureAlgorithm::MlDsa87 {
                    continue;
                }
                let provider = Builder::new(provider.clone()).profile(profile);
                let provider = provider.build().unwrap();
                let [server, client] = [(); 2].map(|()| SigningKey::generate(algorithm).unwrap());
                let peers = Peers::new(&provider, &server, &client);
                for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
                    let outcome = peers.connect();
                    assert_eq!(outcome.client.kind, Some(kind), "{base}, {algorithm}");
                    for (end, peer) in [(outcome.client, &server), (outcome.server, &client)] {
                        assert_eq!(end.leaf.as_deref(), Some(&peer.spki()[..]));
                        let negotiated = end.negotiated.unwrap();
                        assert!(negotiated.has_pq_key_exchange());
                        assert!(negotiated.has_pq_authentication());
                        let shown = negotiated.peer.unwrap();
                        assert_eq!(shown.key, KeyAlgorithm::PostQuantum(algorithm));
                        let says = format!(", peer {algorithm} (post-quantum), ");
                        assert!(negotiated.to_string().contains(&says), "{negotiated}");
                    }
                }
            }
        }
    }
}

#[test]
fn classical_keys() {
    for (base, provider) in bases() {
        let provider = Builder::new(provider).build().unwrap();
        let outcome = Peers::new(&provider, &Ecdsa::generate(), &Ecdsa::generate()).connect();
        for end in [outcome.client, outcome.server] {
            assert_eq!(end.group, Some(Group::X25519MLKEM768), "{base}");
            let negotiated = end.negotiated.unwrap();
            assert!(!negotiated.has_pq_authentication());
            assert_eq!(negotiated.peer.unwrap().key, KeyAlgorithm::EcdsaP256);
        }
    }
}

#[test]
fn another_key_is_refused() {
    let provider = provider();
    let [server, client, other] = [(); 3].map(|()| key());
    // rustls compares errors of others as unequal.
    let unknown = CertificateError::Other(OtherError(Arc::new(UnknownKey)));
    let unknown = Error::InvalidCertificate(unknown).to_string();
    let alert = Err(Error::AlertReceived(AlertDescription::CertificateUnknown));

    let mut peers = Peers::new(&provider, &server, &client);
    peers.client = client_of(&provider, &other, &certified(&client, &client, &provider));
    let outcome = peers.connect();
    assert_eq!(outcome.client.result.unwrap_err().to_string(), unknown);
    assert_eq!(outcome.server.result, alert);

    let mut peers = Peers::new(&provider, &server, &client);
    peers.server = server_of(&provider, &other, &certified(&server, &server, &provider));
    let outcome = peers.connect();
    let error = outcome.server.result.unwrap_err();
    assert_eq!(error.to_string(), unknown);
    assert_eq!(outcome.client.result, alert);
    let refusal = Refusal::by_client(&error, &peers.client);
    assert_eq!(refusal, Refusal::UnknownKey);
    assert!(
        refusal
            .to_string()
            .contains("raw public key is none of those")
    );
}

/// Who knows a public key doesn't have the private key.
#[test]
fn a_key_of_somebody_else_is_refused() {
    let provider = provider();
    let [server, client, thief] = [(); 3].map(|()| key());
    let wrong = Err(Error::InvalidCertificate(CertificateError::BadSignature));

    let mut peers = Peers::new(&provider, &server, &client);
    peers.server = server_of(&provider, &client, &certified(&server, &thief, &provider));
    assert_eq!(peers.connect().client.result, wrong);

    let mut peers = Peers::new(&provider, &server, &client);
    peers.client = client_of(&provider, &server, &certified(&client, &thief, &provider));
    assert_eq!(peers.connect().server.result, wrong);
}

/// One side has certificates, and the other one knows keys only.
#[test]
fn certificates_are_no_keys() {
    let provider = provider();
    let [server, client] = [(); 2].map(|()| key());
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let peers = Peers::new(&provider, &server, &client);
    let incompatible = Err(Error::PeerIncompatible(
        PeerIncompatible::IncorrectCertificateTypeExtension,
    ));

    let server = server_config(provider.clone(), &pki.server).into();
    assert_eq!(connect(&peers.client, &server).server.result, incompatible);
    let client = client_config(provider, pki.roots()).into();
    assert_eq!(connect(&client, &peers.server).server.result, incompatible);
}

/// A provider without classical signatures accepts none under a key that is accepted.
#[test]
fn classical_keys_where_signatures_have_to_be_post_quantum() {
    let keys = [Ecdsa::generate(), Ecdsa::generate()];
    let [server, client] = &keys;
    let mut peers = Peers::new(&provider(), server, client);
    let strict = Builder::new(any_base()).require_pq_authentication();
    let strict = strict.build().unwrap();
    peers.client = client_of(&strict, server, &certified(client, client, &provider()));
    let outcome = peers.connect();
    let error = outcome.server.result.unwrap_err();
    assert_eq!(
        error,
        Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon)
    );
}

/// The entries after the key, which nobody may send.
#[test]
fn a_key_stands_alone() {
    let key = key();
    let shown = CertificateDer::from(key.spki().to_vec());
    let verifier = PinnedKeys::new([key.spki().into_owned()], &provider());
    let name = ServerName::try_from("localhost").unwrap();
    let now = UnixTime::now();
    assert!(
        verifier
            .verify_server_cert(&shown, &[], &name, &[], now)
            .is_ok()
    );
    assert!(verifier.verify_client_cert(&shown, &[], now).is_ok());
    let others = [shown.clone()];
    let bad = Error::InvalidCertificate(CertificateError::BadEncoding);
    let refused = verifier.verify_server_cert(&shown, &others, &name, &[], now);
    assert_eq!(refused.unwrap_err(), bad);
    let refused = verifier.verify_client_cert(&shown, &others, now);
    assert_eq!(refused.unwrap_err(), bad);
    assert_eq!(Authentication::of(&[shown.clone(), shown]), None);
}

fn provider() -> CryptoProvider {
    Builder::new(any_base()).build().unwrap()
}

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap()
}

/// Two sides that know each other's keys.
struct Peers {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Peers {
    fn new(provider: &CryptoProvider, server: &impl KeyPair, client: &impl KeyPair) -> Self {
        Self {
            client: client_of(provider, server, &certified(client, client, provider)),
            server: server_of(provider, client, &certified(server, server, provider)),
        }
    }

    fn connect(&self) -> Outcome {
        connect(&self.client, &self.server)
    }
}

/// A public key, with a private key that need not be its own.
fn certified(
    shown: &impl KeyPair,
    key: &impl KeyPair,
    provider: &CryptoProvider,
) -> Arc<CertifiedKey> {
    let load = |key: &dyn KeyPair| {
        let key = key.private_key();
        provider.key_provider.load_private_key(key).unwrap()
    };
    let shown = load(shown).public_key().unwrap().to_vec();
    CertifiedKey::new(vec![shown.into()], load(key)).into()
}

fn pinned(peer: &impl KeyPair, provider: &CryptoProvider) -> Arc<PinnedKeys> {
    let key = SubjectPublicKeyInfoDer::from(peer.spki().to_vec());
    PinnedKeys::new([key], provider).into()
}

fn client_of(
    provider: &CryptoProvider,
    server: &impl KeyPair,
    own: &Arc<CertifiedKey>,
) -> Arc<ClientConfig> {
    ClientConfig::builder_with_provider(provider.clone().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(pinned(server, provider))
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
            own.clone(),
        )))
        .into()
}

fn server_of(
    provider: &CryptoProvider,
    client: &impl KeyPair,
    own: &Arc<CertifiedKey>,
) -> Arc<ServerConfig> {
    ServerConfig::builder_with_provider(provider.clone().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(pinned(client, provider))
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
            own.clone(),
        )))
        .into()
}
