//! Certificates are issued for orders: by the CA's policy, once for each.

use core::time::Duration;

use pq_acme::objects::Time;
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{Issue, Issued};
use pq_ca::authority::{AuthorityError, Once, Order};
use pq_ca::ledger::{Evidence, RequestId};
use pq_ca::policy::{Profile, Wanted};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use pq_x509::verification::classical_algorithms;

use crate::doors::{Issuing, NoCertificate};

/// Why there is no certificate.
#[derive(Debug)]
pub(super) enum NotIssued {
    /// There will be none.
    Refused(Problem),
    /// It may be issued later: somebody takes the work up again.
    NotNow(AuthorityError),
}

impl From<Problem> for NotIssued {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

/// Issues the certificate of an order, or returns the one that it has.
pub(super) fn issue(ca: &Issuing, work: &Issue, now: UnixTime) -> Result<Issued, NotIssued> {
    let bad = |error: &dyn core::fmt::Display| {
        Problem::new(ProblemType::BadCsr, format!("the request: {error}"))
    };
    let request = CertificateRequest::from_der(&work.csr).map_err(|error| bad(&error))?;
    let algorithms = classical_algorithms().unwrap_or_default();
    let request = request
        .verify_with(algorithms)
        .map_err(|error| bad(&error))?;
    let order = Order::for_request(&request).map_err(|error| bad(&error))?;
    let mut refused = None;
    let order = order.with(|asked| {
        wanted(asked.clone(), work.profile.as_deref(), work.not_after, now).unwrap_or_else(
            |problem| {
                refused = Some(problem);
                asked
            },
        )
    });
    if let Some(problem) = refused {
        return Err(problem.into());
    }
    let order = order.as_request(RequestId::from_bytes(work.request_id));
    let order = match evidence(&work.evidence) {
        Some(evidence) => order.on_evidence(evidence),
        None => order,
    };
    let by = format!("ACME account {}", work.account);
    let issued = ca.key.issue_once(&order, &by, now).map_err(not_issued)?;
    let rest = match &issued {
        Once::Issued(_) => ca.chain().to_vec(),
        Once::Before(certificate) => ca.chain_of(certificate).map_err(not_issued)?,
    };
    let mut chain = vec![issued.into_certificate()];
    chain.extend(rest);
    Ok(Issued {
        chains: vec![chain],
    })
}

/// A certificate as an order has it: of its profile, and until its end.
pub(super) fn wanted(
    asked: Wanted,
    profile: Option<&str>,
    not_after: Option<Time>,
    now: UnixTime,
) -> Result<Wanted, Problem> {
    let mut asked = asked;
    if let Some(name) = profile {
        let profile: Profile = name
            .parse()
            .map_err(|error| Problem::new(ProblemType::InvalidProfile, format!("{error}")))?;
        asked = asked.profile(profile);
    }
    if let Some(end) = not_after {
        let left = end.as_secs().saturating_sub(now.as_secs());
        if left == 0 {
            return Err(Problem::malformed(
                "\"notAfter\" of the order is over: order a certificate that ends later",
            ));
        }
        asked = asked.validity(Duration::from_secs(left));
    }
    Ok(asked)
}

/// As much of what was seen as a ledger keeps of it, or nothing if there is nothing to tell.
fn evidence(seen: &[String]) -> Option<Evidence> {
    let mut text = String::new();
    for (index, one) in seen.iter().enumerate() {
        let left = seen.len() - index;
        let rest = format!("; and {left} more");
        if text.len() + one.len() + 2 + rest.len() > Evidence::MAX_LEN {
            if index > 0 {
                text.push_str(&rest);
            }
            break;
        }
        if index > 0 {
            text.push_str("; ");
        }
        text.push_str(one);
    }
    Evidence::new(text).ok()
}

fn not_issued(error: AuthorityError) -> NotIssued {
    let (kind, detail) = match NoCertificate::of(&error) {
        NoCertificate::NotNow => return NotIssued::NotNow(error),
        NoCertificate::Request(detail) => (ProblemType::BadCsr, detail),
        NoCertificate::Names(detail) => (ProblemType::RejectedIdentifier, detail),
    };
    NotIssued::Refused(Problem::new(kind, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_has_as_much_as_there_is_room_for() {
        assert_eq!(evidence(&[]), None);
        let one = String::from("http-01 a: 192.0.2.7");
        assert_eq!(evidence(core::slice::from_ref(&one)).unwrap().as_str(), one);
        let two = evidence(&[one.clone(), one.clone()]).unwrap();
        assert_eq!(two.as_str(), format!("{one}; {one}"));
        let many = vec![one.clone(); 100];
        let kept = evidence(&many).unwrap();
        assert!(kept.as_str().len() <= Evidence::MAX_LEN);
        let kept = kept.as_str();
        let whole = kept.matches(&one).count();
        assert!(
            kept.ends_with(&format!("; and {} more", 100 - whole)),
            "{kept}"
        );
        assert_eq!(evidence(&["x".repeat(Evidence::MAX_LEN)]), None);
    }
}
