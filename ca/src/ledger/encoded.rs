//! How what a ledger has is encoded: in the journal and the index of a local one, and in what an audit of any covers.

use std::io::{self, ErrorKind, Read};

use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

use super::KeyHash;
use super::codec::{Decoder, put_bytes, put_number};
use super::decision::{Evidence, PolicyId};
use super::entry::{Issued, Revocation};
use super::generation::Generation;
use super::request_id::RequestId;
use super::serial_number::SerialNumber;
use super::stage::Stage;

pub(super) fn put_issued(out: &mut Vec<u8>, issued: &Issued) {
    put_bytes(out, issued.serial_number.as_bytes());
    for text in [
        &issued.issuer,
        &issued.subject,
        &issued.profile,
        &issued.key_algorithm,
        &issued.by,
    ] {
        put_bytes(out, text.as_bytes());
    }
    out.extend_from_slice(issued.key.as_bytes());
    put_number(out, issued.halves.len() as u64);
    for half in &issued.halves {
        out.extend_from_slice(half.as_bytes());
    }
    for time in [issued.not_before, issued.not_after, issued.at] {
        put_time(out, time);
    }
    put_number(out, issued.names.len() as u64);
    for name in &issued.names {
        put_bytes(out, name.as_bytes());
    }
}

pub(super) fn issued(decoder: &mut Decoder<impl Read>) -> io::Result<Issued> {
    let mut issued = Issued {
        serial_number: serial_number(decoder)?,
        issuer: decoder.text()?,
        subject: decoder.text()?,
        profile: decoder.text()?,
        key_algorithm: decoder.text()?,
        by: decoder.text()?,
        key: KeyHash::from_bytes(decoder.array()?),
        halves: (0..decoder.number()?)
            .map(|_| Ok(KeyHash::from_bytes(decoder.array()?)))
            .collect::<io::Result<_>>()?,
        not_before: time(decoder)?,
        not_after: time(decoder)?,
        at: time(decoder)?,
        names: Vec::new(),
        request: None,
        policy: None,
        evidence: None,
    };
    for _ in 0..decoder.number()? {
        issued.names.push(decoder.text()?);
    }
    Ok(issued)
}

/// Whether something is known of how it came about: earlier versions wrote nothing of it.
pub(super) fn has_origin(issued: &Issued) -> bool {
    issued.request.is_some() || issued.policy.is_some() || issued.evidence.is_some()
}

/// How it came about, which follows what [`put_issued`] writes.
pub(super) fn put_origin(out: &mut Vec<u8>, issued: &Issued) {
    out.push(u8::from(issued.request.is_some()));
    if let Some(request) = &issued.request {
        out.extend_from_slice(request.as_bytes());
    }
    out.push(u8::from(issued.policy.is_some()));
    if let Some(policy) = &issued.policy {
        out.extend_from_slice(&policy.digest);
        put_bytes(out, policy.reader.as_bytes());
    }
    out.push(u8::from(issued.evidence.is_some()));
    if let Some(evidence) = &issued.evidence {
        put_bytes(out, evidence.as_str().as_bytes());
    }
}

/// Reads how it came about.
pub(super) fn read_origin(decoder: &mut Decoder<impl Read>, issued: &mut Issued) -> io::Result<()> {
    if is_there(decoder)? {
        issued.request = Some(RequestId::from_bytes(decoder.array()?));
    }
    if is_there(decoder)? {
        issued.policy = Some(PolicyId {
            digest: decoder.array()?,
            reader: decoder.text()?,
        });
    }
    if is_there(decoder)? {
        let evidence = Evidence::new(decoder.text()?);
        issued.evidence = Some(evidence.map_err(|_| ErrorKind::InvalidData)?);
    }
    Ok(())
}

fn is_there(decoder: &mut Decoder<impl Read>) -> io::Result<bool> {
    match decoder.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

pub(super) fn put_revocation(out: &mut Vec<u8>, revocation: &Revocation) {
    put_time(out, revocation.at);
    put_number(out, revocation.reason as u64);
    put_bytes(out, revocation.by.as_bytes());
}

pub(super) fn revocation(decoder: &mut Decoder<impl Read>) -> io::Result<Revocation> {
    Ok(Revocation {
        at: time(decoder)?,
        reason: u32::try_from(decoder.number()?)
            .ok()
            .and_then(|number| CrlReason::try_from(number).ok())
            .ok_or(ErrorKind::InvalidData)?,
        by: decoder.text()?,
    })
}

pub(super) fn serial_number(decoder: &mut Decoder<impl Read>) -> io::Result<SerialNumber> {
    SerialNumber::from_bytes(&decoder.bytes()?).map_err(|_| ErrorKind::InvalidData.into())
}

pub(super) fn put_time(out: &mut Vec<u8>, time: UnixTime) {
    put_number(out, time.as_secs());
}

pub(super) fn time(decoder: &mut Decoder<impl Read>) -> io::Result<UnixTime> {
    let seconds = decoder.number()?;
    Ok(UnixTime::since_unix_epoch(core::time::Duration::from_secs(
        seconds,
    )))
}

pub(super) fn put_generations(out: &mut Vec<u8>, generations: &[Generation]) {
    put_number(out, generations.len() as u64);
    for generation in generations {
        put_bytes(out, generation.name.as_bytes());
        put_number(out, generation.chain.len() as u64);
        for certificate in &generation.chain {
            put_bytes(out, certificate);
        }
        out.push(generation.stage.number());
        put_time(out, generation.since);
        put_bytes(out, generation.by.as_bytes());
    }
}

pub(super) fn generations(decoder: &mut Decoder<impl Read>) -> io::Result<Vec<Generation>> {
    let mut generations = Vec::new();
    for _ in 0..decoder.number()? {
        generations.push(Generation {
            name: decoder.text()?,
            chain: (0..decoder.number()?)
                .map(|_| Ok(decoder.bytes()?.into()))
                .collect::<io::Result<_>>()?,
            stage: Stage::of_number(decoder.byte()?).ok_or(ErrorKind::InvalidData)?,
            since: time(decoder)?,
            by: decoder.text()?,
        });
    }
    Ok(generations)
}

/// Revocations, each with the certificates that it is for.
pub(super) fn put_revocations(out: &mut Vec<u8>, revoked: &[(Revocation, Vec<SerialNumber>)]) {
    put_number(out, revoked.len() as u64);
    for (revocation, numbers) in revoked {
        put_revocation(out, revocation);
        put_number(out, numbers.len() as u64);
        for number in numbers {
            put_bytes(out, number.as_bytes());
        }
    }
}

/// Reads revocations, each with the certificates that it is for.
pub(super) fn revocations(
    decoder: &mut Decoder<impl Read>,
) -> io::Result<Vec<(Revocation, Vec<SerialNumber>)>> {
    let mut revoked = Vec::new();
    for _ in 0..decoder.number()? {
        let revocation = revocation(decoder)?;
        let numbers = (0..decoder.number()?).map(|_| serial_number(decoder));
        revoked.push((revocation, numbers.collect::<io::Result<_>>()?));
    }
    Ok(revoked)
}
