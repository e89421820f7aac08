//! How a client's first ClientHello stays small: a session store for rustls that names a classical group for the first
//! share.

use alloc::sync::Arc;

use rustls::NamedGroup;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue,
};
use rustls::pki_types::ServerName;

use crate::algorithms::Group;

/// Keeps the first ClientHello of a connection in one packet.
///
/// It has a share for a classical group only. The client sends the post-quantum share when the server
/// asks for it.
///
/// ```
/// use rustls::{ClientConfig, RootCertStore};
/// use rustls_pq::{Builder, SmallHello};
///
/// fn client(
///     roots: RootCertStore,
/// ) -> Result<ClientConfig, Box<dyn std::error::Error>> {
///     let provider = Builder::with_default_base()?.roots(&roots).build()?;
///     let mut config = ClientConfig::builder_with_provider(provider.into())
///         .with_safe_default_protocol_versions()?
///         .with_root_certificates(roots)
///         .with_no_client_auth();
///     config.resumption = SmallHello::new().into();
///     Ok(config)
/// }
/// ```
///
/// A share of X25519MLKEM768 has 1216 bytes. With it a ClientHello does not fit into the 1,400 bytes
/// or so that a TCP segment or a QUIC datagram carries on most paths. TLS allows that, but some
/// middleboxes and servers look at the first packet only, and drop or stall a ClientHello that comes in
/// two. Sizes in bytes with the server name `localhost` and with the record header, over graviola and
/// ring:
///
/// | first ClientHello | TLS 1.3 and 1.2 | TLS 1.3 alone |
/// |---|---|---|
/// | by default | 1,470 | 1,462 |
/// | with `SmallHello` | 250 | 242 |
///
/// `with_safe_default_protocol_versions` offers both versions if the base has TLS 1.2: graviola always,
/// the others with the feature `tls12`.
///
/// # What it costs
///
/// **One more round trip** with every server that has a post-quantum group: it answers with
/// a HelloRetryRequest, and the second ClientHello has the share. Servers without such a
/// group cost none.
///
/// The client's order of preference stays the same. Servers that follow it, such as those of rustls,
/// ask for the post-quantum group although they already have a share for another one, so the connection
/// is protected as without `SmallHello`. But some servers take any group for which they already have a
/// share, and with these the key exchange **is not post-quantum**. To prevent that, take
/// [`Profile::RequirePq`](crate::Profile::RequirePq), which offers post-quantum groups only. This type
/// then has no effect, since no classical share can be sent.
///
/// # How
///
/// rustls takes the group of its first share from the session store, which remembers the group that the
/// server used last. `SmallHello` is a store that passes sessions on to another store and always
/// returns the same group.
#[derive(Debug)]
pub struct SmallHello {
    sessions: Arc<dyn ClientSessionStore>,
    share: Group,
}

impl SmallHello {
    /// A share for x25519, and sessions with 256 servers in memory, like rustls's default.
    pub fn new() -> Self {
        Self::over(Arc::new(ClientSessionMemoryCache::new(256)))
    }

    /// A share for x25519, and sessions in `sessions`.
    pub fn over(sessions: Arc<dyn ClientSessionStore>) -> Self {
        Self {
            sessions,
            share: Group::X25519,
        }
    }

    /// Sends a share for `group` instead of x25519. It has no effect if the client's
    /// provider doesn't have the group.
    pub fn with_share(self, group: Group) -> Self {
        Self {
            share: group,
            ..self
        }
    }
}

impl Default for SmallHello {
    fn default() -> Self {
        Self::new()
    }
}

impl From<SmallHello> for Resumption {
    fn from(store: SmallHello) -> Self {
        Self::store(Arc::new(store))
    }
}

impl ClientSessionStore for SmallHello {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        Some(self.share.into())
    }

    fn set_tls12_session(&self, server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.sessions.set_tls12_session(server, session);
    }

    fn tls12_session(&self, server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions.tls12_session(server)
    }

    fn remove_tls12_session(&self, server: &ServerName<'static>) {
        self.sessions.remove_tls12_session(server);
    }

    fn insert_tls13_ticket(&self, server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.sessions.insert_tls13_ticket(server, ticket);
    }

    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.sessions.take_tls13_ticket(server)
    }
}
