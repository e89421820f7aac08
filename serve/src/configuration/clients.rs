//! The verifier of client certificates, and the roots to trust for them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pq_x509::keys::encoding::pem;
use rustls::RootCertStore;
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

/// Reads the certificates of a file as the roots to trust: those of a PEM text, or one in DER.
///
/// # Errors
///
/// [`TlsError::Read`] and [`TlsError::Pem`] name the file that could not be read, [`TlsError::Rustls`] is for
/// a certificate that cannot be a root.
pub fn roots_from_pem_file(path: &Path) -> Result<RootCertStore, TlsError> {
    let file = fs::read(path).map_err(|error| TlsError::Read {
        path: path.to_owned(),
        error,
    })?;
    let certificates = pem::all_in(&file, "CERTIFICATE").map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        error,
    })?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.to_vec().into())?;
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};

    use super::*;

    /// However the file is written, all of its roots are read, and none is left out.
    #[test]
    fn roots_in_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roots");
        let roots = ["One", "Two"].map(|name| {
            let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
            let root = Issuer::self_signed(CertificateBuilder::ca(name), key).unwrap();
            root.certificate().clone()
        });
        let text = roots[0].to_pem() + &roots[1].to_pem();
        for (file, count) in [
            (text.clone().into_bytes(), 2),
            (text.replace('\n', " \r\n\n  ").into_bytes(), 2),
            ([b"\xef\xbb\xbfSchl\xfcssel\n", text.as_bytes()].concat(), 2),
            (roots[0].der().to_vec(), 1),
        ] {
            fs::write(&path, file).unwrap();
            assert_eq!(roots_from_pem_file(&path).unwrap().len(), count);
        }
        let cut = &text[..text.len() - 10];
        for file in [&cut.replace("-----END", "---END"), cut, "text"] {
            fs::write(&path, file).unwrap();
            let refused = roots_from_pem_file(&path).unwrap_err();
            assert!(matches!(refused, TlsError::Pem { .. }), "{refused}");
        }
    }
}
