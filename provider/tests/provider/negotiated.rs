//! What connections report about their protection.

use alloc::sync::Arc;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::quic::{self, Version};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, ServerConfig, SignatureScheme, version,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Authentication, Builder, Group, KeyAlgorithm, Negotiated, Profile};

use crate::peers::{
    Ecdsa, Identity, KeyPair, Outcome, Pki, accept, any_base, bases, client_config, connect,
    mutual_client_config, mutual_server_config, roots, server_config, with_groups,
};

#[test]
fn post_quantum_all_the_way() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    for (name, base) in bases() {
        println!("{name}");
        let provider = Builder::new(base).build().unwrap();
        let client = Arc::new(mutual_client_config(
            provider.clone(),
            pki.roots(),
            &pki.client,
        ));
        let server = Arc::new(mutual_server_config(provider, &pki.server, pki.roots()));

        for (kind, in_words) in [
            (HandshakeKind::Full, "full handshake"),
            (HandshakeKind::Resumed, "resumed"),
        ] {
            for negotiated in both(connect(&client, &server)) {
                assert_eq!(negotiated.group, Some(Group::X25519MLKEM768));
                assert_eq!(negotiated.handshake, kind);
                assert_eq!(negotiated.is_resumed(), kind == HandshakeKind::Resumed);
                assert!(negotiated.has_pq_key_exchange());
                assert!(negotiated.has_pq_authentication());
                let peer = negotiated.peer.unwrap();
                assert_eq!(
                    peer.key,
                    KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65)
                );
                assert_eq!(peer.scheme, Some(SignatureScheme::ML_DSA_65));
                let suite = format!("{:?}", negotiated.cipher_suite).replace("13", "");
                assert_eq!(
                    negotiated.to_string(),
                    format!(
                        "TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer ML-DSA-65 \
                         (post-quantum), {suite}, {in_words}"
                    )
                );
            }
        }
    }
}

#[test]
fn server_of_an_anonymous_client() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = with_groups(&any_base(), [Group::SECP384R1MLKEM1024]);
    let client = client_config(provider, pki.roots());
    let server = Builder::new(any_base()).profile(Profile::All).build();
    let server = server_config(server.unwrap(), &pki.server);
    let [client, server] = both(connect(&client.into(), &server.into()));
    assert!(client.has_pq_authentication());
    assert_eq!(server.peer, None);
    assert!(!server.has_pq_authentication());

    let server = server.with_own(Authentication::of(&pki.server.chain));
    assert!(server.has_pq_authentication());
    assert_eq!(server.own, client.peer);
    assert_eq!(
        server.to_string(),
        "TLS 1.3, key exchange SecP384r1MLKEM1024 (post-quantum), peer without a certificate, this \
         side ML-DSA-44 (post-quantum), TLS_AES_256_GCM_SHA384, full handshake"
    );
}

/// A peer that sends an unreadable certificate beside its classical chain doesn't count as one without
/// certificates.
#[test]
fn certificates_that_can_not_be_read() {
    let pq = Pki::new(SignatureAlgorithm::MlDsa44);
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), Ecdsa::generate()).unwrap();
    let key = Ecdsa::generate();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let leaf = root.issue(leaf, &key).unwrap().into_der();
    // webpki ignores it.
    let nonsense = CertificateDer::from(vec![0x30, 0]);
    let classical = Identity {
        chain: vec![leaf, nonsense],
        key: key.private_key(),
    };
    let provider = || Builder::new(any_base()).build().unwrap();
    let client = mutual_client_config(
        provider(),
        roots([root.certificate().der().clone()]),
        &pq.client,
    );
    let server = mutual_server_config(provider(), &classical, pq.roots());
    let [client, server] = both(connect(&client.into(), &server.into()));
    assert!(server.has_pq_authentication());
    assert_eq!(client.peer, None);
    let client = client.with_own(server.peer);
    assert!(!client.has_pq_authentication());
    assert_eq!(
        client.to_string(),
        "TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer with certificates that can't be \
         read, this side ML-DSA-44 (post-quantum), TLS_AES_256_GCM_SHA384, full handshake"
    );
}

/// The resolver's choice before the handshake is what the client finds after it.
#[test]
fn server_with_several_certificates() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let ecdsa_root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let ecdsa = Identity::issued_by(&ecdsa_root, leaf, &Ecdsa::generate());
    let identities = Arc::new(Identities::new(
        IdentitySet::new()
            .with_default(pki.server.checked())
            .with_default(ecdsa.checked()),
    ));
    let provider = || Builder::new(any_base()).build().unwrap();
    let server = ServerConfig::builder_with_provider(provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(identities.clone());
    let server = Arc::new(server);

    for (client, is_post_quantum) in [
        (client_config(provider(), pki.roots()), true),
        (
            client_config(any_base(), roots([ecdsa_root.certificate().der().clone()])),
            false,
        ),
    ] {
        let client = Arc::new(client);
        let mut hello = Vec::new();
        let mut connection =
            ClientConnection::new(client.clone(), "localhost".try_into().unwrap()).unwrap();
        connection.write_tls(&mut hello).unwrap();
        let own = identities
            .choose(&accept(&hello).client_hello())
            .and_then(|choice| choice.authentication());

        let [client_says, server_says] = both(connect(&client, &server));
        let server_says = server_says.with_own(own);
        assert_eq!(server_says.own, client_says.peer);
        assert_eq!(server_says.has_pq_authentication(), is_post_quantum);

        // Nothing is signed, and the earlier signature is unknown.
        let [_, resumed] = both(connect(&client, &server));
        assert!(resumed.is_resumed());
        assert_eq!(resumed.with_own(own), resumed);
    }
}

/// Either side can be the weak one.
#[test]
fn both_sides_count() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = Builder::new(any_base()).build().unwrap();
    let client = mutual_client_config(provider.clone(), pki.roots(), &pki.client);
    let server = mutual_server_config(provider, &pki.server, pki.roots());
    let [_, server] = both(connect(&client.into(), &server.into()));
    let own = Authentication::of(&pki.server.chain);
    assert!(server.with_own(own).has_pq_authentication());

    let root = Ecdsa::root();
    let classical = Authentication::of(&[root.certificate().der().clone()]);
    assert!(!server.with_own(classical).has_pq_authentication());
    assert_eq!(Authentication::of(&[]), None);
}

/// A chain is as strong as its weakest signature.
#[test]
fn mixed_chains() {
    let classical_root = Ecdsa::root();
    let pq_key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let pq_root = Issuer::self_signed(CertificateBuilder::ca("Root"), pq_key).unwrap();
    let leaf = || CertificateBuilder::server().dns_name("localhost");
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ecdsa = Ecdsa::generate();
    // The old key of a CA signs its new one, under the CA's name.
    let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let renewal = || CertificateBuilder::ca("Root");
    let pq_under_classical = classical_root.issue_ca(renewal(), new_key()).unwrap();
    let pq_under_pq = pq_root.issue_ca(renewal(), new_key()).unwrap();

    for (chain, key, root, expected) in [
        (
            vec![classical_root.issue(leaf(), &ml_dsa).unwrap()],
            ml_dsa.private_key(),
            classical_root.certificate(),
            "ML-DSA-65 with a classical signature in its chain",
        ),
        (
            vec![pq_root.issue(leaf(), &ecdsa).unwrap()],
            ecdsa.private_key(),
            pq_root.certificate(),
            "ECDSA P-256 (classical)",
        ),
        // Nothing relies on the signature of a root that is sent along, so it doesn't count.
        (
            vec![
                pq_root.issue(leaf(), &ml_dsa).unwrap(),
                classical_root.certificate().clone(),
            ],
            ml_dsa.private_key(),
            pq_root.certificate(),
            "ML-DSA-65 (post-quantum)",
        ),
        // Equal names don't make a certificate self-signed: these signatures count.
        (
            vec![
                classical_root
                    .issue(leaf().common_name("Root"), &ml_dsa)
                    .unwrap(),
            ],
            ml_dsa.private_key(),
            classical_root.certificate(),
            "ML-DSA-65 with a classical signature in its chain",
        ),
        (
            vec![
                pq_under_classical.issue(leaf(), &ml_dsa).unwrap(),
                pq_under_classical.certificate().clone(),
            ],
            ml_dsa.private_key(),
            classical_root.certificate(),
            "ML-DSA-65 with a classical signature in its chain",
        ),
        (
            vec![
                pq_under_pq.issue(leaf(), &ml_dsa).unwrap(),
                pq_under_pq.certificate().clone(),
            ],
            ml_dsa.private_key(),
            pq_root.certificate(),
            "ML-DSA-65 (post-quantum)",
        ),
    ] {
        let provider = Builder::new(any_base()).build().unwrap();
        let client = client_config(provider.clone(), roots([root.der().clone()]));
        let identity = Identity {
            chain: chain.into_iter().map(|c| c.into_der()).collect(),
            key,
        };
        let server = server_config(provider, &identity);
        let [client, _] = both(connect(&client.into(), &server.into()));
        assert_eq!(client.peer.unwrap().to_string(), expected);
        assert_eq!(
            client.has_pq_authentication(),
            expected.ends_with("(post-quantum)")
        );
    }
}

#[test]
fn classical_all_the_way() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let roots = || roots([root.certificate().der().clone()]);
    let server = Arc::new(server_config(any_base(), &identity));

    let tls13 = client_config(with_groups(&any_base(), [Group::SECP384R1]), roots());
    let [client, _] = both(connect(&tls13.into(), &server));
    assert!(!client.has_pq_key_exchange());
    assert_eq!(
        client.peer.unwrap().scheme,
        Some(SignatureScheme::ECDSA_NISTP256_SHA256)
    );
    assert_eq!(
        client.to_string(),
        "TLS 1.3, key exchange secp384r1 (classical), peer ECDSA P-256 (classical), \
         TLS_AES_256_GCM_SHA384, full handshake"
    );

    let tls12 = ClientConfig::builder_with_provider(any_base().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_root_certificates(roots())
        .with_no_client_auth();
    let tls12 = Arc::new(tls12);
    let [client, _] = both(connect(&tls12, &server));
    // The key doesn't determine the hash.
    assert_eq!(client.peer.unwrap().scheme, None);
    assert_eq!(
        client.to_string(),
        "TLS 1.2, key exchange x25519 (classical), peer ECDSA P-256 (classical), \
         TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, full handshake"
    );
    let [client, _] = both(connect(&tls12, &server));
    assert_eq!(client.group, None);
    assert_eq!(
        client.to_string(),
        "TLS 1.2, no key exchange, peer ECDSA P-256 (classical), \
         TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, resumed"
    );
}

#[test]
fn nothing_before_the_handshake_is_complete() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = Builder::new(any_base()).build().unwrap();
    let client = client_config(provider, pki.roots());
    let client = ClientConnection::new(client.into(), "localhost".try_into().unwrap()).unwrap();
    assert_eq!(Negotiated::of(&client), None);
}

#[test]
fn quic_connections() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = Builder::new(any_base()).build().unwrap();
    let client = client_config(provider.clone(), pki.roots());
    let server = server_config(provider, &pki.server);
    let name = ServerName::try_from("localhost").unwrap();
    let mut client =
        quic::ClientConnection::new(client.into(), Version::V1, name, Vec::new()).unwrap();
    let mut server = quic::ServerConnection::new(server.into(), Version::V1, Vec::new()).unwrap();
    assert_eq!(Negotiated::of(&client), None);

    // A handshake takes three flights, each of up to two levels.
    for _ in 0..4 {
        let mut flight = Vec::new();
        while client.write_hs(&mut flight).is_some() || !flight.is_empty() {
            server.read_hs(&flight).unwrap();
            flight.clear();
        }
        while server.write_hs(&mut flight).is_some() || !flight.is_empty() {
            client.read_hs(&flight).unwrap();
            flight.clear();
        }
    }

    assert_eq!(
        Negotiated::of(&client).unwrap().to_string(),
        "TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer ML-DSA-65 (post-quantum), \
         TLS_AES_256_GCM_SHA384, full handshake"
    );
    assert!(Negotiated::of(&server).unwrap().has_pq_key_exchange());
}

/// What the client and the server report.
#[track_caller]
fn both(outcome: Outcome) -> [Negotiated; 2] {
    [outcome.client, outcome.server].map(|end| {
        assert_eq!(end.result, Ok(()));
        end.negotiated.expect("the handshake is complete")
    })
}
