//! The extensions of revocation lists and of their entries (RFC 5280 sections 5.2 and 5.3), as text: those that are not
//! among a list's other facts.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_CERTIFICATE_ISSUER, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS,
    ID_CE_DELTA_CRL_INDICATOR, ID_CE_FRESHEST_CRL, ID_CE_INVALIDITY_DATE,
    ID_CE_ISSUING_DISTRIBUTION_POINT,
};
use pq_keys::encoding::rfc3339;
use pq_x509::keys::encoding::syntax::{Element, elements};
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::der::Decode;
use pq_x509::x509_cert::der::asn1::{GeneralizedTime, Uint};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralNames};
use pq_x509::x509_cert::ext::pkix::{CrlDistributionPoints, crl};

use super::counts::with_unit;
use super::extensions::{distribution_points, general_names};
use super::fingerprint::hex;
use crate::words::oid_name;

/// What the extensions of a list in DER say, but its number and its issuer's key.
pub(crate) fn of_list(der: &[u8]) -> Vec<String> {
    let shown_elsewhere = [ID_CE_CRL_NUMBER, ID_CE_AUTHORITY_KEY_IDENTIFIER];
    let explicit = fields(der).find(|field| field.tag == 0xa0);
    let list = explicit.and_then(|explicit| elements(explicit.value).next());
    described(list.map_or(&[], |list| list.value), &shown_elsewhere)
}

/// What the extensions of each of the first entries say, but the reason.
pub(crate) fn of_entries(der: &[u8], most: usize) -> Vec<Vec<String>> {
    let is_time = |field: &Element<'_>| matches!(field.tag, 0x17 | 0x18);
    let after_times = fields(der)
        .skip_while(|field| !is_time(field))
        .find(|field| !is_time(field));
    let entries = after_times.filter(|field| field.tag == 0x30);
    let entries = entries.map_or(&[][..], |entries| entries.value);
    let extensions = elements(entries).take(most).map(|entry| {
        let extensions = elements(entry.value).nth(2);
        let extensions = extensions.map_or(&[][..], |extensions| extensions.value);
        described(extensions, &[ID_CE_CRL_REASONS])
    });
    extensions.collect()
}

/// Those of the signed part.
fn fields(der: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let body = elements(der).next();
    let body = body.and_then(|list| elements(list.value).next());
    body.into_iter().flat_map(|body| elements(body.value))
}

fn described(extensions: &[u8], left_out: &[ObjectIdentifier]) -> Vec<String> {
    let extensions =
        elements(extensions).filter_map(|extension| Extension::from_der(extension.whole).ok());
    let others = extensions.filter(|extension| !left_out.contains(&extension.extn_id));
    others
        .map(|extension| {
            let name = oid_name(extension.extn_id);
            let value = value(&extension).unwrap_or_else(|| {
                let len = extension.extn_value.as_bytes().len();
                with_unit(len as u64, "byte")
            });
            format!("{name}: {value}")
        })
        .collect()
}

fn value(extension: &Extension) -> Option<String> {
    let der = extension.extn_value.as_bytes();
    Some(match extension.extn_id {
        ID_CE_ISSUING_DISTRIBUTION_POINT => {
            issuing_distribution_point(&IssuingDistributionPoint::from_der(der).ok()?)
        }
        ID_CE_DELTA_CRL_INDICATOR => {
            let base = Uint::from_der(der).ok()?;
            format!("changes since 0x{}", hex(base.as_bytes()))
        }
        ID_CE_FRESHEST_CRL => {
            let crl::FreshestCrl(points) = crl::FreshestCrl::from_der(der).ok()?;
            distribution_points(CrlDistributionPoints(points))
        }
        ID_CE_INVALIDITY_DATE => {
            let since = GeneralizedTime::from_der(der).ok()?.to_unix_duration();
            rfc3339(UnixTime::since_unix_epoch(since))
        }
        ID_CE_CERTIFICATE_ISSUER => general_names(&GeneralNames::from_der(der).ok()?),
        _ => return None,
    })
}

/// What the list is about, if it is not about all certificates of its issuer.
fn issuing_distribution_point(point: &IssuingDistributionPoint) -> String {
    let mut said = Vec::new();
    match &point.distribution_point {
        Some(DistributionPointName::FullName(names)) => said.push(general_names(names)),
        Some(_) => said.push("a name after the issuer's".into()),
        None => {}
    }
    let flags = [
        (point.only_contains_user_certs, "end entities only"),
        (point.only_contains_ca_certs, "CAs only"),
        (
            point.only_contains_attribute_certs,
            "attribute certificates only",
        ),
        (point.only_some_reasons.is_some(), "some reasons only"),
        (
            point.indirect_crl,
            "certificates of other issuers, too (indirect)",
        ),
    ];
    said.extend(
        flags
            .into_iter()
            .filter(|(is_so, _)| *is_so)
            .map(|(_, words)| words.to_owned()),
    );
    said.join(", ")
}
