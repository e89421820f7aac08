//! reqwest with a configuration of rustls's, and what it tells of the server's certificate.
#![forbid(unsafe_code)]

use std::error::Error;

use frameworks::{Pki, answer, listen};
use reqwest::tls::TlsInfo;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::{Authentication, Builder, Profile};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // A server that says what protects the connection: reqwest doesn't show which group was negotiated.
    let pki = Pki::issue();
    let (listener, port) = listen();
    tokio::spawn(answer(listener, pki.server(&["http/1.1"])));

    let mut roots = RootCertStore::empty();
    roots.add(pki.root.der().clone())?;
    // With `RequirePq`, it can't be a classical one. `roots` has the client ask for signatures that these roots make.
    let builder = Builder::with_default_base()?.profile(Profile::RequirePq);
    let provider = builder.roots(&roots).build()?;
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(config)
        .tls_info(true)
        .no_proxy()
        .build()?;

    let request = client.get(format!("https://localhost:{port}/"));
    let response = request.send().await?;
    let shown = response.extensions().get::<TlsInfo>();
    let certificate = shown.and_then(TlsInfo::peer_certificate);
    let certificate = CertificateDer::from(certificate.ok_or("servers have certificates")?);
    let server = Authentication::of(&[certificate]).ok_or("certificates can be read")?;
    println!("the server's certificate: {server}");
    println!("the server says: {}", response.text().await?);
    Ok(())
}
