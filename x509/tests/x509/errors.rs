//! What errors say when they are printed with their sources.

use core::error::Error;

use pq_x509::certificate::{
    Certificate, CertificateError, KeyUsageError, NameError, SignatureError,
};
use pq_x509::issuing::IssueError;
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::keys::{Algorithm, KemAlgorithm, KeyError, SignError};
use pq_x509::request::RequestError;
use pq_x509::revocation::{RevocationListError, UnusableList};
use pq_x509::validation::ValidationError;

/// If an error's text includes its cause, the cause is not its `source()`.
#[test]
fn each_thing_is_said_once() {
    let der = der::Error::from(der::ErrorKind::Failed);
    let syntax = SyntaxError::NoAlternativeName;
    let malformed = KeyError::Malformed {
        algorithm: Algorithm::Kem(KemAlgorithm::MlKem768),
        error: pq_core::Error::InconsistentKey,
    };
    let operation = KeyError::Operation {
        algorithm: Algorithm::Kem(KemAlgorithm::MlKem768),
        error: pq_core::Error::InconsistentKey,
    };
    let subject = || String::from("CN=CA");
    let pem = Certificate::from_pem("").unwrap_err();
    let errors: Vec<Box<dyn Error>> = vec![
        Box::new(SyntaxError::from(der)),
        Box::new(NameError::from(der)),
        Box::new(SignatureError::from(der)),
        Box::new(SignError::new("the token was pulled out")),
        Box::new(pem),
        Box::new(KeyError::from(der)),
        Box::new(KeyError::from(syntax.clone())),
        Box::new(malformed.clone()),
        Box::new(operation),
        Box::new(CertificateError::from(der)),
        Box::new(CertificateError::from(syntax.clone())),
        Box::new(RevocationListError::from(der)),
        Box::new(RevocationListError::from(syntax.clone())),
        Box::new(RequestError::from(der)),
        Box::new(RequestError::from(syntax)),
        Box::new(RequestError::from(malformed.clone())),
        Box::new(RequestError::from(SignatureError::from(der))),
        Box::new(RequestError::from(SignError::new("no token"))),
        Box::new(IssueError::from(malformed.clone())),
        Box::new(IssueError::from(der)),
        Box::new(IssueError::from(CertificateError::from(der))),
        Box::new(IssueError::from(RevocationListError::from(der))),
        Box::new(IssueError::from(SignError::new("no token"))),
        Box::new(ValidationError::from(CertificateError::from(der))),
        Box::new(ValidationError::KeyUsage {
            subject: subject(),
            error: KeyUsageError::CaWithoutCrlSign,
        }),
        Box::new(ValidationError::Key {
            subject: subject(),
            error: malformed,
        }),
        Box::new(ValidationError::UnusableRevocationList {
            issuer: subject(),
            error: UnusableList::Delta,
        }),
        Box::new(ValidationError::RevocationListSignature(
            SignatureError::from(der),
        )),
        Box::new(ValidationError::Other(webpki::Error::BadDer)),
    ];
    for error in errors {
        let mut next = Some(&*error);
        while let Some(error) = next {
            let text = error.to_string();
            next = error.source();
            let again = next.map(ToString::to_string).filter(|s| text.contains(s));
            assert_eq!(again, None, "{error:?}");
        }
    }
}
