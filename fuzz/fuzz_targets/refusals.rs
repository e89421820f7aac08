//! Reports on handshakes. If one failed, each error has the refusal that is documented for it, however it is
//! wrapped, in one line that names what either side had and says what to do. If one resumed a session, the report
//! says the same as for the first one.
#![no_main]

use std::error::Error as StdError;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::{fmt, io};

use arbitrary::Arbitrary;
use fuzz::identities::SERVER_KEYS;
use fuzz::one_of;
use fuzz::pki::{PKI, SERVER_NAME};
use fuzz::tls::{self, PROVIDER};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::KeyUsageError;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::validation::ValidationError;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, KeyExchangeAlgorithm};
use rustls::pki_types::{ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{Acceptor, WebPkiClientVerifier};
use rustls::{
    AlertDescription, CertRevocationListError, CertificateError, CipherSuite, ClientConfig,
    ClientConnection, Connection, ContentType, EncryptedClientHelloError, Error,
    ExtendedKeyPurpose, HandshakeType, InconsistentKeys, InvalidMessage, NamedGroup, OtherError,
    PeerIncompatible, PeerMisbehaved, RootCertStore, ServerConfig,
};
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::verify::OcspRefusal;
use rustls_pq::{
    Authentication, Builder, Group, KeyAlgorithm, Negotiated, Offer, Refusal, ServerHandshake,
};

fuzz_target!(|input: Input<'_>| match input {
    Input::Failed(failed) => failed.check(),
    Input::Remembered(remembered) => remembered.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Failed(Box<Failed<'a>>),
    Remembered(Remembered<'a>),
}

#[derive(Arbitrary, Debug)]
struct Failed<'a> {
    /// The index in [`SIDES`].
    sides: u8,
    alerts: [AnAlert; 4],
    faults: [Fault<'a>; 6],
    causes: [Cause<'a>; 4],
    wraps: Vec<Wrap>,
    offer: AnyOffer<'a>,
    /// The server has certificates for these names, and for the one that the client requests.
    names: Vec<&'a str>,
    for_offered: u8,
}

#[derive(Arbitrary, Debug)]
enum Cause<'a> {
    Incompatible(u8),
    Message(u8),
    List(ListFault<'a>),
    NoIdentity,
    NoCertificates,
    Another(u8),
    BufferFull,
    /// An I/O error that wraps no other error.
    Broken(u8),
}

#[derive(Arbitrary, Debug)]
enum AnAlert {
    Known(u8),
    Any(u8),
}

#[derive(Arbitrary, Debug)]
enum Fault<'a> {
    UnknownIssuer,
    BadSignature,
    WrongName(AnyName<'a>, Vec<Presented<'a>>),
    Expired(Option<[u32; 2]>),
    NotValidYet(Option<[u32; 2]>),
    Revoked,
    Ocsp(u8),
    Status(u8, [u32; 2]),
    Purpose(Option<(Purpose, Vec<Purpose>)>),
    SignatureAlgorithm(Identifier<'a>, Option<Identifier<'a>>),
    KeyUsage(u8),
    CaCertificate,
    Rule(u8),
    Another(u8),
}

#[derive(Arbitrary, Debug)]
enum ListFault<'a> {
    BadSignature,
    Issuer,
    Algorithm(Identifier<'a>),
    Another(u8),
}

#[derive(Arbitrary, Debug)]
enum AnyName<'a> {
    Dns(&'a str),
    Address([u8; 4]),
    Address6([u8; 16]),
}

/// A name in a certificate, as webpki writes it.
#[derive(Arbitrary, Debug)]
enum Presented<'a> {
    Dns(&'a str),
    Address([u8; 4]),
    Bare(&'a str),
}

#[derive(Arbitrary, Debug)]
enum Purpose {
    Client,
    Server,
    Other(Vec<u16>),
}

/// The contents of an AlgorithmIdentifier.
#[derive(Arbitrary, Debug)]
enum Identifier<'a> {
    Named(u8),
    Bytes(&'a [u8]),
}

impl Identifier<'_> {
    /// Its bytes, and its name if it has one.
    fn of(&self) -> (Vec<u8>, Option<&'static str>) {
        match *self {
            Self::Named(index) => {
                let (bytes, name) = one_of(&IDENTIFIERS, index);
                (bytes.to_vec(), Some(name))
            }
            Self::Bytes(bytes) => (bytes.to_vec(), None),
        }
    }
}

const IDENTIFIERS: [(&[u8], &str); 10] = [
    (
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07",
        "ECDSA P-256",
    ),
    (
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23",
        "ECDSA P-521",
    ),
    (b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01", "1.2.840.10045.2.1"),
    (
        b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00",
        "RSA",
    ),
    (
        b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05\x05\x00",
        "RSA PKCS#1 v1.5 with SHA-1",
    ),
    (
        b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x00",
        "RSA-PSS with SHA-1",
    ),
    (
        b"\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x03",
        "ECDSA with SHA-384",
    ),
    (b"\x06\x03\x2b\x65\x71", "Ed448"),
    (b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x13", "ML-DSA-87"),
    (b"\x06\x03\x2a\x03\x04", "1.2.3.4"),
];

/// An error around another one, as libraries between rustls and an application add it.
#[derive(Arbitrary, Debug)]
enum Wrap {
    Io(u8),
    Another,
}

#[derive(Debug)]
struct Another(Box<dyn StdError + Send + Sync>);

impl fmt::Display for Another {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another one: {}", self.0)
    }
}

impl StdError for Another {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}

const KINDS: [io::ErrorKind; 4] = [
    io::ErrorKind::InvalidData,
    io::ErrorKind::UnexpectedEof,
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::Other,
];

#[derive(Arbitrary, Debug)]
struct AnyOffer<'a> {
    name: Option<&'a str>,
    groups: Vec<u16>,
    known_groups: Vec<u8>,
    schemes: Vec<u16>,
    suites: Vec<u16>,
    with_known_suite: bool,
}

impl AnyOffer<'_> {
    fn offer(&self) -> Offer {
        let mut offer = Offer::default();
        offer.server_name = self.name.map(str::to_owned);
        let known = self.known_groups.iter();
        let known = known.map(|index| tls::GROUPS[usize::from(*index) % tls::GROUPS.len()]);
        let others = self.groups.iter().copied().map(NamedGroup::from);
        offer.groups = known.chain(others.map(Group::from)).collect();
        offer.signature_schemes = self.schemes.iter().copied().map(Into::into).collect();
        offer.cipher_suites = self.suites.iter().copied().map(Into::into).collect();
        if self.with_known_suite {
            let suite = CipherSuite::TLS13_AES_256_GCM_SHA384;
            offer.cipher_suites.push(suite);
        }
        offer
    }
}

const ALERTS: [AlertDescription; 16] = [
    AlertDescription::CloseNotify,
    AlertDescription::HandshakeFailure,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnknownCA,
    AlertDescription::AccessDenied,
    AlertDescription::DecodeError,
    AlertDescription::DecryptError,
    AlertDescription::ProtocolVersion,
    AlertDescription::UnrecognisedName,
    AlertDescription::BadCertificateStatusResponse,
    AlertDescription::CertificateRequired,
    AlertDescription::NoApplicationProtocol,
];

/// The first eight have refusals of their own, three of them only on servers.
const INCOMPATIBLE: [PeerIncompatible; 12] = [
    PeerIncompatible::NoKxGroupsInCommon,
    PeerIncompatible::NoSignatureSchemesInCommon,
    PeerIncompatible::NoCipherSuitesInCommon,
    PeerIncompatible::Tls12NotOffered,
    PeerIncompatible::Tls12NotOfferedOrEnabled,
    PeerIncompatible::SupportedVersionsExtensionRequired,
    PeerIncompatible::ServerDoesNotSupportTls12Or13,
    PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
    PeerIncompatible::KeyShareExtensionRequired,
    PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon,
    PeerIncompatible::Tls13RequiredForQuic,
    PeerIncompatible::ServerRejectedEncryptedClientHello(None),
];

/// The first two say that a message is too large.
const MESSAGES: [InvalidMessage; 9] = [
    InvalidMessage::HandshakePayloadTooLarge,
    InvalidMessage::CertificatePayloadTooLarge,
    InvalidMessage::InvalidContentType,
    InvalidMessage::InvalidCcs,
    InvalidMessage::MissingData("ServerHello"),
    InvalidMessage::TrailingData("ServerHello"),
    InvalidMessage::UnexpectedMessage("not a ClientHello"),
    InvalidMessage::UnsupportedKeyExchangeAlgorithm(KeyExchangeAlgorithm::ECDHE),
    InvalidMessage::DuplicateExtension(51),
];

fn another(index: u8) -> Error {
    let all = [
        Error::InappropriateMessage {
            expect_types: vec![ContentType::Handshake],
            got_type: ContentType::ApplicationData,
        },
        Error::InappropriateHandshakeMessage {
            expect_types: vec![HandshakeType::ServerHello],
            got_type: HandshakeType::Finished,
        },
        Error::InvalidEncryptedClientHello(EncryptedClientHelloError::SniRequired),
        Error::UnsupportedNameType,
        Error::DecryptError,
        Error::EncryptError,
        Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare),
        Error::General("no server certificate".into()),
        Error::FailedToGetCurrentTime,
        Error::FailedToGetRandomBytes,
        Error::HandshakeNotComplete,
        Error::PeerSentOversizedRecord,
        Error::NoApplicationProtocol,
        Error::BadMaxFragmentSize,
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch),
        Error::Other(OtherError(Arc::new(ValidationError::UnknownIssuer))),
        Error::General("message buffer full".into()),
    ];
    one_of(&all, index)
}

fn time(seconds: u32) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds.into()))
}

impl Purpose {
    fn purpose(&self) -> ExtendedKeyPurpose {
        match self {
            Self::Client => ExtendedKeyPurpose::ClientAuth,
            Self::Server => ExtendedKeyPurpose::ServerAuth,
            Self::Other(arcs) => {
                ExtendedKeyPurpose::Other(arcs.iter().copied().map(Into::into).collect())
            }
        }
    }
}

/// An error and the name of its refusal, with the parts that the refusal's text contains besides the [`remedy`].
struct Expected {
    error: Error,
    refusal: &'static str,
    says: Vec<String>,
}

impl Expected {
    fn new(error: impl Into<Error>, refusal: &'static str) -> Self {
        Self {
            error: error.into(),
            refusal,
            says: Vec::new(),
        }
    }

    fn saying(mut self, text: impl Into<String>) -> Self {
        self.says.push(text.into());
        self
    }
}

/// What a refusal of this name says to do; `None` if that depends on more than the name.
fn remedy(refusal: &str) -> Option<&'static str> {
    Some(match refusal {
        "NoSharedSignatureScheme" => "; add a certificate with a key that the client accepts",
        "NoSharedVersion" => "; post-quantum key exchange needs TLS 1.3 on both sides",
        "NoCertificateForName" => "; add a certificate for this name, or a default",
        "NothingInCommon" => "; offer more of them",
        "ClientCertificateRequired" => "; give the client one whose issuer and algorithm",
        "SignatureAlgorithm" => ": have the peer use a chain signed with these, or accept more",
        "ChainTooLarge" => "; have the peer leave out the root, or use smaller certificates",
        "UnknownIssuer" => "; trust its root",
        "BadSignature" => "; compare the root here with the one that issued the chain",
        "WrongName" => "; connect by a name that it is for",
        "Expired" => "; the peer needs a new one, unless the clock here is wrong",
        "NotValidYet" => "; wait until it is, unless the clock here is wrong",
        "Revoked" => "; the peer needs a new one, for a new key",
        "RevocationUnknown" => "; get the newest revocation lists of all CAs in its chain",
        "RevocationList" => "; get the newest one from the CA",
        "OcspResponse" => "; have the server staple one",
        "WrongPurpose" => {
            "; servers need one that is issued for servers, and clients one for clients"
        }
        "KeyUsage" => "; have its issuer issue it again",
        "CaCertificate" => "; have the CA issue one for the peer",
        "NameUnknown" => "; ask for one that it has",
        "NotTls" => "; is there a TLS peer at this address and port?",
        "ConnectionLost" => "; look in the peer's log",
        "NoSharedGroup" | "NoSharedCipherSuite" | "CertificateRefused" | "Alert" | "Other" => {
            return None;
        }
        refusal => unreachable!("{refusal}"),
    })
}

impl Fault<'_> {
    fn expected(&self) -> Expected {
        use CertificateError as Certificate;
        match self {
            Self::UnknownIssuer => Expected::new(Certificate::UnknownIssuer, "UnknownIssuer"),
            Self::BadSignature => Expected::new(Certificate::BadSignature, "BadSignature"),
            Self::WrongName(expected, presented) => wrong_name(expected, presented),
            &Self::Expired(context) => match context {
                None => Expected::new(Certificate::Expired, "Expired"),
                Some([now, end]) => {
                    let (time, not_after) = (time(now), time(end));
                    let error = Certificate::ExpiredContext { time, not_after };
                    Expected::new(error, "Expired").saying(end.to_string())
                }
            },
            &Self::NotValidYet(context) => match context {
                None => Expected::new(Certificate::NotValidYet, "NotValidYet"),
                Some([now, start]) => {
                    let (time, not_before) = (time(now), time(start));
                    let error = Certificate::NotValidYetContext { time, not_before };
                    Expected::new(error, "NotValidYet").saying(start.to_string())
                }
            },
            Self::Revoked => Expected::new(Certificate::Revoked, "Revoked"),
            Self::Ocsp(index) => {
                let revoked = ValidationError::Revoked {
                    subject: Some(SERVER_NAME.into()),
                    entry: None,
                };
                let missing = |must_staple| OcspRefusal::Missing { must_staple };
                let (refusal, name) = match index % 4 {
                    0 => (missing(true), "OcspResponse"),
                    1 => (missing(false), "OcspResponse"),
                    2 => (
                        OcspRefusal::Chain(ValidationError::UnknownIssuer),
                        "OcspResponse",
                    ),
                    _ => (OcspRefusal::Chain(revoked), "Revoked"),
                };
                assert!(!refusal.to_string().is_empty());
                Expected::new(Certificate::from(refusal), name)
            }
            &Self::Status(index, [now, next]) => {
                let error = match index % 3 {
                    0 => Certificate::UnknownRevocationStatus,
                    1 => Certificate::ExpiredRevocationList,
                    _ => Certificate::ExpiredRevocationListContext {
                        time: time(now),
                        next_update: time(next),
                    },
                };
                Expected::new(error, "RevocationUnknown")
            }
            Self::Purpose(context) => {
                let error = match context {
                    None => Certificate::InvalidPurpose,
                    Some((required, presented)) => Certificate::InvalidPurposeContext {
                        required: required.purpose(),
                        presented: presented.iter().map(Purpose::purpose).collect(),
                    },
                };
                Expected::new(error, "WrongPurpose")
            }
            Self::SignatureAlgorithm(signature, key) => signature_algorithm(signature, key),
            Self::KeyUsage(index) => {
                let error = one_of(
                    &[
                        KeyUsageError::WithoutDigitalSignature,
                        KeyUsageError::CaWithoutKeyCertSign,
                        KeyUsageError::ForbiddenForSignatureKey {
                            algorithm: SignatureAlgorithm::MlDsa65,
                            usage: "keyEncipherment".into(),
                        },
                    ],
                    *index,
                )
                .clone();
                let words = error.to_string();
                let error = ValidationError::KeyUsage {
                    subject: SERVER_NAME.into(),
                    error,
                };
                Expected::new(in_other(error), "KeyUsage")
                    .saying(SERVER_NAME)
                    .saying(words)
            }
            Self::CaCertificate => {
                Expected::new(in_other(webpki::Error::CaUsedAsEndEntity), "CaCertificate")
            }
            // An error of the same type that is not about key usage.
            Self::Rule(index) => {
                let error = one_of(
                    &[
                        ValidationError::UnknownIssuer,
                        ValidationError::CaAsEndEntity,
                    ],
                    *index,
                )
                .clone();
                Expected::new(in_other(error), "Other")
            }
            Self::Another(index) => {
                let all = [
                    Certificate::BadEncoding,
                    Certificate::UnhandledCriticalExtension,
                    Certificate::NotValidForName,
                    Certificate::ApplicationVerificationFailure,
                    in_other(webpki::Error::EndEntityUsedAsCa),
                ];
                Expected::new(one_of(&all, *index), "Other")
            }
        }
    }
}

fn in_other(error: impl StdError + Send + Sync + 'static) -> CertificateError {
    CertificateError::Other(OtherError(Arc::new(error)))
}

fn wrong_name(expected: &AnyName<'_>, presented: &[Presented<'_>]) -> Expected {
    let expected = match *expected {
        AnyName::Dns(name) => ServerName::try_from(name).map(|name| name.to_owned()),
        AnyName::Address(address) => Ok(std::net::IpAddr::from(address).into()),
        AnyName::Address6(address) => Ok(std::net::IpAddr::from(address).into()),
    };
    let expected = expected.unwrap_or(ServerName::try_from(SERVER_NAME).expect("a name"));
    let mut says = vec![expected.to_str().into_owned()];
    let presented = presented.iter().map(|presented| match *presented {
        // A text that isn't a DNS name need not be shown: webpki never reports one.
        Presented::Dns(name) => match ServerName::try_from(name) {
            Ok(ServerName::DnsName(name)) => {
                says.push(format!("{:?}", name.as_ref()));
                format!("DnsName({:?})", name.as_ref())
            }
            _ => format!("DnsName({name:?})"),
        },
        Presented::Address(address) => {
            let address = std::net::IpAddr::from(address);
            says.push(format!("\"{address}\""));
            format!("IpAddress({address})")
        }
        Presented::Bare(text) => text.into(),
    });
    let presented = presented.collect();
    let error = CertificateError::NotValidForNameContext {
        expected,
        presented,
    };
    says.into_iter()
        .fold(Expected::new(error, "WrongName"), Expected::saying)
}

fn signature_algorithm(signature: &Identifier<'_>, key: &Option<Identifier<'_>>) -> Expected {
    let (signature_algorithm_id, name) = signature.of();
    let mut names: Vec<_> = name.into_iter().collect();
    let error = match key {
        None => CertificateError::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id,
            supported_algorithms: Vec::new(),
        },
        Some(key) => {
            let (public_key_algorithm_id, name) = key.of();
            names.extend(name);
            CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id,
                public_key_algorithm_id,
            }
        }
    };
    let expected = Expected::new(error, "SignatureAlgorithm");
    names.into_iter().fold(expected, Expected::saying)
}

impl ListFault<'_> {
    fn error(&self) -> CertRevocationListError {
        use CertRevocationListError as List;
        match self {
            Self::BadSignature => List::BadSignature,
            Self::Issuer => List::IssuerInvalidForCrl,
            Self::Algorithm(identifier) => List::UnsupportedSignatureAlgorithmContext {
                signature_algorithm_id: identifier.of().0,
                supported_algorithms: Vec::new(),
            },
            Self::Another(index) => one_of(
                &[
                    List::ParseError,
                    List::UnsupportedCrlVersion,
                    List::UnsupportedDeltaCrl,
                    List::InvalidCrlNumber,
                    List::Other(OtherError(Arc::new(Another("a list".into())))),
                ],
                *index,
            )
            .clone(),
        }
    }
}

/// The side that asks why a handshake failed.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Client { has_certificate: bool },
    Server,
}

impl AnAlert {
    fn expected(&self, side: Side) -> Expected {
        let alert = match *self {
            Self::Known(index) => one_of(&ALERTS, index),
            Self::Any(number) => number.into(),
        };
        let refusal = expected_of_alert(alert, side);
        let expected = Expected::new(Error::AlertReceived(alert), refusal);
        match refusal {
            "CertificateRefused" => expected.saying(remedy_for_certificate(alert)),
            "Alert" => expected.saying(remedy_for_alert(alert)),
            _ => expected,
        }
    }
}

/// What to do if the peer sends this alert because of the certificate that it got.
fn remedy_for_certificate(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::BadCertificate => ": use one for that name, of an issuer that the peer trusts",
        Alert::UnsupportedCertificate => "; servers need one that is issued for servers",
        Alert::CertificateRevoked => "; get a new one, for a new key",
        Alert::CertificateExpired => "; use a new one, unless a clock is wrong",
        Alert::CertificateUnknown => "; the peer's log may say why",
        Alert::BadCertificateStatusResponse => "; staple a new one",
        Alert::UnknownCA => "; use a chain of an issuer that it trusts",
        Alert::DecryptError => "; compare the roots, and the algorithms that it accepts",
        alert => unreachable!("{alert:?} is about no certificate"),
    }
}

/// What to do if the peer sends this alert for another reason.
fn remedy_for_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::DecodeError => "a certificate chain of more than 65,535 bytes",
        AlertDescription::NoApplicationProtocol => "; give one side a protocol of the other",
        _ => "; its log may say why",
    }
}

fn expected_of_alert(alert: AlertDescription, side: Side) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::BadCertificateStatusResponse
        | Alert::UnknownCA
        | Alert::DecryptError => match side {
            Side::Client {
                has_certificate: false,
            } => "Alert",
            _ => "CertificateRefused",
        },
        _ if side == Side::Server => "Alert",
        Alert::HandshakeFailure => "NothingInCommon",
        Alert::CertificateRequired => "ClientCertificateRequired",
        Alert::ProtocolVersion => "NoSharedVersion",
        Alert::AccessDenied | Alert::UnrecognisedName => "NameUnknown",
        _ => "Alert",
    }
}

/// The end of a handshake: an error of rustls, or an I/O error without one and the name of its refusal.
enum Told {
    Tls(Expected),
    Io(fn() -> io::Error, &'static str),
}

impl Cause<'_> {
    fn told(&self, side: Side, failed: &Failed<'_>) -> Told {
        let server = side == Side::Server;
        let tls = match self {
            Self::Incompatible(index) => {
                let refusal = match usize::from(*index) % INCOMPATIBLE.len() {
                    0 if server => "NoSharedGroup",
                    1 if server => "NoSharedSignatureScheme",
                    2 if server => "NoSharedCipherSuite",
                    3..8 => "NoSharedVersion",
                    _ => "Other",
                };
                Expected::new(one_of(&INCOMPATIBLE, *index), refusal)
            }
            Self::Message(index) => {
                let refusal = match usize::from(*index) % MESSAGES.len() {
                    0 | 1 => "ChainTooLarge",
                    _ => "NotTls",
                };
                Expected::new(one_of(&MESSAGES, *index), refusal)
            }
            Self::List(fault) => Expected::new(fault.error(), "RevocationList"),
            Self::NoIdentity => {
                let error = Error::General("no server certificate chain resolved".into());
                match (server, failed.offer.name) {
                    (true, Some(name)) => {
                        Expected::new(error, "NoCertificateForName").saying(format!("{name:?}"))
                    }
                    (true, None) => Expected::new(error, "NoCertificateForName"),
                    (false, _) => Expected::new(error, "Other"),
                }
            }
            Self::NoCertificates => {
                let refusal = if server {
                    "ClientCertificateRequired"
                } else {
                    "Other"
                };
                Expected::new(Error::NoCertificatesPresented, refusal)
            }
            Self::Another(index) => Expected::new(another(*index), "Other"),
            // As rustls makes it.
            Self::BufferFull => {
                return Told::Io(
                    || io::Error::new(io::ErrorKind::InvalidData, "message buffer full"),
                    "ChainTooLarge",
                );
            }
            Self::Broken(index) => {
                let make: fn() -> io::Error = match index % 3 {
                    0 => || io::ErrorKind::UnexpectedEof.into(),
                    1 => || io::Error::from_raw_os_error(104),
                    _ => || io::Error::other("the buffer is full"),
                };
                return Told::Io(make, "ConnectionLost");
            }
        };
        Told::Tls(tls)
    }
}

/// Configurations with one provider; `None` if the provider can't use the certificates.
struct Sides {
    client_auth: bool,
    client: Option<ClientConfig>,
    server: Option<ServerConfig>,
}

/// One for every profile, and for groups of every kind.
static SIDES: LazyLock<Vec<Sides>> = LazyLock::new(|| {
    let of_profile = |name: &str| {
        let builder = Builder::with_default_base().expect("a CPU that graviola supports");
        let profile = name.parse().expect("the name of one");
        builder.profile(profile).build().expect("a profile")
    };
    let profiles = ["default", "require-pq", "cnsa2", "all"].map(of_profile);
    let groups = [&[][..], &[0], &[6, 7], &[8], &[3, 0, 6]].map(tls::provider);
    let providers = profiles.into_iter().chain(groups);
    let both = |provider: CryptoProvider| [(false, provider.clone()), (true, provider)];
    let all = providers
        .flat_map(both)
        .map(|(client_auth, provider)| Sides {
            client_auth,
            client: tls::try_client_config(provider.clone(), client_auth),
            server: tls::try_server_config(provider, client_auth),
        });
    all.collect()
});

impl Failed<'_> {
    fn check(&self) {
        let sides = &SIDES[usize::from(self.sides) % SIDES.len()];
        if let Some(client) = &sides.client {
            let side = Side::Client {
                has_certificate: sides.client_auth,
            };
            self.check_side(side, |error| Refusal::by_client(error, client));
        }
        if let Some(server) = &sides.server {
            self.check_server(server);
        }
    }

    fn check_server(&self, server: &ServerConfig) {
        let for_offered = one_of(&IDENTITIES, self.for_offered).0;
        let start = match self.offer.name {
            Some(name) => IdentitySet::new().with_name(name, for_offered),
            None => IdentitySet::new().with_default(for_offered),
        };
        let set = self.names.iter().zip(&*IDENTITIES);
        let set = set.fold(start, |set, (name, (identity, _))| {
            set.with_name(name, Arc::clone(identity))
        });
        let offer = self.offer.offer();
        let identities = Identities::new(set);
        let handshake = ServerHandshake::begin(offer.clone(), &identities, server);
        self.check_side(Side::Server, |error| {
            let refusal = handshake.refusal(error);
            let config = handshake.config();
            let set = identities.current();
            let same = Refusal::by_server(error, &offer, &config, Some(&set));
            assert_eq!(format!("{same:?}"), format!("{refusal:?}"));
            // A server whose identities aren't known says the same, except about its keys.
            let without = Refusal::by_server(error, &offer, &config, None);
            match &refusal {
                Refusal::NoSharedGroup { client, server } => {
                    assert_eq!(*client, offer.groups);
                    let own = config.crypto_provider().kx_groups.iter();
                    let own = own.map(|group| Group::from(group.name()));
                    assert_eq!(*server, own.collect::<Vec<_>>());
                    let text = refusal.to_string();
                    let mut shown = client.iter().take(64).chain(server);
                    assert!(shown.all(|it| text.contains(&it.to_string())));
                    let have_post_quantum =
                        [client, server].map(|groups| groups.iter().any(|it| it.is_post_quantum()));
                    let remedy = match have_post_quantum {
                        [false, true] => "; give the client one of the server's post-quantum groups",
                        [true, false] => "; give the server one of the client's post-quantum groups",
                        _ => "; give one side a group of the other",
                    };
                    assert!(text.contains(remedy), "{text}, without {remedy}");
                }
                Refusal::NoSharedSignatureScheme { client, server } => {
                    assert_eq!(*client, offer.signature_schemes);
                    let text = refusal.to_string();
                    assert!(server.iter().all(|it| text.contains(&it.to_string())));
                    assert!(!without.to_string().contains("the server has keys"));
                    let named = offer.server_name.as_deref();
                    let named = named.map_or(0, |name| set.named(name).count());
                    assert!(named == 0 || !server.is_empty());
                }
                Refusal::NoSharedCipherSuite { client, server } => {
                    assert_eq!(*client, offer.cipher_suites);
                    let own = config.crypto_provider().cipher_suites.iter();
                    assert_eq!(*server, own.map(|it| it.suite()).collect::<Vec<_>>());
                    let text = refusal.to_string();
                    let mut shown = client.iter().take(64).chain(server);
                    assert!(shown.all(|it| text.contains(&format!("{it:?}"))));
                    let remedy = match client.iter().any(|suite| server.contains(suite)) {
                        true => "; in TLS 1.2 each suite is for one kind of key: give the server a certificate",
                        false => "; give one side a suite of the other",
                    };
                    assert!(text.contains(remedy), "{text}, without {remedy}");
                }
                _ => assert_eq!(format!("{without:?}"), format!("{refusal:?}")),
            }
            refusal
        });
    }

    fn check_side(&self, side: Side, refusal: impl Fn(&(dyn StdError + 'static)) -> Refusal) {
        for alert in &self.alerts {
            self.check_told(Told::Tls(alert.expected(side)), &refusal);
        }
        for fault in &self.faults {
            self.check_told(Told::Tls(fault.expected()), &refusal);
        }
        for cause in &self.causes {
            self.check_told(cause.told(side, self), &refusal);
        }
    }

    fn check_told(&self, told: Told, refusal: impl Fn(&(dyn StdError + 'static)) -> Refusal) {
        let (bare, name, says): (Box<dyn StdError + Send + Sync>, _, _) = match told {
            Told::Tls(expected) => (expected.error.into(), expected.refusal, expected.says),
            Told::Io(make, name) => (make().into(), name, Vec::new()),
        };
        let by_bare = refusal(&*bare);
        let debug = format!("{by_bare:?}");
        assert_eq!(debug.split([' ', '(']).next(), Some(name));
        let text = by_bare.to_string();
        for said in says.iter().map(String::as_str).chain(remedy(name)) {
            assert!(text.contains(said), "{text}, without {said}");
        }
        // No text from a peer begins a new line of a log.
        assert!(!text.contains(char::is_control), "{text:?}");
        if name != "Other" {
            assert!(text.starts_with(|first: char| first.is_ascii_lowercase()));
            assert!(!text.ends_with(['.', ' ', ';', ':']));
        }

        let wrapped = self
            .wraps
            .iter()
            .take(8)
            .fold(bare, |error, wrap| match wrap {
                Wrap::Io(kind) => io::Error::new(one_of(&KINDS, *kind), error).into(),
                Wrap::Another => Another(error).into(),
            });
        let by_wrapped = refusal(&*wrapped);
        match by_wrapped {
            Refusal::ConnectionLost { error } => {
                assert_eq!((name, error), ("ConnectionLost", wrapped.to_string()));
            }
            by_wrapped => assert_eq!(format!("{by_wrapped:?}"), debug),
        }
    }
}

/// Handshakes that a server completes, one after the other, with the same client.
#[derive(Arbitrary, Debug)]
struct Remembered<'a> {
    client_auth: bool,
    /// The client has no share for the server's only group.
    asked_again: bool,
    identity: u8,
    first: Say<'a>,
    more: Vec<Again<'a>>,
}

/// The data that the server has a session remember.
#[derive(Arbitrary, Debug)]
enum Say<'a> {
    Authentication,
    /// Any values in the same form.
    Nearly {
        format: bool,
        is_post_quantum: u8,
        scheme: u16,
        kind: u8,
        detail: Detail<'a>,
    },
    Nothing,
    /// Data that an application sets instead.
    Other(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Detail<'a> {
    Nothing,
    Bits(u16),
    Identifier(u8),
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
struct Again<'a> {
    /// The server's certificate has been replaced by this one.
    identity: u8,
    say: Say<'a>,
    verifier: u8,
}

impl Say<'_> {
    /// The resumption data that replaces the server's own, if any.
    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Authentication | Self::Nothing => None,
            Self::Other(bytes) => Some(bytes.to_vec()),
            Self::Nearly {
                format,
                is_post_quantum,
                scheme,
                kind,
                detail,
            } => {
                let [high, low] = scheme.to_be_bytes();
                let format = if *format { 1 } else { 2 };
                let head = [format, is_post_quantum % 3, high, low, kind % 10];
                let detail = match *detail {
                    Detail::Nothing => Vec::new(),
                    Detail::Bits(bits) => bits.to_string().into_bytes(),
                    Detail::Identifier(index) => one_of(SignatureAlgorithm::ALL, index)
                        .oid()
                        .as_bytes()
                        .to_vec(),
                    Detail::Bytes(bytes) => bytes.to_vec(),
                };
                Some([&head, &*detail].concat())
            }
        }
    }

    /// The key that the server reads in it, if any; `None` if the model can't tell.
    fn key(&self) -> Option<Option<KeyAlgorithm>> {
        let &Self::Nearly {
            format,
            is_post_quantum,
            kind,
            ref detail,
            ..
        } = self
        else {
            return None;
        };
        if !format || is_post_quantum % 3 == 2 || kind % 10 == 9 {
            return Some(None);
        }
        Some(Some(match (kind % 10, detail) {
            (0, Detail::Identifier(index)) => {
                KeyAlgorithm::PostQuantum(one_of(SignatureAlgorithm::ALL, *index))
            }
            (kind @ 1..=5, Detail::Nothing) => CURVES[usize::from(kind) - 1],
            (6, Detail::Bits(bits)) => KeyAlgorithm::Rsa {
                bits: (*bits).into(),
            },
            (7, Detail::Identifier(index)) => {
                KeyAlgorithm::Other(one_of(SignatureAlgorithm::ALL, *index).oid())
            }
            (8, Detail::Identifier(index)) => {
                KeyAlgorithm::HashSlhDsa(one_of(SignatureAlgorithm::ALL, *index))
            }
            _ => return None,
        }))
    }
}

const CURVES: [KeyAlgorithm; 5] = [
    KeyAlgorithm::EcdsaP256,
    KeyAlgorithm::EcdsaP384,
    KeyAlgorithm::EcdsaP521,
    KeyAlgorithm::Ed25519,
    KeyAlgorithm::Ed448,
];

/// A server's identities with every kind of key that the provider signs with, below a post-quantum and a classical CA,
/// and how each proves the server's identity.
static IDENTITIES: LazyLock<Vec<(Arc<Identity>, Authentication)>> = LazyLock::new(|| {
    let both = SERVER_KEYS.iter().flat_map(|key| {
        let ca = PKI.ca.certificate().der().clone();
        let chains = [
            vec![key.certificate.clone(), ca],
            vec![key.certified_by(&CLASSICAL_ROOT)],
        ];
        chains.map(|chain| {
            let authentication = Authentication::of(&chain).expect("certificates");
            (key.identity(chain).into(), authentication)
        })
    });
    both.collect()
});

static CLASSICAL_ROOT: LazyLock<Issuer<ClassicalKey>> = LazyLock::new(|| {
    let key = ClassicalKey::from_raw(ClassicalAlgorithm::EcdsaP256, &[8; 32]);
    let key = key.expect("a scalar in range");
    Issuer::self_signed(CertificateBuilder::ca("Classical"), key).expect("a root")
});

fn roots() -> RootCertStore {
    let mut roots = tls::roots();
    let classical = CLASSICAL_ROOT.certificate().der().clone();
    roots.add(classical).expect("a root");
    roots
}

fn client_config(provider: CryptoProvider, client_auth: bool) -> ClientConfig {
    let mut config = tls::client_config(provider.clone(), client_auth);
    let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(
        roots().into(),
        provider.into(),
    );
    let verifier = verifier.build().expect("roots");
    config.dangerous().set_certificate_verifier(verifier);
    config.resumption = Resumption::in_memory_sessions(4);
    config
}

/// The verifier for the client of a resumed session, and whether it accepts a client with a certificate of the CA and
/// one without any.
struct Verifier(Arc<dyn ClientCertVerifier>, [bool; 2]);

static VERIFIERS: LazyLock<[Verifier; 3]> = LazyLock::new(|| {
    let provider = Arc::new(PROVIDER.clone());
    let mut others = RootCertStore::empty();
    let other = CLASSICAL_ROOT.certificate().der().clone();
    others.add(other).expect("a root");
    let builder = |roots: RootCertStore| {
        WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
    };
    let optional = builder(tls::roots()).allow_unauthenticated().build();
    let mandatory = builder(tls::roots()).build();
    let of_others = builder(others).build();
    [
        Verifier(optional.expect("roots"), [true, true]),
        Verifier(mandatory.expect("roots"), [true, false]),
        Verifier(of_others.expect("roots"), [false, false]),
    ]
});

impl Remembered<'_> {
    fn check(&self) {
        let hybrid = 0; // among the groups
        let [groups_of_client, groups_of_server] = match self.asked_again {
            true => [&[6, hybrid][..], &[hybrid]],
            false => [&[][..], &[]],
        };
        let client = client_config(tls::provider(groups_of_client), self.client_auth);
        let client = Arc::new(client);
        let server = tls::server_config(tls::provider(groups_of_server), self.client_auth);

        let (chosen, authentication) = one_of(&IDENTITIES, self.identity);
        let set = |identity| IdentitySet::new().with_default(identity);
        let identities = Identities::new(set(chosen));
        let mut first = Handshake::begin(&client, &identities, &server);
        first.say(&self.first);
        let (by_server, by_client) = first.complete();
        assert!(!by_server.is_resumed() && !by_server.to_string().is_empty());
        let own = by_server.own.expect("a scheme in common");
        assert_eq!(own.key, authentication.key);
        assert_eq!(own.is_post_quantum, authentication.is_post_quantum);
        // An RSA key has several schemes, and the certificates don't say which one was used.
        assert!(
            authentication
                .scheme
                .is_none_or(|it| own.scheme == Some(it))
        );
        assert_eq!(
            authentication.scheme.is_none(),
            matches!(own.key, KeyAlgorithm::Rsa { .. })
        );
        assert_eq!(by_client.peer, Some(authentication));
        assert_eq!(by_server.peer.is_some(), self.client_auth);

        // What the session remembers, and the key in it; `None` if the model can't tell.
        let mut key = self.first.key();
        let mut remembered = match (&self.first, self.asked_again) {
            (Say::Authentication, false) => Some(Some(own)),
            (Say::Authentication, true) | (Say::Nothing, _) => Some(None),
            _ => None,
        };
        for again in self.more.iter().take(3) {
            let (other, _) = one_of(&IDENTITIES, again.identity);
            identities.replace(set(other));
            let mut resumed = Handshake::begin(&client, &identities, &server);
            resumed.say(&again.say);
            let Verifier(verifier, answers) =
                &VERIFIERS[usize::from(again.verifier) % VERIFIERS.len()];
            let answer = answers[usize::from(!self.client_auth)];
            let (by_server, by_client) = resumed.complete_verifying(&**verifier, answer);
            assert!(by_server.is_resumed() && by_client.is_resumed());
            assert_eq!(by_client.peer, Some(authentication));
            assert_eq!(by_server.peer.is_some(), self.client_auth);
            assert!(!by_server.to_string().is_empty());
            if let Some(remembered) = remembered {
                assert_eq!(by_server.own, remembered);
            }
            if let Some(key) = key {
                assert_eq!(by_server.own.map(|own| own.key), key);
            }
            key = again
                .say
                .key()
                .or(key.filter(|_| matches!(again.say, Say::Authentication)));
            remembered = match &again.say {
                Say::Authentication => Some(by_server.own),
                Say::Nothing => Some(None),
                _ => None,
            };
        }
    }
}

/// A handshake whose ClientHello the server has read.
struct Handshake {
    client: Connection,
    server: Connection,
    handshake: ServerHandshake,
}

impl Handshake {
    fn begin(client: &Arc<ClientConfig>, identities: &Identities, server: &ServerConfig) -> Self {
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        let client = ClientConnection::new(Arc::clone(client), name).expect("a client");
        let mut client = Connection::from(client);
        let mut acceptor = Acceptor::default();
        acceptor
            .read_tls(&mut &*tls::send(&mut client))
            .expect("a slice");
        let accepted = acceptor
            .accept()
            .unwrap_or_else(|_| panic!("a ClientHello"));
        let accepted = accepted.expect("all of it");
        let offer = Offer::of(&accepted.client_hello());
        let handshake = ServerHandshake::begin(offer, identities, server);
        let server = accepted.into_connection(handshake.config());
        let server = server.unwrap_or_else(|(error, _)| panic!("{}", handshake.refusal(&error)));
        assert_eq!(handshake.negotiated(&server), None);
        Self {
            client,
            server: server.into(),
            handshake,
        }
    }

    fn say(&mut self, say: &Say<'_>) {
        let Connection::Server(server) = &mut self.server else {
            unreachable!("it was made as a server");
        };
        match say {
            Say::Nothing => {}
            Say::Authentication => self.handshake.remember(server),
            say => server.set_resumption_data(&say.bytes().expect("what isn't its own")),
        }
    }

    /// The reports of the server and the client.
    fn complete(mut self) -> (Negotiated, Negotiated) {
        self.exchange();
        let Connection::Server(server) = &self.server else {
            unreachable!("it was made as a server");
        };
        let by_server = self.handshake.negotiated(server).expect("a handshake");
        (
            by_server,
            Negotiated::of(&self.client).expect("a handshake"),
        )
    }

    /// The same for a resumed session. `answer` is whether `verifier` accepts the client.
    fn complete_verifying(
        mut self,
        verifier: &dyn ClientCertVerifier,
        answer: bool,
    ) -> (Negotiated, Negotiated) {
        self.exchange();
        let Connection::Server(server) = &self.server else {
            unreachable!("it was made as a server");
        };
        for _ in 0..2 {
            let verified = self.handshake.verify_resumed_client(server, verifier);
            assert_eq!(verified.is_ok(), answer);
        }
        self.complete()
    }

    fn exchange(&mut self) {
        let pass = |from: &mut Connection, to: &mut Connection| {
            let sent = tls::send(from);
            tls::receive(to, &sent, usize::MAX).expect("an honest handshake");
        };
        for _ in 0..3 {
            pass(&mut self.server, &mut self.client);
            pass(&mut self.client, &mut self.server);
        }
    }
}
