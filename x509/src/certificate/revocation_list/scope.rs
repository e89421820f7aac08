//! Which certificates a revocation list is about, and whether it can be used at all.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_CERTIFICATE_ISSUER, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS,
    ID_CE_DELTA_CRL_INDICATOR, ID_CE_INVALIDITY_DATE, ID_CE_ISSUING_DISTRIBUTION_POINT,
};
use der::{Decode, Encode, Tag};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::CrlDistributionPoints;
use x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};

use crate::certificate::extensions::critical_beside;
use crate::certificate::{CanonicalName, Certificate};

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
}

/// The certificates of its issuer that a list is about.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Scope {
    pub(crate) only_end_entities: bool,
    pub(crate) only_cas: bool,
    /// The names of the list, if it has a distribution point. A certificate that has such names, too, is
    /// covered if it shares one with the list. In order, so that equal scopes are equal.
    pub(crate) points: Option<Vec<PointName>>,
}

/// A name of a distribution point, in a form in which equal ones are equal.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum PointName {
    Url(String),
    Directory(CanonicalName),
    /// A name of another kind, in DER.
    Other(Vec<u8>),
}

impl PointName {
    fn of(name: &GeneralName) -> der::Result<Self> {
        Ok(match name {
            GeneralName::UniformResourceIdentifier(url) => Self::Url(url.as_str().into()),
            GeneralName::DirectoryName(name) => Self::Directory(CanonicalName::of(name)),
            other => Self::Other(other.to_der()?),
        })
    }
}

/// How much a list says about a certificate that shares a distribution point with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Coverage {
    /// Whether it is revoked.
    Full,
    /// That it is revoked, if it is on the list: the certificate names the list for some reasons only, or as one of
    /// another CA's.
    RevocationsOnly,
}

/// The lists that a certificate may be on.
#[derive(Debug)]
pub(crate) enum Points {
    /// Those with one of these names. There may be none.
    Named(Vec<(PointName, Coverage)>),
    /// The certificate's extension can't be read, so that any list may be meant.
    Unreadable,
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
        Self::of(IssuingDistributionPoint::from_der(
            extension.extn_value.as_bytes(),
        )?)
    }

    fn of(point: IssuingDistributionPoint) -> der::Result<Result<Self, UnusableList>> {
        if point.indirect_crl {
            return Ok(Err(UnusableList::Indirect));
        }
        if point.only_some_reasons.is_some() {
            return Ok(Err(UnusableList::SomeReasons));
        }
        if point.only_contains_attribute_certs {
            return Ok(Err(UnusableList::AttributeCertificates));
        }
        let points = match point.distribution_point {
            None => None,
            // GeneralNames has at least one.
            Some(DistributionPointName::FullName(names)) if names.is_empty() => {
                return Err(Tag::Sequence.length_error().into());
            }
            Some(DistributionPointName::FullName(names)) => {
                let points: der::Result<Vec<_>> = names.iter().map(PointName::of).collect();
                let mut points = points?;
                points.sort_unstable();
                points.dedup();
                Some(points)
            }
            Some(DistributionPointName::NameRelativeToCRLIssuer(_)) => {
                return Ok(Err(UnusableList::RelativeName));
            }
        };
        Ok(Ok(Self {
            only_end_entities: point.only_contains_user_certs,
            only_cas: point.only_contains_ca_certs,
            points,
        }))
    }
}

impl Points {
    pub(crate) fn of(certificate: &Certificate) -> Self {
        let tbs = certificate.parsed().tbs_certificate();
        let points = match tbs.get_extension::<CrlDistributionPoints>() {
            Ok(None) => return Self::Named(Vec::new()),
            Ok(Some((_, points))) => points.0,
            Err(_) => return Self::Unreadable,
        };
        let issuer = certificate.issuer();
        let canonical_issuer = CanonicalName::of(issuer);
        let mut named = Vec::new();
        for point in &points {
            let is_by_issuer = |names: &Vec<GeneralName>| {
                names.iter().any(|name| match name {
                    GeneralName::DirectoryName(name) => CanonicalName::of(name) == canonical_issuer,
                    _ => false,
                })
            };
            let is_full =
                point.reasons.is_none() && point.crl_issuer.as_ref().is_none_or(is_by_issuer);
            let coverage = match is_full {
                true => Coverage::Full,
                false => Coverage::RevocationsOnly,
            };
            match &point.distribution_point {
                None => {}
                Some(DistributionPointName::FullName(names)) => {
                    for name in names {
                        match PointName::of(name) {
                            Ok(name) => named.push((name, coverage)),
                            Err(_) => return Self::Unreadable,
                        }
                    }
                }
                Some(DistributionPointName::NameRelativeToCRLIssuer(part)) => {
                    let name = CanonicalName::below(issuer, part);
                    named.push((PointName::Directory(name), coverage));
                }
            }
        }
        Self::Named(named)
    }
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
