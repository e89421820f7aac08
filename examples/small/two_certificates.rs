//! A server with a classical and a post-quantum certificate: each client gets the one that it can verify.
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::sync::Arc;
use core::error::Error;

use pq_serving::client::{Request, Trust, fetch};
use pq_serving::{Limits, Server, Tls, provider};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls_pq::Profile;
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey};
use rustls_pq::identity::{Identities, Identity, IdentitySet};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let leaf = || CertificateBuilder::server().dns_name("localhost");
    let ecdsa = || ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256);
    let ml_dsa = || SigningKey::generate(SignatureAlgorithm::MlDsa65);
    let classical_root = Issuer::self_signed(CertificateBuilder::ca("Classical Root"), ecdsa()?)?;
    let root = Issuer::self_signed(CertificateBuilder::ca("Post-Quantum Root"), ml_dsa()?)?;

    let (classical_key, key) = (ecdsa()?, ml_dsa()?);
    let classical_leaf = classical_root.issue(leaf(), &classical_key)?.to_pem();
    let pq_leaf = root.issue(leaf(), &key)?.to_pem();

    let provider = provider(Profile::Default, &[])?;
    let identity =
        |chain: &str, key: &str| Identity::from_pem(chain.as_bytes(), key.as_bytes(), &provider);
    // First the chain that all clients trust.
    let set = IdentitySet::new()
        .with_default(identity(&classical_leaf, &classical_key.to_pkcs8_pem())?)
        .with_default(identity(&pq_leaf, &key.to_pkcs8_pem()?)?);
    let tls = Tls::with(provider.clone(), Arc::new(Identities::new(set)), None)?;
    let server = Server::bind("127.0.0.1:0", tls, Limits::default()).await?;
    let url = format!("https://localhost:{}/", server.local_addr().port());

    for trusted in [classical_root.certificate(), root.certificate()] {
        let trust = Trust::only(trusted.clone(), "this process");
        let request = Request::new(url.parse()?, trust);
        let report = fetch(Request {
            address: Some(server.local_addr()),
            ..request
        })
        .await?;
        let scheme = report.summary.signature_scheme.ok_or("a full handshake")?;
        println!("who trusts {}: {scheme}", trusted.describe_subject());
    }
    server.shutdown().await;
    Ok(())
}
