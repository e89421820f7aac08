//! What was done to a ledger, in order, each event hashed with the one before: whoever keeps a head elsewhere sees later
//! whether the ledger still leads there.

use core::fmt;
use core::str::FromStr;

use pq_x509::pki_types::UnixTime;

use super::digits::{Digits, read_digits};
use super::entry::{Issued, Revocation};
use super::generation::Generation;
use super::lost_head::LostHead;
use super::serial_number::SerialNumber;

/// Where the events of a ledger ended at a time. Keep it where nobody who can write to the ledger can write:
/// [`Ledger::verify`](super::Ledger::verify) shows later whether the ledger still has all that it had.
///
/// Its text is made for files:
///
/// ```text
/// pq-ca ledger head 1
/// number: 42
/// digest: (64 hexadecimal digits)
/// ```
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct AuditHead {
    /// The number of the last event; 0 if there was none.
    pub number: u64,
    /// Its digest, which covers all events before it; before the first one, what tells the ledger from others.
    pub digest: [u8; 32],
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}")?;
        writeln!(f, "number: {}", self.number)?;
        writeln!(f, "digest: {}", Digits(&self.digest))
    }
}

impl fmt::Debug for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditHead({}, {})", self.number, Digits(&self.digest))
    }
}

impl FromStr for AuditHead {
    type Err = InvalidAuditHead;

    /// Reads what [`Display`](fmt::Display) writes, and nothing else.
    fn from_str(text: &str) -> Result<Self, InvalidAuditHead> {
        let read = || {
            let mut lines = text.strip_prefix(TITLE)?.strip_prefix('\n')?.lines();
            let mut field = |name| lines.next()?.strip_prefix(name);
            let number = field("number: ")?.parse().ok()?;
            let digest = read_digits(field("digest: ")?)?;
            Some(Self { number, digest })
        };
        let head: Option<Self> = read();
        let head = head.filter(|head| head.to_string() == text);
        head.ok_or(InvalidAuditHead(()))
    }
}

/// Why a text is no [`AuditHead`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("it is no head of a ledger, which has three lines and begins with {TITLE:?}")]
pub struct InvalidAuditHead(());

const TITLE: &str = "pq-ca ledger head 1";

/// A change of a ledger, in its place among all of them.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuditEvent {
    /// Where the events ended before it.
    pub before: AuditHead,
    /// Where they end with it. Its number is this one, and the first is 1.
    pub head: AuditHead,
    /// What was done.
    pub deed: Deed,
}

/// A change of a ledger.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Deed {
    /// Certificates were issued.
    Issued(Vec<AuditedCertificate>),
    /// Certificates were recorded that had been issued earlier, with their revocations, if they have any.
    Adopted(
        Vec<AuditedCertificate>,
        Vec<(Revocation, Vec<SerialNumber>)>,
    ),
    /// Certificates were revoked, or their revocations changed.
    Revoked(Vec<(Revocation, Vec<SerialNumber>)>),
    /// A certificate was released from a hold.
    Reinstated {
        /// Which.
        number: SerialNumber,
        /// When.
        at: UnixTime,
        /// By whom.
        by: String,
    },
    /// A revocation list got its number.
    ListBegun {
        /// Whose list it is.
        issuer: String,
        /// Its number.
        number: u64,
        /// Its time.
        at: UnixTime,
    },
    /// A revocation list was said to be where clients get it.
    ListWritten {
        /// Whose list it is.
        issuer: String,
        /// Its number.
        number: u64,
        /// Its time.
        at: UnixTime,
    },
    /// Somebody said that the clock is right.
    TimeConfirmed {
        /// What it said.
        at: UnixTime,
        /// Who said so.
        by: String,
    },
    /// The generations of the issuing key were changed, with certificates that were recorded in the same step.
    Succeeded(Vec<AuditedCertificate>, Vec<Generation>),
    /// What had been done in another ledger, from which this one was moved: the same events, in their order.
    Carried(Vec<Self>),
}

/// A certificate in the events of a ledger.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuditedCertificate {
    /// What it says, who ordered it when, by what request, which policy decided, and on what evidence.
    pub issued: Issued,
    /// The SHA-256 digest of the certificate.
    pub digest: [u8; 32],
}

impl Deed {
    /// Its name, as in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Issued(_) => "issued",
            Self::Adopted(..) => "adopted",
            Self::Revoked(_) => "revoked",
            Self::Reinstated { .. } => "reinstated",
            Self::ListBegun { .. } => "list-begun",
            Self::ListWritten { .. } => "list-written",
            Self::TimeConfirmed { .. } => "time-confirmed",
            Self::Succeeded(..) => "succeeded",
            Self::Carried(_) => "carried",
        }
    }
}

/// Compares a ledger's events with a head that was kept.
#[derive(Debug)]
pub struct HeadCheck<'a> {
    kept: Option<&'a AuditHead>,
    is_met: bool,
}

impl<'a> HeadCheck<'a> {
    /// Looks for this head, or for none.
    pub fn new(kept: Option<&'a AuditHead>) -> Self {
        Self {
            kept,
            is_met: false,
        }
    }

    /// Looks at an event.
    pub fn see(&mut self, event: &AuditEvent) {
        self.is_met |= self.kept == Some(&event.before);
    }

    /// Whether the head was seen, now that the events ended here.
    ///
    /// # Errors
    ///
    /// [`LostHead`] if it was not.
    pub fn finish(self, end: &AuditHead) -> Result<(), LostHead> {
        match self.kept {
            Some(kept) if !self.is_met && kept != end => Err(LostHead {
                kept: kept.number,
                end: end.number,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_are_written() {
        let head = AuditHead {
            number: 42,
            digest: [0xab; 32],
        };
        let text = head.to_string();
        assert_eq!(text.lines().count(), 3);
        assert_eq!(text.parse(), Ok(head));
        for wrong in [
            String::new(),
            text.replace("42", "042"),
            text.replace("42", "+42"),
            text.replace("head 1", "head 2"),
            text.replace("abab", "ABab"),
            text.replace('\n', "\r\n"),
            text.clone() + "\n",
            text[..text.len() - 1].into(),
        ] {
            wrong.parse::<AuditHead>().unwrap_err();
        }
    }
}
