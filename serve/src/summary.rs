//! What was negotiated, in the words that the server's page and the client's report share.

use rustls::{CommonState, HandshakeKind, ProtocolVersion, SignatureScheme};
use rustls_pq::Negotiated;
use serde::Serialize;

/// What [`Negotiated`] says, as text and as JSON.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Summary {
    /// The protocol version, such as `TLS 1.3`, or `none` without TLS.
    pub protocol: String,
    /// How the handshake went: `full`, `full with HelloRetryRequest` or `resumed`.
    pub handshake: &'static str,
    /// The key exchange group by its IANA name, such as `X25519MLKEM768`.
    pub group: String,
    /// What the server signed the handshake with, such as `ML-DSA-65`. A resumed
    /// handshake isn't signed.
    pub signature_scheme: Option<String>,
    /// The cipher suite by its IANA name, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher_suite: String,
    /// The application protocol, such as `http/1.1`.
    pub alpn: Option<String>,
}

/// A version of TLS as people write it.
pub(crate) fn protocol(version: ProtocolVersion) -> String {
    match version {
        ProtocolVersion::TLSv1_3 => "TLS 1.3".into(),
        ProtocolVersion::TLSv1_2 => "TLS 1.2".into(),
        other => format!("{other:?}"),
    }
}

impl Summary {
    /// Summarises a connection of either side; `scheme` is what the server has signed with.
    pub fn new(
        negotiated: &Negotiated,
        scheme: Option<SignatureScheme>,
        connection: &CommonState,
    ) -> Self {
        Self {
            protocol: protocol(negotiated.version),
            handshake: match negotiated.handshake {
                HandshakeKind::Full => "full",
                HandshakeKind::FullWithHelloRetryRequest => "full with HelloRetryRequest",
                HandshakeKind::Resumed => "resumed",
            },
            group: negotiated
                .group
                .map_or_else(|| NONE.into(), |group| group.to_string()),
            signature_scheme: scheme.filter(|_| !negotiated.is_resumed()).map(scheme_name),
            // rustls marks the suites of TLS 1.3 where the registry does not.
            cipher_suite: format!("{:?}", negotiated.cipher_suite).replace("TLS13_", "TLS_"),
            alpn: connection
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
        }
    }

    /// A connection without TLS.
    pub(crate) fn plain() -> Self {
        Self {
            protocol: NONE.into(),
            handshake: NONE,
            group: NONE.into(),
            signature_scheme: None,
            cipher_suite: NONE.into(),
            alpn: None,
        }
    }

    /// Labels and values, in the order to show them in.
    pub fn rows(&self) -> [(&'static str, &str); 6] {
        [
            ("protocol", &self.protocol),
            ("handshake", self.handshake),
            ("key exchange group", &self.group),
            ("signature scheme", value(&self.signature_scheme)),
            ("cipher suite", &self.cipher_suite),
            ("application protocol", value(&self.alpn)),
        ]
    }
}

/// The name of a signature scheme as standards write it: `ML-DSA-65` for mldsa65.
fn scheme_name(scheme: SignatureScheme) -> String {
    format!("{scheme:?}").replace('_', "-")
}

const NONE: &str = "none";

/// A value that may be missing.
pub(crate) fn value(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or(NONE)
}
