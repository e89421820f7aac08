//! The alert after a signature that a server could not make, as its client sees it.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use handshakes::End;
use pq_x509::keys::{SignError, Signer};
use rustls::pki_types::ServerName;
use rustls::server::ServerConnection;
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ClientConnection, Error, KeyLog, ServerConfig,
    version,
};
use rustls_pq::identity::Identities;
use rustls_pq::sign::{SignatureCheck, SigningError};
use rustls_pq::{Builder, Group, Offer, Refusal, ServerHandshake};

use super::{Acting, World, identities, provider, server_over};
use crate::peers::{Ecdsa, accept, any_base, bases, client_config, with_groups};

/// A signer whose signatures have a bit changed.
fn lying() -> impl Signer {
    Acting::new(|key: &Ecdsa, message: &[u8]| {
        let mut signature = key.sign(message)?;
        *signature.last_mut().unwrap() ^= 1;
        Ok(signature)
    })
}

/// A server that gives its clients what a program with `ServerHandshake` does.
struct Server {
    identities: Arc<Identities>,
    config: ServerConfig,
}

/// What is left of a handshake.
struct Shaken {
    client: Result<(), Error>,
    server: Result<ServerConnection, Error>,
    handshake: ServerHandshake,
    /// All that the client got.
    sent: Vec<u8>,
}

impl Server {
    fn new(world: &World, signer: impl Signer + 'static) -> Self {
        let identities = identities(world.identity(signer));
        let config = server_over(identities.clone(), provider());
        Self { identities, config }
    }

    fn shake_hands(&self, client: &Arc<ClientConfig>) -> Shaken {
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = End::new(ClientConnection::new(client.clone(), name).unwrap());
        let accepted = accept(&client.send());
        let offer = Offer::of(&accepted.client_hello());
        let handshake = ServerHandshake::begin(offer, &self.identities, &self.config);
        assert!(handshake.may_block());
        let mut sent = Vec::new();
        let mut connection = match accepted.into_connection(handshake.config()) {
            Ok(connection) => connection,
            Err((error, mut alert)) => {
                alert.write_all(&mut sent).unwrap();
                sent.extend(handshake.alert_for(&error).unwrap_or_default());
                client.receive(&sent);
                return Shaken {
                    client: client.error.map_or(Ok(()), Err),
                    server: Err(error),
                    handshake,
                    sent,
                };
            }
        };
        let server = loop {
            let mut flight = Vec::new();
            while connection.wants_write() {
                connection.write_tls(&mut flight).unwrap();
            }
            client.receive(&flight);
            sent.extend(flight);
            let to_server = client.send();
            if to_server.is_empty() {
                break Ok(connection);
            }
            connection.read_tls(&mut &to_server[..]).unwrap();
            if let Err(error) = connection.process_new_packets() {
                let mut flight = Vec::new();
                while connection.wants_write() {
                    connection.write_tls(&mut flight).unwrap();
                }
                flight.extend(handshake.alert_for(&error).unwrap_or_default());
                client.receive(&flight);
                sent.extend(flight);
                break Err(error);
            }
        };
        Shaken {
            client: client.error.map_or(Ok(()), Err),
            server,
            handshake,
            sent,
        }
    }
}

const INTERNAL_ERROR: Error = Error::AlertReceived(AlertDescription::InternalError);

/// The suites of TLS 1.3 that a server can send it with.
fn suites() -> Vec<CipherSuite> {
    let mut suites = vec![
        CipherSuite::TLS13_AES_256_GCM_SHA384,
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    if cfg!(feature = "graviola") {
        suites.push(CipherSuite::TLS13_AES_128_GCM_SHA256);
    }
    suites
}

/// A wrong signature is not sent, and the client is told that the server has failed: with each suite that comes first for the
/// client or for the server, over each base, at once and after a HelloRetryRequest.
#[test]
fn with_every_suite() {
    let world = World::new();
    for (name, base) in bases() {
        for first in suites() {
            let builder = Builder::new(base.clone());
            let all = [suites(), suites()].concat();
            let others = all.into_iter().filter(|suite| *suite != first);
            let in_order: Vec<_> = [first].into_iter().chain(others).collect();
            let ordered = builder.clone().cipher_suites(in_order).build().unwrap();
            let any = builder.cipher_suites(suites()).build().unwrap();
            for (ignore_client_order, client, server) in
                [(false, &ordered, &any), (true, &any, &ordered)]
            {
                for groups in [
                    vec![Group::X25519MLKEM768],
                    vec![Group::SECP384R1, Group::X25519MLKEM768],
                ] {
                    let mut client = client.clone();
                    client.kx_groups = with_groups(&base, groups).kx_groups;
                    let mut server = server.clone();
                    server.kx_groups = with_groups(&base, [Group::X25519MLKEM768]).kx_groups;
                    let identities = identities(world.identity(lying()));
                    let mut config = server_over(identities.clone(), server);
                    config.ignore_client_order = ignore_client_order;
                    let client = Arc::new(client_config(client, world.roots()));
                    let shaken = Server { identities, config }.shake_hands(&client);
                    let error = shaken.server.unwrap_err();
                    assert_eq!(
                        shaken.client,
                        Err(INTERNAL_ERROR),
                        "{name} {first:?} {error}"
                    );
                    let refusal = shaken.handshake.refusal(&error);
                    assert_eq!(
                        refusal,
                        Refusal::NotSigned {
                            reason: SigningError::WrongSignature.to_string(),
                            is_transient: false,
                        }
                    );
                    // Once only.
                    assert_eq!(shaken.handshake.alert_for(&error), None);
                }
            }
        }
    }
}

/// Without graviola, nothing here encrypts with AES-128.
#[cfg(not(feature = "graviola"))]
#[test]
fn without_aes_128() {
    let world = World::new();
    let suite = CipherSuite::TLS13_AES_128_GCM_SHA256;
    let client = Builder::new(any_base()).cipher_suites([suite]).build();
    let client = Arc::new(client_config(client.unwrap(), world.roots()));
    let shaken = Server::new(&world, lying()).shake_hands(&client);
    shaken.server.unwrap_err();
    assert_eq!(shaken.client, Ok(()));
}

/// The alert isn't encrypted in TLS 1.2.
#[test]
fn in_tls12() {
    let world = World::new();
    let identities = identities(world.identity(lying()));
    let config = ServerConfig::builder_with_provider(any_base().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(identities.clone());
    let shaken = Server { identities, config }.shake_hands(&world.client());
    shaken.server.unwrap_err();
    assert_eq!(shaken.client, Err(INTERNAL_ERROR));
    assert_eq!(shaken.sent, [21, 3, 3, 0, 2, 2, 80]);
}

/// The signer's reason and whether it helps to try again are in the refusal, and the client learns neither.
#[test]
fn a_signer_that_fails() {
    let world = World::new();
    for (error, is_transient) in [
        (SignError::new as fn(&'static str) -> _, false),
        (SignError::transient, true),
    ] {
        let failing = Acting::new(move |_: &Ecdsa, _: &[u8]| Err(error("slot 3 is empty")));
        let shaken = Server::new(&world, failing).shake_hands(&world.client());
        assert_eq!(shaken.client, Err(INTERNAL_ERROR));
        let refusal = shaken.handshake.refusal(&shaken.server.unwrap_err());
        let reason = "the key did not sign: slot 3 is empty".to_string();
        assert_eq!(
            refusal,
            Refusal::NotSigned {
                reason,
                is_transient
            }
        );
        let needle = b"slot 3";
        assert!(!shaken.sent.windows(needle.len()).any(|part| part == needle));
    }
}

/// Signatures of another length are caught even if they are not verified: they might not fit.
#[test]
fn a_signature_that_is_too_long() {
    let world = World::new();
    let verbose = Acting::new(|_: &Ecdsa, _: &[u8]| Ok(vec![7; 70_000]));
    let identity = world.try_identity(verbose, SignatureCheck::LeftOut, &provider());
    let identities = identities(identity.unwrap());
    let config = server_over(identities.clone(), provider());
    let shaken = Server { identities, config }.shake_hands(&world.client());
    shaken.server.unwrap_err();
    assert_eq!(shaken.client, Err(INTERNAL_ERROR));
}

/// What isn't checked is the client's to find out.
#[test]
fn a_wrong_signature_that_is_not_checked() {
    let world = World::new();
    let identity = world.try_identity(lying(), SignatureCheck::LeftOut, &provider());
    let identities = identities(identity.unwrap());
    let config = server_over(identities.clone(), provider());
    let shaken = Server { identities, config }.shake_hands(&world.client());
    let error = shaken.client.unwrap_err();
    assert!(matches!(error, Error::InvalidCertificate(_)), "{error}");
}

/// After the server has signed there is no alert to be had: it would be encrypted as the server's messages were.
#[test]
fn there_is_none_after_a_signature() {
    let world = World::new();
    let shaken = Server::new(&world, Ecdsa::generate()).shake_hands(&world.client());
    assert_eq!(shaken.client, Ok(()));
    let connection = shaken.server.unwrap();
    assert!(shaken.handshake.negotiated(&connection).is_some());
    let error = rustls::OtherError(Arc::new(SigningError::WrongSignature)).into();
    assert_eq!(shaken.handshake.alert_for(&error), None::<Vec<u8>>);
    let _: &Error = &error;
}

/// Other errors are rustls's to tell.
#[test]
fn there_is_none_for_other_errors() {
    let world = World::new();
    let server = Server::new(&world, Ecdsa::generate());
    let client = Builder::new(any_base()).require_pq_authentication().build();
    let client = Arc::new(client_config(client.unwrap(), world.roots()));
    let shaken = server.shake_hands(&client);
    shaken.server.unwrap_err();
    let alert = AlertDescription::HandshakeFailure;
    assert_eq!(shaken.client, Err(Error::AlertReceived(alert)));
}

/// Whom the configuration shows secrets is shown them as ever, and nobody else.
#[test]
fn other_logs_of_secrets() {
    #[derive(Debug, Default)]
    struct Labels {
        seen: Mutex<Vec<String>>,
        wants: AtomicBool,
    }

    impl KeyLog for Labels {
        fn log(&self, label: &str, _: &[u8], _: &[u8]) {
            self.seen.lock().unwrap().push(label.into());
        }

        fn will_log(&self, _: &str) -> bool {
            self.wants.load(Ordering::SeqCst)
        }
    }

    let world = World::new();
    let labels = Arc::new(Labels::default());
    let mut server = Server::new(&world, Ecdsa::generate());
    server.config.key_log = labels.clone();
    for wants in [false, true] {
        labels.wants.store(wants, Ordering::SeqCst);
        assert_eq!(server.shake_hands(&world.client()).client, Ok(()));
        let seen = labels.seen.lock().unwrap();
        let expected: &[&str] = match wants {
            false => &[],
            true => &[
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
                "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                "CLIENT_TRAFFIC_SECRET_0",
                "SERVER_TRAFFIC_SECRET_0",
                "EXPORTER_SECRET",
            ],
        };
        let mut seen = seen.clone();
        seen.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }
}

/// A key in memory needs none of this.
#[test]
fn nothing_is_set_for_a_key_in_memory() {
    let pki = crate::peers::Pki::new(pq_x509::keys::SignatureAlgorithm::MlDsa44);
    let identities = identities(pki.server.checked());
    let config = server_over(identities.clone(), provider());
    let handshake = ServerHandshake::begin(Offer::default(), &identities, &config);
    assert!(!handshake.may_block());
    assert!(Arc::ptr_eq(&handshake.config().key_log, &config.key_log));
    let error = rustls::OtherError(Arc::new(SigningError::WrongSignature)).into();
    let _: &Error = &error;
    assert_eq!(handshake.alert_for(&error), None);
}
