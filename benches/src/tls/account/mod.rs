//! Where the time of a handshake goes, call by call: rustls's calls to a provider, and the rest, which is
//! rustls's own.

mod spans;
mod timed;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::time::{Instant, SystemTime};

use self::spans::{Overhead, span, take};
use super::handshake::{Authentication, Combination, Pair, Side, restrict};
use crate::timing::Effort;
use crate::timing::results::{Group, Quartiles, Sides, Timing};

/// The handshakes that have an account.
pub const COMBINATIONS: [Combination; 2] = [
    Combination {
        group: rustls_pq::Group::X25519MLKEM768,
        authentication: Authentication::EcdsaP256,
    },
    Combination {
        group: rustls_pq::Group::X25519MLKEM768,
        authentication: Authentication::MlDsa65,
    },
];

/// The name of a combination's table.
pub fn table(combination: Combination) -> String {
    format!(
        "account/{}/{}",
        combination.group, combination.authentication
    )
}

/// A part of a handshake's time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// The classical half of the key exchange, by graviola.
    Classical,
    /// The rest of the key exchange: ML-KEM, and combining shares.
    MlKem,
    /// The server's signature.
    Signing,
    /// The client's check of the server's signature.
    Verifying,
    /// The client's check of the signature on the certificate.
    VerifyingChain,
    /// Other work of webpki for the chain: parsing, names, validity, finding the root.
    Chain,
    /// Other work of webpki for the key that has signed the handshake.
    SignersKey,
    /// The hash of the messages.
    Transcript,
    /// HKDF and HMAC.
    KeySchedule,
    /// Making the keys of AES-GCM.
    RecordKeys,
    /// Encrypting and decrypting records.
    Records,
    /// Randomness other than for keys.
    Random,
    /// The rest: messages, states and memory.
    Rustls,
}

impl Part {
    /// All parts, in the order of the report.
    pub const ALL: &[Self] = &[
        Self::Classical,
        Self::MlKem,
        Self::Signing,
        Self::Verifying,
        Self::VerifyingChain,
        Self::Chain,
        Self::SignersKey,
        Self::Transcript,
        Self::KeySchedule,
        Self::RecordKeys,
        Self::Records,
        Self::Random,
        Self::Rustls,
    ];

    fn index(self) -> usize {
        self as usize
    }
}

/// Writes the part's name in the report.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classical => "classical key exchange (graviola)",
            Self::MlKem => "ML-KEM, and combining shares",
            Self::Signing => "signing CertificateVerify",
            Self::Verifying => "verifying CertificateVerify",
            Self::VerifyingChain => "verifying the certificate's signature",
            Self::Chain => "the rest of the chain (webpki)",
            Self::SignersKey => "finding the key of CertificateVerify (webpki)",
            Self::Transcript => "hash of the transcript (graviola)",
            Self::KeySchedule => "key schedule",
            Self::RecordKeys => "making and wiping record keys (graviola)",
            Self::Records => "encrypting and decrypting records (graviola)",
            Self::Random => "other randomness",
            Self::Rustls => "rustls: messages, states, memory",
        })
    }
}

/// Measures a combination with our provider over graviola: a row for each part, per handshake. `None` if
/// graviola does not run.
///
/// # Errors
///
/// If a certificate can't be issued, or rustls refuses a configuration.
pub fn measure(combination: Combination, effort: Effort) -> Result<Option<Group>, Box<dyn Error>> {
    let provider = timed::provider()?;
    let Some(provider) = provider.and_then(|provider| restrict(&provider, combination)) else {
        return Ok(None);
    };
    let identity = combination.authentication.identity()?;
    let pair = Pair::with_verifier("timed", provider, combination, &identity, timed::verifier)?;
    pair.check();

    let overhead = Overhead::measure();
    let samples: Vec<Sample> = (0..effort.samples)
        .map(|_| Sample::take(&pair, &overhead, effort.sample))
        .collect();
    let rows = Part::ALL.iter().map(|part| {
        let of = |time: fn(&Sample) -> &Times| {
            let times = samples.iter().map(|sample| time(sample)[part.index()]);
            Quartiles::of(times.collect())
        };
        Timing {
            name: part.to_string(),
            samples: effort.samples,
            time: of(|sample| &sample.both),
            sides: Some(Sides {
                client: of(|sample| &sample.client),
                server: of(|sample| &sample.server),
            }),
        }
    });
    Ok(Some(Group {
        name: table(combination),
        rows: rows.collect(),
        measured: SystemTime::now(),
    }))
}

/// Nanoseconds for a handshake, by [`Part::index`].
type Times = [f64; Part::ALL.len()];

/// The mean of some handshakes.
struct Sample {
    client: Times,
    server: Times,
    both: Times,
}

impl Sample {
    /// The mean of the handshakes that begin within `time`.
    fn take(pair: &Pair, overhead: &Overhead, time: Duration) -> Self {
        let mut client = [Duration::ZERO; Part::ALL.len()];
        let mut server = client;
        let mut handshakes = 0;
        let start = Instant::now();
        while start.elapsed() < time {
            let turn = |of: &mut [Duration; Part::ALL.len()], work: &mut dyn FnMut()| {
                span(Part::Rustls, work);
                for (total, charge) in of.iter_mut().zip(&take()) {
                    *total += overhead.without(charge);
                }
            };
            pair.handshake_in_turns(|side, work| match side {
                Side::Client => turn(&mut client, work),
                Side::Server => turn(&mut server, work),
            });
            // drops after a handshake count for neither side
            take();
            handshakes += 1;
        }
        let mean = |total: Duration| total.as_secs_f64() * 1e9 / f64::from(handshakes);
        let (client, server) = (client.map(mean), server.map(mean));
        let mut both = client;
        for (both, server) in both.iter_mut().zip(&server) {
            *both += server;
        }
        Self {
            client,
            server,
            both,
        }
    }
}
