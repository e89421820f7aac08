//! How large the first ClientHello is, and how it stays small.

use alloc::sync::Arc;
use std::io::Write;

use pq_x509::keys::SignatureAlgorithm;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{
    ClientConfig, ClientConnection, DEFAULT_VERSIONS, HandshakeKind, SupportedProtocolVersion,
    version,
};
use rustls_pq::{Builder, Group, Profile, SmallHello};

use crate::peers::{Pki, any_base, bases, client_config, connect, server_config, with_groups};

/// The payload of a TCP segment over Ethernet and IPv6, with TCP's timestamps.
const SEGMENT: usize = 1500 - 40 - 32;

#[test]
fn by_default_it_takes_two_packets() {
    for (base, provider) in bases() {
        let provider = Builder::new(provider).build().unwrap();
        for (versions, expected) in [(TLS13, 1462), (DEFAULT_VERSIONS, 1470)] {
            let client = client(provider.clone(), versions, Resumption::default());
            let len = first_hello(client).len();
            assert!((SEGMENT + 1..=1480).contains(&len), "{base}: {len} bytes");
            assert!(
                base == "aws-lc-rs" || len == expected,
                "{base}: {len} bytes"
            );
        }
    }
}

#[test]
fn small_by_request() {
    for (base, provider) in bases() {
        let provider = Builder::new(provider).build().unwrap();
        for (versions, expected) in [(TLS13, 242), (DEFAULT_VERSIONS, 250)] {
            let client = client(provider.clone(), versions, SmallHello::new().into());
            let len = first_hello(client).len();
            assert!(len <= 260, "{base}: {len} bytes");
            assert!(
                base == "aws-lc-rs" || len == expected,
                "{base}: {len} bytes"
            );
        }
    }
}

/// With TLS 1.2 and a ticket from the last connection it still fits into one packet.
#[test]
fn small_with_all_that_comes_along() {
    let (mut config, server, _) = peers(SmallHello::new());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let first = first_hello(Arc::clone(&config)).len();
    connect(&config, &server).assert_success(
        Group::X25519MLKEM768,
        HandshakeKind::FullWithHelloRetryRequest,
    );
    let with_ticket = first_hello(config).len();
    assert!(
        first < with_ticket && with_ticket <= 800,
        "{with_ticket} bytes"
    );
}

/// Every handshake takes one round trip more, as documented, and its key exchange is post-quantum.
#[test]
fn servers_ask_for_the_share() {
    let (mut config, server, _) = peers(SmallHello::new());
    config.resumption = Resumption::store(Arc::new(
        // No sessions, so that every handshake is a full one.
        SmallHello::over(Arc::new(rustls::client::ClientSessionMemoryCache::new(0))),
    ));
    let config = Arc::new(config);
    for _ in 0..2 {
        connect(&config, &server).assert_success(
            Group::X25519MLKEM768,
            HandshakeKind::FullWithHelloRetryRequest,
        );
    }
}

#[test]
fn sessions_are_resumed() {
    let (config, server, _) = peers(SmallHello::new());
    let config = Arc::new(config);
    for kind in [
        HandshakeKind::FullWithHelloRetryRequest,
        HandshakeKind::Resumed,
    ] {
        connect(&config, &server).assert_success(Group::X25519MLKEM768, kind);
    }
}

#[test]
fn classical_servers_cost_nothing() {
    let (config, _, pki) = peers(SmallHello::new());
    let classical = with_groups(&any_base(), [Group::X25519]);
    let server = Arc::new(server_config(classical, &pki.server));
    connect(&Arc::new(config), &server).assert_success(Group::X25519, HandshakeKind::Full);
}

#[test]
fn another_share() {
    let (config, _, pki) = peers(SmallHello::new().with_share(Group::SECP256R1));
    let p256 = with_groups(&any_base(), [Group::SECP256R1]);
    let server = Arc::new(server_config(p256, &pki.server));
    connect(&Arc::new(config), &server).assert_success(Group::SECP256R1, HandshakeKind::Full);
}

/// No classical share is sent if post-quantum key exchange is required.
#[test]
fn no_effect_where_post_quantum_is_required() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = Builder::new(any_base())
        .profile(Profile::RequirePq)
        .build()
        .unwrap();
    let mut config = client_config(provider.clone(), pki.roots());
    config.resumption = SmallHello::new().into();
    let server = Arc::new(server_config(provider, &pki.server));
    connect(&Arc::new(config), &server).assert_success(Group::X25519MLKEM768, HandshakeKind::Full);
}

/// A client with `store`, and a server that prefers post-quantum groups.
fn peers(store: SmallHello) -> (ClientConfig, Arc<rustls::ServerConfig>, Pki) {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = Builder::new(any_base()).build().unwrap();
    let mut config = client_config(provider.clone(), pki.roots());
    config.resumption = store.into();
    let server = Arc::new(server_config(provider, &pki.server));
    (config, server, pki)
}

const TLS13: &[&SupportedProtocolVersion] = &[&version::TLS13];

fn client(
    provider: rustls::crypto::CryptoProvider,
    versions: &[&'static SupportedProtocolVersion],
    resumption: Resumption,
) -> Arc<ClientConfig> {
    let mut config = ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    config.resumption = resumption;
    Arc::new(config)
}

fn first_hello(config: Arc<ClientConfig>) -> Vec<u8> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(config, name).unwrap();
    let mut hello = Vec::new();
    while connection.wants_write() {
        connection.write_tls(hello.by_ref()).unwrap();
    }
    hello
}
