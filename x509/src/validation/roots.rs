//! Finds the roots that a chain may end at by their names, so that webpki sees only these.

use std::collections::HashMap;
use std::sync::OnceLock;

use der::Decode;
use der::asn1::AnyRef;
use pki_types::{CertificateDer, Der, TrustAnchor};
use webpki::EndEntityCert;

use super::critical::unprocessed_critical_extension;
use super::error::ValidationError;
use crate::certificate::{CanonicalName, Certificate, name_constraints};

/// The roots of a validator, found by their names, so that the cost of a validation does not depend on
/// their number.
#[derive(Debug)]
pub(crate) struct Roots {
    certificates: Vec<Certificate>,
    /// The roots in webpki's form, in the same order.
    anchors: Vec<TrustAnchor<'static>>,
    /// The positions of the roots with a name, by the contents of its SEQUENCE, by which webpki
    /// compares names.
    by_subject: HashMap<Box<[u8]>, Vec<usize>>,
    /// The same, by the name in a form in which equal names are equal. Few chains need it, so it is made for the
    /// first that does.
    by_name: OnceLock<HashMap<Box<[u8]>, Vec<usize>>>,
}

impl Roots {
    pub(crate) fn new(certificates: Vec<Certificate>) -> Result<Self, ValidationError> {
        if certificates.is_empty() {
            return Err(ValidationError::NoRoots);
        }
        let anchors: Vec<TrustAnchor<'static>> = certificates
            .iter()
            .map(|root| {
                if !root.is_ca() {
                    return Err(ValidationError::RootNotACa(root.describe_subject()));
                }
                // webpki ignores critical extensions in roots.
                if let Some(oid) = unprocessed_critical_extension(root, &[]) {
                    return Err(ValidationError::UnsupportedCriticalExtension {
                        subject: Some(root.describe_subject()),
                        oid: Some(oid),
                    });
                }
                let mut anchor = webpki::anchor_from_trusted_cert(root.der())?.to_owned();
                let constraints = anchor.name_constraints.as_deref();
                if let Some(left) = constraints.and_then(name_constraints::for_webpki) {
                    anchor.name_constraints = Some(left.into());
                }
                Ok(anchor)
            })
            .collect::<Result<_, _>>()?;
        let mut by_subject: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        for (index, anchor) in anchors.iter().enumerate() {
            let subject = anchor.subject.as_ref().into();
            by_subject.entry(subject).or_default().push(index);
        }
        Ok(Self {
            certificates,
            anchors,
            by_subject,
            by_name: OnceLock::new(),
        })
    }

    /// The roots that may have issued one of these certificates.
    pub(crate) fn of_chain(&self, chain: &[CertificateDer<'_>]) -> Candidates<'_> {
        self.candidates(chain, &self.by_subject, |index| {
            borrow(&self.anchors[index])
        })
    }

    /// The roots that may have issued one of these certificates, whose names are canonical: so are those of the anchors,
    /// which have no name constraints.
    pub(crate) fn loosened_of_chain(&self, chain: &[CertificateDer<'_>]) -> Candidates<'_> {
        self.candidates(chain, self.by_name(), |index| {
            let anchor = borrow(&self.anchors[index]);
            let name = CanonicalName::in_paths(self.certificates[index].subject());
            TrustAnchor {
                subject: name.as_bytes().to_vec().into(),
                name_constraints: None,
                ..anchor
            }
        })
    }

    fn candidates<'a>(
        &'a self,
        chain: &[CertificateDer<'_>],
        by_issuer: &HashMap<Box<[u8]>, Vec<usize>>,
        anchor: impl Fn(usize) -> TrustAnchor<'a>,
    ) -> Candidates<'a> {
        // A certificate that webpki can't read is on no path.
        let mut found: Vec<usize> = chain
            .iter()
            .filter_map(|der| EndEntityCert::try_from(der).ok())
            .filter_map(|certificate| by_issuer.get(certificate.issuer()))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        Candidates {
            anchors: found.iter().map(|index| anchor(*index)).collect(),
            certificates: found
                .iter()
                .map(|index| &self.certificates[*index])
                .collect(),
        }
    }

    /// The roots with this name, in whatever letters and types of strings.
    pub(crate) fn with_subject_like(
        &self,
        name: &CanonicalName,
    ) -> impl Iterator<Item = &Certificate> {
        let found = self.by_name().get(name.as_bytes());
        found
            .into_iter()
            .flatten()
            .map(|index| &self.certificates[*index])
    }

    /// The roots that these certificates name as their issuers.
    pub(crate) fn above<'a>(
        &'a self,
        certificates: &'a [Certificate],
    ) -> impl Iterator<Item = &'a Certificate> {
        certificates
            .iter()
            .flat_map(|certificate| self.with_subject(certificate.issuer_der()))
    }

    /// Whether this is a root's own certificate.
    pub(crate) fn contains(&self, certificate: &Certificate) -> bool {
        self.with_subject(certificate.subject_der())
            .any(|root| root == certificate)
    }

    fn by_name(&self) -> &HashMap<Box<[u8]>, Vec<usize>> {
        self.by_name.get_or_init(|| {
            let mut by_name: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
            for (index, root) in self.certificates.iter().enumerate() {
                let name = CanonicalName::in_paths(root.subject());
                by_name
                    .entry(name.as_bytes().into())
                    .or_default()
                    .push(index);
            }
            by_name
        })
    }

    /// The roots with this name, in DER, of the same bytes.
    pub(crate) fn with_subject(&self, name: &[u8]) -> impl Iterator<Item = &Certificate> {
        let found = match AnyRef::from_der(name) {
            Ok(name) => self.named(name.value()),
            Err(_) => &[],
        };
        found.iter().map(|index| &self.certificates[*index])
    }

    fn named(&self, contents: &[u8]) -> &[usize] {
        self.by_subject.get(contents).map_or(&[], Vec::as_slice)
    }
}

/// Some of the roots, in the order in which they were given.
pub(crate) struct Candidates<'a> {
    pub(crate) anchors: Vec<TrustAnchor<'a>>,
    /// The same, in the same order.
    certificates: Vec<&'a Certificate>,
}

impl Candidates<'_> {
    /// The root that webpki found.
    pub(crate) fn certificate(&self, found: &TrustAnchor<'_>) -> Option<&Certificate> {
        // Two roots may have the same name and key, so the position identifies the root.
        let index = (self.anchors.iter()).position(|anchor| core::ptr::eq(anchor, found))?;
        self.certificates.get(index).copied()
    }
}

fn borrow<'a>(anchor: &'a TrustAnchor<'static>) -> TrustAnchor<'a> {
    let constraints = anchor.name_constraints.as_ref();
    TrustAnchor {
        subject: Der::from_slice(&anchor.subject),
        subject_public_key_info: Der::from_slice(&anchor.subject_public_key_info),
        name_constraints: constraints.map(|der| Der::from_slice(der)),
    }
}
