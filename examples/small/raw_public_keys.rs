//! Raw public keys (RFC 7250): each side knows the other one's key, and there are no certificates.
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::sync::Arc;
use core::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use rustls::client::AlwaysResolvesClientRawPublicKeys as ClientKey;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::AlwaysResolvesServerRawPublicKeys as ServerKey;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, StreamOwned};
use rustls_pq::verify::PinnedKeys;
use rustls_pq::{Negotiated, Refusal};

fn main() -> Result<(), Box<dyn Error>> {
    let provider = Arc::new(rustls_pq::provider()?);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65);
    let (server_key, client_key, other_key) = (key()?, key()?, key()?);
    let only = |key: &SigningKey| Arc::new(PinnedKeys::new([key.spki().into_owned()], &provider));

    let config = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(only(&client_key))
        .with_cert_resolver(Arc::new(ServerKey::new(shown(&server_key, &provider)?)));
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            // Who is refused is told by an alert, and the next one is served.
            let _ = serve(tcp, &config);
        }
    });

    for (whose, expected) in [("the server's", &server_key), ("another", &other_key)] {
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            // rustls calls every verifier but its own dangerous.
            .dangerous()
            .with_custom_certificate_verifier(only(expected))
            .with_client_cert_resolver(Arc::new(ClientKey::new(shown(&client_key, &provider)?)));
        let config = Arc::new(config);
        let connection = ClientConnection::new(config.clone(), "localhost".try_into()?)?;
        let mut tls = StreamOwned::new(connection, TcpStream::connect(address)?);
        let mut said = String::new();
        if let Err(error) = tls.read_to_string(&mut said) {
            said = Refusal::by_client(&error, &config).to_string();
        }
        println!("expecting {whose} key: {said}");
    }
    Ok(())
}

/// Says what protects the connection.
fn serve(mut tcp: TcpStream, config: &Arc<ServerConfig>) -> Result<(), Box<dyn Error>> {
    let mut tls = ServerConnection::new(config.clone())?;
    tls.complete_io(&mut tcp)?;
    let negotiated = Negotiated::of(&tls).ok_or("the handshake is over")?;
    write!(tls.writer(), "{negotiated}")?;
    tls.send_close_notify();
    tls.complete_io(&mut tcp)?;
    Ok(())
}

/// The key as rustls has it, with its public half in the place of certificates.
fn shown(key: &SigningKey, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, Box<dyn Error>> {
    let private = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
    let private = provider.key_provider.load_private_key(private.into())?;
    Ok(CertifiedKey::new(vec![key.spki().to_vec().into()], private).into())
}
