//! The verifier of client certificates, and the roots to trust for them.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pq::Builder;
use rustls_pq::verify::EnforceKeyUsage;

use super::error::TlsError;

/// Verifies clients' chains as rustls does, and checks that their key usage allows what they are used for.
///
/// The builder says which signatures clients are asked for. With [`Builder::roots`], a client with several
/// certificates sends one that may be under these roots.
///
/// # Errors
///
/// [`TlsError`] if there are no roots, or the provider can't be built.
pub fn client_verifier(
    builder: Builder,
    roots: RootCertStore,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let provider = Arc::new(builder.build()?);
    let webpki = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
        .build()
        .map_err(TlsError::ClientVerifier)?;
    Ok(Arc::new(EnforceKeyUsage::new(webpki)))
}

/// Reads the certificates of a PEM file as the roots to trust.
///
/// # Errors
///
/// [`TlsError::Pem`] names the file that could not be read, [`TlsError::Rustls`] is for
/// a certificate that cannot be a root.
pub fn roots_from_pem_file(path: &Path) -> Result<RootCertStore, TlsError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .and_then(|certificates| match certificates.is_empty() {
            true => Err(pem::Error::NoItemsFound),
            false => Ok(certificates),
        });
    let certificates = certificates.map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        error,
    })?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate)?;
    }
    Ok(roots)
}
