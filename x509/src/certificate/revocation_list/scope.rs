//! Which certificates a revocation list is about, and whether it can be used at all.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_CERTIFICATE_ISSUER, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS,
    ID_CE_DELTA_CRL_INDICATOR, ID_CE_INVALIDITY_DATE, ID_CE_ISSUING_DISTRIBUTION_POINT,
};
use der::Decode;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::CrlDistributionPoints;
use x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};

use crate::certificate::Certificate;
use crate::certificate::extensions::critical_beside;

/// Why a revocation list can be read but not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableList {
    /// It lists changes to another list (RFC 5280 section 5.2.4).
    #[error("it is a delta to another list; get the complete one")]
    Delta,
    /// It lists certificates of several CAs (RFC 5280 section 5.2.5).
    #[error("it is an indirect list, of certificates of several CAs; get each CA's own")]
    Indirect,
    /// It lists certificates that were revoked for some reasons only.
    #[error("it is for some reasons of revocation only; get the list for all of them")]
    SomeReasons,
    /// It lists attribute certificates.
    #[error("it lists attribute certificates; get the list of public-key certificates")]
    AttributeCertificates,
    /// Its distribution point is a name relative to its issuer's.
    #[error("its distribution point has a relative name; have it issued with a URL")]
    RelativeName,
    /// It, or one of its entries, has a critical extension that is not processed here.
    #[error(
        "it has the critical extension {0}, which is not supported; have it issued without that \
         extension, or with the extension not critical"
    )]
    CriticalExtension(ObjectIdentifier),
    /// It doesn't say when there will be a newer list, so nobody could tell that it is old.
    #[error("it has no nextUpdate; have it issued with one (RFC 5280 section 5.1.2.5)")]
    NoNextUpdate,
    /// It is of version 2 but has no extensions.
    #[error(
        "it is of version 2 and has no extensions; have it issued with its number and the \
         identifier of its issuer's key (RFC 5280 section 5.2)"
    )]
    NoExtensions,
}

/// The certificates of its issuer that a list is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) only_end_entities: bool,
    pub(crate) only_cas: bool,
    /// The URLs of the list, if it has a distribution point. A certificate that has URLs, too, is
    /// covered if it shares one with the list.
    pub(crate) urls: Option<Vec<String>>,
}

impl Scope {
    /// Reads the scope from the extensions of a list, or why the list can't be used.
    ///
    /// # Errors
    ///
    /// Those of DER, for a malformed issuingDistributionPoint.
    pub(crate) fn read(extensions: &[Extension]) -> der::Result<Result<Self, UnusableList>> {
        const PROCESSED: [ObjectIdentifier; 3] = [
            ID_CE_AUTHORITY_KEY_IDENTIFIER,
            ID_CE_CRL_NUMBER,
            ID_CE_ISSUING_DISTRIBUTION_POINT,
        ];
        let find = |oid| extensions.iter().find(|e| e.extn_id == oid);
        if find(ID_CE_DELTA_CRL_INDICATOR).is_some() {
            return Ok(Err(UnusableList::Delta));
        }
        if let Some(oid) = critical_beside(&PROCESSED, extensions) {
            return Ok(Err(UnusableList::CriticalExtension(oid)));
        }
        let Some(extension) = find(ID_CE_ISSUING_DISTRIBUTION_POINT) else {
            return Ok(Ok(Self::default()));
        };
        IssuingDistributionPoint::from_der(extension.extn_value.as_bytes()).map(Self::of)
    }

    fn of(point: IssuingDistributionPoint) -> Result<Self, UnusableList> {
        if point.indirect_crl {
            return Err(UnusableList::Indirect);
        }
        if point.only_some_reasons.is_some() {
            return Err(UnusableList::SomeReasons);
        }
        if point.only_contains_attribute_certs {
            return Err(UnusableList::AttributeCertificates);
        }
        let urls = match point.distribution_point {
            None => None,
            Some(DistributionPointName::FullName(names)) => {
                Some(urls(&names).map(Into::into).collect())
            }
            Some(DistributionPointName::NameRelativeToCRLIssuer(_)) => {
                return Err(UnusableList::RelativeName);
            }
        };
        Ok(Self {
            only_end_entities: point.only_contains_user_certs,
            only_cas: point.only_contains_ca_certs,
            urls,
        })
    }
}

/// The URLs of the lists that a certificate may be on, if it has such an extension. There are
/// none if the extension can't be read, or if it names lists that can't be used here.
pub(crate) fn urls_of(certificate: &Certificate) -> Option<Vec<String>> {
    let tbs = certificate.parsed().tbs_certificate();
    let points = match tbs.get_extension::<CrlDistributionPoints>() {
        Ok(None) => return None,
        Ok(Some((_, points))) => points.0,
        Err(_) => Vec::new(),
    };
    let usable = points
        .iter()
        .filter(|point| point.crl_issuer.is_none() && point.reasons.is_none());
    let names = usable.filter_map(|point| match &point.distribution_point {
        Some(DistributionPointName::FullName(names)) => Some(names),
        _ => None,
    });
    Some(
        names
            .flat_map(|names| urls(names))
            .map(Into::into)
            .collect(),
    )
}

/// Checks whether a list that has an entry with these extensions can be used.
pub(crate) fn check_entry(extensions: &[Extension]) -> Result<(), UnusableList> {
    if (extensions.iter()).any(|extension| extension.extn_id == ID_CE_CERTIFICATE_ISSUER) {
        return Err(UnusableList::Indirect);
    }
    match critical_beside(&[ID_CE_CRL_REASONS, ID_CE_INVALIDITY_DATE], extensions) {
        Some(oid) => Err(UnusableList::CriticalExtension(oid)),
        None => Ok(()),
    }
}

fn urls(names: &[GeneralName]) -> impl Iterator<Item = &str> {
    names.iter().filter_map(|name| match name {
        GeneralName::UniformResourceIdentifier(url) => Some(url.as_str()),
        _ => None,
    })
}
