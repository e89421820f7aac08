//! The options that name whom a request or certificate is for (`--name`, `--subject`), and how they get into the
//! builders of pq-x509.

use pq_x509::certificate::AlternativeName;
use pq_x509::issuing::{CertificateBuilder, EndEntity};
use pq_x509::request::RequestBuilder;

use crate::arguments::{Subject, alternative_name};

/// Who a request or a certificate is for.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Names {
    /// A DNS name (its first label may be "*"), an IP address, an e-mail address or a URI such as a SPIFFE
    /// ID; once for each
    #[arg(
        long = "name",
        value_name = "NAME",
        value_parser = alternative_name
    )]
    pub(crate) names: Vec<AlternativeName>,

    /// A common name, or a full one such as CN=Example,O=Organisation or, in OpenSSL's form, /O=Organisation/CN=Example
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<Subject>,
}

impl Names {
    /// Whether nobody is named.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.subject.is_none()
    }
}

/// Builders of requests and certificates, which take a subject.
pub(crate) trait TakesSubject: Sized {
    fn with_subject(self, subject: &Subject) -> Self;
}

/// Builders for end entities, which also take names.
pub(crate) trait TakesNames: TakesSubject {
    fn with_name(self, name: &AlternativeName) -> Self;

    fn with_names(self, names: &Names) -> Self {
        let builder = names.names.iter().fold(self, Self::with_name);
        names.subject.iter().fold(builder, Self::with_subject)
    }
}

macro_rules! takes_subject {
    ($builder:ty $(, $kind:ident)?) => {
        impl$(<$kind>)? TakesSubject for $builder {
            fn with_subject(self, subject: &Subject) -> Self {
                match subject {
                    Subject::CommonName(name) => self.common_name(name),
                    Subject::Full(name) => self.subject(name.clone()),
                }
            }
        }
    };
}

takes_subject!(RequestBuilder);
takes_subject!(CertificateBuilder<K>, K);

macro_rules! takes_names {
    ($($builder:ty),+) => {$(
        impl TakesNames for $builder {
            fn with_name(self, name: &AlternativeName) -> Self {
                self.alternative_name(name.clone())
            }
        }
    )+};
}

takes_names!(RequestBuilder, CertificateBuilder<EndEntity>);
