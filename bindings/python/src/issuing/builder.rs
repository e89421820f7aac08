//! `pqtls.CertificateBuilder` for Python: one class over pq-x509's two builders, of a CA's and of an end entity's
//! certificate. A method that is only for the other role raises an error.

use core::net::IpAddr;

use pq_x509::certificate::{KeyUsages, Name, Validity};
use pq_x509::issuing::{Ca, EndEntity};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

use crate::errors::exceptions::IssueError;
use crate::input::{Time, big_endian};
use crate::names::{self, shown};

/// What a certificate will contain. Each method returns a new builder, and leaves the old one unchanged. An Issuer
/// makes a certificate from it, or raises an error that says what is missing.
///
/// >>> pqtls.CertificateBuilder.ca("Example CA").path_len(0).days(365)
/// <pqtls.CertificateBuilder for a CA>
#[pyclass(frozen, module = "pqtls")]
#[derive(Clone)]
pub(crate) struct CertificateBuilder(pub(super) Role);

#[derive(Clone)]
pub(super) enum Role {
    Ca(pq_x509::issuing::CertificateBuilder<Ca>),
    EndEntity(EndEntityBuilder),
}

/// The builder after a call of a method that both roles have.
macro_rules! after {
    ($builder:ident.$method:ident($($argument:expr),*)) => {
        Ok(Self(match $builder.0.clone() {
            Role::Ca(builder) => Role::Ca(builder.$method($($argument),*)),
            Role::EndEntity(builder) => Role::EndEntity(builder.$method($($argument),*)),
        }))
    };
}

type EndEntityBuilder = pq_x509::issuing::CertificateBuilder<EndEntity>;

impl CertificateBuilder {
    pub(super) fn end_entity_of(builder: EndEntityBuilder) -> Self {
        Self(Role::EndEntity(builder))
    }

    fn of_ca(
        &self,
        change: impl FnOnce(
            pq_x509::issuing::CertificateBuilder<Ca>,
        ) -> pq_x509::issuing::CertificateBuilder<Ca>,
    ) -> PyResult<Self> {
        match self.0.clone() {
            Role::Ca(builder) => Ok(Self(Role::Ca(change(builder)))),
            Role::EndEntity(_) => Err(IssueError::new_err(
                "only a CA's certificate can contain this; begin with CertificateBuilder.ca()",
            )),
        }
    }

    fn of_end_entity(
        &self,
        change: impl FnOnce(EndEntityBuilder) -> EndEntityBuilder,
    ) -> PyResult<Self> {
        match self.0.clone() {
            Role::EndEntity(builder) => Ok(Self(Role::EndEntity(change(builder)))),
            Role::Ca(_) => Err(IssueError::new_err(
                "a CA's certificate has no alternative names; begin with CertificateBuilder.server(), client() or \
                 end_entity()",
            )),
        }
    }
}

#[pymethods]
impl CertificateBuilder {
    /// A CA's certificate, valid for 3650 days.
    #[staticmethod]
    fn ca(common_name: String) -> Self {
        Self(Role::Ca(pq_x509::issuing::CertificateBuilder::ca(
            common_name,
        )))
    }

    /// A TLS server's certificate, valid for 90 days. It needs a DNS name or an address.
    #[staticmethod]
    fn server() -> Self {
        Self::end_entity_of(pq_x509::issuing::CertificateBuilder::server())
    }

    /// A TLS client's certificate, valid for 90 days.
    #[staticmethod]
    fn client() -> Self {
        Self::end_entity_of(pq_x509::issuing::CertificateBuilder::client())
    }

    /// A certificate without a purpose yet, valid for 90 days.
    #[staticmethod]
    fn end_entity() -> Self {
        Self::end_entity_of(pq_x509::issuing::CertificateBuilder::end_entity())
    }

    /// The subject's common name, of 1 to 64 characters, in place of any other name.
    fn common_name(&self, name: String) -> PyResult<Self> {
        after!(self.common_name(name))
    }

    /// The subject's full name, as RFC 4514 writes it, such as `"CN=Example Root,O=Example,C=SE"`.
    fn subject(&self, name: &str) -> PyResult<Self> {
        let name = parse_name(name)?;
        after!(self.subject(name))
    }

    /// Adds a DNS name, for an end entity only. The first label may be `*`.
    fn dns_name(&self, name: String) -> PyResult<Self> {
        self.of_end_entity(|builder| builder.dns_name(name))
    }

    /// Adds an address, for an end entity only: a `str` or an object of `ipaddress`.
    fn ip_address(&self, address: IpAddr) -> PyResult<Self> {
        self.of_end_entity(|builder| builder.ip_address(address))
    }

    /// Adds an e-mail address, for an end entity only.
    fn email_address(&self, address: String) -> PyResult<Self> {
        self.of_end_entity(|builder| builder.email_address(address))
    }

    /// Adds a URI, such as a SPIFFE ID, for an end entity only.
    fn uri(&self, uri: String) -> PyResult<Self> {
        self.of_end_entity(|builder| builder.uri(uri))
    }

    /// From when and until when the certificate is valid: times with a timezone. By default it is valid from one hour
    /// ago.
    fn validity(&self, not_before: Time, not_after: Time) -> PyResult<Self> {
        after!(self.validity(Validity::new(not_before.system(), not_after.system())))
    }

    /// For how many days from now the certificate is valid. It is valid from one hour ago.
    fn days(&self, days: u32) -> PyResult<Self> {
        after!(self.validity(Validity::days(days)))
    }

    /// The serial number, positive and of at most 20 bytes. The issuer has to keep it unique. By default it is random.
    fn serial_number(&self, number: &Bound<'_, PyInt>) -> PyResult<Self> {
        let number = big_endian(number)?;
        after!(self.serial_number(&number))
    }

    /// What the key may be used for, by the names of RFC 5280, such as `"digitalSignature"`. By default it is what the
    /// key and the role require.
    #[pyo3(signature = (*usages))]
    fn key_usage(&self, usages: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let names: Vec<String> = usages.extract()?;
        let mut usages = pq_x509::x509_cert::der::flagset::FlagSet::<KeyUsages>::default();
        for name in &names {
            usages |= names::key_usage(name)?;
        }
        after!(self.key_usage(usages))
    }

    /// Adds a URL of the issuer's revocation list.
    fn revocation_list_url(&self, url: String) -> PyResult<Self> {
        after!(self.revocation_list_url(url))
    }

    /// Adds a URL of a responder that says whether the certificate was revoked.
    fn ocsp_url(&self, url: String) -> PyResult<Self> {
        after!(self.ocsp_url(url))
    }

    /// Adds the purpose of TLS servers.
    fn server_auth(&self) -> PyResult<Self> {
        after!(self.server_auth())
    }

    /// Adds the purpose of TLS clients.
    fn client_auth(&self) -> PyResult<Self> {
        after!(self.client_auth())
    }

    /// How many CAs may be below this one. This is for a CA only, and so is all that permits or excludes names.
    fn path_len(&self, path_len: u8) -> PyResult<Self> {
        self.of_ca(|builder| builder.path_len(path_len))
    }

    /// Restricts the CA to this DNS name and those below it, and to others that are permitted.
    fn permit_dns(&self, name: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.permit_dns(name))
    }

    /// Keeps the CA from issuing for this DNS name and those below it.
    fn exclude_dns(&self, name: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.exclude_dns(name))
    }

    /// Restricts the CA to the addresses of this network, such as `"10.0.0.0/8"`, and to others that are permitted. The
    /// network is a `str` or an object of `ipaddress`.
    fn permit_ip(&self, network: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (address, prefix_len) = parse_network(network)?;
        self.of_ca(|builder| builder.permit_ip(address, prefix_len))
    }

    /// Keeps the CA from issuing for the addresses of this network.
    fn exclude_ip(&self, network: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (address, prefix_len) = parse_network(network)?;
        self.of_ca(|builder| builder.exclude_ip(address, prefix_len))
    }

    /// Restricts the CA to this e-mail address or those of this host, or with a dot before it, of hosts below it, and
    /// to others that are permitted.
    fn permit_email(&self, constraint: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.permit_email(constraint))
    }

    /// Keeps the CA from issuing for these e-mail addresses.
    fn exclude_email(&self, constraint: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.exclude_email(constraint))
    }

    /// Restricts the CA to URIs of this host, or with a dot before it, of hosts below it, and to others that are
    /// permitted.
    fn permit_uri(&self, host: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.permit_uri(host))
    }

    /// Keeps the CA from issuing for URIs of this host.
    fn exclude_uri(&self, host: String) -> PyResult<Self> {
        self.of_ca(|builder| builder.exclude_uri(host))
    }

    fn __repr__(&self) -> &'static str {
        match self.0 {
            Role::Ca(_) => "<pqtls.CertificateBuilder for a CA>",
            Role::EndEntity(_) => "<pqtls.CertificateBuilder for an end entity>",
        }
    }
}

pub(super) fn parse_name(name: &str) -> PyResult<Name> {
    name.parse()
        .map_err(|error| IssueError::new_err(format!("malformed name: {error}")))
}

/// An address and the length of its prefix, in bits.
fn parse_network(network: &Bound<'_, PyAny>) -> PyResult<(IpAddr, u8)> {
    let text = network.str()?;
    let text = text.to_str()?;
    let parsed = text
        .split_once('/')
        .and_then(|(address, prefix_len)| Some((address.parse().ok()?, prefix_len.parse().ok()?)));
    parsed.ok_or_else(|| {
        PyValueError::new_err(format!(
            "\"{}\" is not a network; write it as \"10.0.0.0/8\" or \"2001:db8::/32\"",
            shown(text)
        ))
    })
}
