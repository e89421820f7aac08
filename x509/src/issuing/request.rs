//! Certification requests (PKCS#10, RFC 2986): applicants make them, and CAs read and verify them. Of the extensions
//! that a request asks for, the alternative names count, and for a CA its basic constraints and name constraints.

use core::fmt;
use core::net::IpAddr;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::Decode;
use der::asn1::SetOfVec;
use der::referenced::OwnedToRef;
use pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use pq_keys::encoding::pem::{self, PemError};
use pq_keys::encoding::syntax::{self, SyntaxError};
use pq_keys::encoding::to_der;
use pq_keys::errors::{describe, from_causes};
use pq_keys::identifiers::{algorithm_of_spki, check_classical};
use pq_keys::{Algorithm, KeyError, PublicKey, SignError, Signer, SubjectKey};
use spki::SubjectPublicKeyInfoOwned;
use x509_cert::attr::Attribute;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{
    BasicConstraints, KeyUsage, KeyUsages, NameConstraints, SubjectAltName,
};
use x509_cert::name::Name;
use x509_cert::request::{CertReq, CertReqInfo, ExtensionReq, Version};

use super::builder::{CertificateBuilder, EndEntity};
use crate::certificate::{
    AlternativeName, AlternativeNames, Extensions, NameError, SealError, SignatureError, Subject,
    alternative_name_methods, check_extensions, check_rewritten, encode_extension,
    request_from_der, signed, subject_methods,
};
use crate::certificate::{form, general_names};
use crate::linting::{Kind, first_error};

/// A certification request (PKCS#10, RFC 2986): names and a public key, signed by the
/// private key that belongs to it.
///
/// A request that was only read has proven nothing: [`verify`](Self::verify) it. A key that
/// cannot sign, such as one for ML-KEM, cannot make a request.
#[derive(Clone)]
pub struct CertificateRequest {
    der: Vec<u8>,
    parsed: CertReq,
}

impl CertificateRequest {
    /// Starts to make a request.
    pub fn builder() -> RequestBuilder {
        RequestBuilder::default()
    }

    /// Reads a request from DER. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// [`RequestError::Der`] if it is no DER, and [`RequestError::Syntax`] if it is malformed, or has a value that is
    /// not read here.
    pub fn from_der(der: &[u8]) -> Result<Self, RequestError> {
        syntax::check_number(der)?;
        let parsed = request_from_der(der)
            .map_err(|error| form::explain::<RequestError>(der, form::REQUEST, error))?;
        syntax::check(der)?;
        Ok(Self {
            parsed,
            der: der.to_vec(),
        })
    }

    /// Reads the first `CERTIFICATE REQUEST` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`RequestError::Pem`] if there is none, and those of [`from_der`](Self::from_der).
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, RequestError> {
        Self::from_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// The request's DER.
    pub fn to_der(&self) -> &[u8] {
        &self.der
    }

    /// The request as PEM.
    pub fn to_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.der)
    }

    /// All fields, as `x509-cert` represents them: with a UTF8String for a UniversalString in the subject, and with the
    /// attributes of a part in the order of DER.
    pub fn parsed(&self) -> &CertReq {
        &self.parsed
    }

    /// The subject's name in DER, with the request's own bytes.
    pub fn subject_der(&self) -> &[u8] {
        signed::subject_of_request(&self.der).unwrap_or_default()
    }

    /// Checks the proof of possession of a key of ML-DSA or SLH-DSA: that the request is
    /// signed by the key in it.
    ///
    /// # Errors
    ///
    /// [`RequestError::Signature`] if it is not, and others if the key or the requested names
    /// are not acceptable: [`RequestError::Syntax`] if the subject can't be written into a certificate with the same
    /// bytes, since it has a UniversalString, or attributes in another order than DER's.
    pub fn verify(self) -> Result<VerifiedRequest, RequestError> {
        self.verify_with(&[])
    }

    /// Does what [`verify`](Self::verify) does, for keys of these algorithms too: `&[]` adds none.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Self::verify).
    pub fn verify_with(
        self,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    ) -> Result<VerifiedRequest, RequestError> {
        self.verify_proof(algorithms)?;
        check_rewritten(self.subject_der(), &self.parsed.info.subject, "its subject")?;
        let extensions = requested_extensions(&self.parsed.info)?;
        Ok(VerifiedRequest {
            names: requested_names(&extensions)?,
            extensions,
            spki: to_der(&self.parsed.info.public_key.owned_to_ref())?,
            request: self,
        })
    }

    /// Checks the proof of possession alone, as [`verify_with`](Self::verify_with) does, and none of the names: whoever
    /// shows a request that no CA here would take can tell whether its sender has the key.
    ///
    /// # Errors
    ///
    /// [`RequestError::Signature`] if the request is not signed by the key in it, and [`RequestError::Key`] if that key
    /// is not acceptable.
    pub fn verify_proof(
        &self,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    ) -> Result<(), RequestError> {
        let key = self.parsed.info.public_key.owned_to_ref();
        match algorithm_of_spki(&key) {
            Ok(Algorithm::Kem(algorithm)) => {
                return Err(KeyError::NotASignatureKey(algorithm).into());
            }
            Ok(_) => {}
            // The error is for a classical algorithm, whose keys others read. With some of these keys
            // everybody can sign, so that a signature proves nothing.
            Err(KeyError::UnsupportedAlgorithm(_)) => check_classical(&key)?,
            Err(error) => return Err(error.into()),
        }
        signed::verify(&self.der, &key, algorithms)?;
        Ok(())
    }
}

impl fmt::Debug for CertificateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = describe(&self.parsed.info.subject);
        f.debug_struct("CertificateRequest")
            .field("subject", &format_args!("{subject}"))
            .finish_non_exhaustive()
    }
}

/// The contents of a request that is to be made.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RequestBuilder {
    subject: Subject,
    names: AlternativeNames,
    ca: Option<RequestedCa>,
}

/// What a request for the certificate of a CA asks for in addition.
#[derive(Clone, Debug)]
struct RequestedCa {
    path_len: Option<u8>,
    constraints: Option<NameConstraints>,
}

impl RequestedCa {
    fn extensions(&self) -> Result<Vec<Extension>, RequestError> {
        let basic = BasicConstraints {
            ca: true,
            path_len_constraint: self.path_len,
        };
        let usage = KeyUsage(KeyUsages::KeyCertSign | KeyUsages::CRLSign);
        let mut extensions = vec![
            encode_extension(true, &basic)?,
            encode_extension(true, &usage)?,
        ];
        if let Some(constraints) = &self.constraints {
            extensions.push(encode_extension(true, constraints)?);
        }
        Ok(extensions)
    }
}

impl RequestBuilder {
    subject_methods!();
    alternative_name_methods!();

    /// Asks for the certificate of a CA, with at most `path_len` CAs below it and with these name constraints (RFC 5280
    /// section 4.2.1.10). The CA that gets the request decides whether it gives that.
    pub fn ca(mut self, path_len: Option<u8>, constraints: Option<NameConstraints>) -> Self {
        self.ca = Some(RequestedCa {
            path_len,
            constraints,
        });
        self
    }

    /// Signs the request with the key that the certificate will be for.
    ///
    /// # Errors
    ///
    /// A [`RequestError`] if a name is not acceptable or the key does not sign.
    pub fn sign(self, signer: &(impl Signer + ?Sized)) -> Result<CertificateRequest, RequestError> {
        let mut attributes = SetOfVec::new();
        let mut extensions = match &self.ca {
            Some(ca) => ca.extensions()?,
            None => Vec::new(),
        };
        if !self.names.is_empty() {
            let names = SubjectAltName(self.names.to_general_names()?);
            extensions.push(encode_extension(false, &names)?);
        }
        if !extensions.is_empty() {
            attributes.insert(Attribute::try_from(ExtensionReq(extensions))?)?;
        }
        let info = CertReqInfo {
            version: Version::V1,
            subject: self.subject.to_name()?,
            public_key: SubjectPublicKeyInfoOwned::from_der(&signer.spki())?,
            attributes,
        };
        let algorithm = signer.signature_algorithm();
        let der = signed::seal(&to_der(&info)?, &algorithm, signer)?;
        match first_error(Kind::Request, &der) {
            None => CertificateRequest::from_der(&der),
            Some(finding) => Err(RequestError::BreaksRule {
                what: finding.what,
                section: finding.rule.section(),
                rule: finding.rule.name(),
            }),
        }
    }
}

/// A request whose sender has proven to hold the private key.
///
/// It does not prove who the sender is: the CA has to find out whether the requested names belong to
/// the sender.
#[derive(Clone, Debug)]
pub struct VerifiedRequest {
    request: CertificateRequest,
    names: AlternativeNames,
    extensions: Extensions,
    spki: Vec<u8>,
}

impl VerifiedRequest {
    /// The requested name of the subject; it may be empty.
    pub fn subject(&self) -> &Name {
        &self.request.parsed.info.subject
    }

    /// The requested DNS names.
    pub fn dns_names(&self) -> &[String] {
        &self.names.dns
    }

    /// The requested addresses.
    pub fn ip_addresses(&self) -> &[IpAddr] {
        &self.names.ip
    }

    /// The requested e-mail addresses, unchecked: issuing checks them.
    pub fn email_addresses(&self) -> &[String] {
        &self.names.email
    }

    /// The requested URIs, unchecked: issuing checks them.
    pub fn uris(&self) -> &[String] {
        &self.names.uri
    }

    /// The requested names beside the subject, kind by kind.
    pub fn alternative_names(&self) -> impl Iterator<Item = AlternativeName> {
        self.names.iter()
    }

    /// Whether the request asks for the certificate of a CA, by its basic constraints.
    pub fn asks_for_ca(&self) -> bool {
        let basic = requested_basic_constraints(&self.extensions);
        basic.is_some_and(|constraints| constraints.ca)
    }

    /// How many CAs the request asks to have below it, if it [asks for a CA](Self::asks_for_ca) and says so.
    pub fn path_len(&self) -> Option<u8> {
        let basic = requested_basic_constraints(&self.extensions);
        basic
            .filter(|constraints| constraints.ca)?
            .path_len_constraint
    }

    /// The name constraints that the request asks for, unchecked.
    ///
    /// # Errors
    ///
    /// [`RequestError::Repeated`] and [`RequestError::Syntax`].
    pub fn name_constraints(&self) -> Result<Option<NameConstraints>, RequestError> {
        let all = self.extensions.0.iter();
        let asked = at_most_one(all.filter(|one| one.extn_id == NameConstraints::OID))?;
        let read = |extension: &Extension| {
            NameConstraints::from_der(extension.extn_value.as_bytes()).map_err(|error| {
                SyntaxError::Form {
                    place: "its requested name constraints".into(),
                    found: syntax::found(error),
                }
                .into()
            })
        };
        asked.map(read).transpose()
    }

    /// The public key, if it is of an algorithm of this crate.
    ///
    /// # Errors
    ///
    /// [`KeyError::UnsupportedAlgorithm`] for a classical key.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        PublicKey::from_spki_der(&self.spki)
    }

    /// A builder with the subject and the alternative names of the request, and nothing
    /// else: the CA decides on purposes, key usage and validity.
    ///
    /// Issue it with `issuer.issue(request.certificate().server_auth(), &request)`.
    pub fn certificate(&self) -> CertificateBuilder<EndEntity> {
        CertificateBuilder::named(self.subject().clone(), self.names.clone())
    }
}

impl SubjectKey for VerifiedRequest {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

/// Why a request could not be made, read or accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The bytes are not the DER of a request.
    #[error("the request is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the request {0}")]
    Syntax(SyntaxError),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The public key is malformed, or of an algorithm that cannot sign.
    #[error("the request's key: {0}")]
    Key(KeyError),
    /// The signature does not prove possession of the private key.
    #[error("no proof of possession: {0}")]
    Signature(SignatureError),
    /// A name cannot be in a certificate.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The request would break a standard's rule: [`linting`](crate::linting) would report an error.
    #[error("{section} forbids this ({rule}): {what}; no request was made: make it without that")]
    BreaksRule {
        /// What in the request breaks the rule, with the values found.
        what: String,
        /// The section that demands otherwise.
        section: &'static str,
        /// The rule's name in [`linting`](crate::linting).
        rule: &'static str,
    },
    /// The request asks for extensions, or for alternative names, more than once.
    #[error("the request asks for extensions or for alternative names more than once")]
    Repeated,
    /// The key did not sign.
    #[error(transparent)]
    Sign(#[from] SignError),
}

from_causes!(
    RequestError: Der(der::Error),
    Syntax(SyntaxError),
    Key(KeyError),
    Signature(SignatureError)
);

impl From<SealError> for RequestError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Der(error) => error.into(),
            SealError::Sign(error) => error.into(),
        }
    }
}

const PEM_LABEL: &str = "CERTIFICATE REQUEST";

/// The attribute szOID_CERT_EXTENSIONS, in which Microsoft's programs ask for extensions: its contents are those
/// of RFC 2985's. Names in it must not get lost, since whoever sends them expects them in the certificate.
const MICROSOFT_EXTENSIONS: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");

/// What the extension request attribute asks for.
fn requested_extensions(info: &CertReqInfo) -> Result<Extensions, RequestError> {
    let values = info
        .attributes
        .iter()
        .filter(|attribute| [ExtensionReq::OID, MICROSOFT_EXTENSIONS].contains(&attribute.oid))
        .flat_map(|attribute| attribute.values.iter());
    let Some(value) = at_most_one(values)? else {
        return Ok(Extensions::default());
    };
    let extensions: Extensions = value.decode_as().map_err(|error| SyntaxError::Form {
        place: "its list of requested extensions".into(),
        found: syntax::found(error),
    })?;
    check_extensions(&extensions.0)?;
    Ok(extensions)
}

/// The alternative names among them. Other requested extensions are ignored, because the CA decides on them.
fn requested_names(extensions: &Extensions) -> Result<AlternativeNames, RequestError> {
    let names = extensions
        .0
        .iter()
        .filter(|extension| extension.extn_id == SubjectAltName::OID);
    let Some(extension) = at_most_one(names)? else {
        return Ok(AlternativeNames::default());
    };
    let names = general_names::read(extension.extn_value.as_bytes())?;
    match AlternativeNames::from_general_names(&names) {
        (names, false) => Ok(names),
        (_, true) => Err(NameError::UnsupportedKind.into()),
    }
}

/// The basic constraints among them.
fn requested_basic_constraints(extensions: &Extensions) -> Option<BasicConstraints> {
    let mut constraints = extensions
        .0
        .iter()
        .filter(|extension| extension.extn_id == BasicConstraints::OID)
        .map(|extension| BasicConstraints::from_der(extension.extn_value.as_bytes()));
    constraints.find_map(Result::ok)
}

fn at_most_one<T>(mut items: impl Iterator<Item = T>) -> Result<Option<T>, RequestError> {
    let item = items.next();
    match items.next() {
        None => Ok(item),
        Some(_) => Err(RequestError::Repeated),
    }
}
