//! Refusals: the alert that goes out, and the cause that is named.

use alloc::sync::Arc;
use core::time::Duration;
use std::io;
use std::time::SystemTime;

use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::server::Accepted;
use rustls::{
    AlertDescription, CertificateError, CipherSuite, ClientConfig, ClientConnection, Error,
    InvalidMessage, NamedGroup, PeerIncompatible, RootCertStore, ServerConfig, SignatureScheme,
    version,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, Offer, Profile, Refusal};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::events;
use crate::peers::{
    Ecdsa, Identity, KeyPair, Pki, accept, any_base, client_config, connect, connect_to,
    mutual_client_config, mutual_server_config, roots, server_config, with_groups,
};

#[test]
fn no_shared_group() {
    for (client, server, remedy) in [
        (
            &[Group::X25519, Group::SECP256R1][..],
            &[Group::X25519MLKEM768][..],
            "give the client one of the server's post-quantum groups, or the server a profile \
             with classical groups",
        ),
        (
            &[Group::X25519MLKEM768],
            &[Group::X25519],
            "give the server one of the client's post-quantum groups, or the client a profile \
             with classical groups",
        ),
        (
            &[Group::MLKEM1024],
            &[Group::X25519MLKEM768, Group::X25519],
            "give one side a group of the other (Builder::groups)",
        ),
    ] {
        let names = |groups: &[Group]| {
            let names: Vec<_> = groups.iter().map(Group::to_string).collect();
            names.join(", ")
        };
        let provider = |groups: &[Group]| with_groups(&any_base(), groups.iter().copied());
        let case = Case::new(provider(client), provider(server));
        let (refusal, alert) = case.by_server();
        assert_eq!(alert, AlertDescription::HandshakeFailure);
        assert_eq!(
            refusal.to_string(),
            format!(
                "no key exchange group in common: the client offers {}, the server accepts {}; \
                 {remedy}",
                names(client),
                names(server)
            )
        );
        assert_eq!(
            refusal,
            Refusal::NoSharedGroup {
                client: client.to_vec(),
                server: server.to_vec(),
            }
        );

        let told = case.by_client().to_string();
        assert!(
            told.starts_with(
                "the server has nothing in common with what this client offers (alert \
                 handshake_failure): key exchange groups "
            ),
            "{told}"
        );
        assert!(told.contains(&names(client)), "{told}");
    }
}

#[test]
fn no_shared_signature_scheme() {
    let client = Builder::new(any_base())
        .signature_schemes([SignatureScheme::ML_DSA_65, SignatureScheme::ED25519])
        .build()
        .unwrap();
    let case = Case::new(client, default());
    let (refusal, alert) = case.by_server();
    assert_eq!(alert, AlertDescription::HandshakeFailure);
    assert_eq!(
        refusal.to_string(),
        "no signature scheme in common: the client accepts [ML_DSA_65, ED25519], the server has \
         keys for ML-DSA-44; add a certificate with a key that the client accepts, or let the \
         client accept more"
    );
}

#[test]
fn no_shared_cipher_suite() {
    let only = |suite| {
        let builder = Builder::new(any_base()).profile(Profile::RequirePq);
        builder.cipher_suites([suite]).build().unwrap()
    };
    let case = Case::new(
        only(CipherSuite::TLS13_AES_128_GCM_SHA256),
        only(CipherSuite::TLS13_AES_256_GCM_SHA384),
    );
    let (refusal, alert) = case.by_server();
    assert_eq!(alert, AlertDescription::HandshakeFailure);
    assert_eq!(
        refusal.to_string(),
        "no cipher suite in common: the client offers [TLS13_AES_128_GCM_SHA256], the server \
         accepts [TLS13_AES_256_GCM_SHA384]; give one side a suite of the other"
    );
}

#[test]
fn no_shared_version() {
    let mut case = Case::new(default(), default());
    case.client = ClientConfig::builder_with_provider(default().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
        .into();
    let pq = Builder::new(any_base()).profile(Profile::RequirePq).build();
    case.server = Case::new(default(), pq.unwrap()).server;
    let (refusal, alert) = case.by_server();
    assert_eq!(alert, AlertDescription::ProtocolVersion);
    assert_eq!(refusal, Refusal::NoSharedVersion);
    assert_eq!(case.by_client(), Refusal::NoSharedVersion);
}

#[test]
fn no_certificate_for_the_name() {
    events::record();
    let mut case = Case::new(default(), default());
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let leaf = CertificateBuilder::server().dns_name("example.org");
    let identity = Identity::issued_by(&root, leaf, &key);
    case.identities = IdentitySet::new().with(identity.checked());
    case.server = Case::server(default(), case.identities.clone());
    let (refusal, alert) = case.by_server();
    assert_eq!(alert, AlertDescription::AccessDenied);
    assert_eq!(
        refusal.to_string(),
        "no certificate for \"localhost\", and no default one; add a certificate for this name, or \
         a default"
    );
    events::wait_for(&["INFO", "no certificate for this name", "localhost"]);
    assert_eq!(case.by_client(), Refusal::NameUnknown { alert });
}

/// A client can offer some thirty thousand code points. Neither the text of a refusal nor the log grows
/// with them.
#[test]
fn long_offers_make_short_messages() {
    const SCHEMES: u16 = 30_000;

    events::record();
    let mut client = default();
    let accepted = &mut client.signature_verification_algorithms;
    let algorithms = accepted.mapping[0].1;
    // None of these code points is assigned.
    let schemes = (0x4000..0x4000 + SCHEMES).map(|scheme| (scheme.into(), algorithms));
    accepted.mapping = schemes.collect::<Vec<_>>().leak();
    let case = Case::new(client, default());
    let (refusal, _) = case.by_server();
    let Refusal::NoSharedSignatureScheme { client, .. } = &refusal else {
        panic!("{refusal}");
    };
    assert!(client.len() > 29_000);
    let line = events::wait_for(&["INFO", "no signature scheme shared", "(0x4003)"]);
    for message in [refusal.to_string(), line] {
        assert!(message.len() < 2048, "{} bytes", message.len());
        let more = format!(" and {} more]", client.len() - 64);
        assert!(message.contains(&more), "{message}");
    }

    let mut offer = Offer::default();
    let all = || 0x4000..0x4000 + SCHEMES;
    offer.groups = all().map(|group| NamedGroup::from(group).into()).collect();
    offer.cipher_suites = all().map(Into::into).collect();
    for error in [
        PeerIncompatible::NoKxGroupsInCommon,
        PeerIncompatible::NoCipherSuitesInCommon,
    ] {
        let refusal = Refusal::by_server(&Error::from(error), &offer, &case.server, None);
        let message = refusal.to_string();
        assert!(message.len() < 2048, "{} bytes", message.len());
    }
}

/// A server's long requests don't make the client's log longer either.
#[test]
fn long_requests_make_short_messages() {
    events::record();
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let identities = Identities::new(IdentitySet::new().with_default(pki.client.checked()));
    let schemes: Vec<SignatureScheme> = (0x5000..0x5000 + 30_000_u16).map(Into::into).collect();
    assert!(ResolvesClientCert::resolve(&identities, &[], &schemes).is_none());
    let line = events::wait_for(&["WARN", "no client certificate", "(0x5000)"]);
    assert!(line.len() < 2048, "{} bytes", line.len());
}

#[test]
fn client_certificate_required() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let server = Arc::new(mutual_server_config(default(), &pki.server, pki.roots()));
    let client = Arc::new(client_config(default(), pki.roots()));
    let outcome = connect(&client, &server);
    let offer = Offer::default();
    for refusal in [
        Refusal::by_server(&outcome.server.result.unwrap_err(), &offer, &server, None),
        Refusal::by_client(&outcome.client.result.unwrap_err(), &client),
    ] {
        assert_eq!(refusal, Refusal::ClientCertificateRequired);
    }
}

/// A server whose only chain is signed with an algorithm that the client doesn't accept.
#[test]
fn signature_algorithm_in_the_chain() {
    let ecdsa_root = Ecdsa::root();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&ecdsa_root, leaf, &key);
    let provider = Builder::new(any_base())
        .require_pq_authentication()
        .build()
        .unwrap();
    let client = Arc::new(client_config(
        provider,
        roots([ecdsa_root.certificate().der().clone()]),
    ));
    let outcome = connect(&client, &server_config(default(), &identity).into());
    assert_eq!(
        outcome.server.result,
        Err(Error::AlertReceived(AlertDescription::DecryptError))
    );
    let refusal = Refusal::by_client(&outcome.client.result.unwrap_err(), &client);
    assert!(matches!(
        &refusal,
        Refusal::SignatureAlgorithm {
            error: CertificateError::UnsupportedSignatureAlgorithmContext { .. },
            accepted,
        } if accepted.len() == 3
    ));
    assert!(
        refusal.to_string().starts_with(
            "a certificate of the peer is signed with ECDSA with SHA-256, which isn't accepted \
             here; accepted are [ML_DSA_65, ML_DSA_87, ML_DSA_44]: have the peer use a chain \
             signed with these"
        ),
        "{refusal}"
    );
}

/// A CA kept its name when it changed to ML-DSA, and the client still has the old root.
#[test]
fn root_of_the_same_name_with_a_classical_key() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
    let old = Issuer::self_signed(CertificateBuilder::ca("Root"), Ecdsa::generate()).unwrap();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &key);
    let old = old.certificate().der().clone();
    let client = Arc::new(client_config(default(), roots([old])));
    let outcome = connect(&client, &server_config(default(), &identity).into());
    let refusal = Refusal::by_client(&outcome.client.result.unwrap_err(), &client);
    assert!(
        refusal.to_string().starts_with(
            "a certificate of the peer is signed with ML-DSA-65, but the key of its issuer here is \
             for ECDSA P-256, and these don't go together; a root here may have the issuer's name \
             and another key: compare it with the one that issued the chain"
        ),
        "{refusal}"
    );
}

/// What is wrong with a server's certificate, as each side reports it.
#[test]
fn certificates_that_are_no_good() {
    let issuer = |name| {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        Issuer::self_signed(CertificateBuilder::ca(name), key).unwrap()
    };
    let day = Duration::from_secs(86_400);
    let since = |start| Validity::starting(start, day);
    let root = issuer("Root");
    let server = || {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        leaf.ip_address([192, 0, 2, 1].into())
    };
    let client = CertificateBuilder::client().dns_name("localhost");
    let past = server().validity(since(SystemTime::now() - 2 * day));
    let future = server().validity(since(SystemTime::now() + day));
    for (leaf, trusted, name, cause, alert, told) in [
        (
            server(),
            &issuer("Another"),
            "localhost",
            "the peer's certificate chain doesn't lead to a root that is trusted here; trust its \
             root, if you know whose root it is, or ",
            AlertDescription::UnknownCA,
            "the chain leads to no root that the peer trusts; use a chain of an issuer that ",
        ),
        (
            server(),
            &issuer("Root"),
            "localhost",
            "a signature by the peer is wrong: either one in its certificate chain, if the root here \
             has the issuer's name and another key, or ",
            AlertDescription::DecryptError,
            "a signature seems wrong to the peer, which may have a root with the issuer's name",
        ),
        (
            server(),
            &root,
            "example.org",
            "the server's certificate is not for \"example.org\" but for \"localhost\", \
             \"192.0.2.1\"; connect by a name that it is for, or ",
            AlertDescription::BadCertificate,
            "it can't be read, or is not for the name that the peer expects; ",
        ),
        (
            past,
            &root,
            "localhost",
            "a certificate of the peer has expired (certificate expired: ",
            AlertDescription::CertificateExpired,
            "it has expired, or is not valid yet; use a new one, unless a clock is wrong",
        ),
        (
            future,
            &root,
            "localhost",
            "a certificate of the peer is not valid yet (certificate not valid yet: ",
            AlertDescription::CertificateExpired,
            "it has expired, or is not valid yet; use a new one, unless a clock is wrong",
        ),
        (
            client,
            &root,
            "localhost",
            "the peer's certificate is not for this use (certificate does not allow extended key \
             usage for server authentication, allows client authentication); ",
            AlertDescription::UnsupportedCertificate,
            "it is for another use, or signed with an algorithm that the peer doesn't accept; ",
        ),
    ] {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let identity = Identity::issued_by(&root, leaf, &key);
        let server = Arc::new(server_config(default(), &identity));
        let trusted = roots([trusted.certificate().der().clone()]);
        let client = Arc::new(client_config(default(), trusted));
        let outcome = connect_to(name, &client, &server);

        let refusal = Refusal::by_client(&outcome.client.result.unwrap_err(), &client);
        assert!(refusal.to_string().starts_with(cause), "{refusal}");
        let error = outcome.server.result.unwrap_err();
        let refusal = Refusal::by_server(&error, &Offer::default(), &server, None);
        assert_eq!(refusal, Refusal::CertificateRefused { alert });
        let start =
            format!("the peer refused the certificate of this side (alert {alert:?}): {told}");
        assert!(refusal.to_string().starts_with(&start), "{refusal}");
    }
}

/// The same alert means something else to a client that has sent no certificate.
#[test]
fn a_clients_certificate_is_refused() {
    let [pki, other] = [(); 2].map(|()| Pki::new(SignatureAlgorithm::MlDsa44));
    let server = mutual_server_config(default(), &pki.server, pki.roots());
    let client = mutual_client_config(default(), pki.roots(), &other.client);
    let client = Arc::new(client);
    let outcome = connect(&client, &server.into());
    let error = outcome.client.result.unwrap_err();
    let alert = AlertDescription::DecryptError;
    assert_eq!(
        Refusal::by_client(&error, &client),
        Refusal::CertificateRefused { alert }
    );
    let without = client_config(default(), pki.roots());
    let refusal = Refusal::by_client(&error, &without);
    assert_eq!(refusal, Refusal::Alert { alert });
    assert_eq!(
        refusal.to_string(),
        "the peer ended the handshake with the alert DecryptError; its log may say why"
    );
}

/// A chain that `Identity` would refuse, on either side, as tokio-rustls reports it.
#[tokio::test]
async fn chain_that_is_too_large() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let trust = || roots([root.certificate().der().clone()]);
    let small = Pki::new(SignatureAlgorithm::MlDsa44);
    // 80 bytes each.
    for (names, certificates, how) in [
        // The certificate fits, but not together with its CertificateVerify.
        (750, 1, "message buffer full"),
        (450, 2, "HandshakePayloadTooLarge"),
    ] {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server()
            .client_auth()
            .dns_name("localhost");
        let leaf = (0..names).fold(leaf, |leaf, at| {
            leaf.dns_name(format!("{at:05}.{}.example.org", "x".repeat(60)))
        });
        let large = Identity {
            chain: vec![root.issue(leaf, &key).unwrap().into_der(); certificates],
            key: key.private_key(),
        };

        let server = server_config(default(), &large);
        let client = Arc::new(client_config(default(), trust()));
        let (told, _) = connect_streams(&client, &server.into()).await;
        let told = told.unwrap_err();
        assert!(told.to_string().contains(how), "{told}");
        let refusal = Refusal::by_client(&told, &client);
        assert_eq!(refusal, Refusal::ChainTooLarge { limit: 65_535 });
        assert_eq!(
            refusal.to_string(),
            "the peer's certificate chain is too large: with the messages around it, it is more \
             than the 65535 bytes that rustls takes; have the peer leave out the root, or use \
             smaller certificates and signatures (ML-DSA rather than SLH-DSA for all but the root)"
        );

        let server = Arc::new(mutual_server_config(default(), &small.server, trust()));
        let client = mutual_client_config(default(), small.roots(), &large);
        let (_, told) = connect_streams(&client.into(), &server).await;
        let told = told.unwrap_err();
        assert!(told.to_string().contains(how), "{told}");
        let refusal = Refusal::by_server(&told, &Offer::default(), &server, None);
        assert_eq!(refusal, Refusal::ChainTooLarge { limit: 65_535 });
    }
}

/// Errors that aren't from TLS are reported as such, and TLS errors are found under other crates' errors.
#[test]
fn causes_under_other_errors() {
    let config = client_config(default(), RootCertStore::empty());
    let lost = io::Error::new(io::ErrorKind::UnexpectedEof, "tls handshake eof");
    assert_eq!(
        Refusal::by_client(&lost, &config).to_string(),
        "the connection ended, and no alert says why (tls handshake eof); look in the peer's \
         log: the peer may not speak TLS there, or may not take a chain as large as this side's, \
         for which rustls sends no alert"
    );

    #[derive(Debug, thiserror::Error)]
    #[error("the request failed")]
    struct RequestFailed(#[source] io::Error);

    let noise = Error::InvalidMessage(InvalidMessage::InvalidContentType);
    assert_eq!(
        Refusal::by_client(&noise, &config).to_string(),
        "the peer sent something that is not TLS, or is damaged (InvalidContentType); is there a \
         TLS peer at this address and port?"
    );
    let alert = Error::AlertReceived(AlertDescription::CertificateRequired);
    let error = RequestFailed(io::Error::new(io::ErrorKind::InvalidData, alert));
    assert_eq!(
        Refusal::by_client(&error, &config),
        Refusal::ClientCertificateRequired
    );
}

#[test]
fn other_errors_keep_their_words() {
    let error = Error::DecryptError;
    let config = client_config(default(), RootCertStore::empty());
    let refusal = Refusal::by_client(&error, &config);
    assert_eq!(refusal, Refusal::Other(error.clone()));
    assert_eq!(refusal.to_string(), error.to_string());
}

/// A CA certificate as the server's, such as `openssl req -x509` makes by default.
#[test]
fn a_ca_as_the_server() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let pkcs8 = key.private_key();
    let root = Issuer::self_signed(CertificateBuilder::ca("localhost"), key).unwrap();
    let chain = vec![root.certificate().der().clone()];
    let provider = Builder::new(any_base()).build().unwrap();
    let client = client_config(provider.clone(), roots(chain.clone()));
    let server = server_config(provider, &Identity { chain, key: pkcs8 });
    let (client, server) = (Arc::new(client), Arc::new(server));
    let outcome = connect(&client, &server);
    let refusal = Refusal::by_client(&outcome.client.result.unwrap_err(), &client);
    assert_eq!(refusal, Refusal::CaCertificate);
    let text = refusal.to_string();
    assert!(text.contains("have the CA issue one"), "{text}");

    let told = outcome.server.result.unwrap_err();
    let refusal = Refusal::by_server(&told, &Offer::default(), &server, None);
    let text = refusal.to_string();
    assert!(
        text.contains("CertificateUnknown") && text.contains("a CA certificate"),
        "{text}"
    );
}

/// Go's clients and servers send this alert for an issuer that they don't know.
#[test]
fn bad_certificate_may_be_an_unknown_issuer() {
    let case = Case::new(
        Builder::new(any_base()).build().unwrap(),
        Builder::new(any_base()).build().unwrap(),
    );
    let told = Error::AlertReceived(AlertDescription::BadCertificate);
    let refusal = Refusal::by_server(&told, &Offer::default(), &case.server, None);
    let text = refusal.to_string();
    for part in ["written in Go", "no root that it trusts", "for that name"] {
        assert!(text.contains(part), "{text}");
    }
}

/// A client and a server that can't connect.
struct Case {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    identities: IdentitySet,
}

impl Case {
    /// The server has a certificate of ML-DSA-44.
    fn new(client: CryptoProvider, server: CryptoProvider) -> Self {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let identities = IdentitySet::new().with_default(pki.server.checked());
        Self {
            client: client_config(client, pki.roots()).into(),
            server: Self::server(server, identities.clone()),
            identities,
        }
    }

    fn server(provider: CryptoProvider, identities: IdentitySet) -> Arc<ServerConfig> {
        ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Identities::new(identities)))
            .into()
    }

    /// What the server logs, and the alert that the client gets.
    fn by_server(&self) -> (Refusal, AlertDescription) {
        let accepted = self.accepted();
        let offer = Offer::of(&accepted.client_hello());
        let (error, _) = accepted.into_connection(self.server.clone()).unwrap_err();
        let Err(Error::AlertReceived(alert)) = connect(&self.client, &self.server).client.result
        else {
            panic!("the client isn't told");
        };
        (
            Refusal::by_server(&error, &offer, &self.server, Some(&self.identities)),
            alert,
        )
    }

    /// What the client reports.
    fn by_client(&self) -> Refusal {
        let error = connect(&self.client, &self.server)
            .client
            .result
            .unwrap_err();
        Refusal::by_client(&error, &self.client)
    }

    fn accepted(&self) -> Accepted {
        let name = "localhost".try_into().unwrap();
        let mut client = ClientConnection::new(self.client.clone(), name).unwrap();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        accept(&hello)
    }
}

/// How a handshake over streams ends for the client and for the server.
async fn connect_streams(
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> (io::Result<()>, io::Result<()>) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let client = TlsConnector::from(Arc::clone(client));
    let server = TlsAcceptor::from(Arc::clone(server));
    let (client, server) = tokio::join!(
        client.connect("localhost".try_into().unwrap(), near),
        server.accept(far)
    );
    (client.map(drop), server.map(drop))
}

fn default() -> CryptoProvider {
    Builder::new(any_base()).build().unwrap()
}
