//! QUIC with quinn as the transport, over every base.

use alloc::sync::Arc;
use core::error::Error;
use core::net::{Ipv4Addr, SocketAddr};

use interop::endpoint;
use interop::pki::{Identity, NAME, Pki, generate, server_leaf};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::SignatureAlgorithm;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connecting, Connection, ConnectionError, Endpoint, ServerConfig};
use rustls::CipherSuite;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls_pq::{Builder, Group, base};

#[tokio::test]
async fn every_base_with_every_base() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let identity = pki.server(SignatureAlgorithm::MlDsa65);
    for (server_base, server) in bases() {
        let server = Server::start(post_quantum(server), &identity);
        for (client_base, client) in bases() {
            let client = Client::new(post_quantum(client), pki.root());
            let connection = client
                .connect(&server)
                .await
                .unwrap_or_else(|err| panic!("{client_base} with {server_base}: {err}"));
            assert_echo(&connection).await;
            assert_eq!(peer_chain(&connection), identity.chain_der());
        }
    }
}

/// A server may send three times as much as it received until it knows that the client's
/// address is real (RFC 9000, section 8.1). That is much less than these chains.
#[tokio::test]
async fn chains_of_many_packets() {
    for (algorithm, at_least) in [
        (SignatureAlgorithm::MlDsa65, 12_000),
        (SignatureAlgorithm::MlDsa87, 20_000),
    ] {
        let (root, identity) = long_chain(algorithm);
        let sent: usize = identity.chain_der().iter().map(|der| der.len()).sum();
        assert!(sent >= at_least, "the chain has {sent} bytes only");

        for (base, provider) in bases() {
            let server = Server::start(post_quantum(provider.clone()), &identity);
            let connection = Client::new(post_quantum(provider), &root)
                .connect(&server)
                .await
                .unwrap_or_else(|err| panic!("{algorithm} over {base}: {err}"));
            assert_echo(&connection).await;
            assert_eq!(peer_chain(&connection), identity.chain_der());
        }
    }
}

/// Ours over graviola with ring's, in each suite, before and after a key update.
#[tokio::test]
async fn every_cipher_suite() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let identity = pki.server(SignatureAlgorithm::MlDsa44);
    for suite in [
        CipherSuite::TLS13_AES_128_GCM_SHA256,
        CipherSuite::TLS13_AES_256_GCM_SHA384,
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    ] {
        for [client, server] in [[graviola(), ring()], [ring(), graviola()]] {
            let server = Server::start(post_quantum(server), &identity);
            let connection = Client::with_suite(post_quantum(client), pki.root(), suite)
                .connect(&server)
                .await
                .unwrap_or_else(|err| panic!("{suite:?}: {err}"));
            assert_echo(&connection).await;
            connection.force_key_update();
            assert_echo(&connection).await;
        }
    }
}

#[tokio::test]
async fn data_before_the_handshake_is_done() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let identity = pki.server(SignatureAlgorithm::MlDsa65);
    for (base, provider) in bases() {
        let server = Server::start(post_quantum(provider.clone()), &identity);
        let client = Client::new(post_quantum(provider), pki.root());

        let first = client
            .connect(&server)
            .await
            .expect("they have all in common");
        assert_echo(&first).await;
        first.close(0_u8.into(), b"");

        let (second, accepted) = client
            .connecting(&server)
            .into_0rtt()
            .unwrap_or_else(|_| panic!("{base}: there is a ticket from the first connection"));
        assert_echo(&second).await;
        assert!(accepted.await, "{base}: the server took the early data");
        assert_eq!(peer_chain(&second), identity.chain_der());
    }
}

/// Refusals reach the peer as TLS alerts (RFC 9001, section 4.8).
#[tokio::test]
async fn refusals() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let identity = pki.server(SignatureAlgorithm::MlDsa65);
    for (base, provider) in bases() {
        let server = Server::start(post_quantum(provider.clone()), &identity);

        let stranger = Pki::named("Stranger", SignatureAlgorithm::MlDsa65);
        let client = Client::new(post_quantum(provider.clone()), stranger.root());
        let refusal = client.connect(&server).await.expect_err("unknown root");
        assert_eq!(alert(&refusal), Some(UNKNOWN_CA), "{base}: {refusal}");

        let classical = Builder::new(provider)
            .groups([Group::X25519])
            .build()
            .expect("every base has X25519");
        let client = Client::new(classical, pki.root());
        let refusal = client.connect(&server).await.expect_err("no common group");
        assert_eq!(
            alert(&refusal),
            Some(HANDSHAKE_FAILURE),
            "{base}: {refusal}"
        );
    }
}

/// A server that sends everything back.
struct Server {
    endpoint: Endpoint,
}

impl Server {
    fn start(provider: CryptoProvider, identity: &Identity) -> Self {
        let mut config = Arc::unwrap_or_clone(endpoint::server(provider, identity, None));
        // QUIC has its own limits on early data, and allows no other value here
        // (RFC 9001, section 4.6.1).
        config.max_early_data_size = u32::MAX;
        let config = QuicServerConfig::try_from(config).expect("the suites have QUIC keys");
        let endpoint = Endpoint::server(
            ServerConfig::with_crypto(Arc::new(config)),
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        )
        .expect("there is a free port");

        let incoming = endpoint.clone();
        tokio::spawn(async move {
            while let Some(incoming) = incoming.accept().await {
                // The client sees errors that happen here, and tests check
                // them there.
                tokio::spawn(async move { serve(incoming.await?).await });
            }
        });
        Self { endpoint }
    }

    fn address(&self) -> SocketAddr {
        self.endpoint.local_addr().expect("the socket is bound")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.endpoint.close(0_u8.into(), b"");
    }
}

/// Sends back whatever comes, stream by stream, until the client closes.
async fn serve(connection: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    loop {
        let (mut send, mut receive) = connection.accept_bi().await?;
        tokio::io::copy(&mut receive, &mut send).await?;
        send.finish()?;
    }
}

struct Client {
    endpoint: Endpoint,
}

impl Client {
    fn new(provider: CryptoProvider, root: &Certificate) -> Self {
        let config = endpoint::client(provider, root, None);
        Self::start(config, QuicClientConfig::try_from)
    }

    /// A client that offers one cipher suite.
    fn with_suite(mut provider: CryptoProvider, root: &Certificate, suite: CipherSuite) -> Self {
        // Initial packets are protected with this one, whatever is negotiated.
        let initial = provider
            .cipher_suites
            .iter()
            .find(|known| known.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256)
            .and_then(|suite| suite.tls13()?.quic_suite())
            .expect("the suite has QUIC keys");
        provider
            .cipher_suites
            .retain(|known| known.suite() == suite);
        let config = endpoint::client(provider, root, None);
        Self::start(config, |config| {
            QuicClientConfig::with_initial(config, initial)
        })
    }

    fn start<E: Error>(
        config: Arc<rustls::ClientConfig>,
        quic: impl FnOnce(Arc<rustls::ClientConfig>) -> Result<QuicClientConfig, E>,
    ) -> Self {
        let mut config = Arc::unwrap_or_clone(config);
        config.enable_early_data = true;
        let config = quic(Arc::new(config)).expect("the suites have QUIC keys");

        let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .expect("there is a free port");
        endpoint.set_default_client_config(ClientConfig::new(Arc::new(config)));
        Self { endpoint }
    }

    fn connecting(&self, server: &Server) -> Connecting {
        self.endpoint
            .connect(server.address(), NAME)
            .expect("address and name are valid")
    }

    async fn connect(&self, server: &Server) -> Result<Connection, ConnectionError> {
        self.connecting(server).await
    }
}

async fn assert_echo(connection: &Connection) {
    let sent: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
    let (mut send, mut receive) = connection.open_bi().await.expect("the connection is open");
    let (written, received) = tokio::join!(
        async {
            send.write_all(&sent).await?;
            send.finish().map_err(Into::<quinn::WriteError>::into)
        },
        receive.read_to_end(sent.len() + 1),
    );
    written.expect("the server reads");
    assert!(received.expect("the server writes") == sent);
}

fn peer_chain(connection: &Connection) -> Vec<CertificateDer<'static>> {
    *connection
        .peer_identity()
        .expect("the handshake is done")
        .downcast()
        .expect("rustls gives certificates")
}

/// The alert that ended a connection, from either side.
fn alert(error: &ConnectionError) -> Option<u8> {
    let code = match error {
        ConnectionError::TransportError(error) => error.code,
        ConnectionError::ConnectionClosed(close) => close.error_code,
        _ => return None,
    };
    let code = u64::from(code);
    // CRYPTO_ERROR (RFC 9001, section 4.8)
    (0x100..0x200).contains(&code).then_some(code as u8)
}

/// A leaf below two intermediates, all of them of `algorithm`, and the root.
fn long_chain(algorithm: SignatureAlgorithm) -> (Certificate, Identity) {
    let authority = CertificateBuilder::ca;
    let root = Issuer::self_signed(authority("Root"), generate(algorithm));
    let root = root.expect("a root can be issued");
    let upper = root.issue_ca(authority("Upper"), generate(algorithm));
    let upper = upper.expect("an intermediate can be issued");
    let lower = upper.issue_ca(authority("Lower"), generate(algorithm));
    let lower = lower.expect("an intermediate can be issued");
    let key = generate(algorithm);
    let leaf = lower.issue(server_leaf(), &key);
    let leaf = leaf.expect("a leaf can be issued");

    let identity = Identity {
        chain: vec![
            leaf,
            lower.certificate().clone(),
            upper.certificate().clone(),
        ],
        key,
    };
    (root.certificate().clone(), identity)
}

fn bases() -> [(&'static str, CryptoProvider); 3] {
    [
        ("graviola", graviola()),
        ("ring", ring()),
        ("aws-lc-rs", rustls::crypto::aws_lc_rs::default_provider()),
    ]
}

fn graviola() -> CryptoProvider {
    base::graviola().expect("graviola runs here")
}

fn ring() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// A provider whose every handshake is post-quantum.
fn post_quantum(base: CryptoProvider) -> CryptoProvider {
    Builder::new(base)
        .groups([Group::X25519MLKEM768])
        .build()
        .expect("every base has X25519")
}

// RFC 9846, section 6.2
const HANDSHAKE_FAILURE: u8 = 40;
const UNKNOWN_CA: u8 = 48;
