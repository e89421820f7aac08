//! Handshakes that succeed.

use alloc::sync::Arc;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use rustls::HandshakeKind::{Full, FullWithHelloRetryRequest, Resumed};
use rustls::version;
use rustls_pq::{Builder, Group};

use crate::peers::{
    Ecdsa, HAS_BASE, Identity, KeyPair, Pki, any_base, bases, client_config, connect,
    mutual_client_config, mutual_server_config, roots, server_config, with_groups,
};

#[test]
fn every_group_with_every_signature_algorithm() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        for (name, base) in bases() {
            let server = Arc::new(server_config(
                with_groups(&base, Group::POST_QUANTUM.iter().copied()),
                &pki.server,
            ));
            for &group in Group::POST_QUANTUM {
                let client = client_config(with_groups(&base, [group]), pki.roots());
                let outcome = connect(&client.into(), &server);
                println!("{name}: {group} with {algorithm}");
                outcome.assert_success(group, Full);
                assert_eq!(outcome.client.peer_certificates, 2);
            }
        }
    }
}

#[test]
fn every_base_with_every_other() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    for (server_name, server_base) in bases() {
        let server = Builder::new(server_base.clone()).build().unwrap();
        let server = Arc::new(server_config(server, &pki.server));
        for (client_name, client_base) in bases() {
            println!("{client_name} to {server_name}");
            for group in Builder::new(client_base.clone()).available_groups() {
                let server = Arc::new(server_config(
                    with_groups(&server_base, [group]),
                    &pki.server,
                ));
                let client = client_config(with_groups(&client_base, [group]), pki.roots());
                connect(&client.into(), &server).assert_success(group, Full);
            }

            let client = Builder::new(client_base).build().unwrap();
            let client = client_config(client, pki.roots());
            connect(&client.into(), &server).assert_success(Group::X25519MLKEM768, Full);
        }
    }
}

/// A server that has only the classical half takes the client's separate share for it, without a
/// HelloRetryRequest.
#[test]
fn server_without_post_quantum_takes_the_component_share() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for (hybrid, classical) in HYBRIDS {
            println!("{name}: {hybrid}");
            let client = client_config(with_groups(&base, [hybrid, classical]), pki.roots());
            let server = server_config(with_groups(&base, [classical]), &pki.server);
            connect(&client.into(), &server.into()).assert_success(classical, Full);
        }
    }
}

/// A client that doesn't list the classical half of its hybrid as a group doesn't offer it either.
#[test]
fn hybrid_alone_offers_no_component() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (hybrid, classical) in HYBRIDS {
        let client = client_config(with_groups(&any_base(), [hybrid]), pki.roots());
        let server = server_config(with_groups(&any_base(), [classical]), &pki.server);
        let outcome = connect(&client.into(), &server.into());
        assert_eq!(
            outcome.server.result,
            Err(rustls::PeerIncompatible::NoKxGroupsInCommon.into())
        );
    }
}

#[test]
fn server_with_another_group_asks_for_it() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    for (name, base) in bases() {
        for &group in &Group::POST_QUANTUM[1..] {
            println!("{name}: {group}");
            let client = client_config(
                with_groups(&base, [Group::X25519MLKEM768, Group::X25519, group]),
                pki.roots(),
            );
            let server = server_config(with_groups(&base, [group]), &pki.server);
            connect(&client.into(), &server.into())
                .assert_success(group, FullWithHelloRetryRequest);
        }
    }
}

#[test]
fn mutual_authentication() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        for (name, base) in bases() {
            println!("{name}: {algorithm}");
            let provider = Builder::new(base).build().unwrap();
            let client = mutual_client_config(provider.clone(), pki.roots(), &pki.client);
            let server = mutual_server_config(provider, &pki.server, pki.roots());
            let outcome = connect(&client.into(), &server.into());
            outcome.assert_success(Group::X25519MLKEM768, Full);
            assert_eq!(outcome.client.peer_certificates, 2);
            assert_eq!(outcome.server.peer_certificates, 2);
        }
    }
}

#[test]
fn resumption() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    for (name, base) in bases() {
        for &group in Group::POST_QUANTUM {
            println!("{name}: {group}");
            let provider = with_groups(&base, [group]);
            let client = mutual_client_config(provider.clone(), pki.roots(), &pki.client).into();
            let server = mutual_server_config(provider, &pki.server, pki.roots()).into();
            let first = connect(&client, &server);
            first.assert_success(group, Full);

            let second = connect(&client, &server);
            second.assert_success(group, Resumed);
            assert_eq!(second.server.peer_certificates, 2);
            // The server sends no chain and no signature.
            assert!(second.server.sent.len() < first.server.sent.len() - 10_000);
        }
    }
}

#[test]
fn resumption_with_tickets() {
    if !HAS_BASE {
        let error = rustls_pq::base::ticketer().unwrap_err();
        assert_eq!(error, rustls_pq::Error::NoBase);
        return;
    }

    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = rustls_pq::provider().unwrap();
    let mut server = server_config(provider.clone(), &pki.server);
    server.ticketer = rustls_pq::base::ticketer().unwrap();
    let server = server.into();
    let client = client_config(provider, pki.roots()).into();

    connect(&client, &server).assert_success(Group::X25519MLKEM768, Full);
    connect(&client, &server).assert_success(Group::X25519MLKEM768, Resumed);
}

/// What the order of the default list costs with a server whose only hybrid is SecP256r1MLKEM768, and what
/// another order would cost.
#[test]
fn server_with_the_other_hybrid_only() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let server = with_groups(&any_base(), [Group::SECP256R1MLKEM768, Group::X25519]);
    let server = Arc::new(server_config(server, &pki.server));

    let default = Builder::new(any_base()).build().unwrap();
    connect(&client_config(default, pki.roots()).into(), &server)
        .assert_success(Group::X25519, Full);

    let other_order = with_groups(
        &any_base(),
        [
            Group::X25519MLKEM768,
            Group::SECP256R1MLKEM768,
            Group::X25519,
        ],
    );
    connect(&client_config(other_order, pki.roots()).into(), &server)
        .assert_success(Group::SECP256R1MLKEM768, FullWithHelloRetryRequest);
}

/// The base's own certificates work as before, in a chain of their own and mixed
/// with ML-DSA both ways.
#[test]
fn classical_certificates() {
    for (name, base) in bases() {
        println!("{name}");
        let provider = Builder::new(base).build().unwrap();

        let ecdsa_root = Ecdsa::root();
        let ml_dsa_root = Issuer::self_signed(
            CertificateBuilder::ca("Root"),
            SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap(),
        )
        .unwrap();

        for root in [&ecdsa_root as &dyn Issues, &ml_dsa_root] {
            let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
            for identity in [root.identity(&Ecdsa::generate()), root.identity(&ml_dsa)] {
                let client = client_config(provider.clone(), roots([root.der()]));
                let server = server_config(provider.clone(), &identity);
                connect(&client.into(), &server.into()).assert_success(Group::X25519MLKEM768, Full);
            }
        }
    }
}

/// TLS 1.2 works as before, with a classical certificate and a classical group.
#[test]
fn tls12() {
    let root = Ecdsa::root();
    let identity = root.identity(&Ecdsa::generate());
    for (name, base) in bases() {
        println!("{name}");
        let provider = Arc::new(Builder::new(base).build().unwrap());
        let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_root_certificates(roots([root.der()]))
            .with_no_client_auth();
        let server = server_config((*provider).clone(), &identity);
        connect(&client.into(), &server.into()).assert_success(Group::X25519, Full);
    }
}

const HYBRIDS: [(Group, Group); 3] = [
    (Group::X25519MLKEM768, Group::X25519),
    (Group::SECP256R1MLKEM768, Group::SECP256R1),
    (Group::SECP384R1MLKEM1024, Group::SECP384R1),
];

/// An issuer with any kind of key.
trait Issues {
    fn identity(&self, key: &dyn KeyPair) -> Identity;
    fn der(&self) -> rustls::pki_types::CertificateDer<'static>;
}

impl<S: Signer> Issues for Issuer<S> {
    fn identity(&self, key: &dyn KeyPair) -> Identity {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        Identity::issued_by(self, leaf, key)
    }

    fn der(&self) -> rustls::pki_types::CertificateDer<'static> {
        self.certificate().der().clone()
    }
}
