//! Sessions that are resumed by tickets, with and without client certificates.

use alloc::sync::Arc;
use core::time::Duration;

use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::SignatureAlgorithm;
use rustls::HandshakeKind::{Full, Resumed};
use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use rustls::{CipherSuite, ClientConfig, ServerConfig, version};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Error, Group, Profile, TicketOptions, Tickets};

use crate::peers::{
    Ecdsa, HAS_BASE, Identity, Pki, any_base, bases, client_config, connect, mutual_client_config,
    mutual_server_config, roots, server_config,
};

/// A resumed session has a new key exchange, over the same group.
#[test]
fn over_every_group() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    for (name, base) in bases() {
        for &group in Group::POST_QUANTUM {
            println!("{name}: {group}");
            let provider = Builder::new(base.clone()).groups([group]).build().unwrap();
            let client = Arc::new(client_config(provider.clone(), pki.roots()));
            let server = with_tickets(server_config(provider, &pki.server));
            connect(&client, &server).assert_success(group, Full);
            let second = connect(&client, &server);
            second.assert_success(group, Resumed);
            let negotiated = second.client.negotiated.unwrap();
            assert!(negotiated.has_pq_key_exchange());
            assert!(negotiated.has_pq_authentication());
        }
    }
}

/// For clients that can't read rustls's TLS 1.3 tickets: TLS 1.3 sends none, and TLS 1.2 still does.
#[test]
fn tickets_of_tls12_alone() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let mut server = server_config(provider(), &identity);
    server.ticketer = tickets();
    server.send_tls13_tickets = 0;
    let server = Arc::new(server);
    for (version, second) in [(&version::TLS13, Full), (&version::TLS12, Resumed)] {
        let client = ClientConfig::builder_with_provider(provider().into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots([root.certificate().der().clone()]))
            .with_no_client_auth();
        let client = Arc::new(client);
        for kind in [Full, second] {
            let outcome = connect(&client, &server);
            assert_eq!(outcome.client.result, Ok(()));
            assert_eq!(outcome.client.kind, Some(kind), "{:?}", version.version);
        }
    }
}

/// The session is in memory: the second ClientHello is as small as without a client certificate, and
/// the server knows the client.
#[test]
fn with_client_certificates() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        let provider = provider();
        let client = mutual_client_config(provider.clone(), pki.roots(), &pki.client);
        let server = mutual_server_config(provider.clone(), &pki.server, pki.roots());
        let second = resume(client.into(), with_tickets(server));
        assert_eq!(second.server.peer_certificates, 2);
        let server = second.server.negotiated.unwrap();
        assert_eq!(
            server.peer.unwrap().key,
            rustls_pq::KeyAlgorithm::PostQuantum(algorithm)
        );
        let mutual = second.client.sent.len();

        let client = client_config(provider.clone(), pki.roots());
        let server = server_config(provider, &pki.server);
        let second = resume(client.into(), with_tickets(server));
        // An encrypted ticket is larger than the number of a stored session.
        assert!(mutual < second.client.sent.len());
    }
}

/// With a base's tickets the chain comes back; this crate's tickets avoid that.
#[test]
fn stateless_tickets_carry_the_chain() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let chain: usize = pki.client.chain.iter().map(|c| c.len()).sum();
    let client = mutual_client_config(provider(), pki.roots(), &pki.client);
    let mut server = mutual_server_config(provider(), &pki.server, pki.roots());
    server.ticketer = rustls::crypto::ring::Ticketer::new().unwrap();
    let second = resume(client.into(), server.into());
    assert!(second.client.sent.len() > chain);
}

/// A session that was made when classical key exchange was allowed is resumed with a
/// post-quantum one, if that is what the server now asks for.
#[test]
fn resumption_is_no_way_around_the_profile() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = |groups: &[Group]| {
        let builder = Builder::new(any_base()).groups(groups.iter().copied());
        builder.build().unwrap()
    };
    let tickets = tickets();
    let server = |provider: CryptoProvider| {
        let mut server = server_config(provider, &pki.server);
        server.ticketer = tickets.clone();
        Arc::new(server)
    };
    let lax = server(provider(&[Group::X25519]));
    let require_pq = Builder::new(any_base()).profile(Profile::RequirePq).build();
    let strict = server(require_pq.unwrap());

    let client = provider(&[Group::X25519, Group::X25519MLKEM768]);
    let client = Arc::new(client_config(client, pki.roots()));
    connect(&client, &lax).assert_success(Group::X25519, Full);
    let resumed = connect(&client, &strict);
    assert_eq!(resumed.client.result, Ok(()));
    assert_eq!(resumed.client.group, Some(Group::X25519MLKEM768));

    let classical = Arc::new(client_config(provider(&[Group::X25519]), pki.roots()));
    connect(&classical, &lax).assert_success(Group::X25519, Full);
    connect(&classical, &lax).assert_success(Group::X25519, Resumed);
    let refused = connect(&classical, &strict);
    assert_eq!(
        refused.server.result,
        Err(rustls::PeerIncompatible::NoKxGroupsInCommon.into())
    );
}

/// The certificate may have changed when the session is resumed.
#[test]
fn sessions_outlive_certificates() {
    let [pki, other] = [(); 2].map(|()| Pki::new(SignatureAlgorithm::MlDsa44));
    let set = |pki: &Pki| IdentitySet::new().with_default(pki.server.checked());
    let identities = Arc::new(Identities::new(set(&pki)));
    let mut server = ServerConfig::builder_with_provider(provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(identities.clone());
    server.ticketer = tickets();
    let server = Arc::new(server);
    let client = Arc::new(client_config(provider(), pki.roots()));
    connect(&client, &server).assert_success(Group::X25519MLKEM768, Full);
    identities.replace(set(&other));
    connect(&client, &server).assert_success(Group::X25519MLKEM768, Resumed);
}

#[test]
fn tls12() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let client = ClientConfig::builder_with_provider(provider().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_root_certificates(roots([root.certificate().der().clone()]))
        .with_client_auth_cert(pki.client.chain.clone(), pki.client.key.clone_key())
        .unwrap();
    let client = Arc::new(client);
    let server = with_tickets(server_config(provider(), &identity));
    for kind in [Full, Resumed, Resumed] {
        assert_eq!(connect(&client, &server).client.kind, Some(kind));
    }
}

#[test]
fn by_the_first_usable_base() {
    let tickets = Tickets::new();
    match HAS_BASE {
        true => assert!(tickets.is_ok()),
        false => assert_eq!(tickets.unwrap_err(), Error::NoBase),
    }
}

/// Also if it isn't the first usable base, and with any suitable cipher suite.
#[test]
fn by_the_server_s_own_provider() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for suite in [
            CipherSuite::TLS13_AES_256_GCM_SHA384,
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
            // encrypted by another base
            CipherSuite::TLS13_AES_128_GCM_SHA256,
        ] {
            println!("{name}: {suite:?}");
            let provider = Builder::new(base.clone()).cipher_suites([suite]);
            let provider = provider.build().unwrap();
            let tickets = || Tickets::for_provider(&provider, TicketOptions::default());
            if !HAS_BASE && suite == CipherSuite::TLS13_AES_128_GCM_SHA256 {
                assert_eq!(tickets().unwrap_err(), Error::NoBase);
                continue;
            }
            let tickets = || tickets().unwrap();
            let client = client_config(provider.clone(), pki.roots());
            let mut server = server_config(provider.clone(), &pki.server);
            server.ticketer = Arc::new(tickets());
            resume(client.into(), server.into());

            let [one, other] = [tickets(), tickets()];
            let session = [&b"session"[..], &[0; 100]].concat();
            let mut ticket = one.encrypt(&session).unwrap();
            assert_ne!(one.encrypt(&session).unwrap(), ticket);
            assert_eq!(one.decrypt(&ticket).unwrap(), session);
            assert_eq!(other.decrypt(&ticket), None);
            one.rotate().unwrap();
            assert_eq!(one.decrypt(&ticket).unwrap(), session);
            for len in 0..ticket.len() {
                assert_eq!(one.decrypt(&ticket[..len]), None);
            }
            for at in 0..ticket.len() {
                ticket[at] ^= 1;
                assert_eq!(one.decrypt(&ticket), None);
                ticket[at] ^= 1;
            }
            let largest = [1; Tickets::MAX_STATELESS_LEN];
            let ticket = one.encrypt(&largest).unwrap();
            assert!(ticket.len() > largest.len());
            assert_eq!(one.decrypt(&ticket).unwrap(), largest);
        }
    }
}

#[test]
fn options_can_be_chosen() {
    let minute = Duration::from_secs(60);
    let options = TicketOptions::default()
        .with_lifetime(10 * minute)
        .with_rotation(minute)
        .with_stored_bytes(7);
    assert_eq!(options.lifetime, 10 * minute);
    assert_eq!(options.rotation, minute);
    assert_eq!(options.stored_bytes, 7);
    let tickets = Tickets::over(
        rustls::crypto::ring::Ticketer::new,
        any_base().secure_random,
        options,
    );
    assert_eq!(tickets.unwrap().lifetime(), 600);
}

/// Connects twice, and resumes the session the second time.
#[track_caller]
fn resume(client: Arc<ClientConfig>, server: Arc<ServerConfig>) -> crate::peers::Outcome {
    connect(&client, &server).assert_success(Group::X25519MLKEM768, Full);
    let second = connect(&client, &server);
    second.assert_success(Group::X25519MLKEM768, Resumed);
    second
}

fn with_tickets(mut server: ServerConfig) -> Arc<ServerConfig> {
    server.ticketer = tickets();
    server.into()
}

fn tickets() -> Arc<Tickets> {
    let tickets = Tickets::over(
        rustls::crypto::ring::Ticketer::new,
        any_base().secure_random,
        TicketOptions::default(),
    );
    tickets.unwrap().into()
}

fn provider() -> CryptoProvider {
    Builder::new(any_base()).build().unwrap()
}
