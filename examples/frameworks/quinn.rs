//! QUIC with quinn, both sides. quinn doesn't show which group was negotiated, so the server here has just one.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;

use frameworks::Pki;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig};
use rustls::pki_types::CertificateDer;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Authentication, Builder, Group};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue();
    let group = Group::X25519MLKEM768;
    let provider = Arc::new(Builder::with_default_base()?.groups([group]).build()?);

    let identity = Identity::from_pem(pki.chain.as_bytes(), pki.key.as_bytes(), &provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(identities));
    config.alpn_protocols = vec!["example".into()];
    let server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config)?));
    let server = Endpoint::server(server, "127.0.0.1:0".parse()?)?;

    // reqwest.rs shows how it is made. It has several groups, and the server only the one.
    let mut config = pki.client();
    config.alpn_protocols = vec!["example".into()];
    let config = QuicClientConfig::try_from(config)?;
    let mut client = Endpoint::client("127.0.0.1:0".parse()?)?;
    client.set_default_client_config(ClientConfig::new(Arc::new(config)));

    let address = server.local_addr()?;
    tokio::spawn(async move {
        while let Some(incoming) = server.accept().await {
            tokio::spawn(async move {
                let mut stream = incoming.await?.open_uni().await?;
                stream.write_all(b"hello").await?;
                stream.finish()?;
                stream.stopped().await?;
                Ok::<_, Box<dyn Error + Send + Sync>>(())
            });
        }
    });

    let connection = client.connect(address, "localhost")?.await?;
    let chain = connection
        .peer_identity()
        .and_then(|it| it.downcast::<Vec<CertificateDer<'static>>>().ok())
        .ok_or("servers have certificates")?;
    let server = Authentication::of(&chain).ok_or("they can be read")?;
    let said = connection.accept_uni().await?.read_to_end(100).await?;
    let said = String::from_utf8(said)?;
    println!("key exchange {group}, server {server}: {said}");
    Ok(())
}
