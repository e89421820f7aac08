//! A server with fresh certificates in this process, and clients for it.

use std::net::{Ipv4Addr, SocketAddr};

use pq_serving::demonstration::{Issued, Pki};
use pq_serving::{Drained, Identity, Limits, Server, Tls};
use rustls::RootCertStore;
use rustls_pq::Group;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{Client, PATIENCE};

/// A server in this process.
pub(crate) struct Harness {
    pub(crate) pki: Pki,
    server: Server,
}

impl Harness {
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let names = ["localhost".try_into().unwrap()];
        let (pki, client_roots) = match options.client_certificates {
            true => {
                let pki = Pki::issue_with_client(&names).unwrap();
                let roots = pki.roots().unwrap();
                (pki, Some(roots))
            }
            false => (Pki::issue(&names).unwrap(), None),
        };
        Self::serve(pki, client_roots, options).await
    }

    /// A server for clients with certificates from another CA.
    pub(crate) async fn with_client_roots(client_roots: RootCertStore) -> Self {
        let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
        Self::serve(pki, Some(client_roots), Options::default()).await
    }

    async fn serve(pki: Pki, client_roots: Option<RootCertStore>, options: Options) -> Self {
        let identity = Identity::try_from(&pki.server).unwrap();
        let tls = Tls::new(identity, &options.groups, client_roots).unwrap();
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, options.limits)
            .await
            .unwrap();
        Self { pki, server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// A TCP connection that has said nothing yet.
    pub(crate) async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address()).await.unwrap()
    }

    /// A client that trusts the server.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address(), &self.pki.root, &[], None)
    }

    pub(crate) fn client_with_groups(&self, groups: &[Group]) -> Client {
        Client::new(self.address(), &self.pki.root, groups, None)
    }

    pub(crate) fn client_with_certificate(&self, issued: &Issued) -> Client {
        Client::new(self.address(), &self.pki.root, &[], Some(issued))
    }

    pub(crate) async fn shutdown(self) -> Drained {
        timeout(PATIENCE, self.server.shutdown())
            .await
            .expect("shutting down takes no longer than the grace")
    }
}

/// What a server can be started with.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) groups: Vec<Group>,
    pub(crate) client_certificates: bool,
    pub(crate) limits: Limits,
}
