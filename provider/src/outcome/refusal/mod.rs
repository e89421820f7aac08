//! Why a handshake failed, and what helps.

mod cause;
mod words;

use core::error::Error as StdError;

use pq_x509::certificate::KeyUsageError;
use pq_x509::validation::ValidationError;
use rustls::crypto::CryptoProvider;
use rustls::{
    AlertDescription, CertRevocationListError, CertificateError, CipherSuite, ClientConfig, Error,
    InvalidMessage, OtherError, PeerIncompatible, ServerConfig, SignatureScheme,
};

pub(crate) use self::cause::Cause;
use self::words::{
    bare, fault_with_certificate, fault_with_list, hint, in_quotes, keys, list, names,
    remedy_for_ech, remedy_for_groups, remedy_for_issuer, remedy_for_signer, suites_remedy,
    unaccepted,
};
use crate::algorithms::{Group, KeyAlgorithm};
use crate::hello::MAX_MESSAGE;
use crate::hello::Offer;
use crate::hello::Start;
use crate::identity::IdentitySet;
use crate::sign::SigningError;
use crate::verify::{SlhDsa, UnknownKey, post_quantum_schemes};

/// Why a handshake was refused, and what to do: rustls's error, together with what both
/// sides offered.
///
/// It is made from the error at hand: rustls's own, the I/O error of a stream
/// ([`rustls::Stream`], tokio-rustls), or another one around these, such as hyper's:
///
/// ```
/// use std::net::TcpStream;
/// use std::sync::Arc;
///
/// use rustls::pki_types::ServerName;
/// use rustls::{ClientConfig, ClientConnection, StreamOwned};
/// use rustls_pq::Refusal;
///
/// fn connect(
///     config: &Arc<ClientConfig>,
///     name: ServerName<'static>,
///     mut tcp: TcpStream,
/// ) -> Result<StreamOwned<ClientConnection, TcpStream>, Refusal> {
///     let mut connection = ClientConnection::new(config.clone(), name)?;
///     connection
///         .complete_io(&mut tcp)
///         .map_err(|error| Refusal::by_client(&error, config))?;
///     Ok(StreamOwned::new(connection, tcp))
/// }
/// # let base = rustls::crypto::ring::default_provider();
/// # let config = ClientConfig::builder_with_provider(base.into())
/// #     .with_safe_default_protocol_versions()?
/// #     .with_root_certificates(rustls::RootCertStore::empty())
/// #     .with_no_client_auth();
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let tcp = TcpStream::connect(listener.local_addr()?)?;
/// # drop(listener.accept()?);
/// # let refusal = connect(&config.into(), "localhost".try_into()?, tcp).unwrap_err();
/// # assert!(matches!(refusal, Refusal::ConnectionLost { .. }), "{refusal}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// A server sees what both sides offered:
///
/// ```
/// use rustls::server::Acceptor;
/// use rustls_pq::{Offer, Refusal};
///
/// # fn accept(
/// #     config: std::sync::Arc<rustls::ServerConfig>,
/// #     bytes: &mut &[u8],
/// # ) -> Result<rustls::ServerConnection, Box<dyn std::error::Error>> {
/// let mut acceptor = Acceptor::default();
/// # while !bytes.is_empty() {
/// acceptor.read_tls(bytes)?;
/// # }
/// let accepted = acceptor.accept().map_err(|(error, _alert)| error)?;
/// let accepted = accepted.ok_or("there is more to read")?;
/// let offer = Offer::of(&accepted.client_hello());
/// let connection = accepted.into_connection(config.clone()).map_err(|(error, _alert)| {
///     // The alert is to be sent to the client, the cause is for the log.
///     Refusal::by_server(&error, &offer, &config, None)
/// })?;
/// # Ok(connection)
/// # }
/// # use std::sync::Arc;
/// # let identities = rustls_pq::identity::Identities::new(Default::default());
/// # let base = rustls::crypto::ring::default_provider();
/// # let server = rustls::ServerConfig::builder_with_provider(base.clone().into())
/// #     .with_safe_default_protocol_versions()?
/// #     .with_no_client_auth()
/// #     .with_cert_resolver(Arc::new(identities));
/// # let client = rustls::ClientConfig::builder_with_provider(base.into())
/// #     .with_safe_default_protocol_versions()?
/// #     .with_root_certificates(rustls::RootCertStore::empty())
/// #     .with_no_client_auth();
/// # let mut client = rustls::ClientConnection::new(client.into(), "localhost".try_into()?)?;
/// # let mut hello = Vec::new();
/// # client.write_tls(&mut hello)?;
/// # let refusal = accept(server.into(), &mut &hello[..]).unwrap_err().to_string();
/// # assert!(refusal.starts_with("no certificate for \"localhost\""), "{refusal}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// `pq_ca::policy::Refusal` is something else: what a policy forbids.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no key exchange group in common. The alert is `handshake_failure` (RFC 9846,
    /// section 4.2.8).
    #[error(
        "no key exchange group in common: the client offers {}, the server accepts {}; {}",
        list(client),
        list(server),
        remedy_for_groups(client, server)
    )]
    NoSharedGroup {
        /// What the client offers.
        client: Vec<Group>,
        /// What the server accepts.
        server: Vec<Group>,
    },

    /// There is no signature scheme in common. The alert is `handshake_failure` (RFC 9846, section
    /// 4.4.2.2).
    #[error(
        "no signature scheme in common: the client accepts {:?}{}; add a certificate with a \
         key that the client accepts, or let the client accept more",
        Start(client),
        keys(server)
    )]
    NoSharedSignatureScheme {
        /// What the client accepts.
        client: Vec<SignatureScheme>,
        /// The server's keys, where they are known.
        server: Vec<KeyAlgorithm>,
    },

    /// There is no cipher suite in common. The alert is `handshake_failure` (RFC 9846, section
    /// 4.1.1).
    #[error(
        "no cipher suite in common: the client offers {:?}, the server accepts {server:?}; {}",
        Start(client),
        suites_remedy(.client, .server)
    )]
    NoSharedCipherSuite {
        /// What the client offers.
        client: Vec<CipherSuite>,
        /// What the server accepts.
        server: Vec<CipherSuite>,
    },

    /// There is no version in common. The alert is `protocol_version` (RFC 9846, section 4.2.1).
    #[error(
        "no version in common: one side speaks TLS 1.2 only and the other one TLS 1.3 only; \
         post-quantum key exchange needs TLS 1.3 on both sides, and TLS 1.2 needs a provider with \
         classical groups, such as Profile::Default, in a configuration with both versions"
    )]
    NoSharedVersion,

    /// The server has no certificate for the name, and no default one. The alert should be
    /// `unrecognized_name` (RFC 6066, section 3); rustls sends `access_denied`.
    #[error(
        "no certificate for {}, and no default one; add a certificate for this name, or a default",
        in_quotes(.name)
    )]
    NoCertificateForName {
        /// What the client asks for.
        name: Option<String>,
    },

    /// The server sent the alert `handshake_failure`, because it has nothing in common with the
    /// client. The alert doesn't say what is missing.
    #[error(
        "the server has nothing in common with what this client offers (alert handshake_failure): \
         key exchange groups {}, signature schemes {schemes:?}, cipher suites {suites:?}; offer \
         more of them (without Builder::roots, also classical signatures if the roots are post-quantum), or \
         look in the server's log for what it accepts",
        list(groups)
    )]
    NothingInCommon {
        /// The groups that the client offers.
        groups: Vec<Group>,
        /// The signature schemes that it accepts.
        schemes: Vec<SignatureScheme>,
        /// The cipher suites that it offers.
        suites: Vec<CipherSuite>,
    },

    /// The client sent no certificate, but the server requires one. The alert is `certificate_required`
    /// (RFC 9846, section 4.4.2.4).
    #[error(
        "the server requires a client certificate; give the client one whose issuer and algorithm \
         the server accepts"
    )]
    ClientCertificateRequired,

    /// A certificate of the peer has a signature of an algorithm that isn't accepted. The alert should
    /// be `unsupported_certificate` (RFC 9846, section 4.4.2.2); rustls sends `decrypt_error`.
    #[error(
        "a certificate of the peer is signed with {}; accepted are {accepted:?}: have the peer use \
         a chain signed with these, or accept more: take another profile, leave out \
         Builder::require_pq_authentication, or add schemes to Builder::signature_schemes",
        unaccepted(error)
    )]
    SignatureAlgorithm {
        /// What rustls says.
        error: CertificateError,
        /// The schemes that are accepted.
        accepted: Vec<SignatureScheme>,
    },

    /// The messages of the peer, its certificate chain in particular, are larger than rustls
    /// takes. How large they are isn't known: rustls doesn't read them.
    ///
    /// The standard has neither this limit nor an alert for it. rustls sends `decode_error`
    /// if one message is too large, and no alert if several messages together are.
    ///
    /// This side's own chain is checked when an [`Identity`](crate::identity::Identity) is made from
    /// it: that error [has the sizes](crate::identity::IdentityError::TooLarge).
    #[error(
        "the peer's certificate chain is too large: with the messages around it, it is more than \
         the {limit} bytes that rustls takes; have the peer leave out the root, or use smaller \
         certificates and signatures (ML-DSA rather than SLH-DSA for all but the root)"
    )]
    ChainTooLarge {
        /// What rustls takes, in bytes.
        limit: usize,
    },

    /// The peer's certificate is from an issuer that isn't trusted. The alert is `unknown_ca`
    /// (RFC 9846, section 6.2).
    #[error(
        "the peer's certificate chain doesn't lead to a root that is trusted here; trust its root, \
         if you know whose root it is, or have the peer send the intermediate certificates that \
         lead to a root that is trusted here{}",
        remedy_for_issuer(*.asks_for_both)
    )]
    UnknownIssuer {
        /// Whether this side is a client that asks for signatures of both kinds, post-quantum and classical. Then a server
        /// with a chain of each kind may have sent the one that leads nowhere here.
        /// [`Builder::roots`](crate::Builder::roots) asks for the kind of the roots at hand first, or alone if they are
        /// post-quantum.
        asks_for_both: bool,
    },

    /// The peer's raw public key (RFC 7250) is none of those in
    /// [`PinnedKeys`](crate::verify::PinnedKeys). The alert is `certificate_unknown`.
    #[error(
        "the peer's raw public key is none of those that are accepted here; accept it, if you know \
         whose key it is, or have the peer use the key that is known here"
    )]
    UnknownKey,

    /// A signature of the peer is wrong. The alert should be `bad_certificate` for a signature
    /// in the chain (RFC 9846, section 6.2), and `decrypt_error` for the one over the
    /// handshake; rustls sends `decrypt_error` for both.
    #[error(
        "a signature by the peer is wrong: either one in its certificate chain, if the root here has \
         the issuer's name and another key, or the one over the handshake, if the peer doesn't have \
         the key of its certificate; compare the root here with the one that issued the chain"
    )]
    BadSignature,

    /// The server's certificate is for other names. The alert is `bad_certificate`.
    #[error(
        "the server's certificate is not for {expected:?} but for {}; connect by a name that it \
         is for, or have the server get one for this name",
        names(presented)
    )]
    WrongName {
        /// What the client asked for.
        expected: String,
        /// The names and addresses in the certificate.
        presented: Vec<String>,
    },

    /// A certificate of the peer isn't valid any more. The alert is `certificate_expired` (RFC
    /// 9846, section 6.2).
    #[error(
        "a certificate of the peer has expired ({error}); the peer needs a new one, unless the \
         clock here is wrong"
    )]
    Expired {
        /// What rustls says.
        error: CertificateError,
    },

    /// A certificate of the peer isn't valid yet. The alert is `certificate_expired` (RFC
    /// 9846, section 6.2).
    #[error(
        "a certificate of the peer is not valid yet ({error}); wait until it is, unless the clock \
         here is wrong"
    )]
    NotValidYet {
        /// What rustls says.
        error: CertificateError,
    },

    /// A certificate of the peer is on a revocation list, or is revoked by an OCSP response. The alert
    /// is `certificate_revoked` (RFC 9846, section 6.2).
    #[error("a certificate of the peer has been revoked; the peer needs a new one, for a new key")]
    Revoked,

    /// It isn't known whether a certificate of the peer has been revoked: there is no revocation
    /// list of its issuer, or only an expired one. The standard has no alert for this, and
    /// rustls sends `unknown_ca`. A verifier of rustls gets lists by `with_crls`.
    #[error(
        "whether a certificate of the peer has been revoked isn't known ({error}); get the newest \
         revocation lists of all CAs in its chain, and give them to what verifies it"
    )]
    RevocationUnknown {
        /// What rustls says.
        error: CertificateError,
    },

    /// A revocation list for a certificate of the peer can't be used. The standard has no alert for
    /// it, and rustls sends `handshake_failure`.
    #[error(
        "a revocation list for a certificate of the peer can't be used: {}; get the newest one from \
         the CA that issued the certificate",
        fault_with_list(error)
    )]
    RevocationList {
        /// What rustls says.
        error: CertRevocationListError,
    },

    /// The OCSP response that a server staples to its certificate is missing, or can't be used.
    /// [`CheckOcsp`](crate::verify::CheckOcsp) checked it; its
    /// [`OcspRefusal`](crate::verify::OcspRefusal) says more. The alert is
    /// `bad_certificate_status_response` (RFC 9846, section 6.2).
    #[error(
        "the OCSP response that the server should send with its certificate is missing, or of no use, \
         as the log says; have the server staple one that its CA has made for this certificate, and that \
         has not expired"
    )]
    OcspResponse,

    /// A client uses a server's certificate, or the other way round. The alert is
    /// `unsupported_certificate` (RFC 9846, section 6.2).
    #[error(
        "the peer's certificate is not for this use ({error}); servers need one that is issued for \
         servers, and clients one for clients"
    )]
    WrongPurpose {
        /// What rustls says.
        error: CertificateError,
    },

    /// The key usage of a certificate of the peer doesn't allow this use.
    /// [`EnforceKeyUsage`](crate::verify::EnforceKeyUsage) checked it. The alert is
    /// `certificate_unknown`.
    #[error(
        "the certificate of {subject} may not be used like this: {error}; have its issuer issue it \
         again, with a key usage that allows it"
    )]
    KeyUsage {
        /// Whose certificate it is: the peer's own, or one of a CA above it.
        subject: String,
        /// What its key usage lacks or may not have.
        error: KeyUsageError,
    },

    /// The peer sent a CA certificate in place of its own certificate. The alert is
    /// `certificate_unknown`.
    #[error(
        "the peer's own certificate is a CA certificate (CaUsedAsEndEntity), which is for issuing \
         others; have the CA issue one for the peer, and trust the CA's here. With \
         `-addext basicConstraints=critical,CA:false`, OpenSSL makes a certificate that isn't a CA's"
    )]
    CaCertificate,

    /// The server can't decrypt the ClientHello that this client has encrypted (RFC 9849, section 6.1.6). The alert is
    /// `ech_required`, by the client.
    #[error(
        "the server can't decrypt this client's ClientHello (ECH): {}",
        remedy_for_ech(*.retry)
    )]
    EncryptedClientHello {
        /// Whether the server sent configurations for another attempt.
        retry: bool,
    },

    /// The peer refused the certificate of this side.
    #[error(
        "the peer refused the certificate of this side (alert {alert:?}): {}",
        fault_with_certificate(*alert)
    )]
    CertificateRefused {
        /// What the peer sent.
        alert: AlertDescription,
    },

    /// The server refused the connection. It may not know the name: the alert for that should
    /// be `unrecognized_name` (RFC 6066, section 3), but rustls sends `access_denied`.
    #[error(
        "the server refused the connection (alert {alert:?}): it may have no certificate for the \
         name that it was asked for; ask for one that it has, or find the reason in its log"
    )]
    NameUnknown {
        /// What the server sent.
        alert: AlertDescription,
    },

    /// The peer ended the handshake for another reason.
    #[error("the peer ended the handshake with the alert {alert:?}; {}", hint(*alert))]
    Alert {
        /// What the peer sent.
        alert: AlertDescription,
    },

    /// The peer sent something that isn't TLS, or is damaged.
    #[error(
        "the peer sent something that is not TLS, or is damaged ({error:?}); is there a TLS \
         peer at this address and port?"
    )]
    NotTls {
        /// What rustls says.
        error: InvalidMessage,
    },

    /// This side has not signed the handshake: the [signer](crate::identity::Identity::with_signer) of its certificate has
    /// failed, or has returned what is no signature by the certificate's key. rustls sends no alert; a server can send
    /// [one](crate::ServerHandshake::alert_for).
    #[error("this side could not sign the handshake: {reason}{}", remedy_for_signer(*.is_transient))]
    NotSigned {
        /// What the signer says, or what is wrong with its signature.
        reason: String,
        /// Whether the next handshake may succeed without anybody's help.
        is_transient: bool,
    },

    /// Not a failure of TLS: the peer closed the connection without an alert, or something
    /// between the two broke it.
    #[error(
        "the connection ended, and no alert says why ({error}); look in the peer's log: the peer \
         may not speak TLS there, or may not take a chain as large as this side's, for which rustls \
         sends no alert"
    )]
    ConnectionLost {
        /// What the error says.
        error: String,
    },

    /// Something else, in rustls's words.
    #[error(transparent)]
    Other(#[from] Error),
}

impl Refusal {
    /// Why the handshake of a server with `config` and a client with `offer` failed.
    /// `identities` are the server's, if they are known.
    pub fn by_server(
        error: &(dyn StdError + 'static),
        offer: &Offer,
        config: &ServerConfig,
        identities: Option<&IdentitySet>,
    ) -> Self {
        let provider = config.crypto_provider();
        Self::of(error, |error| match error {
            Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon) => Self::NoSharedGroup {
                client: offer.groups.clone(),
                server: groups(provider),
            },
            Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon) => {
                Self::NoSharedSignatureScheme {
                    client: offer.signature_schemes.clone(),
                    server: identities.map_or_else(Vec::new, |identities| {
                        identities.keys_for(offer.server_name.as_deref())
                    }),
                }
            }
            Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
                Self::NoSharedCipherSuite {
                    client: offer.cipher_suites.clone(),
                    server: suites(provider),
                }
            }
            // rustls has no error of its own for a resolver that finds nothing.
            Error::General(text) if text == "no server certificate chain resolved" => {
                Self::NoCertificateForName {
                    name: offer.server_name.clone(),
                }
            }
            Error::NoCertificatesPresented => Self::ClientCertificateRequired,
            &Error::AlertReceived(alert) if is_about_certificates(alert) => {
                Self::CertificateRefused { alert }
            }
            error => Self::by_either(error, provider),
        })
    }

    /// Why the handshake of a client with `config` failed.
    pub fn by_client(error: &(dyn StdError + 'static), config: &ClientConfig) -> Self {
        let provider = config.crypto_provider();
        Self::of(error, |error| match error {
            Error::AlertReceived(AlertDescription::HandshakeFailure) => Self::NothingInCommon {
                groups: groups(provider),
                schemes: schemes(provider),
                suites: suites(provider),
            },
            Error::AlertReceived(AlertDescription::CertificateRequired) => {
                Self::ClientCertificateRequired
            }
            Error::AlertReceived(AlertDescription::ProtocolVersion) => Self::NoSharedVersion,
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => Self::UnknownIssuer {
                asks_for_both: asks_for_both(provider),
            },
            Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(
                configs,
            )) => Self::EncryptedClientHello {
                retry: configs.is_some(),
            },
            &Error::AlertReceived(
                alert @ (AlertDescription::AccessDenied | AlertDescription::UnrecognisedName),
            ) => Self::NameUnknown { alert },
            &Error::AlertReceived(alert)
                if is_about_certificates(alert) && config.client_auth_cert_resolver.has_certs() =>
            {
                Self::CertificateRefused { alert }
            }
            error => Self::by_either(error, provider),
        })
    }

    fn of(error: &(dyn StdError + 'static), tls: impl FnOnce(&Error) -> Self) -> Self {
        match Cause::of(error) {
            Cause::Tls(error) => tls(error),
            Cause::BufferFull => Self::ChainTooLarge { limit: MAX_MESSAGE },
            Cause::Elsewhere => Self::ConnectionLost {
                error: error.to_string(),
            },
        }
    }

    fn by_either(error: &Error, provider: &CryptoProvider) -> Self {
        use PeerIncompatible as Peer;
        if let Error::Other(other) = error
            && let Some(error) = other.0.downcast_ref::<SigningError>()
        {
            return Self::NotSigned {
                reason: error.to_string(),
                is_transient: error.is_transient(),
            };
        }
        match error {
            Error::PeerIncompatible(
                Peer::Tls12NotOffered
                | Peer::Tls12NotOfferedOrEnabled
                | Peer::SupportedVersionsExtensionRequired
                | Peer::ServerDoesNotSupportTls12Or13
                | Peer::ServerTlsVersionIsDisabledByOurConfig,
            ) => Self::NoSharedVersion,
            Error::InvalidMessage(
                InvalidMessage::HandshakePayloadTooLarge
                | InvalidMessage::CertificatePayloadTooLarge,
            ) => Self::ChainTooLarge { limit: MAX_MESSAGE },
            &Error::InvalidMessage(error) => Self::NotTls { error },
            &Error::AlertReceived(alert) => Self::Alert { alert },
            Error::InvalidCertificate(error) => Self::by_certificate(error, provider),
            Error::InvalidCertRevocationList(error) => Self::RevocationList {
                error: error.clone(),
            },
            error => Self::Other(error.clone()),
        }
    }

    fn by_certificate(error: &CertificateError, provider: &CryptoProvider) -> Self {
        use CertificateError as Certificate;
        if let Certificate::Other(other) = error
            && let Some(ValidationError::KeyUsage { subject, error }) = other.0.downcast_ref()
        {
            return Self::KeyUsage {
                subject: subject.clone(),
                error: error.clone(),
            };
        }
        if let Certificate::Other(other) = error
            && other.0.is::<UnknownKey>()
        {
            return Self::UnknownKey;
        }
        let cloned = error.clone();
        match error {
            Certificate::UnknownIssuer => Self::UnknownIssuer {
                asks_for_both: false,
            },
            Certificate::BadSignature => Self::BadSignature,
            Certificate::NotValidForNameContext {
                expected,
                presented,
            } => Self::WrongName {
                expected: expected.to_str().into_owned(),
                presented: presented.iter().map(|name| bare(name)).collect(),
            },
            Certificate::Expired | Certificate::ExpiredContext { .. } => {
                Self::Expired { error: cloned }
            }
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                Self::NotValidYet { error: cloned }
            }
            Certificate::Revoked => Self::Revoked,
            Certificate::InvalidOcspResponse => Self::OcspResponse,
            Certificate::UnknownRevocationStatus
            | Certificate::ExpiredRevocationList
            | Certificate::ExpiredRevocationListContext { .. } => {
                Self::RevocationUnknown { error: cloned }
            }
            Certificate::InvalidPurpose | Certificate::InvalidPurposeContext { .. } => {
                Self::WrongPurpose { error: cloned }
            }
            Certificate::UnsupportedSignatureAlgorithmContext { .. }
            | Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                Self::SignatureAlgorithm {
                    error: cloned,
                    accepted: schemes(provider),
                }
            }
            // rustls has no name for it, and passes on what webpki calls it.
            Certificate::Other(OtherError(error)) if error.to_string() == "CaUsedAsEndEntity" => {
                Self::CaCertificate
            }
            _ => Self::Other(Error::InvalidCertificate(cloned)),
        }
    }
}

/// Whether this alert means that the peer refused the certificate, or the signature, that it
/// got.
fn is_about_certificates(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::BadCertificateStatusResponse
            | Alert::UnknownCA
            | Alert::DecryptError
    )
}

fn groups(provider: &CryptoProvider) -> Vec<Group> {
    let groups = provider.kx_groups.iter();
    groups.map(|group| group.name().into()).collect()
}

fn suites(provider: &CryptoProvider) -> Vec<CipherSuite> {
    let suites = provider.cipher_suites.iter();
    suites.map(|suite| suite.suite()).collect()
}

/// Whether a client asks for post-quantum and for classical signatures.
fn asks_for_both(provider: &CryptoProvider) -> bool {
    let post_quantum = post_quantum_schemes(SlhDsa::InChainsAndHandshakes);
    let schemes = schemes(provider);
    let (first, second): (Vec<_>, Vec<_>) = schemes
        .into_iter()
        .partition(|scheme| post_quantum.contains(scheme));
    !first.is_empty() && !second.is_empty()
}

fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    provider
        .signature_verification_algorithms
        .supported_schemes()
}
