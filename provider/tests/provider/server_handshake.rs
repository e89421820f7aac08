//! What a server knows about its own part of a handshake.

use alloc::sync::Arc;

use handshakes::{End, exchange};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::SignatureAlgorithm;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{Accepted, ServerConnection, WebPkiClientVerifier};
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, ProtocolVersion, RootCertStore,
    ServerConfig, version,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{
    Authentication, Builder, Group, KeyAlgorithm, Negotiated, Offer, Refusal, ServerHandshake,
    SmallHello,
};

use crate::peers::{
    Ecdsa, Identity, Pki, accept, any_base, client_config, mutual_client_config,
    mutual_server_config, roots, with_groups,
};

/// A session tells how the server authenticated when it began, even if the server would use another key
/// today.
#[test]
fn sessions_remember_the_server() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let server = Server::new(&pki, provider());
    let client = Arc::new(client_config(provider(), pki.roots()));

    let first = server.accept(&client);
    assert!(!first.is_resumed());
    let own = first.own;
    assert_eq!(own, Authentication::of(&pki.server.chain));

    server.replace(&Pki::new(SignatureAlgorithm::MlDsa44));
    for _ in 0..2 {
        let resumed = server.accept(&client);
        assert!(resumed.is_resumed());
        assert_eq!(resumed.own, own);
        assert!(resumed.has_pq_authentication());
    }
}

/// A session without `remember`, and one that begins after a HelloRetryRequest.
#[test]
fn sessions_that_remember_nothing() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let own = Authentication::of(&pki.server.chain);
    for (client, server, remembers) in [
        (provider(), provider(), false),
        (asked_again(), only_hybrid(), true),
    ] {
        let server = Server {
            remembers,
            ..Server::new(&pki, server)
        };
        let client = Arc::new(client_config(client, pki.roots()));
        let first = server.accept(&client);
        assert_eq!(first.own, own);
        let resumed = server.accept(&client);
        assert!(resumed.is_resumed());
        assert_eq!(resumed.own, None);
    }
}

/// If certificates are replaced before rustls goes on, or before the second ClientHello, the client still
/// gets the certificate chosen for its ClientHello, and the server reports the same.
#[test]
fn replaced_meanwhile() {
    let [old, new] = [SignatureAlgorithm::MlDsa65, SignatureAlgorithm::MlDsa44].map(Pki::new);
    let own = Authentication::of(&old.server.chain);
    for (client, server, kind) in [
        (provider(), provider(), HandshakeKind::Full),
        (
            asked_again(),
            only_hybrid(),
            HandshakeKind::FullWithHelloRetryRequest,
        ),
    ] {
        for stage in [Stage::Begun, Stage::Accepted] {
            let client = Arc::new(client_config(client.clone(), old.roots()));
            let server = Server::new(&old, server.clone());
            let negotiated = server.accept_while(&client, |reached| {
                if reached == stage {
                    server.replace(&new);
                }
            });
            assert_eq!(negotiated.handshake, kind);
            assert_eq!(negotiated.own, own);
        }
    }
}

/// A server whose provider has only TLS 1.2 can't use ML-DSA, whatever versions the client speaks.
#[test]
fn servers_of_tls12() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let ecdsa = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let ml_dsa = Pki::new(SignatureAlgorithm::MlDsa65);
    let identities = set(&ml_dsa.server).with_default(ecdsa.checked());
    let identities = Arc::new(Identities::new(identities));
    let mut provider_of_tls12 = any_base();
    let suites = &mut provider_of_tls12.cipher_suites;
    suites.retain(|suite| suite.tls13().is_none());
    let server = Server {
        config: ServerConfig::builder_with_provider(provider_of_tls12.into())
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.clone()),
        identities,
        remembers: true,
    };
    let roots = roots([root.certificate().der().clone(), ml_dsa.root]);
    let (mut client, accepted) = begin(&client_config(provider(), roots).into());
    let handshake = server.begin(&accepted);
    let connection = accepted.into_connection(handshake.config()).unwrap();
    let connection = complete(&mut client, connection);
    let negotiated = handshake.negotiated(&connection);
    let negotiated = negotiated.expect("the handshake is complete");
    assert_eq!(negotiated.version, ProtocolVersion::TLSv1_2);
    let own = negotiated.own.expect("what was chosen");
    assert_eq!(own.key, KeyAlgorithm::EcdsaP256);
}

/// A refusal reports the certificates at the time of the handshake, not the current ones.
#[test]
fn refused_and_replaced_meanwhile() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let server = Server::new(&pki, provider());
    let client = client_config(any_base(), pki.roots());
    let (_, accepted) = begin(&client.into());
    let handshake = server.begin(&accepted);
    server.replace(&Pki::new(SignatureAlgorithm::MlDsa44));
    let (error, _) = accepted.into_connection(handshake.config()).unwrap_err();
    let Refusal::NoSharedSignatureScheme { client, server } = handshake.refusal(&error) else {
        panic!("{error}");
    };
    assert!(!client.is_empty());
    assert_eq!(
        server,
        [KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65)]
    );
}

/// They are verified right after the acceptance or, with a HelloRetryRequest, at the end; once, and only
/// if the session is resumed.
#[test]
fn resumed_clients_are_verified() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let verifier = |roots: RootCertStore| {
        WebPkiClientVerifier::builder_with_provider(roots.into(), provider().into())
            .build()
            .unwrap()
    };
    let trusting = verifier(pki.roots());
    let distrusting = verifier(Pki::new(SignatureAlgorithm::MlDsa65).roots());
    let server = Server {
        config: mutual_server_config(provider(), &pki.server, pki.roots()),
        ..Server::new(&pki, provider())
    };
    let client = mutual_client_config(provider(), pki.roots(), &pki.client);
    let mut asked_again = client.clone();
    asked_again.resumption = SmallHello::new().into();
    for (client, good_then_bad, bad_then_good) in [
        (client, [true, true], [false, true]),
        (asked_again, [true, false], [true, true]),
    ] {
        let client = client.into();
        let full = server.verify(&client, [&*distrusting, &*distrusting]);
        assert_eq!(full, [true, true]);
        let resumed = server.verify(&client, [&*trusting, &*distrusting]);
        assert_eq!(resumed, good_then_bad);
        let resumed = server.verify(&client, [&*distrusting, &*trusting]);
        assert_eq!(resumed, bad_then_good);
    }
}

/// In TLS 1.2, verification right after the acceptance is early enough too, although rustls has the new
/// ticket ready by then.
#[test]
fn resumed_clients_of_tls12_are_verified() {
    let root = Ecdsa::root();
    let identity = |leaf| Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let identities = set(&identity(
        CertificateBuilder::server().dns_name("localhost"),
    ));
    let verifier = |root: &Issuer<Ecdsa>| {
        let roots = roots([root.certificate().der().clone()]);
        WebPkiClientVerifier::builder_with_provider(roots.into(), provider().into())
            .build()
            .unwrap()
    };
    let trusting = verifier(&root);
    let distrusting = verifier(&Ecdsa::root());
    let identities = Arc::new(Identities::new(identities));
    let server = Server {
        config: ServerConfig::builder_with_provider(provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(trusting.clone())
            .with_cert_resolver(identities.clone()),
        identities,
        remembers: true,
    };
    let Identity { chain, key } = identity(CertificateBuilder::client().common_name("c"));
    let client = ClientConfig::builder_with_provider(provider().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_root_certificates(roots([root.certificate().der().clone()]))
        .with_client_auth_cert(chain, key)
        .unwrap()
        .into();
    let full = server.verify(&client, [&*distrusting, &*distrusting]);
    assert_eq!(full, [true, true]);
    let resumed = server.verify(&client, [&*trusting, &*distrusting]);
    assert_eq!(resumed, [true, true]);
    let resumed = server.verify(&client, [&*distrusting, &*trusting]);
    assert_eq!(resumed, [false, true]);
}

/// A server that demands certificates refuses sessions that began without them.
#[test]
fn resumed_without_certificates() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let verifier =
        WebPkiClientVerifier::builder_with_provider(pki.roots().into(), provider().into());
    let optional = verifier.clone().allow_unauthenticated().build().unwrap();
    let mandatory = verifier.build().unwrap();
    let server = Server::new(&pki, provider());
    for resumption in [Resumption::default(), SmallHello::new().into()] {
        let mut client = client_config(provider(), pki.roots());
        client.resumption = resumption;
        let client = client.into();
        let full = server.verify(&client, [&*mandatory, &*mandatory]);
        assert_eq!(full, [true, true]);
        let resumed = server.verify(&client, [&*optional, &*optional]);
        assert_eq!(resumed, [true, true]);
        let resumed = server.verify(&client, [&*optional, &*mandatory]);
        assert_eq!(resumed, [true, false]);
    }
}

struct Server {
    identities: Arc<Identities>,
    config: ServerConfig,
    remembers: bool,
}

/// When something happens on a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// The certificate is chosen.
    Begun,
    /// rustls has the configuration.
    Accepted,
}

impl Server {
    fn new(pki: &Pki, provider: CryptoProvider) -> Self {
        let identities = Arc::new(Identities::new(set(&pki.server)));
        let config = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.clone());
        Self {
            identities,
            config,
            remembers: true,
        }
    }

    fn replace(&self, pki: &Pki) {
        self.identities.replace(set(&pki.server));
    }

    fn begin(&self, accepted: &Accepted) -> ServerHandshake {
        let offer = Offer::of(&accepted.client_hello());
        ServerHandshake::begin(offer, &self.identities, &self.config)
    }

    fn accept(&self, client: &Arc<ClientConfig>) -> Negotiated {
        self.accept_while(client, |_| {})
    }

    /// The server's result; calls `at` at each stage.
    fn accept_while(&self, client: &Arc<ClientConfig>, at: impl Fn(Stage)) -> Negotiated {
        let (mut client, accepted) = begin(client);
        let handshake = self.begin(&accepted);
        at(Stage::Begun);
        let mut server = accepted.into_connection(handshake.config()).unwrap();
        if self.remembers {
            handshake.remember(&mut server);
        }
        at(Stage::Accepted);
        assert_eq!(handshake.negotiated(&server), None);

        let server = complete(&mut client, server);
        let negotiated = handshake.negotiated(&server);
        let negotiated = negotiated.expect("the handshake is complete");
        if !negotiated.is_resumed() {
            let client = Negotiated::of(&client.connection);
            assert_eq!(client.expect("on either side").peer, negotiated.own);
        }
        negotiated
    }

    /// Whether the client's certificates are valid right after the acceptance and at the end, each with
    /// its own verifier.
    fn verify(
        &self,
        client: &Arc<ClientConfig>,
        [at_once, in_the_end]: [&dyn ClientCertVerifier; 2],
    ) -> [bool; 2] {
        let (mut client, accepted) = begin(client);
        let mut handshake = self.begin(&accepted);
        let server = accepted.into_connection(handshake.config()).unwrap();
        let at_once = handshake.verify_resumed_client(&server, at_once);
        let server = complete(&mut client, server);
        let in_the_end = handshake.verify_resumed_client(&server, in_the_end);
        [at_once.is_ok(), in_the_end.is_ok()]
    }
}

/// The ClientHello arrives.
fn begin(client: &Arc<ClientConfig>) -> (End, Accepted) {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = End::new(ClientConnection::new(client.clone(), name).unwrap());
    let mut hello = Vec::new();
    client.connection.write_tls(&mut hello).unwrap();
    (client, accept(&hello))
}

/// The rest of the handshake.
fn complete(client: &mut End, server: ServerConnection) -> ServerConnection {
    let mut server = End::new(server);
    exchange(client, &mut server);
    match server.connection {
        Connection::Server(server) => server,
        Connection::Client(_) => panic!("a server's connection"),
    }
}

fn set(identity: &Identity) -> IdentitySet {
    IdentitySet::new().with_default(identity.checked())
}

fn provider() -> CryptoProvider {
    Builder::new(any_base()).build().unwrap()
}

/// A client that sends no share for the group that [`only_hybrid`] accepts.
fn asked_again() -> CryptoProvider {
    with_groups(&any_base(), [Group::SECP384R1, Group::X25519MLKEM768])
}

fn only_hybrid() -> CryptoProvider {
    with_groups(&any_base(), [Group::X25519MLKEM768])
}
