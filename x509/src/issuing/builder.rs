//! `CertificateBuilder`: what a caller wants in a certificate, and the extensions that follow from it. Its methods
//! differ for CAs and end entities; those for names come from `certificate::names`.

use core::marker::PhantomData;
use core::net::IpAddr;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_AD_OCSP, ID_KP_CLIENT_AUTH, ID_KP_OCSP_SIGNING, ID_KP_SERVER_AUTH,
};
use const_oid::db::rfc6960::ID_PKIX_OCSP_NOCHECK;
use der::Encode;
use der::asn1::{Null, OctetString};
use der::flagset::FlagSet;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::crl::dp::DistributionPoint;
use x509_cert::ext::pkix::name::DistributionPointName;
use x509_cert::ext::pkix::{
    AccessDescription, AuthorityInfoAccessSyntax, BasicConstraints, CrlDistributionPoints,
    ExtendedKeyUsage, KeyUsages, NameConstraints, SubjectAltName,
};
use x509_cert::name::Name;

use super::error::IssueError;
use crate::certificate::{
    AlternativeNames, NameError, Role, SpiffeId, Subject, Subtree, Validity,
    alternative_name_methods, encode_extension, names, subject_methods,
};

/// The contents of a certificate that an [`Issuer`](crate::issuing::Issuer) is to issue.
///
/// Start with [`ca`](CertificateBuilder::ca), [`server`](CertificateBuilder::server),
/// [`client`](CertificateBuilder::client) or
/// [`end_entity`](CertificateBuilder::end_entity). Names and numbers are checked when the
/// certificate is issued.
#[derive(Clone, Debug)]
#[must_use]
pub struct CertificateBuilder<K> {
    kind: PhantomData<K>,
    pub(crate) role: Role,
    pub(crate) subject: Subject,
    pub(crate) validity: Option<Validity>,
    pub(crate) serial_number: Option<Vec<u8>>,
    pub(crate) key_usage: Option<FlagSet<KeyUsages>>,
    path_len: Option<u8>,
    permitted: Vec<Subtree>,
    excluded: Vec<Subtree>,
    names: AlternativeNames,
    purposes: Vec<ObjectIdentifier>,
    list_urls: Vec<String>,
    ocsp_urls: Vec<String>,
    pub(crate) is_ocsp_responder: bool,
}

impl<K> CertificateBuilder<K> {
    subject_methods!();

    /// The time in which the certificate is valid. By default a CA's lasts for 3650 days
    /// and an end entity's for 90, and both start one hour ago.
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = Some(validity);
        self
    }

    /// The serial number, big-endian: positive and at most 20 bytes. The caller must keep it unique
    /// for the issuer. By default it is random.
    pub fn serial_number(mut self, number: &[u8]) -> Self {
        self.serial_number = Some(number.to_vec());
        self
    }

    /// The key usage, such as `KeyUsages::DigitalSignature | KeyUsages::NonRepudiation`.
    ///
    /// By default it suits the key and the role: keyCertSign and cRLSign for a
    /// CA, keyEncipherment for an ML-KEM key, digitalSignature for any other. When the certificate is
    /// issued, usages that RFC 9881, RFC 9909, RFC 9935 or RFC 5280 forbid are refused.
    pub fn key_usage(mut self, usages: impl Into<FlagSet<KeyUsages>>) -> Self {
        self.key_usage = Some(usages.into());
        self
    }

    /// Adds a URL of the revocation list of the certificate's issuer: a CRL
    /// distribution point (RFC 5280 section 4.2.1.13). If there are several URLs, each has the same list.
    ///
    /// Publish [`CertificateRevocationList::der`] there, with the media type
    /// `application/pkix-crl`. The scheme is `http`, because a list is signed, and a client that has to check
    /// a server's certificate before fetching the list might need the same list for that (RFC 5280
    /// section 8).
    ///
    /// ```
    /// # use pq_x509::issuing::CertificateBuilder;
    /// CertificateBuilder::server()
    ///     .dns_name("www.example.org")
    ///     .revocation_list_url("http://ca.example.org/issuing.crl");
    /// ```
    ///
    /// [`CertificateRevocationList::der`]: crate::revocation::CertificateRevocationList::der
    pub fn revocation_list_url(mut self, url: impl Into<String>) -> Self {
        self.list_urls.push(url.into());
        self
    }

    /// Adds a URL of the OCSP responder of the certificate's issuer, in the
    /// authorityInfoAccess extension (RFC 5280 section 4.2.2.1). The scheme is `http`, as for
    /// [revocation lists](Self::revocation_list_url).
    ///
    /// ```
    /// # use pq_x509::issuing::CertificateBuilder;
    /// CertificateBuilder::server()
    ///     .dns_name("www.example.org")
    ///     .ocsp_url("http://ocsp.example.org");
    /// ```
    pub fn ocsp_url(mut self, url: impl Into<String>) -> Self {
        self.ocsp_urls.push(url.into());
        self
    }

    /// Adds the extended key usage of TLS servers.
    ///
    /// In a CA's certificate, extended key usages limit the purposes of all certificates below it, for
    /// validators that check this: [`ChainValidator`](crate::validation::ChainValidator), OpenSSL, Go and browsers do.
    pub fn server_auth(self) -> Self {
        self.purpose(ID_KP_SERVER_AUTH)
    }

    /// The SPIFFE ID that the certificate is for. SPIFFE has rules of its own for key usages.
    pub(crate) fn spiffe_id(&self) -> Result<Option<SpiffeId>, NameError> {
        self.names.spiffe_id()
    }

    /// Adds the extended key usage of TLS clients.
    pub fn client_auth(self) -> Self {
        self.purpose(ID_KP_CLIENT_AUTH)
    }

    fn purpose(mut self, purpose: ObjectIdentifier) -> Self {
        if !self.purposes.contains(&purpose) {
            self.purposes.push(purpose);
        }
        self
    }

    /// The extensions that do not follow from the keys.
    pub(crate) fn extensions(&self, subject: &Name) -> Result<Vec<Extension>, IssueError> {
        let mut extensions = match self.role {
            Role::Ca => self.ca_extensions(subject)?,
            Role::EndEntity => self.end_entity_extensions(subject)?,
        };
        if !self.purposes.is_empty() {
            let purposes = ExtendedKeyUsage(self.purposes.clone());
            extensions.push(encode_extension(false, &purposes)?);
        }
        if !self.list_urls.is_empty() {
            let urls = self.list_urls.iter().map(|url| names::list_url(url));
            let point = DistributionPoint {
                distribution_point: Some(DistributionPointName::FullName(
                    urls.collect::<Result<_, _>>()?,
                )),
                reasons: None,
                crl_issuer: None,
            };
            let points = CrlDistributionPoints(vec![point]);
            extensions.push(encode_extension(false, &points)?);
        }
        if !self.ocsp_urls.is_empty() {
            let urls = self.ocsp_urls.iter().map(|url| {
                Ok(AccessDescription {
                    access_method: ID_AD_OCSP,
                    access_location: names::list_url(url)?,
                })
            });
            let access = AuthorityInfoAccessSyntax(urls.collect::<Result<_, NameError>>()?);
            extensions.push(encode_extension(false, &access)?);
        }
        if self.is_ocsp_responder {
            extensions.push(Extension {
                extn_id: ID_PKIX_OCSP_NOCHECK,
                critical: false,
                extn_value: OctetString::new(Null.to_der()?)?,
            });
        }
        Ok(extensions)
    }

    fn ca_extensions(&self, subject: &Name) -> Result<Vec<Extension>, IssueError> {
        if subject.is_empty() {
            return Err(IssueError::CaWithoutName);
        }
        let constraints = BasicConstraints {
            ca: true,
            path_len_constraint: self.path_len,
        };
        let mut extensions = vec![encode_extension(true, &constraints)?];
        if let Some(constraints) = self.constraints()? {
            extensions.push(encode_extension(true, &constraints)?);
        }
        Ok(extensions)
    }

    fn constraints(&self) -> Result<Option<NameConstraints>, NameError> {
        if self.permitted.is_empty() && self.excluded.is_empty() {
            return Ok(None);
        }
        Ok(Some(NameConstraints {
            permitted_subtrees: general_subtrees(&self.permitted)?,
            excluded_subtrees: general_subtrees(&self.excluded)?,
        }))
    }

    fn end_entity_extensions(&self, subject: &Name) -> Result<Vec<Extension>, IssueError> {
        let mut extensions = Vec::new();
        if let Some(id) = self.names.spiffe_id()? {
            let both = [ID_KP_SERVER_AUTH, ID_KP_CLIENT_AUTH];
            let has_both = both.iter().all(|purpose| self.purposes.contains(purpose));
            if !(self.purposes.is_empty() || has_both) {
                return Err(IssueError::SpiffePurposes(id));
            }
        }
        if !self.names.is_empty() {
            // RFC 5280 section 4.2.1.6: critical if the subject's name is empty.
            let names = SubjectAltName(self.names.to_general_names()?);
            extensions.push(encode_extension(subject.is_empty(), &names)?);
        } else if subject.is_empty() {
            return Err(IssueError::Nameless);
        }
        Ok(extensions)
    }

    fn new(role: Role) -> Self {
        Self {
            kind: PhantomData,
            role,
            subject: Subject::Empty,
            validity: None,
            serial_number: None,
            key_usage: None,
            path_len: None,
            permitted: Vec::new(),
            excluded: Vec::new(),
            names: AlternativeNames::default(),
            purposes: Vec::new(),
            list_urls: Vec::new(),
            ocsp_urls: Vec::new(),
            is_ocsp_responder: false,
        }
    }
}

impl CertificateBuilder<Ca> {
    /// A CA, root or intermediate, with this common name.
    pub fn ca(common_name: impl Into<String>) -> Self {
        Self::new(Role::Ca).common_name(common_name)
    }

    /// How many further CAs may stand between this one and an end entity. With 0, this CA
    /// issues end-entity certificates only. By default there is no limit.
    pub fn path_len(mut self, path_len: u8) -> Self {
        self.path_len = Some(path_len);
        self
    }

    /// The name constraints as the certificate will have them (RFC 5280 section 4.2.1.10), such as for a
    /// [request](crate::request::RequestBuilder::ca).
    ///
    /// # Errors
    ///
    /// A [`NameError`] if one of the names can't be in a certificate.
    pub fn name_constraints(&self) -> Result<Option<NameConstraints>, NameError> {
        self.constraints()
    }

    /// Permits this DNS name and those below it, and no others, except those that further calls
    /// permit.
    ///
    /// Addresses and all other kinds of name stay unconstrained (RFC 5280 section
    /// 4.2.1.10). To permit no address beside these DNS names, exclude them all:
    ///
    /// ```
    /// # use core::net::{Ipv4Addr, Ipv6Addr};
    /// # use pq_x509::issuing::CertificateBuilder;
    /// CertificateBuilder::ca("Example CA")
    ///     .permit_dns("example.org")
    ///     .exclude_ip(Ipv4Addr::UNSPECIFIED.into(), 0)
    ///     .exclude_ip(Ipv6Addr::UNSPECIFIED.into(), 0);
    /// ```
    pub fn permit_dns(mut self, name: impl Into<String>) -> Self {
        self.permitted.push(Subtree::Dns(name.into()));
        self
    }

    /// Excludes this DNS name and those below it. Other kinds of name stay
    /// unconstrained.
    pub fn exclude_dns(mut self, name: impl Into<String>) -> Self {
        self.excluded.push(Subtree::Dns(name.into()));
        self
    }

    /// Permits addresses with this prefix, and no others of IPv4 or IPv6, except those that further calls
    /// permit.
    ///
    /// DNS names and all other kinds of name stay unconstrained (RFC 5280 section
    /// 4.2.1.10). To permit no DNS name beside these addresses, permit one that nobody can have
    /// (RFC 6761 section 6.4), which forbids all others:
    ///
    /// ```
    /// # use core::net::Ipv4Addr;
    /// # use pq_x509::issuing::CertificateBuilder;
    /// CertificateBuilder::ca("Example CA")
    ///     .permit_ip(Ipv4Addr::new(192, 0, 2, 0).into(), 24)
    ///     .permit_dns("none.invalid");
    /// ```
    pub fn permit_ip(mut self, address: IpAddr, prefix_len: u8) -> Self {
        self.permitted.push(Subtree::Ip {
            address,
            prefix_len,
        });
        self
    }

    /// Excludes addresses with this prefix. Other kinds of name stay unconstrained.
    pub fn exclude_ip(mut self, address: IpAddr, prefix_len: u8) -> Self {
        self.excluded.push(Subtree::Ip {
            address,
            prefix_len,
        });
        self
    }

    /// Permits e-mail addresses: all at the host `example.org`, all at hosts below the domain `.example.org`,
    /// or one, as `someone@example.org`. No others are permitted, except those that further calls permit. Those
    /// in subjects' names count, too.
    ///
    /// [`ChainValidator`](crate::validation::ChainValidator) and OpenSSL process constraints of e-mail addresses, URIs
    /// and directory names; Go those of e-mail addresses and URIs, and it refuses all certificates below a
    /// constraint of directory names. **webpki on its own, and so rustls's verifiers, refuse all certificates
    /// below this CA that have an e-mail address or a URI if there is a constraint of its kind, and all
    /// certificates below a constraint of directory names.**
    pub fn permit_email(mut self, constraint: impl Into<String>) -> Self {
        self.permitted.push(Subtree::Email(constraint.into()));
        self
    }

    /// Excludes e-mail addresses, written as in [`permit_email`](Self::permit_email). Other kinds of name
    /// stay unconstrained.
    pub fn exclude_email(mut self, constraint: impl Into<String>) -> Self {
        self.excluded.push(Subtree::Email(constraint.into()));
        self
    }

    /// Permits URIs with the host `example.org`, or with hosts below the domain `.example.org`, and no
    /// others, except those that further calls permit. The host of a SPIFFE ID is its trust domain. URIs
    /// without a DNS name as their host are not permitted then. See [`permit_email`](Self::permit_email) for
    /// the validators that process this.
    ///
    /// ```
    /// # use pq_x509::issuing::CertificateBuilder;
    /// CertificateBuilder::ca("Example CA")
    ///     .permit_uri("example.org")
    ///     .permit_uri(".example.org");
    /// ```
    pub fn permit_uri(mut self, host: impl Into<String>) -> Self {
        self.permitted.push(Subtree::Uri(host.into()));
        self
    }

    /// Excludes URIs by their hosts, written as in [`permit_uri`](Self::permit_uri), and URIs without
    /// a DNS name as their host. Other kinds of name stay unconstrained.
    pub fn exclude_uri(mut self, host: impl Into<String>) -> Self {
        self.excluded.push(Subtree::Uri(host.into()));
        self
    }

    /// Permits subjects' names, and directory names among the alternative names, that begin with this
    /// name, and no others, except those that further calls permit. See
    /// [`permit_email`](Self::permit_email) for the validators that process this.
    pub fn permit_directory(mut self, name: Name) -> Self {
        self.permitted.push(Subtree::Directory(name));
        self
    }

    /// Excludes subjects' names, and directory names among the alternative names, that begin with this
    /// name. Other kinds of name stay unconstrained. All names but the empty one begin with the empty one, so
    /// that with it certificates have no subject: no common name that a client would take for a host's. Firefox
    /// refuses all certificates below such a CA.
    pub fn exclude_directory(mut self, name: Name) -> Self {
        self.excluded.push(Subtree::Directory(name));
        self
    }
}

impl CertificateBuilder<EndEntity> {
    /// A TLS server: extended key usage serverAuth. Give it names with
    /// [`dns_name`](Self::dns_name) and [`ip_address`](Self::ip_address): clients ignore the
    /// [`common_name`](Self::common_name) (RFC 9525).
    pub fn server() -> Self {
        Self::end_entity().server_auth()
    }

    /// A TLS client: extended key usage clientAuth.
    pub fn client() -> Self {
        Self::end_entity().client_auth()
    }

    /// An OCSP responder of the CA that issues this certificate (RFC 6960 section 4.2.2.2): extended key
    /// usage OCSPSigning, and id-pkix-ocsp-nocheck, so that nobody asks whether the responder itself was
    /// revoked. So make such a certificate valid for weeks, not years: see
    /// [`validity`](Self::validity). Give it a [`common_name`](Self::common_name).
    pub fn ocsp_responder() -> Self {
        Self::end_entity().ocsp_signing()
    }

    /// An end entity without extended key usage, so with no limit on its purposes.
    pub fn end_entity() -> Self {
        Self::new(Role::EndEntity)
    }

    /// Makes the certificate an OCSP responder's: see [`ocsp_responder`](Self::ocsp_responder). Its key
    /// must be one that signs.
    pub fn ocsp_signing(mut self) -> Self {
        self.is_ocsp_responder = true;
        self.purpose(ID_KP_OCSP_SIGNING)
    }

    alternative_name_methods!();

    pub(crate) fn named(subject: Name, names: AlternativeNames) -> Self {
        Self {
            names,
            ..Self::end_entity().subject(subject)
        }
    }
}

/// Marks a builder of CA certificates.
#[derive(Clone, Copy, Debug)]
pub enum Ca {}

/// Marks a builder of end-entity certificates.
#[derive(Clone, Copy, Debug)]
pub enum EndEntity {}

fn general_subtrees(subtrees: &[Subtree]) -> Result<Option<Vec<GeneralSubtree>>, NameError> {
    // RFC 5280 section 4.2.1.10: a list must not be empty.
    if subtrees.is_empty() {
        return Ok(None);
    }
    subtrees
        .iter()
        .map(Subtree::to_general_subtree)
        .collect::<Result<_, _>>()
        .map(Some)
}
