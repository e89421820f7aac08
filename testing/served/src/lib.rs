//! A server of TLS whose key is elsewhere, for tests: in a token, or behind the door of a key store; and a search for that key in
//! memory.
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(target_os = "linux")]
pub mod needle;

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;

use hyper::body::Bytes;
use hyper::{Request, Response};
use pq_serving::{Client, Limits, Protection, Server, Tls, WholeRequests};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{Signer, SigningKey};
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::sign::{BoundedSigner, Bounds, SignatureCheck};
use tokio::runtime::Runtime;

/// A server on a port of 127.0.0.1, which answers `here` to everything.
pub struct Served {
    runtime: Runtime,
    server: Server,
}

impl Served {
    /// Serves by a certificate for `localhost` that `root` issues for the signer's key. Whoever waits for a signature waits
    /// no longer than `timeout`.
    ///
    /// # Panics
    /// If it can't serve.
    pub fn by(signer: impl Signer + 'static, root: &Issuer<SigningKey>, timeout: Duration) -> Self {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = root.issue(leaf, &signer).expect("a certificate");
        let bounds = Bounds {
            timeout,
            ..Bounds::default()
        };
        let signer = BoundedSigner::new(Arc::new(signer), bounds).expect("threads");
        let provider = pq_serving::provider(Profile::Default, &[]).expect("a provider");
        let chain = vec![leaf.into_der()];
        let identity =
            Identity::with_signer(chain, Arc::new(signer), SignatureCheck::Each, &provider);
        let identities = IdentitySet::new().with_default(identity.expect("an identity"));
        let tls = Tls::with(provider, Identities::new(identities).into(), None);
        let answer = |_: Request<Option<Bytes>>, _: &Protection, _: &Client| {
            Response::new(Bytes::from("here"))
        };
        let builder = Server::builder(tls.expect("a configuration"))
            .limits(Limits::default())
            .handler(WholeRequests::new(1000, 8, answer));
        let runtime = Runtime::new().expect("a runtime");
        let server = runtime.block_on(builder.bind(("127.0.0.1", 0)));
        Self {
            server: server.expect("a port"),
            runtime,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Lets its connections end.
    pub fn shut_down(self) {
        self.runtime.block_on(self.server.shutdown());
    }
}
