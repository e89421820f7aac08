//! Certificates that are asked for.
//!
//! This room uses [`values`](super::values).

use alloc::borrow::Cow;
use core::net::IpAddr;
use core::time::Duration;

use pq_keys::KeyAlgorithm;
use pq_x509::certificate::{AlternativeName, EmailAddress, Name};
use pq_x509::issuing::{CertificateBuilder, EndEntity};
use pq_x509::keys::{KeyError, SubjectKey};
use pq_x509::request::VerifiedRequest;
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use pq_x509::x509_cert::der::{Tag, Tagged};
use pq_x509::x509_cert::ext::pkix::name::DirectoryString;

use super::values::{Profile, asked_key};

/// A certificate that is asked for. [`Policy::check`](crate::policy::Policy::check) says whether it may be
/// issued.
#[derive(Clone, Debug)]
#[must_use]
pub struct Wanted {
    /// The alternative names, in the order in which they were added.
    pub(crate) names: Vec<AlternativeName>,
    subject: Subject,
    pub(crate) key: KeyAlgorithm,
    pub(crate) validity: Option<Duration>,
    pub(crate) profile: Option<Profile>,
}

#[derive(Clone, Debug)]
enum Subject {
    Empty,
    CommonName(String),
    Full(Name),
}

impl Wanted {
    /// A certificate for this key, without names yet. Only the key's algorithm and, for RSA, its length are read
    /// here. The rest of the key is checked when the certificate is issued.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key's SubjectPublicKeyInfo is malformed.
    pub fn new(key: &(impl SubjectKey + ?Sized)) -> Result<Self, KeyError> {
        Ok(Self {
            names: Vec::new(),
            subject: Subject::Empty,
            key: asked_key(key)?,
            validity: None,
            profile: None,
        })
    }

    /// A certificate for the key and the names of a request.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the request's key is malformed.
    pub fn of_request(request: &VerifiedRequest) -> Result<Self, KeyError> {
        Ok(Self {
            names: request.alternative_names().collect(),
            subject: Subject::Full(request.subject().clone()),
            ..Self::new(request)?
        })
    }

    /// Adds a DNS name. The first label may be `*`.
    pub fn dns_name(self, name: impl Into<String>) -> Self {
        self.alternative_name(AlternativeName::Dns(name.into()))
    }

    /// Adds an address.
    pub fn ip_address(self, address: IpAddr) -> Self {
        self.alternative_name(AlternativeName::Ip(address))
    }

    /// Adds an e-mail address.
    pub fn email_address(self, address: impl Into<String>) -> Self {
        self.alternative_name(AlternativeName::Email(address.into()))
    }

    /// Adds a URI, such as a SPIFFE ID.
    pub fn uri(self, uri: impl Into<String>) -> Self {
        self.alternative_name(AlternativeName::Uri(uri.into()))
    }

    /// Adds a name of any of these kinds.
    pub fn alternative_name(mut self, name: AlternativeName) -> Self {
        self.names.push(name);
        self
    }

    /// Sets the subject's name to this common name alone.
    pub fn common_name(mut self, name: impl Into<String>) -> Self {
        self.subject = Subject::CommonName(name.into());
        self
    }

    /// Sets the subject's full name.
    pub fn subject(mut self, name: Name) -> Self {
        self.subject = Subject::Full(name);
        self
    }

    /// Sets how long the certificate will be valid. By default the policy decides.
    pub fn validity(mut self, validity: Duration) -> Self {
        self.validity = Some(validity);
        self
    }

    /// Sets what the certificate is for. The default is the policy's first profile.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Whether one of the names can be the name of a server: any name except an e-mail address.
    pub(crate) fn has_name_of_server(&self) -> bool {
        let is_of_server = |name: &AlternativeName| !matches!(name, AlternativeName::Email(_));
        self.names.iter().any(is_of_server)
    }

    /// Whether a text is among the alternative names.
    pub(crate) fn has_alternative_name(&self, text: &str) -> bool {
        let address = text.parse().ok();
        let mailbox: Option<EmailAddress> = text.parse().ok();
        self.names.iter().any(|name| match name {
            AlternativeName::Dns(name) => name.eq_ignore_ascii_case(text),
            AlternativeName::Ip(ip) => Some(*ip) == address,
            AlternativeName::Email(name) => mailbox.is_some() && name.parse().ok() == mailbox,
            AlternativeName::Uri(uri) => uri == text,
        })
    }

    /// The attributes of the subject's name. An attribute has a value if its encoding is one of the two that
    /// RFC 5280 section 4.1.2.4 asks for.
    pub(crate) fn attributes(&self) -> Vec<(ObjectIdentifier, Option<Cow<'_, str>>)> {
        match &self.subject {
            Subject::Empty => Vec::new(),
            Subject::CommonName(name) => vec![(COMMON_NAME, Some(name.into()))],
            Subject::Full(name) => name
                .iter()
                .map(|attribute| {
                    let value = match attribute.value.tag() {
                        Tag::PrintableString | Tag::Utf8String => {
                            DirectoryString::try_from(&attribute.value).ok()
                        }
                        _ => None,
                    };
                    (attribute.oid, value.map(|value| String::from(value).into()))
                })
                .collect(),
        }
    }

    /// A builder with only the names and the subject.
    pub(crate) fn certificate(&self) -> CertificateBuilder<EndEntity> {
        let mut builder = CertificateBuilder::end_entity();
        for name in &self.names {
            builder = builder.alternative_name(name.clone());
        }
        match &self.subject {
            Subject::Empty => builder,
            Subject::CommonName(name) => builder.common_name(name),
            Subject::Full(name) => builder.subject(name.clone()),
        }
    }
}
