//! `TbsCertificate`: a certificate between its preparation and its signature, when the caller may still change
//! anything.

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::{Encode, Sequence};
use pki_types::{CertificateDer, UnixTime};
use pq_keys::Signer;
use pq_keys::encoding::to_der;
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::certificate::Version;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Validity;

use super::error::IssueError;
use crate::certificate::general_names;
use crate::certificate::{
    AlternativeName, AlternativeNames, Certificate, check_values, describe_subject,
    encode_extension, signed, unix_time,
};
use crate::linting::{Kind, first_error};

/// A certificate before it is signed (RFC 5280 section 4.1), with access to every field.
///
/// [`Issuer::prepare`](crate::issuing::Issuer::prepare) makes one that obeys the rules. Changes
/// made after that are not checked. Use it for extensions that this crate
/// does not know, and for invalid certificates in tests.
#[derive(Clone, Debug, Eq, PartialEq, Sequence)]
pub struct TbsCertificate {
    /// The version: v3 if there are extensions.
    #[asn1(context_specific = "0", default = "Default::default")]
    pub version: Version,
    /// The serial number, unique among the issuer's certificates.
    pub serial_number: SerialNumber,
    /// The algorithm that the certificate will be signed with; [`sign`](Self::sign) and
    /// [`sign_to_der`](Self::sign_to_der) set it.
    pub signature: AlgorithmIdentifierOwned,
    /// The issuer's name.
    pub issuer: Name,
    /// The time in which the certificate is valid.
    pub validity: Validity,
    /// The subject's name.
    pub subject: Name,
    /// The subject's public key.
    pub subject_public_key_info: SubjectPublicKeyInfoOwned,
    /// The extensions. If there are none, the whole field is left out.
    #[asn1(
        context_specific = "3",
        tag_mode = "EXPLICIT",
        default = "Default::default"
    )]
    pub extensions: Vec<Extension>,
}

impl TbsCertificate {
    /// Adds an extension. It replaces one of the same kind.
    ///
    /// # Errors
    ///
    /// [`IssueError::Der`] if it cannot be encoded.
    pub fn set_extension<E: AssociatedOid + Encode>(
        &mut self,
        critical: bool,
        extension: &E,
    ) -> Result<(), IssueError> {
        let extension = encode_extension(critical, extension)?;
        match self.extensions.iter_mut().find(|e| e.extn_id == E::OID) {
            Some(existing) => *existing = extension,
            None => self.extensions.push(extension),
        }
        Ok(())
    }

    /// Removes an extension, if it is there.
    pub fn remove_extension(&mut self, oid: ObjectIdentifier) {
        self.extensions.retain(|extension| extension.extn_id != oid);
    }

    /// Signs the certificate with its present fields.
    ///
    /// # Errors
    ///
    /// [`IssueError::Sign`] if the key does not sign, [`IssueError::Der`] and
    /// [`IssueError::Certificate`] if the fields do not make a certificate.
    pub fn sign(mut self, signer: &(impl Signer + ?Sized)) -> Result<Certificate, IssueError> {
        let der = self.seal(signer)?;
        Ok(Certificate::from_der(&der)?)
    }

    /// Signs without reading the certificate back, which takes a twelfth of the time of issuing.
    ///
    /// Use it, for CAs that issue many certificates, on what [`Issuer::prepare`](crate::issuing::Issuer::prepare) made,
    /// without changes. It checks that no extension is repeated, and checks strings, object identifiers and
    /// alternative names, but not that each extension can be read. After changes, use [`sign`](Self::sign).
    ///
    /// # Errors
    ///
    /// Those of [`sign`](Self::sign), for these checks.
    pub fn sign_to_der(
        mut self,
        signer: &(impl Signer + ?Sized),
    ) -> Result<CertificateDer<'static>, IssueError> {
        let der = self.seal(signer)?;
        check_values(&der, &self.extensions)?;
        Ok(der.into())
    }

    /// Checks the rules of standards for the whole certificate, whose signature is still to come.
    /// [`Issuer::prepare`](crate::issuing::Issuer::prepare) has done that; call it after changes.
    ///
    /// # Errors
    ///
    /// [`IssueError::BreaksRule`] for the first error that [`linting`](crate::linting) finds.
    pub fn check_rules(&self) -> Result<(), IssueError> {
        let der = signed::envelope(&to_der(self)?, &self.signature, &[])?;
        match first_error(Kind::Certificate, &der) {
            None => Ok(()),
            Some(finding) => Err(finding.into()),
        }
    }

    fn seal(&mut self, signer: &(impl Signer + ?Sized)) -> Result<Vec<u8>, IssueError> {
        self.signature = signer.signature_algorithm();
        Ok(signed::seal(&to_der(self)?, &self.signature, signer)?)
    }

    /// The alternative names, in the form of [`Certificate::alternative_names`]: none if their extension can't
    /// be read.
    pub fn alternative_names(&self) -> Vec<AlternativeName> {
        let of_names = |extension: &&Extension| extension.extn_id == SubjectAltName::OID;
        let names = self.extensions.iter().find(of_names);
        let names = names.map(|names| general_names::read(names.extn_value.as_bytes()));
        let Some(Ok(names)) = names else {
            return Vec::new();
        };
        AlternativeNames::from_general_names(&names)
            .0
            .iter()
            .collect()
    }

    /// The first second in which the certificate will be valid.
    pub fn not_before(&self) -> UnixTime {
        unix_time(self.validity.not_before)
    }

    /// The last second in which the certificate will be valid.
    pub fn not_after(&self) -> UnixTime {
        unix_time(self.validity.not_after)
    }

    /// The subject for messages, in the form of [`Certificate::describe_subject`].
    pub fn describe_subject(&self) -> String {
        describe_subject(&self.subject, || self.alternative_names())
    }
}
