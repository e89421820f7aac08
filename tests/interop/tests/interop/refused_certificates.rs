//! Certificates and signatures that must be refused: an error of the right kind at
//! our end, and the right alert on the wire.

use alloc::sync::Arc;
use core::time::Duration;
use std::time::SystemTime;

use handshakes::{End, Outcome};
use interop::endpoint::{self, ours, roots};
use interop::openssl::Workdir;
use interop::pki::{Identity, NAME, Pki, generate, server_leaf, server_name};
use interop::process::Output;
use interop::tcp::{self, Failure, Report, Server};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, EndEntity};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::validation::{ChainValidator, ValidationError};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use rustls::sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, ServerConfig,
    ServerConnection, SignatureScheme,
};
use rustls_pq::Group;

#[test]
fn our_client_refuses_servers() {
    let pki = Pki::new(SET);
    for case in cases(&pki, Role::Server) {
        let outcome = connect(
            endpoint::client(provider(), pki.root(), None),
            endpoint::server(provider(), &case.identity, None),
        );
        case.assert_refused(&outcome.client, &outcome.server);
    }
}

#[test]
fn our_server_refuses_clients() {
    let pki = Pki::new(SET);
    let server = pki.server(SET);
    for case in cases(&pki, Role::Client) {
        let outcome = connect(
            endpoint::client(provider(), pki.root(), Some(&case.identity)),
            endpoint::server(provider(), &server, Some(pki.root())),
        );
        case.assert_refused(&outcome.server, &outcome.client);
    }
}

#[test]
fn our_validation_refuses_them_all() {
    let pki = Pki::new(SET);
    let validator = ChainValidator::new([pki.root().clone()]).expect("the root is one");
    for case in cases(&pki, Role::Server) {
        let error = validator
            .validate_server(&case.identity.chain, &server_name(NAME), UnixTime::now())
            .expect_err(case.what);
        assert!((case.validation)(&error), "{}: {error:?}", case.what);
    }
    for case in cases(&pki, Role::Client) {
        let error = validator
            .validate_client(&case.identity.chain, UnixTime::now())
            .expect_err(case.what);
        assert!((case.validation)(&error), "{}: {error:?}", case.what);
    }
}

#[test]
fn our_client_refuses_a_wrong_name() {
    let pki = Pki::new(SET);
    let identity = pki.server(SET);
    for name in ["example.org", "sub.localhost", "127.0.0.2"] {
        let outcome = connect_to(
            name,
            endpoint::client(provider(), pki.root(), None),
            endpoint::server(provider(), &identity, None),
        );
        let Some(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected,
            presented,
        })) = &outcome.client.error
        else {
            panic!("{name}: {:?}", outcome.client.error);
        };
        assert_eq!(*expected, server_name(name));
        assert_eq!(presented.len(), 2);
        assert_told(&outcome.server, AlertDescription::BadCertificate);

        let validator = ChainValidator::new([pki.root().clone()]).expect("the root is one");
        assert!(matches!(
            validator.validate_server(&identity.chain, &server_name(name), UnixTime::now()),
            Err(ValidationError::NameMismatch { .. })
        ));
    }
}

#[test]
fn our_server_refuses_a_client_without_a_certificate() {
    let pki = Pki::new(SET);
    let outcome = connect(
        endpoint::client(provider(), pki.root(), None),
        endpoint::server(provider(), &pki.server(SET), Some(pki.root())),
    );
    assert_eq!(outcome.server.error, Some(Error::NoCertificatesPresented));
    assert_told(&outcome.client, AlertDescription::CertificateRequired);
}

/// The certificate is the server's, but the signature over the handshake is not by its
/// key: anyone can send a certificate.
#[test]
fn our_client_refuses_a_tampered_certificate_verify() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        let identity = pki.server(algorithm);
        for tampering in TAMPERINGS {
            let outcome = connect(
                endpoint::client(provider(), pki.root(), None),
                tampering.server(&identity),
            );
            tampering.assert_outcome(&outcome.client, &outcome.server);
        }
    }
}

#[test]
fn our_server_refuses_a_tampered_certificate_verify() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        let identity = pki.client(algorithm);
        let server = endpoint::server(provider(), &pki.server(algorithm), Some(pki.root()));
        for tampering in TAMPERINGS {
            let outcome = connect(tampering.client(pki.root(), &identity), Arc::clone(&server));
            tampering.assert_outcome(&outcome.server, &outcome.client);
        }
    }
}

/// OpenSSL refuses them, too, and we read its alert.
#[test]
fn s_client_refuses_a_tampered_certificate_verify() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        let identity = pki.server(algorithm);
        work.write("root.pem", pki.root().to_pem());
        for tampering in TAMPERINGS {
            let server = Server::start(tampering.server(&identity), 1);
            let options = "-CAfile root.pem -verify_return_error";
            let output = work.connect(server.address(), options, "hello");
            let result = server.finish().remove(0);
            tampering.assert_openssl_outcome(&output, &result);
            assert_eq!(output.success(), result.is_ok(), "{output}");
        }
    }
}

#[test]
fn s_server_refuses_a_tampered_certificate_verify() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let pki = Pki::new(algorithm);
        let identity = pki.client(algorithm);
        let options = pki.server(algorithm).write_to(&work, "server");
        work.write("root.pem", pki.root().to_pem());
        for tampering in TAMPERINGS {
            let server = work.serve(&format!(
                "{options} -CAfile root.pem -Verify 2 -verify_return_error"
            ));
            let config = tampering.client(pki.root(), &identity);
            let result = tcp::connect(&config, server.address(), NAME, "hello");
            tampering.assert_openssl_outcome(&server.stop(), &result);
        }
    }
}

/// A peer that can only sign with schemes that were not offered can't sign at all.
#[test]
fn no_scheme_in_common() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let only_44 = rustls_pq::Builder::with_default_base()
        .expect("the default provider runs here")
        .signature_schemes([SignatureScheme::ML_DSA_44])
        .build()
        .expect("ML-DSA-44 is there");
    let outcome = connect(
        endpoint::client(only_44, pki.root(), None),
        endpoint::server(provider(), &pki.server(SignatureAlgorithm::MlDsa65), None),
    );
    assert_eq!(
        outcome.server.error,
        Some(Error::PeerIncompatible(
            rustls::PeerIncompatible::NoSignatureSchemesInCommon
        ))
    );
    assert_told(&outcome.client, AlertDescription::HandshakeFailure);
}

/// OpenSSL reads the alerts of our client.
#[test]
fn s_server_reads_the_alerts_of_our_client() {
    let Some(work) = Workdir::new() else { return };
    let pki = Pki::new(SET);
    for case in cases(&pki, Role::Server) {
        let options = case.identity.write_to(&work, "server");
        let server = work.serve(&options);
        let config = endpoint::client(provider(), pki.root(), None);
        let result = tcp::connect(&config, server.address(), NAME, "");
        case.assert_error(&result.map(|_| ()));
        server.stop().assert_contains(&alert_number(case.alert));
    }

    let options = pki.server(SET).write_to(&work, "server");
    let server = work.serve(&options);
    let config = endpoint::client(provider(), pki.root(), None);
    tcp::connect(&config, server.address(), "example.org", "").expect_err("the name is wrong");
    server
        .stop()
        .assert_contains(&alert_number(AlertDescription::BadCertificate));
}

/// OpenSSL reads the alerts of our server.
#[test]
fn s_client_reads_the_alerts_of_our_server() {
    let Some(work) = Workdir::new() else { return };
    let pki = Pki::new(SET);
    let identity = pki.server(SET);
    work.write("root.pem", pki.root().to_pem());
    for case in cases(&pki, Role::Client) {
        let options = case.identity.write_to(&work, "client");
        let server = Server::start(endpoint::server(provider(), &identity, Some(pki.root())), 1);
        let output = work.connect(server.address(), &format!("-CAfile root.pem {options}"), "");
        assert!(!output.success(), "{output}");
        output.assert_contains(&alert_number(case.alert));
        let result = server.finish().remove(0);
        case.assert_error(&result.map(|_| ()));
    }
}

/// A chain that must be refused.
struct Case {
    what: &'static str,
    identity: Identity,
    /// The error of rustls.
    error: fn(&CertificateError) -> bool,
    /// The error of our own validation.
    validation: fn(&ValidationError) -> bool,
    /// The alert that the peer gets.
    alert: AlertDescription,
}

impl Case {
    #[track_caller]
    fn assert_refused(&self, victim: &End, other: &End) {
        let Some(Error::InvalidCertificate(error)) = &victim.error else {
            panic!("{}: {:?}", self.what, victim.error);
        };
        assert!((self.error)(error), "{}: {error:?}", self.what);
        assert_told(other, self.alert);
    }

    #[track_caller]
    fn assert_error(&self, result: &Result<(), Failure>) {
        let Err(Failure::Tls(Error::InvalidCertificate(error))) = result else {
            panic!("{}: {result:?}", self.what);
        };
        assert!((self.error)(error), "{}: {error:?}", self.what);
    }
}

/// Whose certificate it is.
#[derive(Clone, Copy)]
enum Role {
    Server,
    Client,
}

impl Role {
    fn leaf(self) -> CertificateBuilder<EndEntity> {
        match self {
            Self::Server => server_leaf(),
            Self::Client => CertificateBuilder::client().dns_name(NAME),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Server => Self::Client,
            Self::Client => Self::Server,
        }
    }
}

/// Chains below `pki` with something wrong with each.
fn cases(pki: &Pki, role: Role) -> Vec<Case> {
    let hour = Duration::from_secs(3600);
    let now = SystemTime::now();
    vec![
        Case {
            what: "unknown issuer",
            identity: Pki::named("Another", SET).issue(role.leaf(), SET),
            error: |error| *error == CertificateError::UnknownIssuer,
            validation: |error| *error == ValidationError::UnknownIssuer,
            alert: AlertDescription::UnknownCA,
        },
        Case {
            what: "issuer with the name of the known one",
            identity: Pki::new(SET).issue(role.leaf(), SET),
            error: |error| *error == CertificateError::BadSignature,
            validation: |error| matches!(error, ValidationError::BadSignature { .. }),
            alert: AlertDescription::DecryptError,
        },
        Case {
            what: "expired",
            identity: pki.issue(
                role.leaf()
                    .validity(Validity::new(now - 2 * hour, now - hour)),
                SET,
            ),
            error: |error| matches!(error, CertificateError::ExpiredContext { .. }),
            validation: |error| matches!(error, ValidationError::Expired { .. }),
            alert: AlertDescription::CertificateExpired,
        },
        Case {
            what: "not yet valid",
            identity: pki.issue(
                role.leaf()
                    .validity(Validity::new(now + hour, now + 2 * hour)),
                SET,
            ),
            error: |error| matches!(error, CertificateError::NotValidYetContext { .. }),
            validation: |error| matches!(error, ValidationError::NotYetValid { .. }),
            alert: AlertDescription::CertificateExpired,
        },
        Case {
            what: "for another purpose",
            identity: pki.issue(role.other().leaf(), SET),
            error: |error| matches!(error, CertificateError::InvalidPurposeContext { .. }),
            validation: |error| *error == ValidationError::WrongPurpose,
            alert: AlertDescription::UnsupportedCertificate,
        },
        Case {
            what: "leaf used as a CA",
            identity: below_a_leaf(pki, role.leaf()),
            error: |error| matches!(error, CertificateError::Other(_)),
            validation: |error| matches!(error, ValidationError::NotACa { .. }),
            alert: AlertDescription::CertificateUnknown,
        },
        Case {
            what: "tampered certificate",
            identity: tampered(pki.issue(role.leaf(), SET)),
            error: |error| *error == CertificateError::BadSignature,
            validation: |error| matches!(error, ValidationError::BadSignature { .. }),
            alert: AlertDescription::DecryptError,
        },
    ]
}

/// An identity whose certificate another leaf's key signed.
fn below_a_leaf(pki: &Pki, leaf: CertificateBuilder<EndEntity>) -> Identity {
    let above = pki.issue(server_leaf().common_name("leaf above"), SET);
    let key = generate(SET);
    let mut tbs = pki
        .intermediate()
        .prepare(leaf, &key)
        .expect("the leaf can be described");
    tbs.issuer = above.chain[0].subject().clone();
    let mut chain = vec![tbs.sign(&above.key).expect("the key signs")];
    chain.extend(above.chain);
    Identity { chain, key }
}

/// The identity with one bit of the leaf's signature flipped: the last bytes of a certificate.
fn tampered(mut identity: Identity) -> Identity {
    let mut der = identity.chain[0].der().to_vec();
    let position = der.len() - SET_SIGNATURE_LEN / 2;
    der[position] ^= 1;
    identity.chain[0] = Certificate::from_der(&der).expect("its syntax is right");
    identity
}

/// The change to the signature of a CertificateVerify.
#[derive(Clone, Copy, Debug)]
enum Tampering {
    /// No change: shows that everything else in these tests works.
    None,
    /// One bit is flipped.
    Bit,
    /// The last byte is missing.
    Short,
    /// There is a byte more.
    Long,
    /// It is a valid signature of another message.
    OtherMessage,
}

const TAMPERINGS: [Tampering; 5] = [
    Tampering::None,
    Tampering::Bit,
    Tampering::Short,
    Tampering::Long,
    Tampering::OtherMessage,
];

impl Tampering {
    fn server(self, identity: &Identity) -> Arc<ServerConfig> {
        let config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("TLS 1.3 fits the provider")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.certified_key(identity)));
        Arc::new(config)
    }

    fn client(self, root: &Certificate, identity: &Identity) -> Arc<ClientConfig> {
        let config = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("TLS 1.3 fits the provider")
            .with_root_certificates(roots(root))
            .with_client_cert_resolver(Arc::new(self.certified_key(identity)));
        Arc::new(config)
    }

    fn certified_key(self, identity: &Identity) -> SingleCertAndKey {
        let key = provider()
            .key_provider
            .load_private_key(identity.key_der())
            .expect("the key can be loaded");
        SingleCertAndKey::from(CertifiedKey::new(
            identity.chain_der(),
            Arc::new(TamperingKey {
                key,
                tampering: self,
            }),
        ))
    }

    #[track_caller]
    fn assert_outcome(self, victim: &End, other: &End) {
        if matches!(self, Self::None) {
            assert_eq!((&victim.error, &other.error), (&None, &None));
            return;
        }
        assert_eq!(
            victim.error,
            Some(Error::InvalidCertificate(CertificateError::BadSignature)),
            "{self:?}"
        );
        assert_told(other, AlertDescription::DecryptError);
    }

    /// Checks what OpenSSL, which gets the signature, printed, and what our end, which sent it, reports.
    #[track_caller]
    fn assert_openssl_outcome(self, victim: &Output, other: &Result<Report, Failure>) {
        if matches!(self, Self::None) {
            assert!(other.is_ok(), "{other:?}\n{victim}");
            return;
        }
        victim.assert_contains("bad signature");
        assert!(
            matches!(
                other,
                Err(Failure::Tls(Error::AlertReceived(
                    AlertDescription::DecryptError
                )))
            ),
            "{self:?}: {other:?}\n{victim}"
        );
    }
}

#[derive(Debug)]
struct TamperingKey {
    key: Arc<dyn SigningKey>,
    tampering: Tampering,
}

impl SigningKey for TamperingKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = self.key.choose_scheme(offered)?;
        Some(Box::new(TamperingSigner {
            signer,
            tampering: self.tampering,
        }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        self.key.algorithm()
    }
}

#[derive(Debug)]
struct TamperingSigner {
    signer: Box<dyn Signer>,
    tampering: Tampering,
}

impl Signer for TamperingSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        if matches!(self.tampering, Tampering::OtherMessage) {
            return self.signer.sign(b"something else");
        }
        let mut signature = self.signer.sign(message)?;
        let middle = signature.len() / 2;
        match self.tampering {
            Tampering::Bit => signature[middle] ^= 1,
            Tampering::Short => signature.truncate(signature.len() - 1),
            Tampering::Long => signature.push(0),
            Tampering::None | Tampering::OtherMessage => {}
        }
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.signer.scheme()
    }
}

/// Asserts that this end received `alert`.
#[track_caller]
fn assert_told(end: &End, alert: AlertDescription) {
    assert_eq!(end.error, Some(Error::AlertReceived(alert)));
}

fn connect(client: Arc<ClientConfig>, server: Arc<ServerConfig>) -> Outcome {
    connect_to(NAME, client, server)
}

fn connect_to(name: &str, client: Arc<ClientConfig>, server: Arc<ServerConfig>) -> Outcome {
    handshakes::connect(
        ClientConnection::new(client, server_name(name)).expect("the client starts"),
        ServerConnection::new(server).expect("the server starts"),
    )
}

fn provider() -> CryptoProvider {
    ours(&[Group::X25519MLKEM768])
}

/// How OpenSSL prints an alert that it received.
fn alert_number(alert: AlertDescription) -> String {
    format!("SSL alert number {}", u8::from(alert))
}

/// The parameter set of tests for which any set would do.
const SET: SignatureAlgorithm = SignatureAlgorithm::MlDsa44;
const SET_SIGNATURE_LEN: usize = 2420;
