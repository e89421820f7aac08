//! Issuing from what is asked for to what may be handed out: in which order, and what is left after a refusal.

use core::cell::RefCell;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use pq_ca::authority::{Authority, AuthorityError, Order};
use pq_ca::issuing::{Answer, Companion, Issuance, IssuanceError, Series, Terms};
use pq_ca::ledger::{
    AdoptedEntry, Condition, Entry, Filter, Generation, KeyHash, Ledger, LedgerError, LocalLedger,
    NewEntry, Revocation, Revoked, SerialNumber,
};
use pq_ca::policy::{Policy, Profile};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CrlReason;
use tempfile::TempDir;

use crate::forwarded::forwarded;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn ledger() -> (LocalLedger, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (LocalLedger::create(folder.path()).unwrap(), folder)
}

/// A CA whose key has this name in the ledger.
fn ca<L: Ledger>(name: &str, ledger: L) -> Authority<SigningKey, L> {
    let issuer = Issuer::self_signed(CertificateBuilder::ca(name), key()).unwrap();
    let policy = Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]);
    let policy = Policy::parse(&policy, "policy.toml").unwrap();
    Authority::new(name, issuer, policy, ledger)
}

fn named(name: &str) -> Terms {
    Terms {
        names: vec![name.parse().unwrap()],
        ..Terms::default()
    }
}

fn found(ledger: &impl Ledger, filter: &Filter) -> Vec<SerialNumber> {
    let mut numbers = Vec::new();
    let mut show = |entry: Entry| {
        numbers.push(entry.issued.serial_number);
        ControlFlow::Continue(())
    };
    ledger.find(filter, &mut show).unwrap();
    numbers
}

fn count(ledger: &impl Ledger) -> usize {
    found(ledger, &Filter::all()).len()
}

/// What became of a new key: it is noted with the number of certificates that the ledger had at that time.
struct NewKey<'a, L> {
    ledger: &'a L,
    notes: &'a RefCell<Vec<(&'static str, usize)>>,
    is_kept: bool,
}

impl<'a, L: Ledger> NewKey<'a, L> {
    fn new(ledger: &'a L, notes: &'a RefCell<Vec<(&'static str, usize)>>) -> Self {
        Self {
            ledger,
            notes,
            is_kept: false,
        }
    }

    fn note(&self, what: &'static str) {
        let recorded = count(self.ledger);
        self.notes.borrow_mut().push((what, recorded));
    }
}

impl<L: Ledger> Companion for NewKey<'_, L> {
    type Kept = Self;

    fn keep(mut self) -> Self {
        self.note("kept");
        self.is_kept = true;
        self
    }

    fn withdraw(kept: Self) {
        kept.note("withdrawn");
    }
}

impl<L> Drop for NewKey<'_, L> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.notes.borrow_mut().push(("dropped", 0));
        }
    }
}

/// The outcome says what the ledger says, and the key is there before the ledger has the certificate.
#[test]
fn the_key_is_kept_and_then_the_certificate_recorded() {
    let (ledger, _folder) = ledger();
    let authority = ca("issuing", &ledger);
    let (key, notes) = (key(), RefCell::default());
    let terms = Terms {
        common_name: Some("A server".into()),
        profile: Some(Profile::Client),
        validity: Some(3 * DAY),
        ..named("www.example.org")
    };
    let now = UnixTime::now();
    let issuance = Issuance::for_key(&key, &terms).unwrap();
    let issued = issuance
        .carry_out(&authority, "alice", now, NewKey::new(&ledger, &notes))
        .unwrap();
    assert_eq!(notes.into_inner(), [("kept", 0)]);
    assert_eq!(count(&ledger), 1);
    let number = issued.entry.serial_number;
    assert_eq!(number.as_bytes(), issued.certificate.serial_number());
    assert_eq!(ledger.entry(&number).unwrap().unwrap().issued, issued.entry);
    assert_eq!(
        ledger.certificate(&number).unwrap().as_ref(),
        Some(issued.certificate.der())
    );
    assert_eq!(issued.entry.subject, "CN=A server");
    assert_eq!(issued.entry.names, ["www.example.org"]);
    assert_eq!(issued.entry.profile, "client");
    assert_eq!(issued.entry.by, "alice");
    let valid = issued.entry.not_after.as_secs() - now.as_secs();
    assert_eq!(valid.div_ceil(60 * 60 * 24), 3);

    // A renewal, and a request with the names that it asks for
    let renewal = Issuance::renewal(number, None);
    let renewed = renewal.carry_out(&authority, "bob", now, ()).unwrap();
    assert_eq!(renewed.entry.key, issued.entry.key);
    assert_eq!(renewed.entry.names, issued.entry.names);
    assert_eq!(renewed.entry.profile, "client");
    let request = CertificateRequest::builder()
        .dns_name("b.example.org")
        .sign(&key)
        .unwrap();
    let request = request.verify().unwrap();
    let of_request = Issuance::for_request(&request, &Terms::default()).unwrap();
    let issued = of_request.carry_out(&authority, "bob", now, ()).unwrap();
    assert_eq!(issued.entry.names, ["b.example.org"]);
    assert_eq!(count(&ledger), 3);
}

#[test]
fn a_refused_request_leaves_nothing() {
    let (ledger, _folder) = ledger();
    let authority = ca("issuing", &ledger);
    let (key, lost, now) = (key(), key(), UnixTime::now());
    let notes = RefCell::default();
    let carry_out = |issuance: Issuance<'_>| {
        issuance
            .carry_out(&authority, "alice", now, NewKey::new(&ledger, &notes))
            .map_err(|error| match error {
                IssuanceError::NotIssued(cause) => cause,
                IssuanceError::Unsettled(unsettled) => panic!("{unsettled}"),
            })
    };
    // by the policy, by the standard, and by the ledger before anything is signed
    let forbidden = Issuance::for_key(&key, &named("www.example.net")).unwrap();
    let error = carry_out(forbidden).unwrap_err();
    assert!(matches!(error, AuthorityError::Forbidden(_)), "{error}");
    let long = Terms {
        validity: Some(100_000 * DAY),
        ..named("www.example.org")
    };
    carry_out(Issuance::for_key(&key, &long).unwrap()).unwrap_err();
    let unknown = SerialNumber::from_bytes(&[1]).unwrap();
    let error = carry_out(Issuance::renewal(unknown, Some(&key))).unwrap_err();
    assert!(
        matches!(error, AuthorityError::Ledger(LedgerError::Unknown(_))),
        "{error}"
    );
    assert_eq!(notes.take(), [("dropped", 0); 3]);
    assert_eq!(count(&ledger), 0);

    // by the ledger when it is to record the certificate
    let allowed = named("www.example.org");
    let first = carry_out(Issuance::for_key(&lost, &allowed).unwrap()).unwrap();
    let number = first.entry.serial_number;
    authority
        .revoke(&number, CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    notes.take();
    let error = carry_out(Issuance::for_key(&lost, &allowed).unwrap()).unwrap_err();
    assert!(
        matches!(error, AuthorityError::Ledger(LedgerError::KeyCompromised(of)) if of == number),
        "{error}"
    );
    assert_eq!(notes.take(), [("kept", 1), ("withdrawn", 1)]);
    let error = carry_out(Issuance::renewal(number, Some(&key))).unwrap_err();
    assert!(matches!(error, AuthorityError::Revoked { .. }), "{error}");
    assert_eq!(notes.take(), [("dropped", 0)]);
    assert_eq!(count(&ledger), 1);
}

/// One's certificates are none of the other's business, except that a compromised key is compromised for both.
#[test]
fn two_issuers_use_one_ledger() {
    let (ledger, _folder) = ledger();
    let cas = ["one", "other"].map(|name| ca(name, &ledger));
    let (key, now) = (key(), UnixTime::now());
    let issue = |ca: &Authority<SigningKey, &LocalLedger>, name: &str| {
        let issuance = Issuance::for_key(&key, &named(name)).unwrap();
        issuance.carry_out(ca, "alice", now, ())
    };
    let [one, other] = ["a.example.org", "b.example.org"].map(|name| {
        let ca = &cas[usize::from(name.starts_with('b'))];
        issue(ca, name).unwrap().entry
    });
    assert_eq!((&*one.issuer, &*other.issuer), ("one", "other"));
    for (issuer, number) in [("one", one.serial_number), ("other", other.serial_number)] {
        assert_eq!(found(&ledger, &Filter::all().issuer(issuer)), [number]);
    }
    let renewal = Issuance::renewal(other.serial_number, None);
    let error = renewal.carry_out(&cas[0], "alice", now, ()).unwrap_err();
    assert!(
        matches!(
            &error,
            IssuanceError::NotIssued(AuthorityError::Ledger(LedgerError::AnotherIssuers { issuer, .. }))
                if issuer == "other"
        ),
        "{error}"
    );
    renewal.carry_out(&cas[1], "alice", now, ()).unwrap();
    let before = count(&ledger);
    cas[0]
        .revoke(&one.serial_number, CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    for ca in &cas {
        let error = issue(ca, "c.example.org").unwrap_err();
        assert!(
            matches!(
                error,
                IssuanceError::NotIssued(AuthorityError::Ledger(LedgerError::KeyCompromised(of)))
                    if of == one.serial_number
            ),
            "{error}"
        );
    }
    assert_eq!(count(&ledger), before);
    let on_lists = cas.each_ref().map(|ca| {
        let list = ca.revocation_list(now, None).unwrap();
        list.entries().len()
    });
    assert_eq!(on_lists, [1, 0]);
}

/// A ledger that fails some times when it is to record something: before, or after it has done so.
struct Failing {
    ledger: LocalLedger,
    before: AtomicUsize,
    after: AtomicUsize,
}

impl Failing {
    fn new(ledger: LocalLedger, before: usize, after: usize) -> Self {
        Self {
            ledger,
            before: before.into(),
            after: after.into(),
        }
    }
}

fn is_due(times: &AtomicUsize) -> bool {
    let left = times.load(Ordering::SeqCst);
    times.store(left.saturating_sub(1), Ordering::SeqCst);
    left > 0
}

impl Ledger for Failing {
    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        if is_due(&self.before) {
            return Err(LedgerError::Other("the connection was lost".into()));
        }
        self.ledger.record_if(entries, conditions)?;
        match is_due(&self.after) {
            true => Err(LedgerError::Other("the connection was lost".into())),
            false => Ok(()),
        }
    }

    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        self.ledger.certificate(number)
    }

    forwarded!(ledger);
}

/// After an error of which nobody knows what it did, the key stays, and the ledger says whether to ask again.
#[test]
fn a_retry_after_an_error_is_no_second_certificate() {
    for (before, after) in [(1, 0), (0, 1)] {
        let (ledger, _folder) = ledger();
        let authority = ca("issuing", Failing::new(ledger, before, after));
        let ledger = authority.ledger();
        let (key, now, notes) = (key(), UnixTime::now(), RefCell::default());
        let issuance = Issuance::for_key(&key, &named("www.example.org")).unwrap();
        let failed = issuance.carry_out(&authority, "alice", now, NewKey::new(ledger, &notes));
        let IssuanceError::Unsettled(unsettled) = failed.unwrap_err() else {
            panic!("nobody can know this");
        };
        assert_eq!(notes.take(), [("kept", 0)]);
        let number = unsettled.entry().serial_number;
        let text = unsettled.to_string();
        assert!(text.contains("the connection was lost"), "{text}");
        assert!(text.contains(&number.to_string()), "{text}");
        match unsettled.settle(ledger).unwrap() {
            Some(issued) => {
                assert_eq!(after, 1);
                assert_eq!(issued.entry.serial_number, number);
                assert_eq!(found(ledger, &Filter::all()), [number]);
            }
            None => {
                assert_eq!(before, 1);
                assert_eq!(count(ledger), 0);
                let issued = issuance.carry_out(&authority, "alice", now, ()).unwrap();
                let number = issued.entry.serial_number;
                assert_eq!(found(ledger, &Filter::all()), [number]);
                // The number of the first attempt is nobody's.
                assert!(unsettled.settle(ledger).unwrap().is_none());
            }
        }
    }
    // What certainly did nothing is asked for again as it is.
    let (ledger, _folder) = ledger();
    let authority = ca("issuing", &ledger);
    let (key, now) = (key(), UnixTime::now());
    let issuance = Issuance::for_key(&key, &named("www.example.org")).unwrap();
    issuance.carry_out(&authority, "alice", now, ()).unwrap();
    let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + 401 * DAY);
    let error = issuance
        .carry_out(&authority, "alice", later, ())
        .unwrap_err();
    assert!(
        matches!(
            error,
            IssuanceError::NotIssued(AuthorityError::Ledger(LedgerError::Clock { .. }))
        ),
        "{error}"
    );
    assert_eq!(count(&ledger), 1);
    authority.ledger().confirm_time(later, "bob").unwrap();
    issuance.carry_out(&authority, "alice", later, ()).unwrap();
    assert_eq!(count(&ledger), 2);
}

#[test]
fn of_a_series_each_ticket_comes_back_with_its_certificate() {
    let (ledger, _folder) = ledger();
    let authority = ca("issuing", &ledger);
    let (good, lost, now) = (key(), key(), UnixTime::now());
    let terms = named("www.example.org");
    let known = Issuance::for_key(&lost, &terms).unwrap();
    let known = known.carry_out(&authority, "alice", now, ()).unwrap();
    let known = known.entry.serial_number;
    authority
        .revoke(&known, CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    let mut series = Series::new(&authority, "alice", UnixTime::now);
    let forbidden = named("www.example.net");
    for (ticket, (key, terms)) in [
        (&good, &terms),
        (&good, &forbidden),
        (&lost, &terms),
        (&good, &terms),
    ]
    .into_iter()
    .enumerate()
    {
        let order = Order::for_key(key).unwrap();
        let order = order.with(|wanted| terms.apply(wanted));
        match series.add(&order, ticket) {
            Ok(()) => assert_ne!(ticket, 1),
            Err(error) => {
                assert_eq!(ticket, 1);
                assert!(matches!(error, AuthorityError::Forbidden(_)), "{error}");
            }
        }
    }
    assert!(!series.is_full());
    assert_eq!(count(&ledger), 1);
    let mut refused = Vec::new();
    let mut issued = Vec::new();
    for Answer { ticket, outcome } in series.record().unwrap() {
        match outcome {
            Ok(entry) => {
                let kept = ledger.entry(&entry.issued.serial_number).unwrap();
                assert_eq!(kept.unwrap().issued, entry.issued);
                issued.push(ticket);
            }
            Err(AuthorityError::Ledger(LedgerError::KeyCompromised(of))) if of == known => {
                refused.push(ticket);
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((issued, refused), (vec![0, 3], vec![2]));
    assert_eq!(count(&ledger), 3);
    // And what was recorded is not recorded again.
    assert!(series.record().unwrap().is_empty());
    assert_eq!(count(&ledger), 3);
}
