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
mod tests {
    use pq_acme::identifier::Identifier;
    use pq_acme::nonce::Nonces;
    use pq_acme::server::{Work, revoke_account};
    use pq_acme::store::{MemoryStore, OrderRecord, OrderState, Processing};
    use pq_ca::ledger::LedgerError;

    use super::super::policy::tests::{account, new_key, order, policy};
    use super::*;
    use crate::clock::Clock;

    fn csr() -> Vec<u8> {
        let request = CertificateRequest::builder().dns_name("www.example.org");
        request.sign(&new_key()).unwrap().to_der().to_vec()
    }

    /// What another replica issued counts, though the policy here forbids it or the account has ended since.
    #[test]
    fn no_order_is_refused_whose_certificate_is_there() {
        let (_folder, policy) = policy("[acme]");
        let ca = (policy.now)().unwrap();
        let mut work = Issue {
            order: "o".into(),
            request_id: [7; 32],
            account: "a".into(),
            csr: csr().into(),
            identifiers: [Identifier::dns("www.example.org").unwrap()].into(),
            profile: Some("server".into()),
            not_before: None,
            not_after: None,
            replaces: None,
            evidence: Vec::new(),
            is_late: false,
        };
        let refused = || Err(NotIssued::Refused(Problem::malformed("no")));
        let unknown = || LedgerError::RequestTaken {
            request: RequestId::from_bytes([1; 32]),
            number: pq_ca::ledger::SerialNumber::from_integer(&[1]).unwrap(),
        };
        let not_now = || Err(NotIssued::NotNow(unknown().into()));
        assert_eq!(
            told(&ca, &work, refused()).unwrap().unwrap_err(),
            Problem::malformed("no")
        );
        // What can't be issued for now is tried again, and not for ever.
        assert!(told(&ca, &work, not_now()).is_err());
        work.is_late = true;
        let late = told(&ca, &work, not_now()).unwrap().unwrap_err();
        assert!(late.detail.contains("in time"), "{late}");
        let issued = issue(&ca, &work, Clock::default().now()).unwrap();
        for outcome in [refused(), not_now()] {
            let told = told(&ca, &work, outcome).unwrap().unwrap();
            assert_eq!(told.chains, issued.chains);
        }
    }

    #[test]
    fn an_account_that_ended_meanwhile_gets_no_certificate() {
        let (_folder, policy) = policy("[acme]");
        let ca = (policy.now)().unwrap();
        let store = MemoryStore::new();
        let owner = store.insert_account(account(None)).unwrap();
        let now = Clock::default().now();
        let expires = Time::from(now).after(Duration::from_secs(3600));
        let inserted =
            store.insert_order(OrderRecord { expires, ..order() }, Vec::new(), &owner, None);
        let processing = OrderRecord {
            state: OrderState::Processing(Processing {
                csr: csr().into(),
                since: Time::from_secs(0),
            }),
            ..(*inserted.unwrap()).clone()
        };
        store.update_order(processing, &[]).unwrap();
        let server = Server::new(
            "https://ca.example/acme",
            store,
            policy,
            Nonces::new([1; 32]),
        );
        let mut taken = server.take_up(now.into(), 1).unwrap();
        let Some(Ok(Work::Issue(work))) = taken.pop() else {
            panic!("there should be a certificate to issue");
        };
        assert!(revoke_account(server.store(), &owner.id).unwrap());
        carry_out(&server, &ca, &work, now);
        let ended = server.store().order("o").unwrap().unwrap();
        assert!(matches!(&ended.state, OrderState::Invalid(_)), "{ended:?}");
        let issued = ca.key.of_request(&RequestId::from_bytes(work.request_id));
        assert!(issued.unwrap().is_none());
    }

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
        let whole = "x".repeat(Evidence::MAX_LEN);
        assert_eq!(
            evidence(core::slice::from_ref(&whole)).unwrap().as_str(),
            whole
        );
        // What is too long is cut off, and the rest is counted.
        let cut = evidence(&["ü".repeat(Evidence::MAX_LEN), one]).unwrap();
        let cut = cut.as_str();
        assert!(
            cut.starts_with("üü") && cut.ends_with("ü...; and 1 more"),
            "{cut}"
        );
        assert!((Evidence::MAX_LEN - 1..=Evidence::MAX_LEN).contains(&cut.len()));
    }
}
