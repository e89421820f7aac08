//! Clients that trust what their machine trusts: by the roots of its store (rustls-native-certs), and by its own verifier
//! (rustls-platform-verifier). The argument is the URL to get.
#![forbid(unsafe_code)]

use std::env;
use std::error::Error;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use rustls_pq::{Builder, Profile};

/// Verified by rustls, on every system. So roots of ML-DSA count where somebody has installed them.
fn by_native_roots() -> Result<ClientConfig, Box<dyn Error>> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        eprintln!("{error}");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    // Public roots are classical. With `roots`, servers that have chains of both kinds send the one that leads to these.
    let builder = Builder::with_default_base()?.profile(Profile::RequirePq);
    let provider = Arc::new(builder.roots(&roots).build()?);
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// Verified by the system on macOS, Windows and Android, whose policy counts then, and which may not know ML-DSA. On Linux it is
/// rustls again.
fn by_platform_verifier() -> Result<ClientConfig, Box<dyn Error>> {
    let builder = Builder::with_default_base()?.profile(Profile::RequirePq);
    Ok(
        ClientConfig::builder_with_provider(Arc::new(builder.build()?))
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth(),
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("the argument is a URL")?;
    for (by, config) in [
        ("native roots", by_native_roots()?),
        ("the platform's verifier", by_platform_verifier()?),
    ] {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(config)
            .no_proxy()
            .build()?;
        println!("by {by}: {}", client.get(&url).send().await?.text().await?);
    }
    Ok(())
}
