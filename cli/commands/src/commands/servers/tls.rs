//! TLS to servers, by this project's provider.

use alloc::sync::Arc;
use core::fmt;
use std::path::Path;

use pq_serving::{provider_builder, roots_from_pem_file};
use rustls::ClientConfig;
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, IdentityFiles};

/// A client's certificate chain and its private key, in PEM files.
pub(in crate::commands) struct ClientFiles<'a> {
    pub(in crate::commands) chain: &'a Path,
    pub(in crate::commands) key: &'a Path,
}

/// TLS to a server with a certificate for its name by one of the roots in a file. The client shows a certificate if it has one.
pub(in crate::commands) fn to_server(
    roots: &Path,
    client: Option<ClientFiles<'_>>,
) -> Result<ClientConfig, String> {
    let roots = roots_from_pem_file(roots).map_err(said)?;
    let builder = provider_builder(Profile::Default, &[]).map_err(said)?;
    let provider = Arc::new(builder.roots(&roots).build().map_err(said)?);
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(said)?
        .with_root_certificates(roots);
    Ok(match client {
        Some(ClientFiles { chain, key }) => {
            let files = IdentityFiles::new(provider).with(chain, key);
            let identities = Identities::new(files.load().map_err(said)?);
            config.with_client_cert_resolver(Arc::new(identities))
        }
        None => config.with_no_client_auth(),
    })
}

fn said(error: impl fmt::Display) -> String {
    error.to_string()
}
