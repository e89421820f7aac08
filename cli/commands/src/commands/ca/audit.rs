//! The command `pqtls ca audit`: it prints the ledger's events while it reads them, and checks that each follows the one
//! before.

use core::cell::{Cell, RefCell};
use core::fmt;
use core::ops::ControlFlow;

use pq_ca::authority::reason_name;
use pq_ca::ledger::{
    AuditEvent, AuditHead, AuditedCertificate, Deed, HeadCheck, Ledger, LedgerError, Revocation,
    SerialNumber,
};
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use super::entry::PolicyFacts;
use super::place::Place;
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, Output, Source};
use crate::report::{self, Report, hex, printable};

/// Show who had the CA do what, and check that nothing of it was changed
///
/// Each change of the ledger is an event: what was issued, for whom, by which policy and on what evidence; what was adopted,
/// revoked and released; which lists were begun and written; which keys issue; and what was said of the clock. Each event is
/// hashed with the one before. What was cut off the end, or put in place of all of it, only a head shows that was kept where
/// nobody who can write to the CA can write: --new-head writes one, and --head compares with it later.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A head that was kept elsewhere, to which the events have to lead
    #[arg(long, value_name = "FILE")]
    head: Option<Source>,

    /// Write the head as it is now to this file, to be kept elsewhere, if all is well
    #[arg(long, value_name = "FILE")]
    pub(super) new_head: Option<Destination>,

    /// Replace files that exist
    #[arg(long, requires = "new_head")]
    force: bool,

    #[command(flatten)]
    pub(super) place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca audit --new-head ca.head
  $ pqtls ca audit --head ca.head --json";

/// More than the text of a head has.
const LIMIT: usize = 1024;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let delivery = (arguments.new_head.as_ref())
        .map(|to| Ok::<_, Failure>((to, Delivery::to_public(&[to], arguments.force, json)?)))
        .transpose()?;
    let kept = arguments.head.as_ref().map(read).transpose()?;
    let folder = arguments.place.open()?;
    let events = Events {
        ledger: folder.ledger()?,
        kept,
        end: Cell::new(None),
        trouble: RefCell::new(None),
    };
    let printed = match delivery {
        None => match report::print(&events, json) {
            Ok(()) => Ok(ExitStatus::Done),
            Err(error) => Err(error.into()),
        },
        Some((to, delivery)) => {
            let text = events.ledger.verify(kept.as_ref())?.to_string();
            let output = Output {
                to,
                content: text.as_bytes(),
                access: Access::Public,
                is_binary: false,
            };
            delivery.deliver(&[output], &events)
        }
    };
    match events.trouble.into_inner() {
        Some(error) => Err(error.into()),
        None => printed,
    }
}

fn read(file: &Source) -> Result<AuditHead, Failure> {
    let bytes = file.read(LIMIT)?;
    let text = core::str::from_utf8(&bytes).unwrap_or_default();
    text.parse().map_err(|cause| Failure::AuditHead {
        file: file.to_string(),
        cause,
    })
}

/// Events that are read from the ledger while they are printed: memory may not hold all of them.
struct Events<L> {
    ledger: L,
    kept: Option<AuditHead>,
    /// Where they end, once they were shown.
    end: Cell<Option<AuditHead>>,
    /// What is wrong with them. `fmt` can't return this error.
    trouble: RefCell<Option<LedgerError>>,
}

impl<L: Ledger> Events<L> {
    /// Shows events until there are no more or printing fails, and returns the error of printing.
    fn each<E>(&self, mut show: impl FnMut(&EventFacts) -> Result<(), E>) -> Result<(), E> {
        let mut shown = Ok(());
        let mut check = HeadCheck::new(self.kept.as_ref());
        let end = self.ledger.audit(&mut |event| {
            check.see(&event);
            shown = show(&EventFacts::of(event));
            match shown {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        if shown.is_ok() {
            match end.and_then(|end| Ok(check.finish(&end).map(|()| end)?)) {
                Ok(end) => self.end.set(Some(end)),
                Err(error) => *self.trouble.borrow_mut() = Some(error),
            }
        }
        shown
    }
}

#[derive(Debug, Serialize)]
struct EventFacts {
    #[serde(flatten)]
    head: HeadFacts,
    deed: &'static str,
    at: Option<String>,
    by: Option<String>,
    certificates: Vec<CertificateFacts>,
    revocations: Vec<RevokedFacts>,
    /// What was released from a hold.
    released: Option<String>,
    list: Option<ListFacts>,
    keys: Vec<KeyFacts>,
}

#[derive(Debug, Serialize)]
struct HeadFacts {
    number: u64,
    digest: String,
}

impl HeadFacts {
    fn of(head: &AuditHead) -> Self {
        Self {
            number: head.number,
            digest: hex(&head.digest),
        }
    }
}

#[derive(Debug, Serialize)]
struct CertificateFacts {
    serial_number: String,
    digest: String,
    issuer: String,
    subject: String,
    names: Vec<String>,
    profile: String,
    issued_at: String,
    issued_by: String,
    request: Option<String>,
    policy: Option<PolicyFacts>,
    evidence: Option<String>,
}

#[derive(Debug, Serialize)]
struct RevokedFacts {
    at: String,
    reason: &'static str,
    by: String,
    serial_numbers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListFacts {
    issuer: String,
    number: u64,
}

#[derive(Debug, Serialize)]
struct KeyFacts {
    name: String,
    stage: &'static str,
    since: String,
    by: String,
}

impl EventFacts {
    fn of(AuditEvent { head, deed, .. }: AuditEvent) -> Self {
        let mut facts = Self {
            head: HeadFacts::of(&head),
            deed: deed.name(),
            at: None,
            by: None,
            certificates: Vec::new(),
            revocations: Vec::new(),
            released: None,
            list: None,
            keys: Vec::new(),
        };
        let certificates =
            |all: Vec<AuditedCertificate>| all.iter().map(CertificateFacts::of).collect();
        match deed {
            Deed::Issued(all) => facts.certificates = certificates(all),
            Deed::Adopted(all, revoked) => {
                facts.certificates = certificates(all);
                facts.revocations = revoked.into_iter().map(RevokedFacts::of).collect();
            }
            Deed::Revoked(revoked) => {
                facts.revocations = revoked.into_iter().map(RevokedFacts::of).collect();
            }
            Deed::Reinstated { number, at, by } => {
                facts.said(at, &by);
                facts.released = Some(number.to_string());
            }
            Deed::ListBegun { issuer, number, at } | Deed::ListWritten { issuer, number, at } => {
                facts.at = Some(rfc3339(at));
                facts.list = Some(ListFacts {
                    issuer: printable(&issuer),
                    number,
                });
            }
            Deed::TimeConfirmed { at, by } => facts.said(at, &by),
            Deed::Succeeded(all, generations) => {
                facts.certificates = certificates(all);
                let keys = generations.iter().map(|one| KeyFacts {
                    name: printable(&one.name),
                    stage: one.stage.name(),
                    since: rfc3339(one.since),
                    by: printable(&one.by),
                });
                facts.keys = keys.collect();
            }
            _ => {}
        }
        facts
    }
}

impl EventFacts {
    fn said(&mut self, at: UnixTime, by: &str) {
        (self.at, self.by) = (Some(rfc3339(at)), Some(printable(by)));
    }
}

impl CertificateFacts {
    fn of(AuditedCertificate { issued, digest, .. }: &AuditedCertificate) -> Self {
        Self {
            serial_number: issued.serial_number.to_string(),
            digest: hex(digest),
            issuer: printable(&issued.issuer),
            subject: printable(&issued.subject),
            names: issued.names.iter().map(|name| printable(name)).collect(),
            profile: printable(&issued.profile),
            issued_at: rfc3339(issued.at),
            issued_by: printable(&issued.by),
            request: issued.request.as_ref().map(ToString::to_string),
            policy: issued.policy.as_ref().map(PolicyFacts::of),
            evidence: issued.evidence.as_ref().map(|one| printable(one.as_str())),
        }
    }

    /// A name to tell it from others.
    fn title(&self) -> String {
        match self.names.is_empty() {
            true => self.subject.clone(),
            false => self.names.join(", "),
        }
    }
}

impl RevokedFacts {
    fn of((revocation, numbers): (Revocation, Vec<SerialNumber>)) -> Self {
        Self {
            at: rfc3339(revocation.at),
            reason: reason_name(revocation.reason),
            by: printable(&revocation.by),
            serial_numbers: numbers.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A line for each certificate, list or key, with the number of the event before it.
impl fmt::Display for EventFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deed, .. } = self;
        let number = self.head.number;
        for one in &self.certificates {
            // The certificates of keys were issued, too.
            let deed = match &self.keys[..] {
                [] => deed,
                _ => "issued",
            };
            let CertificateFacts {
                serial_number,
                profile,
                issued_at,
                issued_by,
                ..
            } = one;
            let title = one.title();
            write!(
                f,
                "{number}  {issued_at}  {issued_by} {deed} {serial_number}, {title} ({profile})"
            )?;
            if let Some(evidence) = &one.evidence {
                write!(f, ", on {evidence}")?;
            }
            if let Some(request) = &one.request {
                write!(f, ", request {request}")?;
            }
            match &one.policy {
                Some(policy) => writeln!(f, ", policy {policy}")?,
                None => writeln!(f)?,
            }
        }
        for one in &self.revocations {
            let RevokedFacts { at, reason, by, .. } = one;
            for serial_number in &one.serial_numbers {
                writeln!(f, "{number}  {at}  {by} revoked {serial_number}: {reason}")?;
            }
        }
        for KeyFacts {
            name,
            stage,
            since,
            by,
        } in &self.keys
        {
            writeln!(f, "{number}  {since}  {by} keys: {name} is {stage}")?;
        }
        let Some(at) = &self.at else { return Ok(()) };
        let by = self.by.as_deref().unwrap_or("the CA");
        match (&self.list, &self.released) {
            (
                Some(ListFacts {
                    issuer,
                    number: list,
                }),
                _,
            ) => {
                writeln!(f, "{number}  {at}  {by} {deed} {list} of {issuer}")
            }
            (None, Some(serial_number)) => {
                writeln!(f, "{number}  {at}  {by} {deed} {serial_number}")
            }
            (None, None) => writeln!(f, "{number}  {at}  {by} {deed}"),
        }
    }
}

impl<L: Ledger> Serialize for Events<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(bound(serialize = ""))]
        struct Fields<'a, L: Ledger> {
            events: List<'a, L>,
            // This is known once they were shown.
            head: End<'a, L>,
        }

        let fields = Fields {
            events: List(self),
            head: End(self),
        };
        fields.serialize(serializer)
    }
}

struct List<'a, L>(&'a Events<L>);

impl<L: Ledger> Serialize for List<'_, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.0.each(|event| list.serialize_element(event))?;
        match self.0.trouble.borrow().as_ref() {
            // A list that is cut short is not JSON.
            Some(error) => Err(S::Error::custom(error)),
            None => list.end(),
        }
    }
}

struct End<'a, L>(&'a Events<L>);

impl<L: Ledger> Serialize for End<'_, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let end = self.0.end.get();
        end.as_ref().map(HeadFacts::of).serialize(serializer)
    }
}

impl<L: Ledger> Report for Events<L> {
    const SCHEMA: &'static str = "ca-audit/1";
}

impl<L: Ledger> fmt::Display for Events<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.each(|event| write!(f, "{event}"))?;
        let Some(end) = self.end.get() else {
            return Ok(());
        };
        let HeadFacts { number, digest } = HeadFacts::of(&end);
        write!(
            f,
            "The events follow one another up to number {number}, {digest}"
        )?;
        match self.kept {
            Some(kept) => writeln!(
                f,
                ", and lead to the head of number {} that was kept.",
                kept.number
            ),
            None => writeln!(
                f,
                ".\nNo head was given, so some may have been cut off: see --head."
            ),
        }
    }
}
