//! The extensions in a document, and the table of those that RFC 5280 defines, each with its name and a strict reader
//! of its contents.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS, ID_CE_CERTIFICATE_ISSUER,
    ID_CE_CERTIFICATE_POLICIES, ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS,
    ID_CE_DELTA_CRL_INDICATOR, ID_CE_EXT_KEY_USAGE, ID_CE_FRESHEST_CRL, ID_CE_INHIBIT_ANY_POLICY,
    ID_CE_INVALIDITY_DATE, ID_CE_ISSUER_ALT_NAME, ID_CE_ISSUING_DISTRIBUTION_POINT,
    ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS, ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS,
    ID_CE_SUBJECT_ALT_NAME, ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES, ID_CE_SUBJECT_KEY_IDENTIFIER,
    ID_PE_AUTHORITY_INFO_ACCESS, ID_PE_SUBJECT_INFO_ACCESS,
};
use const_oid::db::rfc5912::ID_EXTENSION_REQ;
use der::asn1::{AnyRef, OctetStringRef, UintRef};
use der::{Decode, Sequence, Tag, Tagged};
use pq_keys::encoding::syntax::SyntaxError;
use x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, AuthorityKeyIdentifier, CrlDistributionPoints, CrlReason,
    ExtendedKeyUsage, IssuingDistributionPoint, NameConstraints, PolicyConstraints, PolicyMappings,
    SubjectDirectoryAttributes,
};

use super::element::{Element, Elements, tag};
use crate::certificate::{general_names, key_usage, read_policies};

/// An extension (RFC 5280 section 4.1.2.9).
#[derive(Clone, Copy)]
pub(crate) struct Extension<'a> {
    pub(crate) oid: ObjectIdentifier,
    pub(crate) critical: bool,
    /// Whether it says that it is not critical, which should be left out.
    pub(crate) says_not_critical: bool,
    /// The OCTET STRING around the contents.
    pub(crate) contents: Element<'a>,
}

impl<'a> Extension<'a> {
    /// The extensions of a list.
    pub(crate) fn all_of(list: &Element<'a>) -> impl Iterator<Item = Self> + use<'a> {
        list.elements().filter_map(Self::read)
    }

    fn read(element: Element<'a>) -> Option<Self> {
        let mut fields = element.elements();
        let oid = fields.next_if(tag::OBJECT_IDENTIFIER)?;
        let critical = fields.next_if(tag::BOOLEAN);
        Some(Self {
            oid: ObjectIdentifier::from_bytes(oid.value()).ok()?,
            critical: critical.is_some_and(|critical| critical.is_true()),
            says_not_critical: critical.is_some_and(|critical| !critical.is_true()),
            contents: fields.next_if(tag::OCTET_STRING)?,
        })
    }

    /// The contents.
    pub(crate) fn content(&self) -> Option<Element<'a>> {
        self.elements().next()
    }

    pub(crate) fn elements(&self) -> Elements<'a> {
        self.contents.elements()
    }

    /// The name for people.
    pub(crate) fn name(&self) -> String {
        extension_name(self.oid)
    }
}

/// An extension of RFC 5280.
pub(crate) struct Known {
    name: &'static str,
    /// Reads the contents, strictly.
    pub(crate) decode: fn(&[u8]) -> Result<(), SyntaxError>,
    /// Whether it is a list that must have at least one element.
    pub(crate) is_list: bool,
}

/// What is known about an extension.
pub(crate) fn known(oid: ObjectIdentifier) -> Option<&'static Known> {
    let mut known = KNOWN.iter();
    known.find(|(known, _)| *known == oid).map(|(_, row)| row)
}

/// The standard's name of an extension, or else its object identifier.
pub(crate) fn extension_name(oid: ObjectIdentifier) -> String {
    known(oid).map_or_else(|| oid.to_string(), |known| known.name.into())
}

/// The attribute of a request that asks for extensions (RFC 2985 section 5.4.2).
pub(crate) const EXTENSION_REQUEST: ObjectIdentifier = ID_EXTENSION_REQ;

static KNOWN: &[(ObjectIdentifier, Known)] = &[
    one::<AuthorityKeyIdentifier>(ID_CE_AUTHORITY_KEY_IDENTIFIER, "authorityKeyIdentifier"),
    (
        ID_CE_SUBJECT_KEY_IDENTIFIER,
        Known {
            name: "subjectKeyIdentifier",
            decode: |der| Ok(<&OctetStringRef>::from_der(der).map(drop)?),
            is_list: false,
        },
    ),
    (
        ID_CE_KEY_USAGE,
        Known {
            name: "keyUsage",
            decode: |der| Ok(key_usage::from_der(der).map(drop)?),
            is_list: false,
        },
    ),
    (
        ID_CE_CERTIFICATE_POLICIES,
        Known {
            name: "certificatePolicies",
            decode: |der| Ok(read_policies(der).map(drop)?),
            is_list: true,
        },
    ),
    list::<PolicyMappings>(ID_CE_POLICY_MAPPINGS, "policyMappings"),
    names(ID_CE_SUBJECT_ALT_NAME, "subjectAltName"),
    names(ID_CE_ISSUER_ALT_NAME, "issuerAltName"),
    list::<SubjectDirectoryAttributes>(
        ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES,
        "subjectDirectoryAttributes",
    ),
    (
        ID_CE_BASIC_CONSTRAINTS,
        Known {
            name: "basicConstraints",
            decode: |der| Ok(Constraints::from_der(der).map(drop)?),
            is_list: false,
        },
    ),
    one::<NameConstraints>(ID_CE_NAME_CONSTRAINTS, "nameConstraints"),
    one::<PolicyConstraints>(ID_CE_POLICY_CONSTRAINTS, "policyConstraints"),
    list::<ExtendedKeyUsage>(ID_CE_EXT_KEY_USAGE, "extKeyUsage"),
    list::<CrlDistributionPoints>(ID_CE_CRL_DISTRIBUTION_POINTS, "cRLDistributionPoints"),
    number(ID_CE_INHIBIT_ANY_POLICY, "inhibitAnyPolicy"),
    list::<CrlDistributionPoints>(ID_CE_FRESHEST_CRL, "freshestCRL"),
    list::<AuthorityInfoAccessSyntax>(ID_PE_AUTHORITY_INFO_ACCESS, "authorityInfoAccess"),
    list::<AuthorityInfoAccessSyntax>(ID_PE_SUBJECT_INFO_ACCESS, "subjectInfoAccess"),
    number(ID_CE_CRL_NUMBER, "cRLNumber"),
    number(ID_CE_DELTA_CRL_INDICATOR, "deltaCRLIndicator"),
    one::<IssuingDistributionPoint>(ID_CE_ISSUING_DISTRIBUTION_POINT, "issuingDistributionPoint"),
    one::<CrlReason>(ID_CE_CRL_REASONS, "reasonCode"),
    (
        ID_CE_INVALIDITY_DATE,
        Known {
            name: "invalidityDate",
            // It may be before 1970, which `der`'s GeneralizedTime cannot express.
            decode: |der| {
                let tag = AnyRef::from_der(der)?.tag();
                Ok(tag.assert_eq(Tag::GeneralizedTime).map(drop)?)
            },
            is_list: false,
        },
    ),
    names(ID_CE_CERTIFICATE_ISSUER, "certificateIssuer"),
];

/// BasicConstraints with a limit of any size.
#[derive(Sequence)]
struct Constraints<'a> {
    #[asn1(default = "Default::default")]
    ca: bool,
    path_len: Option<UintRef<'a>>,
}

const fn one<T>(oid: ObjectIdentifier, name: &'static str) -> (ObjectIdentifier, Known)
where
    T: for<'a> Decode<'a, Error = der::Error>,
{
    let known = Known {
        name,
        decode: |der| Ok(T::from_der(der).map(drop)?),
        is_list: false,
    };
    (oid, known)
}

const fn list<T>(oid: ObjectIdentifier, name: &'static str) -> (ObjectIdentifier, Known)
where
    T: for<'a> Decode<'a, Error = der::Error>,
{
    let (oid, known) = one::<T>(oid, name);
    (
        oid,
        Known {
            is_list: true,
            ..known
        },
    )
}

const fn names(oid: ObjectIdentifier, name: &'static str) -> (ObjectIdentifier, Known) {
    let known = Known {
        name,
        decode: |der| general_names::read(der).map(drop),
        is_list: true,
    };
    (oid, known)
}

const fn number(oid: ObjectIdentifier, name: &'static str) -> (ObjectIdentifier, Known) {
    let known = Known {
        name,
        decode: |der| Ok(UintRef::from_der(der).map(drop)?),
        is_list: false,
    };
    (oid, known)
}
