use core::fmt;
use core::net::IpAddr;

use anstyle::{AnsiColor, Style};
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use pq_x509::x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, AuthorityKeyIdentifier, CrlDistributionPoints, ExtendedKeyUsage,
    NameConstraints, SubjectAltName,
};
use pq_x509::{Certificate, Sizes};
use serde::Serialize;

use super::fingerprint::{fingerprint, hex};
use super::times::{rfc3339, with_unit};
use crate::chains::is_self_issued;
use crate::words::{algorithm_name, oid_name};

/// What there is to say of a certificate at some time. Its text is what a person wants to know first;
/// [`everything`](Self::everything) is the rest.
#[derive(Debug, Serialize)]
pub(crate) struct CertificateFacts {
    pub(crate) subject: String,
    issuer: String,
    self_issued: bool,
    /// The DNS names and the addresses among the alternative names, and others with their kind.
    names: Vec<String>,
    not_before: String,
    pub(crate) not_after: String,
    state: State,
    /// How many whole days are left; negative, if it has expired.
    pub(crate) days_left: i64,
    key_algorithm: String,
    signature_algorithm: String,
    is_ca: bool,
    path_length: Option<u8>,
    key_usage: Vec<String>,
    /// By the extended key usage; empty, if every purpose is allowed.
    purposes: Vec<String>,
    serial_number: String,
    fingerprint: String,
    subject_key_id: Option<String>,
    authority_key_id: Option<String>,
    sizes: SizesOfCertificate,
    extensions: Vec<ExtensionFacts>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    NotYetValid,
    Valid,
    Expired,
}

/// In bytes.
#[derive(Debug, Serialize)]
struct SizesOfCertificate {
    certificate: usize,
    public_key: usize,
    signature: usize,
}

#[derive(Debug, Serialize)]
struct ExtensionFacts {
    oid: String,
    name: String,
    critical: bool,
    /// What is in it, if this program knows its kind and nothing else here says it.
    value: Option<String>,
    /// Of its contents, in bytes.
    size: usize,
}

impl CertificateFacts {
    pub(crate) fn of(certificate: &Certificate, at: UnixTime) -> Self {
        let tbs = certificate.parsed().tbs_certificate();
        let extensions = tbs.extensions().map(Vec::as_slice).unwrap_or_default();
        let (not_before, not_after) = (certificate.not_before(), certificate.not_after());
        let sizes = Sizes::of([certificate]).total();
        let purposes: Option<ExtendedKeyUsage> = contents(extensions);
        let authority: Option<AuthorityKeyIdentifier> = contents(extensions);
        let authority_key_id = authority.and_then(|id| id.key_identifier);
        Self {
            subject: named(certificate.describe_subject()),
            issuer: named(certificate.describe_issuer()),
            self_issued: is_self_issued(certificate),
            names: alternative_names(extensions),
            not_before: rfc3339(not_before),
            not_after: rfc3339(not_after),
            state: match () {
                () if at > not_after => State::Expired,
                () if at < not_before => State::NotYetValid,
                () => State::Valid,
            },
            days_left: whole_days(at, not_after),
            key_algorithm: algorithm_name(tbs.subject_public_key_info().algorithm.oid),
            signature_algorithm: algorithm_name(certificate.parsed().signature_algorithm().oid),
            is_ca: certificate.is_ca(),
            path_length: certificate.path_len(),
            key_usage: certificate.key_usage().map_or_else(Vec::new, |usages| {
                usages
                    .into_iter()
                    .map(|usage| lower_first(&format!("{usage:?}")))
                    .collect()
            }),
            purposes: purposes.map_or_else(Vec::new, |purposes| {
                purposes.0.into_iter().map(oid_name).collect()
            }),
            serial_number: hex(certificate.serial_number()),
            fingerprint: fingerprint(certificate.der()),
            subject_key_id: certificate.subject_key_id().map(hex),
            authority_key_id: authority_key_id.map(|id| hex(id.as_bytes())),
            sizes: SizesOfCertificate {
                certificate: sizes.der,
                public_key: sizes.public_key,
                signature: sizes.signature,
            },
            extensions: extensions.iter().map(ExtensionFacts::of).collect(),
        }
    }

    /// What the text leaves out.
    pub(crate) fn everything(&self) -> impl fmt::Display {
        Everything(self)
    }
}

impl fmt::Display for CertificateFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BOLD}{}{BOLD:#}", self.subject)?;
        let note = if self.self_issued { " (itself)" } else { "" };
        line(f, "issued by", format_args!("{}{note}", self.issuer))?;
        line(f, "valid", Validity(self))?;
        if !self.names.is_empty() {
            line(f, "names", self.names.join(", "))?;
        }
        if !self.purposes.is_empty() {
            line(f, "for", self.purposes.join(", "))?;
        }
        line(f, "key", &self.key_algorithm)?;
        line(f, "signature", &self.signature_algorithm)?;
        match (self.is_ca, self.path_length) {
            (false, _) => line(f, "CA", "no"),
            (true, None) => line(f, "CA", "yes"),
            (true, Some(0)) => line(f, "CA", "yes, of end entities only"),
            (true, Some(len)) => {
                let cas = with_unit(len.into(), "CA");
                line(f, "CA", format_args!("yes, with at most {cas} below it"))
            }
        }
    }
}

struct Everything<'a>(&'a CertificateFacts);

impl fmt::Display for Everything<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.0;
        line(f, "serial", &facts.serial_number)?;
        line(f, "fingerprint", &facts.fingerprint)?;
        if let Some(id) = &facts.subject_key_id {
            line(f, "key id", id)?;
        }
        if let Some(id) = &facts.authority_key_id {
            line(f, "issuer's key", id)?;
        }
        if !facts.key_usage.is_empty() {
            line(f, "key usage", facts.key_usage.join(", "))?;
        }
        let SizesOfCertificate {
            certificate,
            public_key,
            signature,
        } = facts.sizes;
        line(
            f,
            "sizes",
            format_args!(
                "{certificate} bytes, of which the key takes {public_key} and the signature {signature}"
            ),
        )?;
        for extension in &facts.extensions {
            line(f, "extension", extension)?;
        }
        Ok(())
    }
}

impl ExtensionFacts {
    fn of(extension: &Extension) -> Self {
        Self {
            oid: extension.extn_id.to_string(),
            name: oid_name(extension.extn_id),
            critical: extension.critical,
            value: value_of(extension),
            size: extension.extn_value.as_bytes().len(),
        }
    }
}

impl fmt::Display for ExtensionFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let critical = if self.critical { ", critical" } else { "" };
        write!(f, "{}{critical}", self.name)?;
        match &self.value {
            Some(value) => write!(f, ": {value}"),
            None => write!(f, " ({} bytes)", self.size),
        }
    }
}

/// The time in which a certificate is valid, and how much of it is left.
struct Validity<'a>(&'a CertificateFacts);

impl fmt::Display for Validity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.0;
        let days = with_unit(facts.days_left.unsigned_abs(), "day");
        let (style, left) = match facts.state {
            State::Expired => (RED, format!("expired {days} ago")),
            State::NotYetValid => (RED, "not valid yet".into()),
            State::Valid if facts.days_left < SOON => (YELLOW, format!("{days} left")),
            State::Valid => (Style::new(), format!("{days} left")),
        };
        write!(
            f,
            "until {}, {style}{left}{style:#} (from {})",
            facts.not_after, facts.not_before
        )
    }
}

/// In days: less is pointed out.
const SOON: i64 = 14;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<13} {value}")
}

/// How many whole days are between two times; negative, and rounded up to a day that has begun, if the
/// second is before the first.
fn whole_days(from: UnixTime, to: UnixTime) -> i64 {
    const DAY: i64 = 24 * 60 * 60;
    // No clock and no certificate says a time that is out of range.
    let seconds = |time: UnixTime| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    (seconds(to) - seconds(from)).div_euclid(DAY)
}

fn named(name: String) -> String {
    match name.is_empty() {
        true => "(no name)".into(),
        false => name,
    }
}

/// The contents of the one extension of a kind, if it is there.
fn contents<'a, E>(extensions: &'a [Extension]) -> Option<E>
where
    E: Decode<'a> + const_oid::AssociatedOid,
{
    let extension = extensions
        .iter()
        .find(|extension| extension.extn_id == E::OID)?;
    E::from_der(extension.extn_value.as_bytes()).ok()
}

fn alternative_names(extensions: &[Extension]) -> Vec<String> {
    let names: Option<SubjectAltName> = contents(extensions);
    names.map_or_else(Vec::new, |names| names.0.iter().map(general_name).collect())
}

/// DNS names and addresses as they are, others after their kind.
fn general_name(name: &GeneralName) -> String {
    match name {
        GeneralName::DnsName(name) => printable(name.as_str()),
        GeneralName::IpAddress(octets) => address(octets.as_bytes()),
        GeneralName::Rfc822Name(name) => format!("email:{}", printable(name.as_str())),
        GeneralName::UniformResourceIdentifier(uri) => {
            format!("URI:{}", printable(uri.as_str()))
        }
        GeneralName::DirectoryName(name) => format!("directory:{}", printable(&name.to_string())),
        GeneralName::RegisteredId(oid) => format!("id:{oid}"),
        GeneralName::OtherName(other) => format!("other:{}", other.type_id),
        GeneralName::EdiPartyName(name) => {
            format!(
                "EDI:{}",
                name.to_der()
                    .map_or_else(|_| String::new(), |der| hex(&der))
            )
        }
    }
}

/// An address, or in name constraints an address with its mask.
fn address(octets: &[u8]) -> String {
    let ip = |octets: &[u8]| match octets.len() {
        4 => <[u8; 4]>::try_from(octets).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(octets).ok().map(IpAddr::from),
        _ => None,
    };
    if let Some(address) = ip(octets) {
        return address.to_string();
    }
    let (address, mask) = octets.split_at(octets.len() / 2);
    let prefix: u32 = mask.iter().map(|octet| octet.count_ones()).sum();
    match ip(address) {
        Some(address) if address.is_ipv4() == (octets.len() == 8) => format!("{address}/{prefix}"),
        _ => format!("address:{}", hex(octets)),
    }
}

/// What is in an extension of which a certificate's other facts don't tell.
fn value_of(extension: &Extension) -> Option<String> {
    let der = extension.extn_value.as_bytes();
    let list = |names: &[GeneralName]| {
        let names: Vec<String> = names.iter().map(general_name).collect();
        names.join(", ")
    };
    match extension.extn_id {
        oid if oid == oid_of::<CrlDistributionPoints>() => {
            let points = CrlDistributionPoints::from_der(der).ok()?;
            let names = points
                .0
                .iter()
                .filter_map(|point| match &point.distribution_point {
                    Some(DistributionPointName::FullName(names)) => Some(list(names)),
                    _ => None,
                });
            Some(names.collect::<Vec<_>>().join(", "))
        }
        oid if oid == oid_of::<AuthorityInfoAccessSyntax>() => {
            let access = AuthorityInfoAccessSyntax::from_der(der).ok()?;
            let each = access.0.iter().map(|access| {
                let method = oid_name(access.access_method);
                format!("{method} {}", general_name(&access.access_location))
            });
            Some(each.collect::<Vec<_>>().join(", "))
        }
        oid if oid == oid_of::<NameConstraints>() => {
            let constraints = NameConstraints::from_der(der).ok()?;
            let subtrees = [
                ("permitted", constraints.permitted_subtrees),
                ("excluded", constraints.excluded_subtrees),
            ];
            let each = subtrees.into_iter().filter_map(|(which, subtrees)| {
                let names: Vec<GeneralName> = subtrees?.into_iter().map(|tree| tree.base).collect();
                Some(format!("{which} {}", list(&names)))
            });
            Some(each.collect::<Vec<_>>().join("; "))
        }
        _ => None,
    }
}

fn oid_of<E: const_oid::AssociatedOid>() -> const_oid::ObjectIdentifier {
    E::OID
}

/// The standards' names of key usages begin with a small letter.
fn lower_first(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

/// A text that anybody may have written, with nothing that starts a line or moves a cursor.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::new();
    for character in text.chars() {
        match character {
            ' '..='~' => printable.push(character),
            _ => printable.extend(character.escape_debug()),
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn days_are_whole() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        const DAY: u64 = 86_400;
        assert_eq!(whole_days(at(0), at(DAY)), 1);
        assert_eq!(whole_days(at(1), at(DAY)), 0);
        assert_eq!(whole_days(at(DAY), at(DAY - 1)), -1);
        assert_eq!(whole_days(at(3 * DAY), at(DAY)), -2);
    }

    #[test]
    fn addresses_and_subnets() {
        assert_eq!(address(&[192, 0, 2, 1]), "192.0.2.1");
        assert_eq!(address(&[10, 0, 0, 0, 255, 0, 0, 0]), "10.0.0.0/8");
        assert_eq!(address(&[0; 16]), "::");
        assert_eq!(address(&[0; 32]), "::/0");
        assert_eq!(address(&[1, 2, 3]), "address:010203");
        assert_eq!(address(&[]), "address:");
    }

    #[test]
    fn names_of_key_usages_are_the_standards() {
        use pq_x509::KeyUsages;
        for (usage, name) in [
            (KeyUsages::DigitalSignature, "digitalSignature"),
            (KeyUsages::CRLSign, "cRLSign"),
        ] {
            assert_eq!(lower_first(&format!("{usage:?}")), name);
        }
    }
}
