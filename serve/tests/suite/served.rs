//! A server in this process whose parts the test chooses, and what tells that a handler's future has ended.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use pq_serving::demonstration::{Issued, Pki};
use pq_serving::{Identity, Limits, Server, ServerBuilder, Tls};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use crate::client::{Client, PATIENCE};
use crate::hostile::SHORT;

/// A server with fresh certificates.
pub(crate) struct Served {
    pub(crate) pki: Pki,
    pub(crate) server: Server,
}

impl Served {
    /// A server that asks nobody for a certificate.
    pub(crate) async fn with(choose: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
        Self::start(pki, choose).await
    }

    /// A server for the client of these certificates, if they have one.
    pub(crate) async fn start(
        pki: Pki,
        choose: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let identity = Identity::try_from(&pki.server).unwrap();
        let clients = pki.client.as_ref().map(|_| pki.roots().unwrap());
        let tls = Tls::new(identity, &[], clients).unwrap();
        let server = choose(Server::builder(tls))
            .bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .unwrap();
        Self { pki, server }
    }

    /// A server in which nothing ends before its time, and whose running requests have long to finish at the end.
    pub(crate) async fn with_grace(choose: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let limits = Limits {
            grace: 10 * PATIENCE,
            ..patient()
        };
        Self::with(|server| choose(server.limits(limits))).await
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(None)
    }

    /// Connects and sends this.
    pub(crate) async fn send(&self, request: &str) -> io::Result<TlsStream<TcpStream>> {
        let mut tls = self.client().connect().await?;
        tls.write_all(request.as_bytes()).await?;
        Ok(tls)
    }

    pub(crate) fn client_with(&self, issued: Option<&Issued>) -> Client {
        Client::new(self.server.local_addr(), &self.pki.root, &[], issued)
    }
}

/// A connection may last this long.
pub(crate) fn lasting(connection: Duration) -> Limits {
    Limits {
        connection,
        ..Limits::default()
    }
}

/// No limit of time ends a connection during the test.
pub(crate) fn patient() -> Limits {
    Limits {
        request_head: 10 * PATIENCE,
        ..lasting(10 * PATIENCE)
    }
}

/// Something in a handler's future: tells when it is made and when it is dropped.
pub(crate) struct Tells(mpsc::UnboundedSender<Event>);

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Begun,
    Dropped,
}

impl Drop for Tells {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.0.send(Event::Dropped);
    }
}

/// Makes [`Tells`], and waits for what they tell.
pub(crate) fn telling() -> (impl Fn() -> Tells + Send + Sync + 'static, Told) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let tells = move || {
        let _ = sender.send(Event::Begun);
        Tells(sender.clone())
    };
    (tells, Told(receiver))
}

pub(crate) struct Told(mpsc::UnboundedReceiver<Event>);

impl Told {
    /// The next thing that a handler tells.
    pub(crate) async fn next(&mut self) -> Event {
        let told = timeout(PATIENCE, self.0.recv()).await;
        told.expect("the handler tells").unwrap()
    }

    /// Waits until something was dropped, whatever else has begun.
    pub(crate) async fn dropped(&mut self) {
        while self.next().await != Event::Dropped {}
    }

    /// Sends a request by `send` until a handler has begun with one: on a busy machine, the time of a short connection
    /// may be over before its request is there. Returns what `send` did.
    pub(crate) async fn until_begun<T>(&mut self, send: impl AsyncFn() -> io::Result<T>) -> T {
        let start = Instant::now();
        loop {
            let sent = send().await;
            let begun = timeout(2 * SHORT, self.0.recv()).await;
            match (sent, begun) {
                (Ok(sent), Ok(Some(Event::Begun))) => return sent,
                (sent, _) => assert!(start.elapsed() < PATIENCE, "{:?}", sent.err()),
            }
        }
    }
}
