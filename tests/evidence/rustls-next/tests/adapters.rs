//! The provider's algorithms through the traits of rustls 0.24, and in its handshakes.

extern crate alloc;

use alloc::sync::Arc;

use pq_core::ml_kem::{MlKem512, MlKem768, MlKem1024};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use rustls::crypto::kx::{NamedGroup, StartedKeyExchange, SupportedKxGroup};
use rustls::crypto::{Credentials, CryptoProvider, Identity, SignatureScheme, SingleCredential};
use rustls::error::PeerMisbehaved;
use rustls::{
    ClientConfig, Connection, Error, HandshakeKind, RootCertStore, ServerConfig, ServerSide,
    SideData, SliceInput, Tcp,
};
use rustls_next::kx::{Hybrid, MlKem, layout};
use rustls_next::sign::signing_key;
use rustls_next::verify::ML_DSA;
use rustls_ring::DEFAULT_PROVIDER;
use rustls_ring::kx_group::{SECP256R1, SECP384R1, X25519};

static MLKEM512: MlKem<MlKem512> = MlKem::new(DEFAULT_PROVIDER.secure_random);
static MLKEM768: MlKem<MlKem768> = MlKem::new(DEFAULT_PROVIDER.secure_random);
static MLKEM1024: MlKem<MlKem1024> = MlKem::new(DEFAULT_PROVIDER.secure_random);

static X25519MLKEM768: Hybrid = Hybrid {
    classical: X25519,
    post_quantum: &MLKEM768,
    name: NamedGroup::X25519MLKEM768,
    layout: layout::X25519MLKEM768,
};

static SECP256R1MLKEM768: Hybrid = Hybrid {
    classical: SECP256R1,
    post_quantum: &MLKEM768,
    name: NamedGroup::secp256r1MLKEM768,
    layout: layout::SECP256R1MLKEM768,
};

static SECP384R1MLKEM1024: Hybrid = Hybrid {
    classical: SECP384R1,
    post_quantum: &MLKEM1024,
    name: NamedGroup::secp384r1MLKEM1024,
    layout: layout::SECP384R1MLKEM1024,
};

/// Each group, with the lengths of the client's share, the server's, and the secret.
static GROUPS: [(&dyn SupportedKxGroup, [usize; 3]); 6] = [
    (&X25519MLKEM768, [1216, 1120, 64]),
    (&SECP256R1MLKEM768, [1249, 1153, 64]),
    (&SECP384R1MLKEM1024, [1665, 1665, 80]),
    (&MLKEM512, [800, 768, 32]),
    (&MLKEM768, [1184, 1088, 32]),
    (&MLKEM1024, [1568, 1568, 32]),
];

#[test]
fn both_sides_agree() {
    for (group, lengths) in GROUPS {
        let client = group.start().unwrap();
        let server = group.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.group, group.name());
        let client_share_len = client.pub_key().len();
        let secret = client.into_single().complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        assert_eq!(
            [
                client_share_len,
                server.pub_key.len(),
                secret.secret_bytes().len()
            ],
            lengths,
            "{group:?}"
        );
    }
}

#[test]
fn the_classical_half_serves_alone() {
    let StartedKeyExchange::Hybrid(client) = X25519MLKEM768.start().unwrap() else {
        panic!("a hybrid can be split");
    };
    let (name, share) = client.component();
    assert_eq!(name, NamedGroup::X25519);
    let server = X25519.start_and_complete(share).unwrap();
    let secret = client.complete_component(&server.pub_key).unwrap();
    assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
}

#[test]
fn bad_shares_are_refused() {
    for (group, [client_len, server_len, _]) in GROUPS {
        for share in [vec![], vec![4; client_len - 1], vec![0xff; client_len]] {
            assert_eq!(
                group.start_and_complete(&share).err(),
                Some(Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare)),
                "{group:?}"
            );
        }
        let client = group.start().unwrap().into_single();
        assert_eq!(
            client.complete(&vec![4; server_len + 1]).err(),
            Some(Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare)),
            "{group:?}"
        );
    }
}

#[test]
fn signatures_verify() {
    for (algorithm, scheme) in [
        (SignatureAlgorithm::MlDsa44, SignatureScheme::ML_DSA_44),
        (SignatureAlgorithm::MlDsa65, SignatureScheme::ML_DSA_65),
        (SignatureAlgorithm::MlDsa87, SignatureScheme::ML_DSA_87),
    ] {
        let key = SigningKey::generate(algorithm).unwrap();
        let ours = signing_key(key.clone(), DEFAULT_PROVIDER.secure_random).unwrap();
        assert_eq!(ours.public_key().unwrap(), key.spki());
        assert!(
            ours.choose_scheme(&[SignatureScheme::ED25519, SignatureScheme(0x0911)])
                .is_none()
        );

        let signer = ours
            .choose_scheme(&[SignatureScheme::ED25519, scheme])
            .unwrap();
        assert_eq!(signer.scheme(), scheme);
        let signature = signer.sign(b"message").unwrap();
        key.verifying_key().verify(b"message", &signature).unwrap();
    }
}

/// In every group, with every set of ML-DSA.
#[test]
fn handshakes() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let key = || SigningKey::generate(algorithm).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
        let leaf_key = key();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = root.issue(leaf, &leaf_key).unwrap().into_der();
        let identity = Identity::from_cert_chain(vec![leaf]).unwrap();

        for (group, _) in GROUPS {
            let provider = Arc::new(CryptoProvider {
                kx_groups: vec![group].into(),
                signature_verification_algorithms: ML_DSA,
                ..DEFAULT_PROVIDER
            });
            let key = signing_key(leaf_key.clone(), provider.secure_random).unwrap();
            let credentials = Credentials::new(Arc::new(identity.clone()), key).unwrap();
            let server = ServerConfig::builder(provider.clone())
                .with_no_client_auth()
                .with_server_credential_resolver(Arc::new(SingleCredential::from(credentials)))
                .unwrap();
            let mut roots = RootCertStore::empty();
            roots.add(root.certificate().der().clone()).unwrap();
            let client = ClientConfig::builder(provider)
                .with_root_certificates(roots)
                .with_no_client_auth()
                .unwrap();
            connect(client, server, group.name());
        }
    }
}

/// Shakes hands in memory, and says something each way.
fn connect(client: ClientConfig, server: ServerConfig, group: NamedGroup) {
    let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
    let name = "localhost".try_into().unwrap();
    let mut client = Arc::new(client)
        .connect(name)
        .build(&mut to_server)
        .unwrap();
    let mut server = Connection::<ServerSide, Tcp>::new(Arc::new(server)).unwrap();
    // ClientHello and the server's flight, Finished and tickets.
    for _ in 0..2 {
        assert!(receive(&mut server, &mut to_server, &mut to_client).is_empty());
        assert!(receive(&mut client, &mut to_client, &mut to_server).is_empty());
    }

    client
        .write(b"ping".as_slice().into(), &mut to_server)
        .unwrap();
    server
        .write(b"pong".as_slice().into(), &mut to_client)
        .unwrap();
    assert_eq!(
        receive(&mut server, &mut to_server, &mut to_client),
        b"ping"
    );
    assert_eq!(
        receive(&mut client, &mut to_client, &mut to_server),
        b"pong"
    );
    for negotiated in [
        client.negotiated_key_exchange_group(),
        server.negotiated_key_exchange_group(),
    ] {
        assert_eq!(negotiated.unwrap().name(), group);
    }
    assert_eq!(client.handshake_kind(), Some(HandshakeKind::Full));
    assert_eq!(server.handshake_kind(), Some(HandshakeKind::Full));
}

/// Takes what has arrived, and returns what the peer says in it.
fn receive<Side: SideData>(
    end: &mut Connection<Side, Tcp>,
    arrived: &mut Vec<u8>,
    to_peer: &mut Vec<u8>,
) -> Vec<u8> {
    let mut said = Vec::new();
    let mut input = SliceInput::new(arrived);
    end.read_tls(&mut input, to_peer)
        .handle_all(&mut said)
        .unwrap();
    let used = input.into_used();
    arrived.drain(..used);
    said
}
