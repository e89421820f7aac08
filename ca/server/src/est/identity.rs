//! Who asks: a user with a password, whoever has the key of a certificate of this CA, or both.

use core::net::IpAddr;
use std::time::Instant;

use base64ct::{Base64, Encoding};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use pq_ca::ledger::Entry;
use pq_serving::Protection;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use zeroize::Zeroizing;

use super::attempts::Attempts;
use super::refusal::Refusal;
use super::users::{EstUsers, MAX_NAME_LEN};
use crate::doors::Issuing;

/// Who asks. At least one of the two is there.
pub(super) struct Identity {
    pub(super) user: Option<String>,
    pub(super) certificate: Option<Known>,
}

/// A certificate of this CA that is good now.
pub(super) struct Known {
    pub(super) certificate: Certificate,
    pub(super) entry: Entry,
}

impl Identity {
    /// Who asks, in the words of the ledger.
    pub(super) fn by(&self) -> String {
        match (&self.user, &self.certificate) {
            (Some(user), _) => format!("EST user {user}"),
            (None, Some(known)) => format!("EST certificate {}", known.entry.issued.serial_number),
            (None, None) => String::from("EST"),
        }
    }

    /// What was seen of it, and from where.
    pub(super) fn evidence(&self, from: Option<IpAddr>) -> String {
        let mut seen = Vec::new();
        if let Some(user) = &self.user {
            seen.push(format!("the password of EST user {user}"));
        }
        if let Some(known) = &self.certificate {
            let number = known.entry.issued.serial_number;
            seen.push(format!("the key of certificate {number}"));
        }
        let seen = seen.join(" and ");
        match from {
            Some(from) => format!("{seen}, from {from}"),
            None => seen,
        }
    }
}

/// Looks at what a client shows of itself. What it shows has to be good, also where less would do.
pub(super) fn identify(
    ca: &Issuing,
    (users, attempts): (&EstUsers, &Attempts),
    headers: &HeaderMap,
    protection: &Protection,
    now: UnixTime,
) -> Result<Identity, Refusal> {
    let certificate = certificate(ca, protection, now)?;
    let from = protection.peer.map(|peer| peer.ip());
    let user = user(users, attempts, headers, from)?;
    if user.is_none() && certificate.is_none() {
        return Err(match users.is_empty() {
            false => Refusal::Unauthorized,
            true => Refusal::Forbidden("Show a certificate of this CA in the handshake".into()),
        });
    }
    Ok(Identity { user, certificate })
}

/// The client's certificate, if it is one of this CA. Another one shows nothing.
fn certificate(
    ca: &Issuing,
    protection: &Protection,
    now: UnixTime,
) -> Result<Option<Known>, Refusal> {
    let leaf = protection.client_chain.first();
    let Some(certificate) = leaf.and_then(|leaf| Certificate::from_der(leaf).ok()) else {
        return Ok(None);
    };
    let entry = ca.key.entry(&certificate).map_err(|error| {
        tracing::error!(%error, "a client's certificate can't be looked up");
        Refusal::Unavailable
    })?;
    let Some(entry) = entry else {
        return Ok(None);
    };
    let forbidden = |what: &str| {
        let text = format!("The certificate {what}: enrol again, as a new device does");
        Err(Refusal::Forbidden(text))
    };
    match () {
        () if entry.revocation().is_some() => forbidden("was revoked"),
        () if entry.is_expired(now) => forbidden("has expired"),
        () if certificate.is_ca() => forbidden("is that of a CA"),
        () => Ok(Some(Known { certificate, entry })),
    }
}

/// The user whose name and password are there (RFC 7617), if any are.
fn user(
    users: &EstUsers,
    attempts: &Attempts,
    headers: &HeaderMap,
    from: Option<IpAddr>,
) -> Result<Option<String>, Refusal> {
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    let (field, None) = (fields.next(), fields.next()) else {
        return Err(Refusal::Unauthorized);
    };
    let Some(field) = field else {
        return Ok(None);
    };
    let basic = basic(field.as_bytes()).ok_or(Refusal::Unauthorized)?;
    let mut parts = basic.splitn(2, |byte| *byte == b':');
    let (Some(name), Some(password)) = (parts.next(), parts.next()) else {
        return Err(Refusal::Unauthorized);
    };
    // All that a file can have are text.
    let name = core::str::from_utf8(name).map_err(|_| Refusal::Unauthorized)?;
    // No file has longer ones, and what is counted is kept.
    if name.len() > MAX_NAME_LEN {
        return Err(Refusal::Unauthorized);
    }
    attempts
        .begin(name, from, Instant::now())
        .map_err(Refusal::Wait)?;
    match users.is_password(name, password) {
        true => {
            attempts.succeeded(name, from);
            Ok(Some(name.into()))
        }
        false => {
            tracing::warn!(user = ?name, ?from, "a wrong password, or no such user");
            Err(Refusal::Unauthorized)
        }
    }
}

/// Name and password of an `Authorization` of the scheme Basic.
fn basic(field: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (scheme, rest) = core::str::from_utf8(field).ok()?.split_once(' ')?;
    let decoded = Base64::decode_vec(rest.trim_matches(' ')).ok()?;
    let decoded = Zeroizing::new(decoded);
    scheme.eq_ignore_ascii_case("basic").then_some(decoded)
}
