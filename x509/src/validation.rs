use core::cell::RefCell;

use pki_types::{
    CertificateDer, ServerName, SignatureVerificationAlgorithm, TrustAnchor, UnixTime,
};
use webpki::{EndEntityCert, VerifiedPath};
use x509_cert::ext::pkix::KeyUsages;

use crate::algorithm::Algorithm;
use crate::certificate::Certificate;
use crate::key_usage::{self, KeyUsageError, Role};
use crate::validation_error::ValidationError;
use crate::verification;

/// Decides whether a chain of certificates leads to a root that is trusted.
///
/// Paths are built and checked by webpki. Added to that are the roots' own validity, path
/// length and key usage, where webpki takes a root for a mere name and key, and the rules
/// for key usage of RFC 5280, RFC 9881 and RFC 9935, where webpki has none.
#[derive(Clone, Debug)]
pub struct ChainValidator {
    roots: Vec<Certificate>,
    /// The roots as webpki has them, in the same order.
    anchors: Vec<TrustAnchor<'static>>,
    algorithms: Vec<&'static dyn SignatureVerificationAlgorithm>,
    check_key_usage: bool,
}

impl ChainValidator {
    /// Trusts these roots, and signatures by ML-DSA.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRoots`] if there are none, [`ValidationError::RootNotACa`] if
    /// one is not a CA certificate.
    pub fn new(roots: impl IntoIterator<Item = Certificate>) -> Result<Self, ValidationError> {
        let roots: Vec<Certificate> = roots.into_iter().collect();
        if roots.is_empty() {
            return Err(ValidationError::NoRoots);
        }
        let anchors = roots
            .iter()
            .map(|root| match root.is_ca() {
                true => Ok(webpki::anchor_from_trusted_cert(root.der())?.to_owned()),
                false => Err(ValidationError::RootNotACa(root.describe_subject())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            roots,
            anchors,
            algorithms: verification::ALL.to_vec(),
            check_key_usage: true,
        })
    }

    /// Accepts signatures by these algorithms too, such as those of a classical provider.
    #[must_use]
    pub fn with_algorithms(
        mut self,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    ) -> Self {
        self.algorithms.extend_from_slice(algorithms);
        self
    }

    /// Accepts key usages that RFC 9881 and RFC 9935 forbid, and end entities that lack
    /// digitalSignature, for the sake of certificates that others issued carelessly. That
    /// CAs need keyCertSign stays.
    #[must_use]
    pub fn relax_key_usage(mut self) -> Self {
        self.check_key_usage = false;
        self
    }

    /// Validates the chain of a TLS server for the name or address that was dialled.
    ///
    /// The chain starts with the server's certificate; those of CAs follow in any order,
    /// and the root may be left out.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate_server(
        &self,
        chain: &[impl AsRef<[u8]>],
        name: &ServerName<'_>,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        self.validate(chain, Purpose::ServerAuth, Some(name), time)
    }

    /// Validates the chain of a TLS client. Who the client is, the caller reads from the
    /// first certificate.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate_client(
        &self,
        chain: &[impl AsRef<[u8]>],
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        self.validate(chain, Purpose::ClientAuth, None, time)
    }

    /// Validates a chain for a purpose, for a name if one is given, and at a time.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate(
        &self,
        chain: &[impl AsRef<[u8]>],
        purpose: Purpose,
        name: Option<&ServerName<'_>>,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let chain: Vec<CertificateDer<'_>> = chain
            .iter()
            .map(|certificate| CertificateDer::from(certificate.as_ref()))
            .collect();
        let (leaf, intermediates) = chain.split_first().ok_or(ValidationError::EmptyChain)?;
        let end_entity = EndEntityCert::try_from(leaf)?;

        // webpki's errors have no room for ours, so the outcome of our own checks on the
        // latest path goes beside them.
        let outcome = RefCell::new(None);
        let check = |path: &VerifiedPath<'_>| {
            let result = self.check_path(path, time);
            let ok = result.is_ok();
            outcome.replace(Some(result));
            // Any error that is not fatal has webpki try the next path.
            ok.then_some(()).ok_or(webpki::Error::UnknownIssuer)
        };
        let found = end_entity
            .verify_for_usage(
                &self.algorithms,
                &self.anchors,
                intermediates,
                time,
                purpose.to_webpki(),
                None,
                Some(&check),
            )
            .map(|_| ());
        let certificates = match (found, outcome.into_inner()) {
            // A path with sound signatures that our rules refuse says more than whatever
            // kept webpki from finding another.
            (_, Some(result)) => result?,
            (Err(error), None) => return Err(error.into()),
            (Ok(()), None) => return Err(ValidationError::Other(webpki::Error::UnknownIssuer)),
        };
        if let Some(name) = name {
            end_entity.verify_is_valid_for_subject_name(name)?;
        }
        Ok(ValidatedChain { certificates })
    }

    /// What webpki leaves out, for a path whose signatures it has verified.
    fn check_path(
        &self,
        path: &VerifiedPath<'_>,
        time: UnixTime,
    ) -> Result<Vec<Certificate>, ValidationError> {
        // Two roots may have the same name and key, so tell them apart by their place.
        let root = self
            .anchors
            .iter()
            .position(|anchor| core::ptr::eq(anchor, path.anchor()))
            .and_then(|index| self.roots.get(index))
            .ok_or(webpki::Error::UnknownIssuer)?;
        let leaf = Certificate::from_der(&path.end_entity().der())?;
        let intermediates = path
            .intermediate_certificates()
            .map(|certificate| Certificate::from_der(&certificate.der()))
            .collect::<Result<Vec<_>, _>>()?;

        check_root(root, &intermediates, time)?;
        for ca in intermediates.iter().chain([root]) {
            if let Some(usages) = ca.key_usage() {
                key_usage::check_role(Role::Ca, usages).map_err(of(ca))?;
            }
        }
        let certificates: Vec<Certificate> = [leaf]
            .into_iter()
            .chain(intermediates)
            .chain([root.clone()])
            .collect();
        if self.check_key_usage {
            check_key_usage(&certificates)?;
        }
        Ok(certificates)
    }
}

/// What a chain is validated for, by the extended key usage of its certificates.
/// Certificates without that extension serve every purpose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Purpose {
    /// A TLS server.
    ServerAuth,
    /// A TLS client.
    ClientAuth,
}

impl Purpose {
    fn to_webpki(self) -> webpki::KeyUsage {
        match self {
            Self::ServerAuth => webpki::KeyUsage::server_auth(),
            Self::ClientAuth => webpki::KeyUsage::client_auth(),
        }
    }
}

/// A chain that was found valid.
#[derive(Clone, Debug)]
pub struct ValidatedChain {
    certificates: Vec<Certificate>,
}

impl ValidatedChain {
    /// The path from the end entity to the root, both included. Certificates that were
    /// sent and are not on it are not here.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

/// A root's certificate is held to its own terms: RFC 5280 section 6.2 leaves that to the
/// implementation, and an expired or constrained root is what its owner made it.
fn check_root(
    root: &Certificate,
    intermediates: &[Certificate],
    time: UnixTime,
) -> Result<(), ValidationError> {
    let validity = root.parsed().tbs_certificate().validity();
    let unix_time =
        |time: x509_cert::time::Time| UnixTime::since_unix_epoch(time.to_unix_duration());
    let not_before = unix_time(validity.not_before);
    if time < not_before {
        return Err(ValidationError::NotYetValid { not_before, time });
    }
    let not_after = unix_time(validity.not_after);
    if time > not_after {
        return Err(ValidationError::Expired { not_after, time });
    }
    // RFC 5280 section 4.2.1.9 counts the intermediates that are not self-issued.
    let below = intermediates
        .iter()
        .filter(|ca| ca.subject() != ca.issuer())
        .count();
    match root.path_len() {
        Some(limit) if below > usize::from(limit) => Err(ValidationError::PathLengthExceeded),
        _ => Ok(()),
    }
}

/// The rules that the caller may relax, for each certificate from the end entity's on.
fn check_key_usage(certificates: &[Certificate]) -> Result<(), ValidationError> {
    for (index, certificate) in certificates.iter().enumerate() {
        let Some(usages) = certificate.key_usage() else {
            continue;
        };
        let algorithm = certificate.key_algorithm();
        key_usage::check_algorithm(algorithm, usages).map_err(of(certificate))?;
        let signs = matches!(algorithm, Some(Algorithm::Signature(_)));
        if index == 0 && signs && !usages.contains(KeyUsages::DigitalSignature) {
            return Err(of(certificate)(KeyUsageError::WithoutDigitalSignature));
        }
    }
    Ok(())
}

/// Says whose key usage an error is about.
fn of(certificate: &Certificate) -> impl Fn(KeyUsageError) -> ValidationError {
    move |source| ValidationError::KeyUsage {
        subject: certificate.describe_subject(),
        source,
    }
}
