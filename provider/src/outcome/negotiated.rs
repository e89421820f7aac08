//! Reads from a connection of rustls's what protects it: the group, the suite, and how both sides are authenticated.

use core::fmt;

use rustls::server::ServerConnection;
use rustls::{CipherSuite, CommonState, HandshakeKind, ProtocolVersion};

use crate::algorithms::{Authentication, Group, in_words};

/// What protects a connection. It prints on one line:
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
///
/// # On a server
///
/// Usually only the server has a certificate, and rustls doesn't tell which one it was or
/// what it signed with. [`ServerHandshake`](crate::ServerHandshake) does. If there is just one
/// certificate, [`Authentication::of`] can tell as well: give what it returns to
/// [`with_own`](Self::with_own).
///
/// ```text
/// TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer without a certificate, this side
/// ML-DSA-65 (post-quantum), TLS_AES_256_GCM_SHA384, full handshake
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version of TLS.
    pub version: ProtocolVersion,
    /// The key exchange group. `None` if no key exchange took place, which happens when
    /// a session of TLS 1.2 is resumed.
    pub group: Option<Group>,
    /// The cipher suite.
    pub cipher_suite: CipherSuite,
    /// Full, full with a HelloRetryRequest, or resumed.
    pub handshake: HandshakeKind,
    /// How the peer proved who it is: the server to a client, and the client to a
    /// server that asks for a certificate. A resumed session counts as authenticated
    /// in the same way as the first one.
    ///
    /// `None` if the peer didn't, or if its certificates can't be read.
    pub peer: Option<Authentication>,
    /// The peer has shown certificates, or a raw public key, that can't be read.
    is_peer_unreadable: bool,
    /// How this side proved who it is, if the caller has said so by
    /// [`with_own`](Self::with_own), or if a [`ServerHandshake`](crate::ServerHandshake) knows.
    /// The latter counts a resumed session as authenticated in the same way as the first one.
    pub own: Option<Authentication>,
}

// `HandshakeKind` lacks `Eq`, though its equality is an equivalence.
impl Eq for Negotiated {}

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
        let shown = connection.peer_certificates().unwrap_or_default();
        let peer = Authentication::of(shown);
        Some(Self {
            version,
            group: connection
                .negotiated_key_exchange_group()
                .map(|group| group.name().into()),
            cipher_suite: connection.negotiated_cipher_suite()?.suite(),
            handshake: connection.handshake_kind()?,
            peer: peer.map(|peer| Authentication {
                scheme: match version {
                    ProtocolVersion::TLSv1_3 => peer.scheme,
                    _ => None,
                },
                ..peer
            }),
            is_peer_unreadable: peer.is_none() && !shown.is_empty(),
            own: None,
        })
    }

    /// Reads a server's connection. `own` is what the server signs with; if the session is resumed,
    /// what the session remembers counts instead.
    pub(crate) fn of_server(
        connection: &ServerConnection,
        own: Option<Authentication>,
    ) -> Option<Self> {
        let negotiated = Self::of(connection)?;
        Some(match connection.received_resumption_data() {
            Some(remembered) if negotiated.is_resumed() => Self {
                own: Authentication::from_bytes(remembered),
                ..negotiated
            },
            _ => negotiated.with_own(own),
        })
    }

    /// Adds how this side proved who it is, which rustls doesn't say: see
    /// [above](Self#on-a-server).
    ///
    /// It changes nothing if a session is resumed: this side signs nothing then.
    /// A [`ServerHandshake`](crate::ServerHandshake) knows what it signed the first handshake with.
    #[must_use]
    pub fn with_own(mut self, own: Option<Authentication>) -> Self {
        if !self.is_resumed() {
            self.own = own;
        }
        self
    }

    /// Whether the key exchange withstands a quantum computer. A resumed TLS 1.3 session
    /// has a key exchange of its own, in addition to the first one.
    pub fn has_pq_key_exchange(&self) -> bool {
        self.group.is_some_and(Group::is_post_quantum)
    }

    /// Whether the authentication withstands a quantum computer: the peer's and
    /// [this side's](Self::with_own), or the one of them that is known.
    ///
    /// `false` if neither is known, as on a server without client certificates whose
    /// caller hasn't said what it signed with. Also `false` if the peer's certificates
    /// can't be read, because a peer can bring this about.
    pub fn has_pq_authentication(&self) -> bool {
        let mut known = [self.peer, self.own].into_iter().flatten().peekable();
        !self.is_peer_unreadable && known.peek().is_some() && known.all(|side| side.is_post_quantum)
    }

    /// Whether the session was resumed.
    pub fn is_resumed(&self) -> bool {
        self.handshake == HandshakeKind::Resumed
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
            None if self.is_peer_unreadable => {
                f.write_str(", peer with certificates that can't be read")?;
            }
            None => f.write_str(", peer without a certificate")?,
        }
        if let Some(own) = self.own {
            write!(f, ", this side {own}")?;
        }
        write!(
            f,
            ", {}, {}",
            // rustls writes `TLS13_` for suites of TLS 1.3, where the registry has `TLS_`.
            format!("{:?}", self.cipher_suite).replace("TLS13_", "TLS_"),
            match self.handshake {
                HandshakeKind::Full => "full handshake",
                HandshakeKind::FullWithHelloRetryRequest => "full handshake with HelloRetryRequest",
                HandshakeKind::Resumed => "resumed",
            }
        )
    }
}
