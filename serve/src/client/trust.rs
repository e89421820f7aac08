//! The root certificates to trust, from a PEM file or from the demonstration, in the forms that rustls and pq-x509
//! take.

use std::fs;
use std::path::{Path, PathBuf};

use pq_x509::certificate::{Certificate, CertificateError};
use pq_x509::validation::{ChainValidator, ValidationError};
use rustls::RootCertStore;
use rustls::pki_types::SignatureVerificationAlgorithm;

/// The roots to trust, and where they are from.
#[derive(Debug)]
pub struct Trust {
    roots: Vec<Certificate>,
    /// For messages: the file's name, for instance.
    pub source: String,
}

impl Trust {
    /// Reads all certificates of a file: those of a PEM text, or one in DER.
    ///
    /// # Errors
    ///
    /// [`TrustError`] if the file can't be read, or has something else in it.
    pub fn from_pem_file(path: &Path) -> Result<Self, TrustError> {
        let file = fs::read(path).map_err(|error| TrustError::Read {
            path: path.to_owned(),
            error,
        })?;
        let roots = Certificate::chain_in(&file).map_err(|error| TrustError::Parse {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self {
            roots,
            source: path.display().to_string(),
        })
    }

    /// Trusts one certificate that is at hand.
    pub fn only(root: Certificate, source: impl Into<String>) -> Self {
        Self {
            roots: vec![root],
            source: source.into(),
        }
    }

    /// The roots in the form that pq-x509 takes.
    ///
    /// # Errors
    ///
    /// [`ValidationError`] if one of them can't be a root.
    pub fn to_validator(&self) -> Result<ChainValidator, ValidationError> {
        ChainValidator::new(self.roots.iter().cloned())
    }

    /// The roots in the form that rustls takes.
    ///
    /// # Errors
    ///
    /// [`rustls::Error`] if one of them can't be a root.
    pub fn to_store(&self) -> Result<RootCertStore, rustls::Error> {
        let mut store = RootCertStore::empty();
        for root in &self.roots {
            store.add(root.der().clone())?;
        }
        Ok(store)
    }

    /// The root that issued a certificate.
    pub fn issuer_of(
        &self,
        certificate: &Certificate,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Option<&Certificate> {
        self.roots.iter().find(|root| {
            root.subject() == certificate.issuer()
                && certificate.verify_signature(root, algorithms).is_ok()
        })
    }

    /// The names of the roots, for messages.
    pub fn subjects(&self) -> String {
        let roots = self.roots.iter();
        let names: Vec<_> = roots.map(Certificate::describe_subject).collect();
        names.join("; ")
    }
}

/// Why a file gives no roots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file can't be read.
    #[error("can't read the CA file {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// What is in the file are no certificates.
    #[error("the CA file {} can't be used: {error}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        error: CertificateError,
    },
}

#[cfg(test)]
mod tests {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};

    use super::*;

    /// In PEM or DER, with text in any encoding around it.
    #[test]
    fn roots_in_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root");
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap();
        let text = root.certificate().to_pem();
        let beside = [b"Schl\xfcssel\n", text.as_bytes()].concat();
        for file in [text.as_bytes(), &beside, root.certificate().der()] {
            fs::write(&path, file).unwrap();
            let trust = Trust::from_pem_file(&path).unwrap();
            assert_eq!(trust.to_store().unwrap().len(), 1);
        }
        fs::write(&path, &text[..text.len() - 10]).unwrap();
        let refused = Trust::from_pem_file(&path).unwrap_err();
        assert!(matches!(refused, TrustError::Parse { .. }), "{refused}");
    }
}
