//! Documents in memory, in this process, whose output is discarded: what pq-cms costs beside its hash function
//! and cipher. Files are left out, since on many machines writing one takes longer than hashing it.

use core::hint::black_box;
use std::io;

use pq_cms::{
    DocumentSigner, EnvelopeBuilder, Opener, Recipient, RecipientKey, SignedDataBuilder, Verifier,
};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use rustls::{
    ContentType, ProtocolVersion, SupportedCipherSuite,
    crypto::cipher::{AeadKey, Iv, OutboundChunks, OutboundPlainMessage},
};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use rustls_pq::classical::verification_algorithms;

use super::{DIGEST, People, Rate, Spent};
use crate::commands::bench::measure::{self, median};
use crate::failure::Failure;

/// How many turns are measured, for their medians. Shares are computed within a turn, since machines don't keep one
/// speed.
const TURNS: usize = 15;

/// The most content, in MiB. Messages are in memory, too. With less content, costs that arise once
/// would count: a verifier keeps the first MiB, since small content may be needed as a whole.
const MOST: u64 = 128;

/// What was measured in memory.
pub(super) struct InMemory {
    /// The hash function alone.
    pub(super) hash: Rate,
    /// The provider's cipher alone, in TLS records, if it has the cipher on this CPU.
    pub(super) aead: Option<Rate>,
    /// Signing, verifying, encrypting and decrypting.
    pub(super) operations: [Share; 4],
}

/// An operation, beside the hash function or the cipher alone.
pub(super) struct Share {
    pub(super) rate: Rate,
    /// That rate in percent of the rate of the hash function or the cipher alone.
    pub(super) of_alone: Option<f64>,
}

/// Measures all of them in turn.
pub(super) fn measure(people: &People, mebibytes: u64) -> Result<InMemory, Failure> {
    let mebibytes = mebibytes.min(MOST);
    let content: Vec<u8> = (0..mebibytes).flat_map(super::mebibyte).collect();
    let signer =
        SignedDataBuilder::new().signer(DocumentSigner::new(&people.certificate, &people.key));
    let verifier = Verifier::with_signers([people.certificate.clone()]).map_err(failed)?;
    let public = people.recipient_key.public_key().clone();
    let recipient = Recipient::agreement_certificate(&people.recipient, public)?;
    let envelope = EnvelopeBuilder::new().recipient(recipient);
    let opener = Opener::new(RecipientKey::agreement(&people.recipient_key));
    let (mut signed, mut encrypted) = (Vec::new(), Vec::new());
    signer.sign(&*content, &mut signed)?;
    envelope.encrypt(&*content, &mut encrypted)?;

    let mut encrypting = encrypting();
    let (mut hash, mut aead) = (Vec::new(), Vec::new());
    let mut operations = [const { Vec::new() }; 4];
    for _ in 0..TURNS {
        hash.push(spent(|| {
            let mut hasher = DIGEST.hasher();
            hasher.update(&content);
            black_box(hasher.finish());
            Ok(())
        })?);
        if let Some(encrypt) = &mut encrypting {
            aead.push(spent(|| {
                for (number, record) in content.chunks(RECORD).enumerate() {
                    encrypt(record, number as u64);
                }
                Ok(())
            })?);
        }
        let turn = [
            spent(|| Ok(signer.sign(&*content, io::sink())?))?,
            spent(|| {
                let verified = verifier.write_unverified(&*signed, io::sink());
                verified.map(drop).map_err(failed)
            })?,
            spent(|| Ok(envelope.encrypt(&*content, io::sink())?))?,
            spent(|| {
                let opened = opener.write_unauthenticated(&*encrypted, io::sink());
                opened.map(drop).map_err(failed)
            })?,
        ];
        for (all, one) in operations.iter_mut().zip(turn) {
            all.push(one);
        }
    }
    let [signing, verifying, encrypting, decrypting] = operations;
    let share = |all: Vec<Spent>, alone: &[Spent]| {
        let shares = all
            .iter()
            .zip(alone)
            .filter_map(|(all, alone)| Some(100.0 * alone.cpu? / all.cpu?));
        Share {
            rate: Rate::of(mebibytes, &all),
            of_alone: median(shares),
        }
    };
    Ok(InMemory {
        hash: Rate::of(mebibytes, &hash),
        aead: (!aead.is_empty()).then(|| Rate::of(mebibytes, &aead)),
        operations: [
            share(signing, &hash),
            share(verifying, &hash),
            share(encrypting, &aead),
            share(decrypting, &aead),
        ],
    })
}

/// The failure to verify or decrypt what was made here.
fn failed(error: impl ToString) -> Failure {
    Failure::NotMeasured(format!("pqtls cms, in memory: {}", error.to_string()))
}

fn spent(run: impl FnOnce() -> Result<(), Failure>) -> Result<Spent, Failure> {
    let ((), wall, cpu) = measure::spent(run)?;
    Ok(Spent {
        wall,
        cpu,
        peak_mebibytes: None,
    })
}

/// The longest record of TLS.
const RECORD: usize = 16 * 1024;

/// The base's AES-256-GCM, as connections use it. It is not taken from the provider, which would bring key
/// exchanges and handshakes into this program.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn encrypting() -> Option<impl FnMut(&[u8], u64)> {
    // This fails if the CPU lacks what graviola needs.
    verification_algorithms().ok()?;
    let SupportedCipherSuite::Tls13(suite) = rustls_graviola::suites::TLS13_AES_256_GCM_SHA384
    else {
        return None;
    };
    let key = AeadKey::from([7; 32]);
    let mut encrypter = suite.aead_alg.encrypter(key, Iv::from([9; 12]));
    Some(move |record: &[u8], number| {
        let message = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_3,
            payload: OutboundChunks::Single(record),
        };
        // It has room, and is no longer than a record.
        let _ = black_box(encrypter.encrypt(message, number));
    })
}

/// There is no base for other CPUs.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn encrypting() -> Option<impl FnMut(&[u8], u64)> {
    None::<fn(&[u8], u64)>
}
