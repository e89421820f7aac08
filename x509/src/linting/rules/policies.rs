//! Certificate policies.

use alloc::collections::BTreeSet;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ANY_POLICY, ID_CE_CERTIFICATE_POLICIES, ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS,
};

use super::CERTIFICATES;
use crate::linting::document::Element;
use crate::linting::listed::Listed;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-policy-repeated",
        "RFC 5280 section 4.2.1.4",
        "certificatePolicies has each policy only once",
        CERTIFICATES,
        |certificate| {
            let policies = certificate.content(ID_CE_CERTIFICATE_POLICIES)?;
            let mut seen = BTreeSet::new();
            let repeated: Listed = policies
                .elements()
                .filter_map(|policy| identifier(&policy.elements().next()?))
                .filter(|policy| !seen.insert(*policy))
                .map(|policy| policy.to_string())
                .collect();
            Some(format!(
                "has the policy {} more than once",
                repeated.text()?
            ))
        },
    ),
    Rule::error(
        "rfc5280-policy-mappings-any",
        "RFC 5280 section 4.2.1.5",
        "no policy is mapped to or from anyPolicy",
        CERTIFICATES,
        |certificate| {
            let mappings = certificate.content(ID_CE_POLICY_MAPPINGS)?;
            let mut policies = mappings.elements().flat_map(|mapping| mapping.elements());
            let is_any = policies.any(|policy| policy.value() == ANY_POLICY.as_bytes());
            is_any.then(|| "policyMappings maps from or to anyPolicy".into())
        },
    ),
    Rule::error(
        "rfc5280-policy-constraints-empty",
        "RFC 5280 section 4.2.1.11",
        "policyConstraints has at least one of its two constraints",
        CERTIFICATES,
        |certificate| {
            let constraints = certificate.content(ID_CE_POLICY_CONSTRAINTS)?;
            let is_empty = constraints.value().is_empty();
            is_empty.then(|| "policyConstraints is empty; leave it out".into())
        },
    ),
];

fn identifier(element: &Element<'_>) -> Option<ObjectIdentifier> {
    ObjectIdentifier::from_bytes(element.value()).ok()
}
