//! A server whose certificates come from a CA by ACME, and are renewed while it runs:
//!
//!     cargo run -p pq-acme-client --example server -- https://ca.example/acme/directory www.example.org FOLDER ADDRESS [ROOTS]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::sync::Arc;
use core::error::Error;
use std::path::Path;

use pq_acme_client::AcmeSource;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, name, folder, address, roots @ ..] = arguments.as_slice() else {
        return Err("name the directory, a name, a folder and an address".into());
    };
    let mut source = AcmeSource::new(directory, [name], folder)?.agree_to_terms();
    if let [roots] = roots {
        source = source.roots_from(Path::new(roots))?;
    }
    let certificates = source.start(Arc::new(rustls_pq::provider()?)).await?;
    let acceptor = TlsAcceptor::from(Arc::new(certificates.server_config(["http/1.1"])?));
    let listener = TcpListener::bind(address).await?;
    loop {
        let (tcp, from) = listener.accept().await?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            if let Err(error) = greet(&acceptor, tcp).await {
                eprintln!("{from}: {error}");
            }
        });
    }
}

async fn greet(acceptor: &TlsAcceptor, tcp: TcpStream) -> std::io::Result<()> {
    let mut tls = acceptor.accept(tcp).await?;
    // Whatever is asked for: the answer is the same.
    let _ = tls.read(&mut [0; 4096]).await?;
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
    tls.write_all(answer.as_bytes()).await?;
    tls.shutdown().await
}
