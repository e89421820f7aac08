//! `CertificateRevocationListBuilder`: what a caller wants in a revocation list, and the part that is signed (RFC 5280
//! section 5.1.2).

use alloc::collections::BTreeSet;
use std::time::SystemTime;

use der::asn1::{OctetString, Uint};
use der::{EncodeValue, Length};
use spki::AlgorithmIdentifierOwned;
use x509_cert::certificate::Version;
use x509_cert::crl::{RevokedCert, TbsCertList};
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, CrlReason};
use x509_cert::name::Name;

use super::error::IssueError;
use super::serial_number::serial_number;
use crate::certificate::{Validity, encode_extension, validity};

/// The contents of a revocation list that an
/// [`Issuer`](crate::issuing::Issuer::issue_revocation_list) is to issue.
///
/// Numbers and dates are checked when the list is issued. The list is complete: it
/// covers everything that its CA issued, and is no delta to another list.
#[derive(Clone, Debug)]
#[must_use]
pub struct CertificateRevocationListBuilder {
    number: Vec<u8>,
    validity: Option<Validity>,
    revoked: Vec<Revocation>,
}

impl CertificateRevocationListBuilder {
    /// A list with this number, big-endian, such as `&7_u64.to_be_bytes()`: at most 20
    /// bytes, and greater than the number of any list that the CA issued before (RFC 5280 section
    /// 5.2.3).
    pub fn new(number: &[u8]) -> Self {
        Self {
            number: number.to_vec(),
            validity: None,
            revoked: Vec::new(),
        }
    }

    /// Sets when the list starts to be used (thisUpdate), and when there will be a newer one
    /// (nextUpdate). By default it is used from one hour ago until 7 days from now.
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = Some(validity);
        self
    }

    /// Lists a certificate of this CA as revoked since `date`. Its number is
    /// [`Certificate::serial_number`](crate::certificate::Certificate::serial_number).
    ///
    /// RFC 5280 section 3.3 demands that a certificate stays on the lists until a list has been issued
    /// that is dated after the certificate's expiry.
    pub fn revoke(mut self, serial_number: &[u8], date: SystemTime, reason: CrlReason) -> Self {
        self.revoked.push(Revocation {
            serial_number: serial_number.to_vec(),
            date,
            reason,
        });
        self
    }

    /// Fills in the list.
    pub(crate) fn to_tbs(
        &self,
        issuer: Name,
        issuer_key_id: &[u8],
        signature: AlgorithmIdentifierOwned,
    ) -> Result<TbsCertList, IssueError> {
        let validity = self
            .validity
            .unwrap_or_else(|| Validity::days(DEFAULT_DAYS))
            .to_x509()?;
        let mut serial_numbers = BTreeSet::new();
        let mut entries = Vec::with_capacity(self.revoked.len());
        for revocation in &self.revoked {
            let entry = revocation.to_entry()?;
            if !serial_numbers.insert(entry.serial_number.clone()) {
                return Err(IssueError::RevokedTwice(entry.serial_number.to_string()));
            }
            entries.push(entry);
        }
        let authority = AuthorityKeyIdentifier {
            key_identifier: Some(OctetString::new(issuer_key_id)?),
            ..Default::default()
        };
        Ok(TbsCertList {
            version: Version::V2,
            signature,
            issuer,
            this_update: validity.not_before,
            next_update: Some(validity.not_after),
            // RFC 5280 section 5.1.2.6: absent, where there are none.
            revoked_certificates: (!entries.is_empty()).then_some(entries),
            crl_extensions: Some(vec![
                encode_extension(false, &authority)?,
                encode_extension(false, &list_number(&self.number)?)?,
            ]),
        })
    }
}

#[derive(Clone, Debug)]
struct Revocation {
    serial_number: Vec<u8>,
    date: SystemTime,
    reason: CrlReason,
}

impl Revocation {
    fn to_entry(&self) -> Result<RevokedCert, IssueError> {
        let extensions = match self.reason {
            // RFC 5280 section 5.3.1: left out instead of written.
            CrlReason::Unspecified => None,
            // The same section: for delta lists only.
            CrlReason::RemoveFromCRL => return Err(IssueError::RemoveFromCompleteList),
            reason => Some(vec![encode_extension(false, &reason)?]),
        };
        Ok(RevokedCert {
            serial_number: serial_number(&self.serial_number)?,
            revocation_date: validity::time(self.date)?,
            crl_entry_extensions: extensions,
        })
    }
}

const DEFAULT_DAYS: u32 = 7;

fn list_number(bytes: &[u8]) -> Result<CrlNumber, IssueError> {
    let number = Uint::new(bytes).map_err(|_| IssueError::ListNumber)?;
    if bytes.is_empty() || number.value_len()? > Length::new(20) {
        return Err(IssueError::ListNumber);
    }
    Ok(CrlNumber(number))
}
