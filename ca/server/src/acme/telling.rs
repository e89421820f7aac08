//! What strangers are told of the CA's policy.

use pq_acme::identifier::Identifier;
use pq_ca::policy::{Forbidden, Reason, Refusal};

/// What a policy forbids, for strangers to read.
pub(super) fn told(forbidden: &Forbidden) -> String {
    let all: Vec<String> = forbidden.refusals().iter().map(told_of).collect();
    all.join("; ")
}

/// Strangers are told the rule, and not where the policy's file is.
pub(super) fn told_of(one: &Refusal) -> String {
    let text = one.to_string();
    let line = one.line().map(|line| format!(":{line}"));
    let place = format!("{}{}: ", one.file_name(), line.unwrap_or_default());
    match text.strip_prefix(&place) {
        Some(rule) => rule.to_owned(),
        None => text,
    }
}

/// The name that is not permitted.
pub(super) fn about(reason: &Reason) -> Option<Identifier> {
    match reason {
        Reason::DnsName { name, .. }
        | Reason::DnsNameExcluded { name, .. }
        | Reason::Wildcard(name)
        | Reason::SingleLabel(name)
        | Reason::WideWildcard(name)
        | Reason::NotADnsName(name)
        | Reason::AcmeName { name, .. } => Some(Identifier::Dns(name.clone())),
        Reason::Address { address, .. }
        | Reason::MappedAddress { address, .. }
        | Reason::AcmeAddress { address, .. } => Some(Identifier::Ip(*address)),
        _ => None,
    }
}
