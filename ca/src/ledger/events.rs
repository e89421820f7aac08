//! How an event is encoded.

use std::io::{self, ErrorKind, Read};

use pq_x509::pki_types::UnixTime;

use crate::ledger::audit::{AuditedCertificate, Deed};
use crate::ledger::codec::{Decoder, put_bytes, put_number};
use crate::ledger::encoded::{
    generations, issued, put_generations, put_issued, put_origin, put_revocations, put_time,
    read_origin, revocations, serial_number, time,
};

/// The bytes of an event that are hashed.
pub(super) fn encode(deed: &Deed) -> Vec<u8> {
    let mut out = Vec::new();
    match deed {
        Deed::Issued(certificates) => {
            out.push(ISSUED);
            put_certificates(&mut out, certificates);
        }
        Deed::Adopted(certificates, revoked) => {
            out.push(ADOPTED);
            put_certificates(&mut out, certificates);
            put_revocations(&mut out, revoked);
        }
        Deed::Revoked(revoked) => {
            out.push(REVOKED);
            put_revocations(&mut out, revoked);
        }
        Deed::Reinstated { number, at, by } => {
            out.push(REINSTATED);
            put_bytes(&mut out, number.as_bytes());
            put_time(&mut out, *at);
            put_bytes(&mut out, by.as_bytes());
        }
        Deed::ListBegun { issuer, number, at } => {
            out.push(LIST_BEGUN);
            put_list(&mut out, issuer, *number, *at);
        }
        Deed::ListWritten { issuer, number, at } => {
            out.push(LIST_WRITTEN);
            put_list(&mut out, issuer, *number, *at);
        }
        Deed::TimeConfirmed { at, by } => {
            out.push(TIME_CONFIRMED);
            put_time(&mut out, *at);
            put_bytes(&mut out, by.as_bytes());
        }
        Deed::Succeeded(certificates, generations) => {
            out.push(SUCCEEDED);
            put_certificates(&mut out, certificates);
            put_generations(&mut out, generations);
        }
        Deed::Carried(deeds) => {
            out.push(CARRIED);
            put_deeds(&mut out, deeds);
        }
    }
    out
}

/// Reads what was encoded.
pub(super) fn decode(bytes: &[u8]) -> io::Result<Deed> {
    let mut decoder = Decoder::new(bytes);
    let deed = match decoder.byte()? {
        ISSUED => Deed::Issued(certificates(&mut decoder)?),
        ADOPTED => Deed::Adopted(certificates(&mut decoder)?, revocations(&mut decoder)?),
        REVOKED => Deed::Revoked(revocations(&mut decoder)?),
        REINSTATED => Deed::Reinstated {
            number: serial_number(&mut decoder)?,
            at: time(&mut decoder)?,
            by: decoder.text()?,
        },
        LIST_BEGUN => Deed::ListBegun {
            issuer: decoder.text()?,
            number: decoder.number()?,
            at: time(&mut decoder)?,
        },
        LIST_WRITTEN => Deed::ListWritten {
            issuer: decoder.text()?,
            number: decoder.number()?,
            at: time(&mut decoder)?,
        },
        TIME_CONFIRMED => Deed::TimeConfirmed {
            at: time(&mut decoder)?,
            by: decoder.text()?,
        },
        SUCCEEDED => Deed::Succeeded(certificates(&mut decoder)?, generations(&mut decoder)?),
        CARRIED => Deed::Carried(deeds(&mut decoder)?),
        _ => return Err(ErrorKind::InvalidData.into()),
    };
    match decoder.position() == bytes.len() as u64 {
        true => Ok(deed),
        false => Err(ErrorKind::InvalidData.into()),
    }
}

fn put_certificates(out: &mut Vec<u8>, certificates: &[AuditedCertificate]) {
    put_number(out, certificates.len() as u64);
    for one in certificates {
        put_issued(out, &one.issued);
        put_origin(out, &one.issued);
        out.extend_from_slice(&one.digest);
    }
}

fn certificates(decoder: &mut Decoder<&[u8]>) -> io::Result<Vec<AuditedCertificate>> {
    let mut certificates = Vec::new();
    for _ in 0..decoder.number()? {
        let mut issued = issued(decoder)?;
        read_origin(decoder, &mut issued)?;
        let digest = decoder.array()?;
        certificates.push(AuditedCertificate { issued, digest });
    }
    Ok(certificates)
}

/// Puts several events, each with its length.
pub(super) fn put_deeds(out: &mut Vec<u8>, deeds: &[Deed]) {
    put_number(out, deeds.len() as u64);
    for deed in deeds {
        put_bytes(out, &encode(deed));
    }
}

/// Reads what was put so.
pub(super) fn deeds(decoder: &mut Decoder<impl Read>) -> io::Result<Vec<Deed>> {
    let count = decoder.number()?;
    (0..count).map(|_| decode(&decoder.bytes()?)).collect()
}

fn put_list(out: &mut Vec<u8>, issuer: &str, number: u64, at: UnixTime) {
    put_bytes(out, issuer.as_bytes());
    put_number(out, number);
    put_time(out, at);
}

const ISSUED: u8 = 1;
const ADOPTED: u8 = 2;
const REVOKED: u8 = 3;
const REINSTATED: u8 = 4;
const LIST_BEGUN: u8 = 5;
const LIST_WRITTEN: u8 = 6;
const TIME_CONFIRMED: u8 = 7;
const SUCCEEDED: u8 = 8;
const CARRIED: u8 = 9;

#[cfg(test)]
mod tests {
    use pq_x509::revocation::CrlReason;

    use super::*;
    use crate::ledger::suite::{at, issued, number, request, requested, revocation};
    use crate::ledger::{Generation, Stage};

    #[test]
    fn deeds_are_read_again() {
        let certificates = vec![
            AuditedCertificate {
                issued: issued(1),
                digest: [1; 32],
            },
            AuditedCertificate {
                issued: requested(2, request(2)),
                digest: [2; 32],
            },
        ];
        let revoked = vec![
            (revocation(30, CrlReason::KeyCompromise), vec![number(1)]),
            (
                revocation(31, CrlReason::CertificateHold),
                vec![number(2), number(3)],
            ),
        ];
        let generation = Generation {
            name: "issuing-2".into(),
            chain: vec![vec![1, 2, 3].into()],
            stage: Stage::Issuing,
            since: at(5),
            by: "somebody".into(),
        };
        let list = (String::from("issuing"), u64::MAX, at(7));
        for deed in [
            Deed::Issued(certificates.clone()),
            Deed::Adopted(certificates.clone(), revoked.clone()),
            Deed::Revoked(revoked),
            Deed::Reinstated {
                number: number(4),
                at: at(9),
                by: "ü\0\n".into(),
            },
            Deed::ListBegun {
                issuer: list.0.clone(),
                number: list.1,
                at: list.2,
            },
            Deed::ListWritten {
                issuer: list.0,
                number: list.1,
                at: list.2,
            },
            Deed::TimeConfirmed {
                at: at(3),
                by: "somebody".into(),
            },
            Deed::Succeeded(certificates, vec![generation]),
            Deed::Carried(vec![Deed::Carried(Vec::new()), Deed::Issued(Vec::new())]),
        ] {
            let bytes = encode(&deed);
            assert_eq!(decode(&bytes).unwrap(), deed);
            decode(&[&bytes[..], &[0]].concat()).unwrap_err();
            for length in 0..bytes.len() {
                decode(&bytes[..length]).unwrap_err();
            }
        }
        decode(&[10]).unwrap_err();
    }
}
