//! Signed documents: certificates, revocation lists and OCSP responses, read, shown and measured; the
//! envelope that they share with requests; and their parts, such as names and times.
//!
//! It uses [`verification`](crate::verification) and [`pq_keys`].

mod canonical_name;
#[expect(
    clippy::module_inception,
    reason = "the module is named after its main topic"
)]
mod certificate;
pub(crate) mod dns_name;
mod email_address;
mod extensions;
pub(crate) mod form;
pub(crate) mod general_names;
pub(crate) mod key_usage;
pub(crate) mod name_constraints;
pub(crate) mod names;
pub(crate) mod ocsp;
mod policies;
mod readable;
pub(crate) mod revocation_list;
pub(crate) mod signed;
mod sizes;
mod spiffe_id;
mod syntax;
mod universal_string;
pub(crate) mod unseen;
mod uri;
pub(crate) mod validity;

pub(crate) use canonical_name::CanonicalName;
pub use canonical_name::is_same_name;
pub(crate) use certificate::check_values;
pub use certificate::{Certificate, CertificateError};
pub(crate) use email_address::is_dot_atom;
pub use email_address::{EmailAddress, InvalidEmailAddress};
pub(crate) use extensions::{Extensions, PROCESSED, critical_beside, encode_extension};
pub use key_usage::KeyUsageError;
pub(crate) use key_usage::Role;
pub use names::{AlternativeName, NameError};
pub(crate) use names::{
    AlternativeNames, Subject, Subtree, alternative_name_methods, describe_subject, subject_methods,
};
pub(crate) use ocsp::{
    CertId, CertStatus, OcspDelegateError, OcspNonce, OcspRequest, OcspResponse, OcspResponseError,
    ResponderId, SingleResponse,
};
pub(crate) use ocsp::{asn1 as ocsp_asn1, check_delegate, check_delegate_usage};
pub(crate) use policies::{OF_POLICIES, are_interpreted, are_mappings, read_policies};
pub(crate) use readable::{Readable, loosened, readable_by_webpki, request_from_der};
pub(crate) use revocation_list::scope::UnusableList;
pub(crate) use revocation_list::scope::{Coverage, PointName, Points, Scope};
pub(crate) use revocation_list::{
    CertificateRevocationList, RevocationListError, RevokedCertificate,
};
pub(crate) use signed::SealError;
pub use signed::SignatureError;
pub use sizes::{CertificateSizes, Sizes};
pub use spiffe_id::{SpiffeId, SpiffeIdError};
pub(crate) use syntax::check_extensions;
pub(crate) use universal_string::check_rewritten;
pub use uri::{InvalidUri, Uri};
pub use validity::{Validity, ValidityError};
pub(crate) use validity::{date, unix_time};
pub use x509_cert::ext::pkix::KeyUsages;
pub use x509_cert::name::Name;
