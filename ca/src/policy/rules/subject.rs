//! The table `[subject]` of a policy: which values each attribute of a subject's name may have. Common names that a
//! client could take for a host, an address or a mailbox have rules of their own.

use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::oid::db::{DB, rfc4519};
use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{TextPattern, is_only_for_people, is_plain_label};
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
        let attributes = wanted.attributes();
        if attributes.len() > MAX_ATTRIBUTES {
            // As for alternative names: refusals for all of them would fill screens.
            findings.add_always(Reason::NumberOfAttributes(attributes.len()));
            return;
        }
        for (oid, value) in attributes {
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
    if key == COMMON_NAME && !(1..=MAX_COMMON_NAME).contains(&value.chars().count()) {
        findings.add_always(Reason::CommonNameLength(value.chars().count()));
        return;
    }
    let permitted = list.items();
    let mut including = permitted.iter().filter(|pattern| pattern.includes(value));
    // Some clients take a common name for the name of a host, or for a mailbox.
    if key == COMMON_NAME && !is_only_for_people(value) {
        let names_it = |pattern: &TextPattern| {
            pattern.is_one_text() || (pattern.has_text() && is_plain_label(value))
        };
        if !(wanted.has_alternative_name(value) || including.any(names_it)) {
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

/// How many characters a common name may have (RFC 5280, ub-common-name).
const MAX_COMMON_NAME: usize = 64;

/// How many attributes a subject's name may have, as in pq-x509.
const MAX_ATTRIBUTES: usize = 32;
