//! Makes one key exchange group of rustls's from two, for any two groups: shares are split, and secrets concatenated,
//! as a `HybridLayout` says.

use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

/// A classical and a post-quantum group in one: their shares and their secrets are concatenated
/// (RFC 9954, section 3; RFC 10024).
///
/// rustls 0.24 exports a type of the same name and shape.
#[derive(Debug)]
pub struct Hybrid {
    /// The classical half. Its implementation does the checks of RFC 9846, section 7.4.2: the point is
    /// on the curve, an X25519 result isn't zero.
    pub classical: &'static dyn SupportedKxGroup,
    /// The post-quantum half.
    pub post_quantum: &'static dyn SupportedKxGroup,
    /// The code point of the combination.
    pub name: NamedGroup,
    /// How shares and secrets are put together.
    pub layout: HybridLayout,
}

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let classical = self.classical.start()?;
        let post_quantum = self.post_quantum.start()?;
        let client_share = self
            .layout
            .concat(post_quantum.pub_key(), classical.pub_key());

        Ok(Box::new(ActiveHybrid {
            classical,
            post_quantum,
            name: self.name,
            layout: self.layout,
            client_share,
        }))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (post_quantum_share, classical_share) = self.layout.split_client_share(client_share)?;

        // The post-quantum half first: it refuses a bad share before it draws
        // randomness or does anything expensive.
        let post_quantum = self.post_quantum.start_and_complete(post_quantum_share)?;
        let classical = self.classical.start_and_complete(classical_share)?;

        Ok(CompletedKeyExchange {
            group: self.name,
            pub_key: self
                .layout
                .concat(&post_quantum.pub_key, &classical.pub_key),
            secret: self.layout.combine(&post_quantum.secret, &classical.secret),
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.name
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// How the shares and the secrets of a [`Hybrid`] are put together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HybridLayout {
    /// Length of a classical share, in bytes; the same in both directions.
    pub classical_share_len: usize,
    /// Length of the post-quantum share of a client, in bytes: an encapsulation key.
    pub post_quantum_client_share_len: usize,
    /// Length of the post-quantum share of a server, in bytes: a ciphertext.
    pub post_quantum_server_share_len: usize,
    /// Whether the post-quantum part is first, both in shares and in the secret.
    ///
    /// It is first in X25519MLKEM768 only; the names say nothing about the order.
    pub post_quantum_first: bool,
}

impl HybridLayout {
    /// The post-quantum and the classical part of a client's share.
    fn split_client_share<'a>(&self, share: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Error> {
        self.split(share, self.post_quantum_client_share_len)
    }

    /// The post-quantum and the classical part of a server's share.
    fn split_server_share<'a>(&self, share: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Error> {
        self.split(share, self.post_quantum_server_share_len)
    }

    fn split<'a>(
        &self,
        share: &'a [u8],
        post_quantum_len: usize,
    ) -> Result<(&'a [u8], &'a [u8]), Error> {
        if Some(share.len()) != self.classical_share_len.checked_add(post_quantum_len) {
            return Err(PeerMisbehaved::InvalidKeyShare.into());
        }

        Ok(match self.post_quantum_first {
            true => share.split_at(post_quantum_len),
            false => {
                let (classical, post_quantum) = share.split_at(self.classical_share_len);
                (post_quantum, classical)
            }
        })
    }

    fn combine(&self, post_quantum: &SharedSecret, classical: &SharedSecret) -> SharedSecret {
        // `concat` allocates once, at the final size, and `SharedSecret` takes over this allocation and
        // wipes it, so no other copy is left behind.
        SharedSecret::from(self.concat(post_quantum.secret_bytes(), classical.secret_bytes()))
    }

    fn concat(&self, post_quantum: &[u8], classical: &[u8]) -> Vec<u8> {
        match self.post_quantum_first {
            true => [post_quantum, classical].concat(),
            false => [classical, post_quantum].concat(),
        }
    }
}

/// The client's state between its ClientHello and the ServerHello.
struct ActiveHybrid {
    classical: Box<dyn ActiveKeyExchange>,
    post_quantum: Box<dyn ActiveKeyExchange>,
    name: NamedGroup,
    layout: HybridLayout,
    client_share: Vec<u8>,
}

impl ActiveKeyExchange for ActiveHybrid {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        let (post_quantum_share, classical_share) = self.layout.split_server_share(server_share)?;

        let post_quantum = self.post_quantum.complete(post_quantum_share)?;
        let classical = self.classical.complete(classical_share)?;
        Ok(self.layout.combine(&post_quantum, &classical))
    }

    /// The classical half, which a server without the hybrid can take without a HelloRetryRequest.
    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.classical.group(), self.classical.pub_key()))
    }

    fn complete_hybrid_component(
        self: Box<Self>,
        server_share: &[u8],
    ) -> Result<SharedSecret, Error> {
        self.classical.complete(server_share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.client_share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
