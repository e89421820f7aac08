//! Whether a chain leads to a trusted root.

use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::revocation::RevocationPolicy;
use pq_x509::validation::{ValidatedChain, ValidationError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::certificates::{Certificate, CertificateRevocationList};
use crate::errors::OrRaise;
use crate::input::{Time, unix_time};
use crate::names::{self, shown};

/// Decides whether a chain of certificates leads to a trusted root. It never changes, and threads may share it.
///
/// All signatures must be by ML-DSA or SLH-DSA: chains with classical ones are refused.
///
/// Revocation is checked only if `revocation_lists` are given. Then a certificate that no list covers is refused,
/// unless `allow_unknown_status` is set. `end_entity_only` leaves CAs unchecked, and `allow_expired_lists` accepts
/// expired lists. `relax_key_usage` accepts key usages that the RFCs forbid.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
/// >>> leaf = root.issue(pqtls.CertificateBuilder.server().dns_name("example.org"), key)
/// >>> validator = pqtls.ChainValidator([root.certificate])
/// >>> len(validator.validate_server([leaf], "example.org"))
/// 2
/// >>> validator.validate_server([leaf], "example.net")
/// Traceback (most recent call last):
///     ...
/// pqtls.ValidationError: the certificate is not for example.net but for example.org; use one of these names, or have a certificate issued for example.net
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct ChainValidator(pq_x509::validation::ChainValidator);

impl ChainValidator {
    /// Validates while other threads run.
    fn run(
        &self,
        py: Python<'_>,
        chain: &[Py<Certificate>],
        time: Option<Time>,
        validate: impl FnOnce(
            &pq_x509::validation::ChainValidator,
            &[&pq_x509::certificate::Certificate],
            UnixTime,
        ) -> Result<ValidatedChain, ValidationError>
        + Send,
    ) -> PyResult<Vec<Certificate>> {
        let time = unix_time(time);
        let chain: Vec<_> = chain
            .iter()
            .map(|certificate| &certificate.get().0)
            .collect();
        let validated = py.detach(|| validate(&self.0, &chain, time)).or_raise()?;
        let certificates = validated.certificates().iter().cloned();
        Ok(certificates.map(Certificate).collect())
    }
}

#[pymethods]
impl ChainValidator {
    #[new]
    #[pyo3(signature = (
        roots,
        *,
        revocation_lists=None,
        end_entity_only=false,
        allow_unknown_status=false,
        allow_expired_lists=false,
        relax_key_usage=false,
    ))]
    fn new(
        py: Python<'_>,
        roots: Vec<Py<Certificate>>,
        revocation_lists: Option<Vec<Py<CertificateRevocationList>>>,
        end_entity_only: bool,
        allow_unknown_status: bool,
        allow_expired_lists: bool,
        relax_key_usage: bool,
    ) -> PyResult<Self> {
        if revocation_lists.is_none()
            && (end_entity_only || allow_unknown_status || allow_expired_lists)
        {
            return Err(PyValueError::new_err(
                "there are options for revocation lists, but no lists; give revocation_lists",
            ));
        }
        let validator = py.detach(|| -> Result<_, ValidationError> {
            let roots = roots.iter().map(|root| root.get().0.clone());
            let mut validator = pq_x509::validation::ChainValidator::new(roots)?;
            if relax_key_usage {
                validator = validator.relax_key_usage();
            }
            let Some(lists) = &revocation_lists else {
                return Ok(validator);
            };
            let lists = lists.iter().map(|list| list.get().0.clone());
            let mut policy = RevocationPolicy::new(lists)?;
            if end_entity_only {
                policy = policy.end_entity_only();
            }
            if allow_unknown_status {
                policy = policy.allow_unknown_status();
            }
            if allow_expired_lists {
                policy = policy.allow_expired_lists();
            }
            Ok(validator.with_revocation(policy))
        });
        validator.or_raise().map(Self)
    }

    /// Validates the chain of a TLS server. `name` is the DNS name or address that the client connected to; `time` has
    /// a timezone, and is now by default. The chain begins with the server's certificate. The CAs' certificates follow
    /// in any order, and the root may be left out. It returns the path with the root, or raises `ValidationError`.
    #[pyo3(signature = (chain, name, time=None))]
    fn validate_server(
        &self,
        py: Python<'_>,
        chain: Vec<Py<Certificate>>,
        name: &str,
        time: Option<Time>,
    ) -> PyResult<Vec<Certificate>> {
        let name = server_name(name)?;
        self.run(py, &chain, time, |validator, chain, time| {
            validator.validate_server(chain, &name, time)
        })
    }

    /// Validates the chain of a TLS client. The first certificate says who the client is.
    #[pyo3(signature = (chain, time=None))]
    fn validate_client(
        &self,
        py: Python<'_>,
        chain: Vec<Py<Certificate>>,
        time: Option<Time>,
    ) -> PyResult<Vec<Certificate>> {
        self.run(py, &chain, time, |validator, chain, time| {
            validator.validate_client(chain, time)
        })
    }

    /// Validates a chain for a purpose, `"server_auth"`, `"client_auth"` or `"documents"`, and for a DNS name or an
    /// address if one is given. The end entity's key may be of any algorithm, ML-KEM included.
    #[pyo3(signature = (chain, purpose, name=None, time=None))]
    fn validate(
        &self,
        py: Python<'_>,
        chain: Vec<Py<Certificate>>,
        purpose: &str,
        name: Option<&str>,
        time: Option<Time>,
    ) -> PyResult<Vec<Certificate>> {
        let purpose = names::purpose(purpose)?;
        let name = name.map(server_name).transpose()?;
        self.run(py, &chain, time, |validator, chain, time| {
            validator.validate(chain, purpose, name.as_ref(), time)
        })
    }

    /// Validates a chain for a purpose and an e-mail address.
    #[pyo3(signature = (chain, address, purpose="documents", time=None))]
    fn validate_email(
        &self,
        py: Python<'_>,
        chain: Vec<Py<Certificate>>,
        address: &str,
        purpose: &str,
        time: Option<Time>,
    ) -> PyResult<Vec<Certificate>> {
        let purpose = names::purpose(purpose)?;
        self.run(py, &chain, time, |validator, chain, time| {
            validator.validate_email(chain, address, purpose, time)
        })
    }

    /// Validates a chain for a purpose and a URI, which is compared character by character.
    #[pyo3(signature = (chain, uri, purpose="client_auth", time=None))]
    fn validate_uri(
        &self,
        py: Python<'_>,
        chain: Vec<Py<Certificate>>,
        uri: &str,
        purpose: &str,
        time: Option<Time>,
    ) -> PyResult<Vec<Certificate>> {
        let purpose = names::purpose(purpose)?;
        self.run(py, &chain, time, |validator, chain, time| {
            validator.validate_uri(chain, uri, purpose, time)
        })
    }
}

fn server_name(name: &str) -> PyResult<ServerName<'_>> {
    ServerName::try_from(name).map_err(|_| {
        PyValueError::new_err(format!(
            "\"{}\" is neither a DNS name nor an IP address",
            shown(name)
        ))
    })
}
