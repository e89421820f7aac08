//! Why a chain or an OCSP response was refused, and which of these errors stands for each of webpki's.

use alloc::boxed::Box;

use der::{Decode, SliceReader};
use pki_types::{ServerName, UnixTime};
use pq_keys::errors;
use pq_keys::{KemAlgorithm, KeyError};
use spki::ObjectIdentifier;
use x509_cert::ext::pkix::CrlReason;

use super::spiffe::SvidError;
use crate::certificate::{
    CertificateError, KeyUsageError, NameError, OcspDelegateError, RevokedCertificate,
    SignatureError, UnusableList, date,
};

/// Why a chain was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// No roots were given.
    #[error("no roots to trust were given; load at least one CA certificate")]
    NoRoots,
    /// A root is not a CA certificate.
    #[error("the root {0} is not a CA certificate; trust the CA that issued it instead")]
    RootNotACa(String),
    /// The peer sent no certificate.
    #[error("the chain is empty; the peer must send its certificate")]
    EmptyChain,
    /// A certificate is malformed.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A certificate has expired.
    #[error(
        "{} expired at {}, and it is {}; have it renewed",
        whose(.subject),
        date(.not_after),
        date(.time)
    )]
    Expired {
        /// The subject of the certificate, where known.
        subject: Option<String>,
        /// The end of its validity.
        not_after: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// A certificate is not valid yet.
    #[error(
        "{} is not valid before {}, and it is {}; check the clock",
        whose(.subject),
        date(.not_before),
        date(.time)
    )]
    NotYetValid {
        /// The subject of the certificate, where known.
        subject: Option<String>,
        /// The start of its validity.
        not_before: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// The end entity's certificate is for other names.
    #[error(
        "the certificate is not for {expected} but for {}; use one of these names, or have a \
         certificate issued for {expected}",
        list(.presented)
    )]
    NameMismatch {
        /// The name or address asked for.
        expected: String,
        /// The names in the certificate.
        presented: Vec<String>,
    },
    /// The expected name can't be in a certificate.
    #[error(transparent)]
    ExpectedName(#[from] NameError),
    /// The end entity's certificate vouches for no SPIFFE ID.
    #[error("the certificate of {subject} is for no SPIFFE ID: {error}")]
    Svid {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with it.
        error: SvidError,
    },
    /// No path leads to a trusted root.
    #[error(
        "no path from the certificate to a trusted root; trust the root that issued the chain, \
         and have the peer send its intermediates"
    )]
    UnknownIssuer,
    /// The certificates that were sent can be put together in so many ways that no path is searched for.
    #[error(
        "{certificates} certificates were sent beside the first one, and can be put together in too many ways; have \
         the peer send only those between its own certificate and a root"
    )]
    TooManyPaths {
        /// How many certificates there are beside the end entity's.
        certificates: usize,
    },
    /// A certificate that is not a CA's was used to issue another.
    #[error(
        "{} is not a CA's and was used to issue another; have the other issued by a CA",
        whose(.subject)
    )]
    NotACa {
        /// The subject of the certificate that is not a CA's, where known.
        subject: Option<String>,
    },
    /// A CA certificate was presented as the end entity's.
    #[error("the first certificate is a CA's; the chain must start with the end entity's own")]
    CaAsEndEntity,
    /// There are more CAs below one than its path length allows.
    #[error(
        "{} allows fewer CAs below it than there are; shorten the chain, or have that CA \
         issued again with a larger path length",
        whose(.subject)
    )]
    PathLengthExceeded {
        /// The subject of the CA whose path length it is, where known.
        subject: Option<String>,
    },
    /// A name is outside of what a CA may issue for.
    #[error("a name in the certificate is outside of the name constraints of a CA above it")]
    NameConstraintViolation,
    /// A CA's name constraints have something in place of a network, such as a mask with a gap.
    #[error(
        "the name constraints in {} have a network that is not an address with a mask of leading ones (RFC 5280 section \
         4.2.1.10), so that it can't be told which addresses they mean; have that CA issued again",
        whose(.subject)
    )]
    NoNetwork {
        /// The subject of the CA whose constraints they are, where known.
        subject: Option<String>,
    },
    /// The certificate's extended key usage is for other purposes.
    #[error(
        "the extended key usage of a certificate in the chain does not allow this purpose; \
         servers need serverAuth, clients clientAuth, and document signers emailProtection or \
         documentSigning"
    )]
    WrongPurpose,
    /// A key usage is not allowed.
    #[error("the certificate of {subject}: {error}")]
    KeyUsage {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with its key usage.
        error: KeyUsageError,
    },
    /// The end entity's key violates its standard.
    #[error("the key in the certificate of {subject}: {error}")]
    Key {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with the key.
        error: KeyError,
    },
    /// A signature does not verify.
    #[error(
        "the signature on {} does not verify; it was altered, or issued by another key of \
         the same name",
        whose(.subject)
    )]
    BadSignature {
        /// The subject of the certificate that was signed, where known.
        subject: Option<String>,
    },
    /// A signature is of an algorithm for which no verification algorithm was given: see
    /// [`ChainValidator::with_algorithms`](crate::validation::ChainValidator::with_algorithms).
    #[error(
        "a certificate in the chain is signed by an algorithm that this validator does not verify ({})",
        describe(.0)
    )]
    UnsupportedAlgorithm(Option<ObjectIdentifier>),
    /// A signature is of another algorithm than the key that is to verify it.
    #[error(
        "a certificate in the chain is signed by algorithm {} and its issuer's key is of \
         algorithm {}",
        describe(.signature),
        describe(.key)
    )]
    AlgorithmMismatch {
        /// Algorithm of the signature; `None` if it is malformed.
        signature: Option<ObjectIdentifier>,
        /// Algorithm of the issuer's key; `None` if it is malformed.
        key: Option<ObjectIdentifier>,
    },
    /// A signature or an issuer's key is of an algorithm that is verified, but not with these parameters.
    #[error(
        "{of} of a certificate in the chain is of algorithm {algorithm} with parameters that this validator does not \
         verify, such as a curve, a length of the salt, or a NULL where there must be none; have it issued again"
    )]
    UnsupportedParameters {
        /// What has the parameters: "the signature" or "the issuer's key".
        of: &'static str,
        /// Its algorithm.
        algorithm: ObjectIdentifier,
    },
    /// An RSA key is too short to be secure, or too long for verification.
    #[error(
        "the RSA key of {subject} has {bits} bits, and only keys of 2048 to 8192 bits are trusted here; have a \
         certificate issued for another key"
    )]
    RsaKeyLength {
        /// The subject of the certificate with the key.
        subject: String,
        /// The length of the key's modulus in bits.
        bits: usize,
    },
    /// The end entity's key is for a KEM, which cannot authenticate in TLS.
    #[error(
        "the certificate's key is of {0}, which cannot sign, so it cannot authenticate in TLS; \
         use a certificate for a key that signs, such as ML-DSA-65"
    )]
    CannotSign(KemAlgorithm),
    /// A critical extension is not processed here, so the certificate cannot be relied on.
    #[error(
        "{} has a critical extension{} that is not supported; have it issued again without \
         that extension, or with the extension not critical",
        whose(.subject),
        .oid.map_or_else(String::new, |oid| format!(" ({oid})"))
    )]
    UnsupportedCriticalExtension {
        /// The subject of the certificate, where known.
        subject: Option<String>,
        /// The object identifier of the extension, where known.
        oid: Option<ObjectIdentifier>,
    },
    /// A CA maps a policy to or from anyPolicy, or its policyMappings can't be read.
    #[error(
        "the policyMappings of the certificate of {subject} map to or from anyPolicy, or can't be read (RFC 5280 section \
         6.1.4); have it issued again without that extension"
    )]
    PolicyMappings {
        /// The subject of the CA's certificate.
        subject: String,
    },
    /// A revocation policy was made without lists.
    #[error("no revocation lists were given; load at least one, or set no revocation policy")]
    NoRevocationLists,
    /// A revocation list is of a kind that is not supported.
    #[error("the revocation list of {issuer} cannot be used: {error}")]
    UnusableRevocationList {
        /// The issuer of the list.
        issuer: String,
        /// What is not supported.
        error: UnusableList,
    },
    /// A certificate has been revoked.
    #[error(
        "{} {}; {}",
        whose(.subject),
        .entry.as_ref().map_or_else(|| "was revoked".into(), RevokedCertificate::to_string),
        match .entry.as_ref().map(RevokedCertificate::reason) {
            Some(CrlReason::CertificateHold) => "have its CA release it, or another one issued",
            _ => "have another one issued, for a new key",
        }
    )]
    Revoked {
        /// The subject of the certificate, where known.
        subject: Option<String>,
        /// What the list or the OCSP response says about it, where known.
        entry: Option<RevokedCertificate>,
    },
    /// No revocation list covers a certificate, and no OCSP response is about it.
    /// [`RevocationPolicy::allow_unknown_status`](crate::revocation::RevocationPolicy::allow_unknown_status) accepts this.
    #[error(
        "{} may have been revoked: there is neither a revocation list of its issuer nor an OCSP response \
         about it; get one, or accept that it is not known",
        whose(.subject)
    )]
    UnknownRevocationStatus {
        /// The subject of the certificate, where known.
        subject: Option<String>,
    },
    /// There should be a newer revocation list.
    #[error(
        "the revocation list of {} was to be replaced at {}, and it is {}; get the newer one",
        .issuer.as_deref().unwrap_or("a CA of the chain"),
        date(.next_update),
        date(.time)
    )]
    RevocationListExpired {
        /// The issuer of the list, where known.
        issuer: Option<String>,
        /// When the list was to be replaced.
        next_update: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// All revocation lists that could say something good are not yet valid.
    #[error(
        "the revocation list of {} is not valid before {}, and it is {}; check the clock, or get the list \
         that is valid now",
        .issuer.as_deref().unwrap_or("a CA of the chain"),
        date(.this_update),
        date(.time)
    )]
    RevocationListNotYetValid {
        /// The issuer of the list, where known.
        issuer: Option<String>,
        /// When the list was issued, as it says.
        this_update: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// The signature of a revocation list is not by the key of the CA that it names.
    #[error("the signature of a revocation list for a CA of the chain: {0}")]
    RevocationListSignature(SignatureError),
    /// An OCSP response about a certificate is unusable, and nothing else says that the certificate is
    /// not revoked.
    #[error("the OCSP response about the certificate of {subject} {error}")]
    OcspResponse {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with the response.
        error: OcspError,
    },
    /// A certificate is not well-formed. It may be in PEM, which
    /// [`Certificate::chain_from_pem`](crate::certificate::Certificate::chain_from_pem) reads.
    #[error(
        "a certificate of the chain is not well-formed DER; pass certificates in DER, not \
         in PEM, or have the certificate issued again"
    )]
    Malformed,
    /// A certificate is well-formed, but of a form that webpki does not read.
    #[error(
        "a certificate of the chain has a form that path validation does not read, such as a part of 64 KiB or more, or \
         a signature that is not whole octets; have it issued again"
    )]
    Unreadable,
    /// A CA limits names, and a DNS name of the chain is none that can be compared with these limits.
    #[error(
        "a DNS name in a certificate of the chain can't be compared with the name constraints of its CAs, such as a \
         wildcard with one label after it, as in *.test; have the certificate issued without it"
    )]
    IncomparableName,
    /// webpki refused the chain for another reason.
    #[error("the chain is not valid: {0}")]
    Other(webpki::Error),
}

/// Why an OCSP response does not tell the status of a certificate. The texts begin with the verb.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspError {
    /// It has no answer about this certificate of this issuer.
    #[error("is about other certificates; ask again for this one, by its issuer")]
    NotAbout,
    /// The responder doesn't know the certificate.
    #[error("says that the responder does not know it; ask the issuer whether it ever issued it")]
    UnknownCertificate,
    /// The signer is neither the issuer nor the owner of a certificate in the response.
    #[error(
        "is signed by {0}, which is not the issuer and has no certificate in the response; ask a responder \
         of the issuer"
    )]
    UnknownResponder(String),
    /// The responder's certificate does not allow it to answer for the issuer.
    #[error("is signed by {subject}, whose certificate cannot be used for that: {error}")]
    Delegate {
        /// The subject of the responder's certificate.
        subject: String,
        /// What is wrong with it.
        error: Box<OcspDelegateError>,
    },
    /// The signature does not verify.
    #[error("has no valid signature: {0}")]
    Signature(SignatureError),
    /// It is from the future.
    #[error(
        "is dated {}, and it is {}; check the clock",
        date(.this_update),
        date(.time)
    )]
    NotYetCurrent {
        /// When the status was known.
        this_update: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// There should be a newer one.
    #[error(
        "was to be replaced at {}, and it is {}; get the newer one",
        date(.next_update),
        date(.time)
    )]
    Stale {
        /// When it was to be replaced.
        next_update: UnixTime,
        /// The time validated for.
        time: UnixTime,
    },
    /// It doesn't say when there will be a newer one, so nobody can tell that it is old.
    #[error(
        "has neither a nextUpdate nor a requested nonce; ask with a nonce, or ask another responder"
    )]
    NoNextUpdate,
    /// A nonce was asked for.
    #[error(
        "has no nonce, and one was asked for; ask a responder that signs a response to each request"
    )]
    NonceMissing,
    /// It was made for another request.
    #[error(
        "has another nonce than the request, so it is the response to another request; ask again"
    )]
    NonceDiffers,
}

impl OcspError {
    /// What is wrong with a signature: the response's, or that of its delegate's certificate. `None` if the error is
    /// about something else.
    pub fn signature_error(&self) -> Option<&SignatureError> {
        match self {
            Self::Signature(error) => Some(error),
            Self::Delegate { error, .. } => match &**error {
                OcspDelegateError::Signature(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a signature was found invalid, which takes time.
    pub(crate) fn is_forgery(&self) -> bool {
        self.signature_error() == Some(&SignatureError::Invalid)
    }
}

impl From<webpki::Error> for ValidationError {
    fn from(error: webpki::Error) -> Self {
        use webpki::Error;
        match error {
            Error::CertExpired { time, not_after } => Self::Expired {
                subject: None,
                not_after,
                time,
            },
            Error::CertNotValidYet { time, not_before } => Self::NotYetValid {
                subject: None,
                not_before,
                time,
            },
            Error::CertNotValidForName(context) => Self::NameMismatch {
                expected: match &context.expected {
                    ServerName::DnsName(name) => name.as_ref().into(),
                    ServerName::IpAddress(address) => core::net::IpAddr::from(*address).to_string(),
                    other => format!("{other:?}"),
                },
                // Whoever has the certificate says which names it has.
                presented: Vec::new(),
            },
            Error::UnknownIssuer => Self::UnknownIssuer,
            Error::EndEntityUsedAsCa => Self::NotACa { subject: None },
            Error::CaUsedAsEndEntity => Self::CaAsEndEntity,
            Error::PathLenConstraintViolated => Self::PathLengthExceeded { subject: None },
            Error::NameConstraintViolation => Self::NameConstraintViolation,
            Error::InvalidNetworkMaskConstraint => Self::NoNetwork { subject: None },
            Error::RequiredEkuNotFoundContext(_) => Self::WrongPurpose,
            Error::InvalidSignatureForPublicKey => Self::BadSignature { subject: None },
            Error::UnsupportedCriticalExtension => Self::UnsupportedCriticalExtension {
                subject: None,
                oid: None,
            },
            Error::MalformedDnsIdentifier => Self::IncomparableName,
            Error::BadDer | Error::TrailingData(_) => Self::Malformed,
            Error::UnsupportedSignatureAlgorithmContext(context) => {
                Self::UnsupportedAlgorithm(oid(&context.signature_algorithm_id))
            }
            Error::UnsupportedSignatureAlgorithmForPublicKeyContext(context) => {
                Self::AlgorithmMismatch {
                    signature: oid(&context.signature_algorithm_id),
                    key: oid(&context.public_key_algorithm_id),
                }
            }
            other => Self::Other(other),
        }
    }
}

/// The object identifier at the start of the contents of an AlgorithmIdentifier.
fn oid(contents: &[u8]) -> Option<ObjectIdentifier> {
    ObjectIdentifier::decode(&mut SliceReader::new(contents).ok()?).ok()
}

fn describe(oid: &Option<ObjectIdentifier>) -> String {
    oid.map_or_else(|| "of a malformed identifier".into(), |oid| oid.to_string())
}

fn whose(subject: &Option<String>) -> String {
    match subject {
        Some(subject) => format!("the certificate of {subject}"),
        None => "a certificate of the chain".into(),
    }
}

fn list(names: &[String]) -> String {
    match names.is_empty() {
        true => "no name at all".into(),
        false => errors::describe(names.join(", ")),
    }
}
