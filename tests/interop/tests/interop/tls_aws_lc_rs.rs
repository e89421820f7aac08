//! TLS 1.3 between our endpoints and rustls's own over aws-lc-rs.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use handshakes::Outcome;
use interop::endpoint::{self, aws_lc_rs, ours};
use interop::pki::{NAME, Pki};
use pq_x509::keys::{PrivateKeyForm, SignatureAlgorithm};
use rustls::crypto::CryptoProvider;
use rustls::crypto::hpke::Hpke;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, ServerConfig, ServerConnection, SignatureScheme,
};
use rustls_pq::{Builder, Group};

#[test]
fn these_are_all_groups_that_both_have() {
    let ours: BTreeSet<_> = Builder::with_default_base()
        .expect("the default provider runs here")
        .available_groups()
        .into_iter()
        .collect();
    let theirs: BTreeSet<_> = rustls::crypto::aws_lc_rs::ALL_KX_GROUPS
        .iter()
        .map(|group| Group::from(group.name()))
        .collect();
    let both: BTreeSet<_> = ours.intersection(&theirs).copied().collect();
    assert_eq!(both, BTreeSet::from(GROUPS));
}

/// The rows of docs/tls.md that compare lists.
#[test]
fn the_page_compares_them() {
    const PAGE: &str = include_str!("../../../../docs/tls.md");
    let ours = Builder::with_default_base().expect("the default provider runs here");
    let theirs = rustls::crypto::aws_lc_rs::ALL_KX_GROUPS;
    let (both, other): (Vec<Group>, Vec<_>) = ours
        .available_groups()
        .into_iter()
        .filter(|group| group.is_post_quantum())
        .partition(|group| theirs.iter().any(|its| its.name() == (*group).into()));
    let named = |groups: &[Group]| {
        let names: Vec<_> = groups.iter().map(Group::to_string).collect();
        names.join(", ")
    };
    let kems = |suites: &[&dyn Hpke]| {
        let mut kems: Vec<_> = suites.iter().map(|suite| suite.suite().kem).collect();
        kems.dedup();
        let names = kems.into_iter().map(|kem| match u16::from(kem) {
            0x10 => "P-256",
            0x11 => "P-384",
            0x12 => "P-521",
            0x20 => "X25519",
            0x647a => "X-Wing",
            other => panic!("the KEM {other:#x} has a name"),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    for row in [
        format!(
            "| post-quantum groups of both | {} | the same |",
            named(&both)
        ),
        format!("| other post-quantum groups | none | {} |", named(&other)),
        format!(
            "| KEMs for ECH | {} | {} |",
            kems(rustls::crypto::aws_lc_rs::hpke::ALL_SUPPORTED_SUITES),
            kems(rustls_pq::hpke::ALL_SUPPORTED_SUITES)
        ),
    ] {
        assert!(PAGE.contains(&format!("\n{row}\n")), "{row}");
    }
    let ours = ours.build().expect("the default provider");
    let theirs = rustls::crypto::aws_lc_rs::default_provider();
    for provider in [&ours, &theirs] {
        let schemes = provider
            .signature_verification_algorithms
            .supported_schemes();
        assert!(schemes.contains(&SignatureScheme::ML_DSA_65));
        let mut groups = provider.kx_groups.iter();
        assert!(groups.any(|group| group.name() == Group::X25519MLKEM768.into()));
    }
    let slh_dsa = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 20];
    let verified = |provider: &CryptoProvider| {
        let all = provider.signature_verification_algorithms.all;
        all.iter()
            .any(|it| it.signature_alg_id().as_ref().ends_with(&slh_dsa))
    };
    assert!(verified(&ours) && !verified(&theirs));
}

#[test]
fn every_group() {
    for_both_directions(|client, server| {
        let pki = Pki::new(SignatureAlgorithm::MlDsa65);
        let identity = pki.server(SignatureAlgorithm::MlDsa65);
        let server = endpoint::server(server(&GROUPS), &identity, None);
        for group in GROUPS {
            let client = endpoint::client(client(&[group]), pki.root(), None);
            let mut outcome = connect(&client, &server);
            outcome.assert_works();
            outcome.assert_negotiated(group.into(), HandshakeKind::Full);
        }
    });
}

#[test]
fn every_ml_dsa_set_in_every_place() {
    for_both_directions(|client, server| {
        for &in_chain in SignatureAlgorithm::ML_DSA {
            let pki = Pki::new(in_chain);
            for &in_leaf in SignatureAlgorithm::ML_DSA {
                let identity = pki.server(in_leaf);
                let mut outcome = connect(
                    &endpoint::client(client(&[Group::X25519MLKEM768]), pki.root(), None),
                    &endpoint::server(server(&[Group::X25519MLKEM768]), &identity, None),
                );
                outcome.assert_works();
                assert_eq!(
                    outcome.client.connection.peer_certificates(),
                    Some(&*identity.chain_der())
                );
            }
        }
    });
}

#[test]
fn mutual_tls() {
    for_both_directions(|client, server| {
        for &algorithm in SignatureAlgorithm::ML_DSA {
            let pki = Pki::new(algorithm);
            let identity = pki.client(algorithm);
            let mut outcome = connect(
                &endpoint::client(
                    client(&[Group::X25519MLKEM768]),
                    pki.root(),
                    Some(&identity),
                ),
                &endpoint::server(
                    server(&[Group::X25519MLKEM768]),
                    &pki.server(algorithm),
                    Some(pki.root()),
                ),
            );
            outcome.assert_works();
            assert_eq!(
                outcome.server.connection.peer_certificates(),
                Some(&*identity.chain_der())
            );
        }
    });
}

#[test]
fn hello_retry_request() {
    for_both_directions(|client, server| {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let identity = pki.server(SignatureAlgorithm::MlDsa44);
        for group in GROUPS {
            // P-384 is in none of the hybrids here. It is one of the groups, so for P-384 another group comes first.
            let first = match group {
                Group::SECP384R1 => Group::X25519MLKEM768,
                _ => Group::SECP384R1,
            };
            let mut outcome = connect(
                &endpoint::client(client(&[first, group]), pki.root(), None),
                &endpoint::server(server(&[group]), &identity, None),
            );
            outcome.assert_works();
            outcome.assert_negotiated(group.into(), HandshakeKind::FullWithHelloRetryRequest);
        }
    });
}

#[test]
fn a_server_without_ml_kem_costs_no_retry() {
    for_both_directions(|client, server| {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let identity = pki.server(SignatureAlgorithm::MlDsa44);
        for (hybrid, component) in [
            (Group::X25519MLKEM768, Group::X25519),
            (Group::SECP256R1MLKEM768, Group::SECP256R1),
        ] {
            let mut outcome = connect(
                &endpoint::client(client(&[hybrid, component]), pki.root(), None),
                &endpoint::server(server(&[component]), &identity, None),
            );
            outcome.assert_works();
            outcome.assert_negotiated(component.into(), HandshakeKind::Full);
        }
    });
}

#[test]
fn resumption() {
    for_both_directions(|client, server| {
        let pki = Pki::new(SignatureAlgorithm::MlDsa65);
        let identity = pki.server(SignatureAlgorithm::MlDsa65);
        for group in GROUPS {
            let client = endpoint::client(client(&[group]), pki.root(), None);
            let server = endpoint::server(server(&[group]), &identity, None);
            for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
                let mut outcome = connect(&client, &server);
                outcome.assert_works();
                outcome.assert_negotiated(group.into(), kind);
            }
        }
    });
}

/// With our stateless tickets, whose sessions are stored by the client.
#[test]
fn resumption_with_our_tickets() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let identity = pki.server(SignatureAlgorithm::MlDsa65);
    let server = endpoint::server(ours(&[Group::X25519MLKEM768]), &identity, None);
    let mut server = Arc::into_inner(server).expect("nobody else has it");
    server.ticketer = rustls_pq::base::ticketer().expect("a ticketer can be made");
    let server = Arc::new(server);

    let client = endpoint::client(aws_lc_rs(&[Group::X25519MLKEM768]), pki.root(), None);
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let mut outcome = connect(&client, &server);
        outcome.assert_works();
        outcome.assert_negotiated(Group::X25519MLKEM768.into(), kind);
    }
}

/// aws-lc-rs reads what we write.
#[test]
fn private_keys() {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    for (algorithm, scheme) in [
        (SignatureAlgorithm::MlDsa44, SignatureScheme::ML_DSA_44),
        (SignatureAlgorithm::MlDsa65, SignatureScheme::ML_DSA_65),
        (SignatureAlgorithm::MlDsa87, SignatureScheme::ML_DSA_87),
    ] {
        let key = interop::pki::generate(algorithm);
        for form in [
            PrivateKeyForm::Seed,
            PrivateKeyForm::Expanded,
            PrivateKeyForm::Both,
        ] {
            let der = key.to_pkcs8_der_as(form).expect("the key has a seed");
            let loaded = provider
                .key_provider
                .load_private_key(PrivatePkcs8KeyDer::from(der.to_vec()).into())
                .unwrap_or_else(|err| panic!("{algorithm}, {form:?}: {err}"));
            let public = loaded.public_key().expect("the key has a public half");
            assert_eq!(public.as_ref(), key.verifying_key().to_spki_der());

            let signature = loaded
                .choose_scheme(&[scheme])
                .expect("the key signs by its scheme")
                .sign(b"message")
                .expect("the key signs");
            key.verifying_key()
                .verify(b"message", &signature)
                .expect("the key signed");
        }
    }
}

type Provider = fn(&[Group]) -> CryptoProvider;

/// Runs `test` with ours as the client, and with ours as the server.
fn for_both_directions(test: impl Fn(Provider, Provider)) {
    test(ours, aws_lc_rs);
    test(aws_lc_rs, ours);
}

fn connect(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Outcome {
    let name = ServerName::try_from(NAME).expect("the name is one");
    handshakes::connect(
        ClientConnection::new(Arc::clone(client), name).expect("the client starts"),
        ServerConnection::new(Arc::clone(server)).expect("the server starts"),
    )
}

const GROUPS: [Group; 7] = [
    Group::X25519MLKEM768,
    Group::SECP256R1MLKEM768,
    Group::MLKEM768,
    Group::MLKEM1024,
    Group::X25519,
    Group::SECP256R1,
    Group::SECP384R1,
];
