//! A certificate in reports: the lines that people read, the longer list of `--all`, and the JSON, from the same
//! facts.

use anstyle::{AnsiColor, Style};
use core::fmt;
use pq_keys::SubjectKey;
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::{Certificate, Sizes};
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Decode, Reader, SliceReader, Tag, Tagged};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::{AuthorityKeyIdentifier, ExtendedKeyUsage};
use serde::Serialize;

use super::counts::with_unit;
use super::extensions::{alternative_names, find, lower_first, value_of};
use super::fingerprint::{fingerprint, hex};
use crate::chains::is_self_signed;
use crate::words::{algorithm_name, key_name, oid_name};

/// The facts about a certificate at some time. It displays what a person wants to know first;
/// [`everything`](Self::everything) is the rest.
#[derive(Debug, Serialize)]
pub(crate) struct CertificateFacts {
    pub(crate) subject: String,
    issuer: String,
    /// Whether issuer and subject have the same name.
    self_issued: bool,
    /// Whether its own key signed it.
    self_signed: bool,
    /// The alternative names: DNS names and addresses as they are, and others with their kind.
    names: Vec<String>,
    not_before: String,
    pub(crate) not_after: String,
    state: State,
    /// How many whole days are left; negative, if it has expired.
    pub(crate) days_left: i64,
    pub(crate) key_algorithm: String,
    signature_algorithm: String,
    is_ca: bool,
    path_length: Option<u8>,
    key_usage: Vec<String>,
    /// By the extended key usage; empty, if every purpose is allowed.
    purposes: Vec<String>,
    pub(crate) serial_number: String,
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

impl State {
    fn at(at: UnixTime, not_before: UnixTime, not_after: UnixTime) -> Self {
        if at > not_after {
            Self::Expired
        } else if at < not_before {
            Self::NotYetValid
        } else {
            Self::Valid
        }
    }
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
    /// Its contents, if this program knows its kind and no other field has them.
    value: Option<String>,
    /// The length of its contents, in bytes.
    size: usize,
}

impl CertificateFacts {
    pub(crate) fn of(certificate: &Certificate, at: UnixTime) -> Self {
        let tbs = certificate.parsed().tbs_certificate();
        let extensions = tbs.extensions().map(Vec::as_slice).unwrap_or_default();
        let (not_before, not_after) = (certificate.not_before(), certificate.not_after());
        let sizes = Sizes::of([certificate]).total();
        let purposes: Option<ExtendedKeyUsage> = find(extensions);
        let authority: Option<AuthorityKeyIdentifier> = find(extensions);
        let authority_key_id = authority.and_then(|id| id.key_identifier);
        let written = times_before_1970(certificate);
        let [from, until] = written.unwrap_or_else(|| [rfc3339(not_before), rfc3339(not_after)]);
        Self {
            subject: named(certificate.describe_subject()),
            issuer: named(certificate.describe_issuer()),
            self_issued: certificate.subject() == certificate.issuer(),
            self_signed: is_self_signed(certificate),
            names: alternative_names(extensions),
            not_before: from,
            not_after: until,
            state: State::at(at, not_before, not_after),
            days_left: whole_days(at, not_after),
            key_algorithm: key_name(&certificate.spki()),
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

    /// What is in the extension of this name.
    pub(crate) fn extension(&self, name: &str) -> Option<&str> {
        let mut named = self.extensions.iter().filter(|one| one.name == name);
        named.next()?.value.as_deref()
    }

    /// What the text leaves out.
    pub(crate) fn everything(&self) -> impl fmt::Display {
        Everything(self)
    }
}

impl fmt::Display for CertificateFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BOLD}{}{BOLD:#}", self.subject)?;
        let note = match (self.self_signed, self.self_issued) {
            (true, _) => " (itself)",
            (false, true) => " (by another key of that name)",
            (false, false) => "",
        };
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
            (true, Some(0)) => line(f, "CA", "yes, for end entities only"),
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
        // Whole days are rounded down, also those that are negative.
        let since = facts.days_left.saturating_add(1).unsigned_abs();
        let (style, left) = match facts.state {
            // How long ago, no clock here can say.
            State::Expired if *facts.not_after < *"1970" => (RED, "expired".into()),
            State::Expired if since == 0 => (RED, "expired less than a day ago".into()),
            State::Expired => (RED, format!("expired {} ago", with_unit(since, "day"))),
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

/// In days: if fewer are left, this is highlighted.
const SOON: i64 = 14;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<13} {value}")
}

/// The times of a certificate as it has them, if one is before 1970, for which [`Certificate::not_before`] and
/// [`Certificate::not_after`] give 1970.
fn times_before_1970(certificate: &Certificate) -> Option<[String; 2]> {
    let is_1970 = |time: UnixTime| time.as_secs() == 0;
    if !is_1970(certificate.not_before()) && !is_1970(certificate.not_after()) {
        return None;
    }
    let parts = |bytes| -> Option<Vec<AnyRef<'_>>> {
        let mut reader = SliceReader::new(bytes).ok()?;
        let mut parts = Vec::new();
        while !reader.is_finished() {
            parts.push(AnyRef::decode(&mut reader).ok()?);
        }
        Some(parts)
    };
    let outer = AnyRef::from_der(certificate.der()).ok()?;
    let tbs = *parts(outer.value())?.first()?;
    let fields = parts(tbs.value())?;
    // version, if it is there, serial number, algorithm, issuer
    let version = usize::from(fields.first()?.tag() != Tag::Integer);
    let times = parts(fields.get(version + 3)?.value())?;
    let text = |time: &AnyRef<'_>| {
        let digits = core::str::from_utf8(time.value()).ok()?;
        let full = match time.tag() {
            // RFC 5280 section 4.1.2.5.1
            Tag::UtcTime if digits < "50" => format!("20{digits}"),
            Tag::UtcTime => format!("19{digits}"),
            _ => digits.to_owned(),
        };
        let part = |from, to| full.get(from..to);
        Some(format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4)?,
            part(4, 6)?,
            part(6, 8)?,
            part(8, 10)?,
            part(10, 12)?,
            part(12, 14)?
        ))
    };
    Some([text(times.first()?)?, text(times.get(1)?)?])
}

/// How many whole days are between two times; if the second is before the first, negative, and a day that has
/// begun counts.
pub(crate) fn whole_days(from: UnixTime, to: UnixTime) -> i64 {
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
}
