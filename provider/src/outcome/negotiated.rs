use core::fmt;

use pq_x509::{Algorithm, SignatureAlgorithm};
use rustls::pki_types::CertificateDer;
use rustls::server::ServerConnection;
use rustls::{CipherSuite, CommonState, HandshakeKind, ProtocolVersion, SignatureScheme};

use crate::ObjectIdentifier;
use crate::algorithms::{Algorithms, Group, KeyAlgorithm, Signature};

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
///
/// # On a server
///
/// What protects a connection most of the time is the server's own certificate, and rustls
/// doesn't tell which one it was or what it signed with. [`ServerHandshake`](crate::ServerHandshake)
/// does; where there is just one certificate, [`Authentication::of`] does, too, for
/// [`with_own`](Self::with_own).
///
/// ```text
/// TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer not authenticated, this side
/// ML-DSA-65 (post-quantum), TLS_AES_256_GCM_SHA384, full handshake
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// `None` if it didn't, or if its certificates can't be read.
    pub peer: Option<Authentication>,
    /// The peer has shown certificates, or a raw public key, that can't be read.
    is_peer_unreadable: bool,
    /// How this side proved who it is, where the caller has said so by
    /// [`with_own`](Self::with_own), or a [`ServerHandshake`](crate::ServerHandshake) knows,
    /// which counts a resumed session as authenticated the way that the first one was.
    pub own: Option<Authentication>,
}

// `HandshakeKind` lacks `Eq`, though its equality is an equivalence.
impl Eq for Negotiated {}

/// How one side of a connection proved who it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authentication {
    /// The algorithm of the key in its own certificate.
    pub key: KeyAlgorithm,
    /// The scheme of the signature in the handshake. That of the peer is known where the key
    /// leaves no choice; rustls doesn't tell. It does leave one if it is an RSA key, and in
    /// TLS 1.2.
    pub scheme: Option<SignatureScheme>,
    /// Whether the key and the signature of every certificate that was shown are
    /// post-quantum. The signature of a CA that looks self-signed doesn't count, because such a
    /// certificate is trusted as it is: its issuer is its subject, and the signature is one
    /// that its own key can make. That of a post-quantum key under a classical signature counts.
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

    /// Reads a server's connection, with what it signs with, or what the session remembers of
    /// that if it is resumed.
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
    /// A [`ServerHandshake`](crate::ServerHandshake) knows what it signed the first one with.
    #[must_use]
    pub fn with_own(mut self, own: Option<Authentication>) -> Self {
        if !self.is_resumed() {
            self.own = own;
        }
        self
    }

    /// Whether the key exchange withstands a quantum computer. That of a resumed
    /// TLS 1.3 session is its own, on top of the first one.
    pub fn has_pq_key_exchange(&self) -> bool {
        self.group.is_some_and(Group::is_post_quantum)
    }

    /// Whether the authentication withstands a quantum computer: that of the peer and
    /// [that of this side](Self::with_own), or whichever of them there is.
    ///
    /// `false` if nobody is known to have proved anything, as on a server without client
    /// certificates where the caller hasn't said what it signed with; and if the peer's
    /// certificates can't be read, since a peer can see to that.
    pub fn has_pq_authentication(&self) -> bool {
        let mut known = [self.peer, self.own].into_iter().flatten().peekable();
        !self.is_peer_unreadable && known.peek().is_some() && known.all(|side| side.is_post_quantum)
    }

    /// Whether this is a session resumed.
    pub fn is_resumed(&self) -> bool {
        self.handshake == HandshakeKind::Resumed
    }
}

impl Authentication {
    /// By this chain, leaf first, in TLS 1.3. `None` if it is empty or a certificate can't be
    /// read.
    pub fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let algorithms = chain
            .iter()
            .map(|certificate| Algorithms::of(certificate))
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        Self::by(&algorithms)
    }

    /// Has the session remember this, unless it is resumed, and remembers something, or may yet
    /// turn out to be.
    pub(crate) fn remember(self, connection: &mut ServerConnection) {
        if let Some(remembered) = connection.received_resumption_data() {
            let remembered = remembered.to_vec();
            connection.set_resumption_data(&remembered);
        } else if connection.handshake_kind() != Some(HandshakeKind::FullWithHelloRetryRequest) {
            connection.set_resumption_data(&self.to_bytes());
        }
    }

    /// The form in which a session has it: [`FORMAT`], whether it is post-quantum, the scheme
    /// or 0, the kind of key, and what else there is to say of that kind.
    fn to_bytes(self) -> Vec<u8> {
        let (kind, detail) = match self.key {
            KeyAlgorithm::PostQuantum(algorithm) => (0, algorithm.oid().as_bytes().to_vec()),
            KeyAlgorithm::EcdsaP256 => (1, Vec::new()),
            KeyAlgorithm::EcdsaP384 => (2, Vec::new()),
            KeyAlgorithm::EcdsaP521 => (3, Vec::new()),
            KeyAlgorithm::Ed25519 => (4, Vec::new()),
            KeyAlgorithm::Ed448 => (5, Vec::new()),
            KeyAlgorithm::Rsa { bits } => (6, bits.to_string().into_bytes()),
            KeyAlgorithm::Other(oid) => (7, oid.as_bytes().to_vec()),
            KeyAlgorithm::HashSlhDsa(algorithm) => (8, algorithm.oid().as_bytes().to_vec()),
        };
        let [high, low] = self.scheme.map_or(0, u16::from).to_be_bytes();
        let head = [FORMAT, self.is_post_quantum.into(), high, low, kind];
        [&head, detail.as_slice()].concat()
    }

    /// What [`to_bytes`](Self::to_bytes) wrote; `None` for anything else.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([FORMAT, is_post_quantum, high, low, kind], detail) = bytes.split_first_chunk()?
        else {
            return None;
        };
        let scheme = u16::from_be_bytes([*high, *low]);
        Some(Self {
            key: match (kind, detail) {
                (0, oid) => KeyAlgorithm::PostQuantum(signature_algorithm(oid)?),
                (1, []) => KeyAlgorithm::EcdsaP256,
                (2, []) => KeyAlgorithm::EcdsaP384,
                (3, []) => KeyAlgorithm::EcdsaP521,
                (4, []) => KeyAlgorithm::Ed25519,
                (5, []) => KeyAlgorithm::Ed448,
                (6, bits) => KeyAlgorithm::Rsa {
                    bits: core::str::from_utf8(bits).ok()?.parse().ok()?,
                },
                (7, oid) => KeyAlgorithm::Other(ObjectIdentifier::from_bytes(oid).ok()?),
                (8, oid) => KeyAlgorithm::HashSlhDsa(signature_algorithm(oid)?),
                _ => return None,
            },
            scheme: (scheme != 0).then(|| scheme.into()),
            is_post_quantum: match is_post_quantum {
                0 => false,
                1 => true,
                _ => return None,
            },
        })
    }

    /// By a chain of certificates with these algorithms.
    pub(crate) fn by(algorithms: &[Algorithms]) -> Option<Self> {
        let key = algorithms.first()?.key;
        Some(Self {
            key,
            scheme: key.only_scheme(),
            is_post_quantum: key.is_post_quantum()
                && Algorithms::relied_on(algorithms).all(Signature::is_post_quantum),
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
            None if self.is_peer_unreadable => {
                f.write_str(", peer with certificates that can't be read")?;
            }
            None => f.write_str(", peer not authenticated")?,
        }
        if let Some(own) = self.own {
            write!(f, ", this side {own}")?;
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

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, scheme, .. } = self;
        let by = match scheme {
            Some(scheme) if key.only_scheme().is_none() => format!(" by {scheme:?}"),
            // The key says as much, or nobody does.
            _ => String::new(),
        };
        match (key.is_post_quantum(), self.is_post_quantum) {
            (true, false) => write!(f, "{key}{by} with a classical signature in its chain"),
            (_, is_post_quantum) => write!(f, "{key}{by} ({})", in_words(is_post_quantum)),
        }
    }
}

/// The first byte of what a session remembers, and the version of the rest.
const FORMAT: u8 = 1;

fn signature_algorithm(oid: &[u8]) -> Option<SignatureAlgorithm> {
    match Algorithm::from_oid(ObjectIdentifier::from_bytes(oid).ok()?)? {
        Algorithm::Signature(algorithm) => Some(algorithm),
        _ => None,
    }
}

fn in_words(is_post_quantum: bool) -> &'static str {
    match is_post_quantum {
        true => "post-quantum",
        false => "classical",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_remember_every_kind_of_key() {
        let other = ObjectIdentifier::new_unwrap("1.2.840.10040.4.1");
        let keys = SignatureAlgorithm::ALL
            .iter()
            .copied()
            .map(KeyAlgorithm::PostQuantum)
            .chain([
                KeyAlgorithm::HashSlhDsa(SignatureAlgorithm::SlhDsaShake192f),
                KeyAlgorithm::EcdsaP256,
                KeyAlgorithm::EcdsaP384,
                KeyAlgorithm::EcdsaP521,
                KeyAlgorithm::Ed25519,
                KeyAlgorithm::Ed448,
                KeyAlgorithm::Rsa { bits: 3072 },
                KeyAlgorithm::Other(other),
            ]);
        for key in keys {
            for (scheme, is_post_quantum) in [
                (key.only_scheme(), key.is_post_quantum()),
                (Some(SignatureScheme::RSA_PSS_SHA256), false),
            ] {
                let authentication = Authentication {
                    key,
                    scheme,
                    is_post_quantum,
                };
                let bytes = authentication.to_bytes();
                assert_eq!(Authentication::from_bytes(&bytes), Some(authentication));
                assert_eq!(Authentication::from_bytes(&bytes[..4]), None);
                let of_another_format = [&[FORMAT + 1], &bytes[1..]].concat();
                assert_eq!(Authentication::from_bytes(&of_another_format), None);
            }
        }
        for bytes in [
            &[][..],
            b"the application's own",
            &[1, 0, 0, 0, 9],
            &[1, 2, 0, 0, 1],
        ] {
            assert_eq!(Authentication::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
