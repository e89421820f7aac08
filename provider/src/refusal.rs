use core::error::Error as StdError;

use rustls::crypto::CryptoProvider;
use rustls::{
    AlertDescription, CertificateError, CipherSuite, ClientConfig, Error, InvalidMessage,
    PeerIncompatible, ServerConfig, SignatureScheme,
};

use crate::cause::Cause;
use crate::identity::IdentitySet;
use crate::offer::MAX_MESSAGE;
use crate::{Group, KeyAlgorithm, Offer};

/// Why a handshake was refused, and what to do: rustls's error, together with what either
/// side offered.
///
/// It is made of the error that is at hand, whether that is rustls's own, the I/O error of a
/// stream ([`rustls::Stream`], tokio-rustls) or another one around these, such as hyper's:
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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The alert is `handshake_failure` (RFC 9846, section 4.2.8).
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

    /// The alert is `handshake_failure` (RFC 9846, section 4.4.2.2).
    #[error(
        "no signature scheme in common: the client accepts {client:?}{}; add a certificate with a \
         key that the client accepts beside the ones there are, or let the client accept more",
        keys(server)
    )]
    NoSharedSignatureScheme {
        /// What the client accepts.
        client: Vec<SignatureScheme>,
        /// The server's keys, where they are known.
        server: Vec<KeyAlgorithm>,
    },

    /// The alert is `handshake_failure` (RFC 9846, section 4.1.1).
    #[error(
        "no cipher suite in common: the client offers {client:?}, the server accepts {server:?}; \
         let one of them have one more"
    )]
    NoSharedCipherSuite {
        /// What the client offers.
        client: Vec<CipherSuite>,
        /// What the server accepts.
        server: Vec<CipherSuite>,
    },

    /// The alert is `protocol_version` (RFC 9846, section 4.2.1).
    #[error(
        "no version in common: one side speaks TLS 1.2 only and the other one TLS 1.3 only; \
         post-quantum key exchange needs TLS 1.3 on both sides, and TLS 1.2 needs a provider with \
         classical groups, such as Profile::Default"
    )]
    NoSharedVersion,

    /// The alert should be `unrecognized_name` (RFC 6066, section 3); rustls sends
    /// `access_denied`.
    #[error(
        "no certificate for {}, and no default one; add a certificate for this name, or a default",
        in_quotes(.name)
    )]
    NoCertificateForName {
        /// What the client asks for.
        name: Option<String>,
    },

    /// A client found that the server has nothing in common with it, or a server sent
    /// the alert for that reason. It doesn't say what is missing.
    #[error(
        "the server has nothing in common with what this client offers (alert handshake_failure): \
         key exchange groups {}, signature schemes {schemes:?}, cipher suites {suites:?}; offer \
         more of them, or find out from the server's log what it accepts",
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

    /// The alert is `certificate_required` (RFC 9846, section 4.4.2.4).
    #[error(
        "the server requires a client certificate; give the client one whose issuer and algorithm \
         the server accepts"
    )]
    ClientCertificateRequired,

    /// The alert should be `unsupported_certificate` (RFC 9846, section 4.4.2.2); rustls sends
    /// `decrypt_error`.
    #[error(
        "a certificate of the peer is signed with an algorithm that isn't accepted here \
         ({error}); accepted are {accepted:?}: have the peer use a chain signed with these, or \
         accept more (Builder::signature_schemes)"
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
    /// where one message is too large, and nothing where several are together.
    ///
    /// One's own chain is checked when an [`Identity`](crate::identity::Identity) is made of it,
    /// whose error [has the sizes](crate::identity::IdentityError::TooLarge).
    #[error(
        "the peer's certificate chain is too large: with the messages around it, it is more than \
         the {limit} bytes that rustls takes; have the peer leave out the root, or use smaller \
         certificates and signatures (ML-DSA rather than SLH-DSA for all but the root)"
    )]
    ChainTooLarge {
        /// What rustls takes, in bytes.
        limit: usize,
    },

    /// Not a failure of TLS: the peer closed the connection without an alert, or something
    /// between the two broke it.
    #[error(
        "the connection ended, and no alert says why ({error}); the peer's log may: it may not \
         speak TLS there, or it may take no chain as large as this side's, which rustls says \
         with no alert"
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
    /// Why a server with `config` refused a client that offered `offer`, or the client the
    /// server. `identities` are the server's, where they are known.
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
                    server: identities
                        .into_iter()
                        .flat_map(IdentitySet::identities)
                        .map(|identity| identity.key_algorithm())
                        .collect(),
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
            error => Self::by_either(error, provider),
        })
    }

    /// Why a client with `config` was refused by a server, or refused it.
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
        use CertificateError as Certificate;
        use PeerIncompatible as Peer;
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
            Error::InvalidCertificate(
                error @ (Certificate::UnsupportedSignatureAlgorithmContext { .. }
                | Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }),
            ) => Self::SignatureAlgorithm {
                error: error.clone(),
                accepted: schemes(provider),
            },
            error => Self::Other(error.clone()),
        }
    }
}

fn groups(provider: &CryptoProvider) -> Vec<Group> {
    let groups = provider.kx_groups.iter();
    groups.map(|group| group.name().into()).collect()
}

fn suites(provider: &CryptoProvider) -> Vec<CipherSuite> {
    let suites = provider.cipher_suites.iter();
    suites.map(|suite| suite.suite()).collect()
}

fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    provider
        .signature_verification_algorithms
        .supported_schemes()
}

fn list(groups: &[Group]) -> String {
    let names: Vec<_> = groups.iter().map(Group::to_string).collect();
    match names.is_empty() {
        true => "none".into(),
        false => names.join(", "),
    }
}

fn in_quotes(name: &Option<String>) -> String {
    match name {
        Some(name) => format!("{name:?}"),
        None => "clients that ask for no name".into(),
    }
}

fn keys(keys: &[KeyAlgorithm]) -> String {
    let names: Vec<_> = keys.iter().map(KeyAlgorithm::to_string).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", the server has keys for {}", names.join(", ")),
    }
}

fn remedy_for_groups(client: &[Group], server: &[Group]) -> &'static str {
    let has_pq = |groups: &[Group]| groups.iter().any(|group| group.is_post_quantum());
    match (has_pq(client), has_pq(server)) {
        (false, true) => {
            "the client needs post-quantum key exchange, X25519MLKEM768 best of all, or the server \
             a profile with classical groups"
        }
        (true, false) => {
            "the server needs post-quantum key exchange, X25519MLKEM768 best of all, or the client \
             a profile with classical groups"
        }
        _ => "let one of them have a group of the other (Builder::groups)",
    }
}
