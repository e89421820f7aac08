use core::net::IpAddr;

use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::oid::db::{DB, rfc4519};
use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{AskedName, TextPattern};
use crate::policy::wanted::Wanted;

/// Which subject names may be certified.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Subject {
    common_name: Setting<List<TextPattern>>,
    organization: Setting<List<TextPattern>>,
    unit: Setting<List<TextPattern>>,
    locality: Setting<List<TextPattern>>,
    state: Setting<List<TextPattern>>,
    country: Setting<List<TextPattern>>,
}

impl Subject {
    pub(crate) fn check(&self, wanted: &Wanted, findings: &mut Findings) {
        for (oid, value) in wanted.attributes() {
            match (self.list(oid), value) {
                (Some((key, list)), Some(value)) => {
                    check_value(key, list, &value, wanted, findings);
                }
                (Some((key, _)), None) => findings.add_always(Reason::AttributeEncoding(key)),
                (None, _) => {
                    let name = DB.find_names_for_oid(oid).min_by_key(|name| name.len());
                    let name = name.map_or_else(|| oid.to_string(), String::from);
                    findings.add_always(Reason::UnknownAttribute(name));
                }
            }
        }
    }

    /// The key for an attribute (RFC 4519), and its setting.
    fn list(&self, oid: ObjectIdentifier) -> Option<(&'static str, &Setting<List<TextPattern>>)> {
        match oid {
            rfc4519::COMMON_NAME => Some((COMMON_NAME, &self.common_name)),
            rfc4519::ORGANIZATION_NAME => Some(("subject.organization", &self.organization)),
            rfc4519::ORGANIZATIONAL_UNIT_NAME => Some(("subject.unit", &self.unit)),
            rfc4519::LOCALITY_NAME => Some(("subject.locality", &self.locality)),
            rfc4519::ST => Some(("subject.state", &self.state)),
            rfc4519::COUNTRY_NAME => Some(("subject.country", &self.country)),
            _ => None,
        }
    }
}

const COMMON_NAME: &str = "subject.common-name";

fn check_value(
    key: &'static str,
    list: &Setting<List<TextPattern>>,
    value: &str,
    wanted: &Wanted,
    findings: &mut Findings,
) {
    let permitted = list.items();
    let mut including = permitted.iter().filter(|pattern| pattern.includes(value));
    // Some clients take a common name for the name of a host.
    if key == COMMON_NAME && is_host(value) {
        let is_permitted =
            wanted.has_alternative_name(value) || including.any(TextPattern::is_one_text);
        if !is_permitted {
            let reason = Reason::HostAsCommonName {
                name: value.into(),
                permitted: permitted.to_vec(),
            };
            findings.add(list.offset(), reason);
        }
    } else if including.next().is_none() {
        let reason = Reason::Subject {
            key,
            value: value.into(),
            permitted: permitted.to_vec(),
        };
        findings.add(list.offset(), reason);
    }
}

/// Whether a common name could be taken for an address or a DNS name. Single labels don't count, except
/// `localhost`.
fn is_host(name: &str) -> bool {
    let name = name.trim();
    let name = name.strip_suffix('.').unwrap_or(name);
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || AskedName::read(name).is_some_and(|name| name.wildcard || !name.is_single_label())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_taken_for_a_host() {
        for host in [
            "example.org",
            "EXAMPLE.ORG.",
            " example.org",
            "*.example.org",
            "*.org",
            "localhost",
            "LocalHost.",
            "10.0.0.1",
            "::1",
            "alice.smith",
        ] {
            assert!(is_host(host), "{host:?}");
        }
        for other in [
            "",
            ".",
            "alice",
            "Alice Smith",
            "a@example.org",
            "printer 7",
            "Dr. Who",
        ] {
            assert!(!is_host(other), "{other:?}");
        }
    }
}
