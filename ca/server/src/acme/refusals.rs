//! What a policy forbids, as clients are told.

use pq_acme::identifier::Identifier;
use pq_acme::problem::{Problem, ProblemType, Subproblem};
use pq_ca::policy::{Forbidden, Reason};

/// What a policy forbids of an order, as a problem: one for each name that it is about.
pub(super) fn refused(forbidden: &Forbidden) -> Problem {
    let all = forbidden.refusals();
    let of_profile = all.iter().find(|one| {
        matches!(
            one.reason(),
            Reason::AcmeProfile { .. } | Reason::Profile { .. }
        )
    });
    if let Some(one) = of_profile {
        return Problem::new(ProblemType::InvalidProfile, one.for_applicants());
    }
    // Several rules may refuse a name, which has one subproblem.
    let mut of_names: Vec<Subproblem> = Vec::new();
    for one in all {
        let detail = one.for_applicants();
        let Some(identifier) = about(one.reason()) else {
            return Problem::new(ProblemType::RejectedIdentifier, forbidden.for_applicants());
        };
        let same = |other: &&mut Subproblem| other.identifier.as_ref() == Some(&identifier);
        match of_names.iter_mut().find(same) {
            Some(known) => known.detail = format!("{}\n{detail}", known.detail),
            None => of_names.push(Subproblem {
                kind: ProblemType::RejectedIdentifier,
                detail,
                identifier: Some(identifier),
            }),
        }
    }
    Problem::of_identifiers(of_names)
}

/// The name that is not permitted.
fn about(reason: &Reason) -> Option<Identifier> {
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

#[cfg(test)]
mod tests {
    use pq_ca::policy::Policy;
    use pq_x509::certificate::AlternativeName;

    use super::*;

    /// Clients are told for each name what they may ask for, and nothing of the policy's file.
    #[test]
    fn names_are_refused_one_by_one() {
        let text = "[names]\ndns = ['.example.org']\n[keys]\nalgorithms = ['ML-DSA-65']\n[usages]\nprofiles = ['server']\n\
                    [acme]\ndns = ['.web.example.org']";
        let policy = Policy::parse(text, "ca/policy.toml").unwrap();
        let names = ["a.example.com", "b.example.org", "c.web.example.org"];
        let names = names.map(|name| AlternativeName::Dns(name.into()));
        let problem = refused(&policy.check_acme_order(&names, None).unwrap_err());
        assert_eq!(problem.kind, ProblemType::RejectedIdentifier);
        let of_names: Vec<_> = problem
            .subproblems
            .iter()
            .map(|one| one.identifier.clone())
            .collect();
        let expected =
            ["a.example.com", "b.example.org"].map(|name| Some(Identifier::Dns(name.into())));
        assert_eq!(of_names, expected);
        let told = format!("{problem:?}");
        assert!(
            told.contains("names.dns permits") && told.contains("acme.dns permits"),
            "{told}"
        );
        assert!(
            !told.contains("policy.toml") && !told.contains("permit it"),
            "{told}"
        );
    }
}
