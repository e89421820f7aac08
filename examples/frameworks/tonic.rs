//! tonic, both sides: a server that takes TLS streams, and a client that takes a connector.
//! With its own TLS, the feature `tls-ring`, tonic's client would refuse it.
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Duration;

use frameworks::{Pki, call, connector};
use rustls_pq::Negotiated;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{self, Sender};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::Routes;
use tonic::transport::{Endpoint, Server};

type Accepted = std::io::Result<TlsStream<TcpStream>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // axum.rs shows how the server's configuration is made, and reqwest.rs the client's. gRPC needs HTTP/2.
    let pki = Pki::issue();
    let acceptor = TlsAcceptor::from(pki.server(&["h2"]));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("https://localhost:{}", listener.local_addr()?.port());
    let (sender, accepted) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let Ok((tcp, _)) = listener.accept().await else {
                // That client is gone, or there are too many: the next one may succeed.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            // Slow handshakes don't delay others. pq-serving also limits how many there are.
            tokio::spawn(shake_hands(tcp, acceptor.clone(), sender.clone()));
        }
    });
    // Your services take the place of `Routes::default()`.
    let server = Server::builder().add_routes(Routes::default());
    tokio::spawn(server.serve_with_incoming(ReceiverStream::new(accepted)));

    let endpoint = Endpoint::from_shared(url)?;
    let connector = connector(pki.client());
    let mut channel = endpoint.connect_with_connector(connector).await?;
    let code = call(&mut channel, "/nobody.Service/Method").await?;
    println!("a call of what the server doesn't have: {code:?}");
    Ok(())
}

async fn shake_hands(tcp: TcpStream, acceptor: TlsAcceptor, sender: Sender<Accepted>) {
    let handshake = timeout(Duration::from_secs(10), acceptor.accept(tcp));
    // Who fails is gone, and nobody else is affected.
    if let Ok(Ok(tls)) = handshake.await {
        let negotiated = Negotiated::of(tls.get_ref().1);
        println!("{}", negotiated.expect("the handshake is over"));
        // The server may have stopped.
        let _ = sender.send(Ok(tls)).await;
    }
}
