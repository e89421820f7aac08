//! Statements about a certificate, and what they come to: the [order of evidence](super).

use pki_types::UnixTime;

use crate::certificate::{RevokedCertificate, Scope, SignatureError};
use crate::validation::error::ValidationError;

/// How a list or a response stands to a certificate, to the key of its issuer and to the time validated for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    /// It is about other certificates.
    ForAnotherScope,
    /// Another key signed it: it can't be verified with this one.
    ForAnotherKey(SignatureError),
    /// It counts only from a later time on.
    NotYetValid,
    /// It counts.
    Current,
    /// There should be a newer one.
    Expired,
}

/// What a list or a response says about a certificate, once its signature was found valid, or to be one that nobody
/// here can verify.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    pub(super) says: Says,
    pub(super) standing: Standing,
    pub(super) this_update: UnixTime,
    /// `None` for a response.
    pub(super) series: Option<Series<'a>>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Says {
    Good,
    /// The responder doesn't know the certificate.
    Unknown,
    Revoked(RevokedCertificate),
    /// It says revoked, but there is no algorithm here for its signature: this error.
    Unverified(RevokedCertificate, Box<ValidationError>),
}

/// A list among all that its CA makes for one scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'a> {
    pub(super) scope: &'a Scope,
    /// The cRLNumber, without leading zeros.
    pub(super) number: Option<&'a [u8]>,
    /// Whether the list says that another key signed it than the one that did.
    pub(super) names_another_key: bool,
}

/// What statements about one certificate, by one issuer, come to.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    Revoked(&'a RevokedCertificate, &'a Standing),
    /// It may be revoked: this error says why nobody here can tell.
    Unverified(&'a ValidationError),
    Unknown,
    Good,
    Nothing,
}

/// Weighs all statements about one certificate, in any order, at the time validated for.
pub(super) fn weigh<'a>(statements: &'a [Statement<'_>], time: UnixTime) -> Outcome<'a> {
    let stands = |statement: &Statement<'_>| {
        let mut others = statements.iter();
        !others.any(|other| other.takes_back(statement))
    };
    let mut unverified = None;
    for statement in statements {
        let (entry, error) = match &statement.says {
            Says::Revoked(entry) => (entry, None),
            Says::Unverified(entry, error) => (entry, Some(error)),
            Says::Good | Says::Unknown => continue,
        };
        if !statement.counts(entry, time) || !stands(statement) {
            continue;
        }
        match error {
            None => return Outcome::Revoked(entry, &statement.standing),
            Some(error) => drop(unverified.get_or_insert(error)),
        }
    }
    if let Some(error) = unverified {
        return Outcome::Unverified(error);
    }
    let is_unknown = |statement: &Statement<'_>| {
        statement.standing == Standing::Current && statement.says == Says::Unknown
    };
    if statements.iter().any(|one| is_unknown(one) && stands(one)) {
        return Outcome::Unknown;
    }
    match statements.iter().any(Statement::is_good) {
        true => Outcome::Good,
        false => Outcome::Nothing,
    }
}

impl Statement<'_> {
    /// Whether the revocation that the statement says counts.
    fn counts(&self, entry: &RevokedCertificate, time: UnixTime) -> bool {
        match self.standing {
            Standing::Current | Standing::Expired => true,
            // Once it is valid, it will say that the certificate had been revoked by now.
            Standing::NotYetValid => entry.date() <= time,
            Standing::ForAnotherScope | Standing::ForAnotherKey(_) => false,
        }
    }

    /// Whether a list that names its key has the certificate on it, be it for a time to come. Then no list that names
    /// another key makes it good.
    pub(super) fn is_revocation_of_its_key(&self) -> bool {
        let names_its_key = self.series.is_some_and(|series| !series.names_another_key);
        names_its_key && matches!(self.says, Says::Revoked(_))
    }

    fn is_good(&self) -> bool {
        self.standing == Standing::Current && self.says == Says::Good
    }

    /// Whether this one is good, and the other counts for nothing because of it.
    fn takes_back(&self, other: &Self) -> bool {
        if !self.is_good() {
            return false;
        }
        let is_later = self.this_update > other.this_update;
        match (&self.series, &other.series, &other.says) {
            (Some(_), None, Says::Unknown) => true,
            (_, _, Says::Unknown) => is_later,
            (Some(this), Some(other), _) if this.names_another_key && !other.names_another_key => {
                false
            }
            (Some(this), Some(other), _) if this.scope == other.scope => {
                is_later && this.has_greater_number(other)
            }
            _ => is_later && other.standing == Standing::Expired,
        }
    }
}

impl Series<'_> {
    /// Whether this list's number, if both have one, is greater.
    fn has_greater_number(&self, other: &Self) -> bool {
        let by_size = |number| (<[u8]>::len(number), number);
        match (self.number, other.number) {
            (Some(this), Some(other)) => by_size(this) > by_size(other),
            _ => true,
        }
    }
}
