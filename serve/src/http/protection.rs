//! What protects a connection, for whoever answers its requests.

use std::fmt;
use std::net::SocketAddr;

use pq_keys::signing::PreHash;
use pq_x509::certificate::Certificate;
use rustls::pki_types::CertificateDer;
use rustls::server::ServerConnection;
use rustls_pq::{KeyAlgorithm, Negotiated};
use serde::Serialize;

use crate::summary::{Summary, value};

/// What protects a connection, and who the client is. As text and as JSON, it is the page of [`Page`](super::Page).
///
/// `pq_keys::protection::Protection` is something else: how a private key is encrypted under a passphrase.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Protection {
    /// What was negotiated, in words.
    #[serde(flatten)]
    pub summary: Summary,
    /// The name that the client asked for, if it sent one.
    pub server_name: Option<String>,
    /// The subject of the client's certificate, if the server asked for one: for people to read. It may have any text
    /// that the CA has put there. Of a raw public key (RFC 7250), its algorithm and the SHA-256 of its
    /// SubjectPublicKeyInfo in hexadecimal: `ML-DSA-44 key with SHA-256 9f86…`.
    pub client_certificate: Option<String>,
    /// The chain that the client proved to own, leaf first, or the SubjectPublicKeyInfo of its raw public key; empty if
    /// the server asked for none.
    #[serde(skip)]
    pub client_chain: Vec<CertificateDer<'static>>,
    /// The client's address, as far as the network tells: a proxy's, if there is one. None over a Unix socket.
    #[serde(skip)]
    pub peer: Option<SocketAddr>,
    /// What was negotiated, for programs. None without TLS, and then nothing protects the connection.
    #[serde(skip)]
    pub negotiated: Option<Negotiated>,
    /// What no other connection has: its channel binding `tls-exporter` (RFC 9266), by which a message says that it was made
    /// for this connection. None without TLS.
    #[serde(skip)]
    pub channel_binding: Option<[u8; 32]>,
}

/// The label of `tls-exporter` (RFC 9266, section 2).
const CHANNEL_BINDING: &[u8] = b"EXPORTER-Channel-Binding";

impl Protection {
    pub(crate) fn of(
        connection: &ServerConnection,
        negotiated: Negotiated,
        peer: Option<SocketAddr>,
    ) -> Self {
        let scheme = negotiated.own.and_then(|own| own.scheme);
        let chain = connection.peer_certificates().unwrap_or_default();
        let exported = connection.export_keying_material([0; 32], CHANNEL_BINDING, Some(&[]));
        Self {
            summary: Summary::new(&negotiated, scheme, connection),
            server_name: connection.server_name().map(str::to_owned),
            client_certificate: chain.first().map(subject),
            client_chain: chain.to_vec(),
            peer,
            negotiated: Some(negotiated),
            // It fails before the end of the handshake alone.
            channel_binding: exported.ok(),
        }
    }

    /// A connection without TLS, which nothing protects.
    pub(crate) fn none(peer: Option<SocketAddr>) -> Self {
        Self {
            summary: Summary::plain(),
            server_name: None,
            client_certificate: None,
            client_chain: Vec::new(),
            peer,
            negotiated: None,
            channel_binding: None,
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = [
            ("server name", value(&self.server_name)),
            ("client certificate", value(&self.client_certificate)),
        ];
        for (label, value) in self.summary.rows().into_iter().chain(rest) {
            writeln!(f, "{label:20}  {value}")?;
        }
        Ok(())
    }
}

fn subject(leaf: &CertificateDer<'static>) -> String {
    // rustls has a raw public key in the place of a chain.
    if let Ok(algorithm) = KeyAlgorithm::of_spki_der(leaf) {
        let mut hasher = PreHash::Sha256.hasher();
        hasher.update(leaf);
        let hash = hasher.finish();
        let hash: String = hash
            .as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return format!("{algorithm} key with SHA-256 {hash}");
    }
    match Certificate::from_der(leaf) {
        Ok(certificate) => certificate.describe_subject(),
        Err(error) => format!("unreadable: {error}"),
    }
}
