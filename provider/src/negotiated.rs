use core::fmt;

use rustls::pki_types::CertificateDer;
use rustls::{CipherSuite, CommonState, HandshakeKind, ProtocolVersion, SignatureScheme};

use crate::certificate::Algorithms;
use crate::{Group, KeyAlgorithm};

/// What protects a connection. It prints in one line:
///
/// ```text
/// TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer ML-DSA-65 (post-quantum),
/// TLS_AES_256_GCM_SHA384, full handshake
/// ```
///
/// ```
/// use rustls_pq::Negotiated;
///
/// fn log(connection: &rustls::ClientConnection) {
///     match Negotiated::of(connection) {
///         Some(negotiated) if !negotiated.has_pq_key_exchange() => {
///             eprintln!("not post-quantum: {negotiated}");
///         }
///         Some(negotiated) => println!("{negotiated}"),
///         None => println!("still shaking hands"),
///     }
/// }
/// # let config = rustls::ClientConfig::builder_with_provider(
/// #         rustls::crypto::ring::default_provider().into(),
/// #     )
/// #     .with_safe_default_protocol_versions()?
/// #     .with_root_certificates(rustls::RootCertStore::empty())
/// #     .with_no_client_auth();
/// # log(&rustls::ClientConnection::new(config.into(), "localhost".try_into()?)?);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version of TLS.
    pub version: ProtocolVersion,
    /// The key exchange group. `None` where no key exchange took place, which is when
    /// a session of TLS 1.2 is resumed.
    pub group: Option<Group>,
    /// The cipher suite.
    pub cipher_suite: CipherSuite,
    /// Full, full with a HelloRetryRequest, or resumed.
    pub handshake: HandshakeKind,
    /// How the peer proved who it is: the server to a client, and the client to a
    /// server that asks for a certificate. A resumed session counts as authenticated
    /// the way that the first one was.
    ///
    /// `None` if it didn't, or if its certificate can't be read.
    pub peer: Option<PeerAuthentication>,
    /// The scheme that this side signed with, where the caller has said so by
    /// [`signed_with`](Self::signed_with).
    pub own_scheme: Option<SignatureScheme>,
}

/// How a peer proved who it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PeerAuthentication {
    /// The algorithm of the key in its own certificate.
    pub key: KeyAlgorithm,
    /// The scheme of the signature in the handshake, where the key leaves no choice;
    /// rustls doesn't tell. It does leave one if it is an RSA key, and in TLS 1.2.
    pub scheme: Option<SignatureScheme>,
    /// Whether the key and the signature of every certificate that the peer showed are
    /// post-quantum. The signatures of self-issued certificates don't count: they are
    /// trusted as they are.
    ///
    /// This takes all certificates into account because rustls doesn't say which of
    /// them led to a root: a peer that shows a classical cross-certificate
    /// beside its post-quantum chain counts as not post-quantum.
    pub is_post_quantum: bool,
}

impl Negotiated {
    /// Reads a connection of either side, over TCP or QUIC: all connections of rustls
    /// dereference to [`CommonState`].
    ///
    /// `None` as long as the handshake isn't complete.
    pub fn of(connection: &CommonState) -> Option<Self> {
        if connection.is_handshaking() {
            return None;
        }
        let version = connection.protocol_version()?;
        Some(Self {
            version,
            group: connection
                .negotiated_key_exchange_group()
                .map(|group| group.name().into()),
            cipher_suite: connection.negotiated_cipher_suite()?.suite(),
            handshake: connection.handshake_kind()?,
            peer: connection
                .peer_certificates()
                .and_then(|chain| PeerAuthentication::of(chain, version)),
            own_scheme: None,
        })
    }

    /// Adds what this side signed with, which rustls doesn't say.
    pub fn signed_with(mut self, scheme: Option<SignatureScheme>) -> Self {
        self.own_scheme = scheme;
        self
    }

    /// Whether the key exchange withstands a quantum computer. That of a resumed
    /// TLS 1.3 session is its own, on top of the first one.
    pub fn has_pq_key_exchange(&self) -> bool {
        self.group.is_some_and(Group::is_post_quantum)
    }

    /// Whether the peer's authentication withstands a quantum computer.
    pub fn has_pq_authentication(&self) -> bool {
        self.peer.is_some_and(|peer| peer.is_post_quantum)
    }

    /// Whether this is a session resumed.
    pub fn is_resumed(&self) -> bool {
        self.handshake == HandshakeKind::Resumed
    }
}

impl PeerAuthentication {
    fn of(chain: &[CertificateDer<'_>], version: ProtocolVersion) -> Option<Self> {
        let algorithms = chain
            .iter()
            .map(|certificate| Algorithms::of(certificate))
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        let key = algorithms.first()?.key;
        Some(Self {
            key,
            scheme: match version {
                ProtocolVersion::TLSv1_3 => key.only_scheme(),
                _ => None,
            },
            is_post_quantum: key.is_post_quantum()
                && algorithms.iter().all(|certificate| {
                    certificate.is_self_issued || certificate.signature.is_post_quantum()
                }),
        })
    }
}

impl fmt::Display for Negotiated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            ProtocolVersion::TLSv1_3 => f.write_str("TLS 1.3")?,
            ProtocolVersion::TLSv1_2 => f.write_str("TLS 1.2")?,
            other => write!(f, "{other:?}")?,
        }
        match self.group {
            Some(group) => write!(
                f,
                ", key exchange {group} ({})",
                in_words(group.is_post_quantum())
            )?,
            None => f.write_str(", no key exchange")?,
        }
        match self.peer {
            Some(peer) => write!(f, ", peer {peer}")?,
            None => f.write_str(", peer not authenticated")?,
        }
        if let Some(scheme) = self.own_scheme {
            write!(f, ", signed with {scheme:?}")?;
        }
        write!(
            f,
            ", {}, {}",
            // rustls marks the suites of TLS 1.3 where the registry does not.
            format!("{:?}", self.cipher_suite).replace("TLS13_", "TLS_"),
            match self.handshake {
                HandshakeKind::Full => "full handshake",
                HandshakeKind::FullWithHelloRetryRequest => "full handshake with HelloRetryRequest",
                HandshakeKind::Resumed => "resumed",
            }
        )
    }
}

impl fmt::Display for PeerAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, .. } = self;
        match (key.is_post_quantum(), self.is_post_quantum) {
            (true, false) => write!(f, "{key} with a classical signature in its chain"),
            (_, is_post_quantum) => write!(f, "{key} ({})", in_words(is_post_quantum)),
        }
    }
}

fn in_words(is_post_quantum: bool) -> &'static str {
    match is_post_quantum {
        true => "post-quantum",
        false => "classical",
    }
}
