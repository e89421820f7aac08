//! Certificates are issued for orders: by the CA's policy, once for each.

use core::time::Duration;

use pq_acme::objects::Time;
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{Due, Issue, Issued, Policy, Server};
use pq_acme::store::Store;
use pq_ca::authority::{AuthorityError, Once, Order};
use pq_ca::ledger::{Evidence, RequestId};
use pq_ca::policy::{Profile, Wanted};
use pq_x509::certificate::Certificate;
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

/// Issues the certificate of an order if that is still due, and says to the order what came of it.
pub(super) fn carry_out<S: Store, P: Policy>(
    server: &Server<S, P>,
    ca: &Issuing,
    work: &Issue,
    now: UnixTime,
) {
    let due = match server.due(&work.order) {
        Ok(due) => due,
        Err(error) => {
            tracing::error!(order = work.order, %error, "an order can't be read");
            return;
        }
    };
    let issued = match due {
        Due::Nothing => return,
        Due::Issue => issue(ca, work, now),
        Due::Refuse(problem) => Err(NotIssued::Refused(problem)),
    };
    let outcome = match told(ca, work, issued) {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(order = work.order, %error, "a certificate can't be issued now");
            return;
        }
    };
    if let Err(problem) = &outcome {
        tracing::info!(order = work.order, %problem, "an order gets no certificate");
    }
    if let Err(error) = server.issued(&work.order, outcome) {
        tracing::error!(order = work.order, %error, "an order does not have its certificate");
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
    match ca.key.issue_once(&order, &by, now).map_err(not_issued)? {
        Once::Issued(certificate) => Ok(with_chain(certificate, ca.chain().to_vec())),
        Once::Before(certificate) => issued_before(ca, certificate).map_err(not_issued),
    }
}

/// What an order is told, after this came of issuing: nothing yet, if nobody can say for good. Others may have issued its
/// certificate meanwhile, by another policy or before the account ended: then it has that.
fn told(
    ca: &Issuing,
    work: &Issue,
    issued: Result<Issued, NotIssued>,
) -> Result<Result<Issued, Problem>, AuthorityError> {
    let problem = match issued {
        Ok(issued) => return Ok(Ok(issued)),
        Err(NotIssued::Refused(problem)) => problem,
        Err(NotIssued::NotNow(error)) if work.is_late => {
            tracing::error!(order = work.order, %error, "a certificate could not be issued in time");
            Problem::new(
                ProblemType::ServerInternal,
                "the CA could not issue the certificate in time: make another order",
            )
        }
        Err(NotIssued::NotNow(error)) => return Err(error),
    };
    let before = ca.key.of_request(&RequestId::from_bytes(work.request_id))?;
    match before {
        Some(certificate) => Ok(Ok(issued_before(ca, certificate)?)),
        None => Ok(Err(problem)),
    }
}

/// A certificate that the ledger has, maybe by an earlier key.
fn issued_before(ca: &Issuing, certificate: Certificate) -> Result<Issued, AuthorityError> {
    let rest = ca.chain_of(&certificate)?;
    Ok(with_chain(certificate, rest))
}

fn with_chain(certificate: Certificate, rest: Vec<Certificate>) -> Issued {
    let mut chain = vec![certificate];
    chain.extend(rest);
    Issued {
        chains: vec![chain],
    }
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
        asked = asked.validity(left_until(end, now)?);
    }
    Ok(asked)
}

/// How long a certificate is valid that is issued now and ends then.
pub(super) fn left_until(end: Time, now: UnixTime) -> Result<Duration, Problem> {
    match end.as_secs().saturating_sub(now.as_secs()) {
        0 => Err(Problem::malformed(
            "\"notAfter\" of the order is over: order a certificate that ends later",
        )),
        left => Ok(Duration::from_secs(left)),
    }
}

/// As much of what was seen as a ledger keeps of it, or nothing if there is nothing to tell.
fn evidence(seen: &[String]) -> Option<Evidence> {
    const CUT: &str = "...";
    let more = |left: usize| match left {
        0 => String::new(),
        left => format!("; and {left} more"),
    };
    let mut text = String::new();
    for (index, one) in seen.iter().enumerate() {
        let between = if index == 0 { "" } else { "; " };
        let left = seen.len() - index;
        // There is room for this after what there is.
        let rest = more(left - 1);
        if text.len() + between.len() + one.len() + rest.len() <= Evidence::MAX_LEN {
            text.push_str(between);
            text.push_str(one);
            continue;
        }
        if index > 0 {
            text.push_str(&more(left));
        } else {
            let room = Evidence::MAX_LEN - CUT.len() - rest.len();
            let fits = |(at, one): &(usize, char)| at + one.len_utf8() <= room;
            let kept = one.char_indices().take_while(fits);
            text.extend(kept.map(|(_, one)| one));
            text.push_str(CUT);
            text.push_str(&rest);
        }
        break;
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
mod tests;
