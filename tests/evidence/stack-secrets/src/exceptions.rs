//! The secrets that other libraries leave: the bases and rustls.

use crate::bases::Base;
use crate::provider::{CLASSICAL_KEY, CLASSICAL_SECRET, TICKET_KEY};
use crate::quic::QUIC_KEY;

/// A secret that an operation leaves.
struct Exception {
    /// The beginning of the operation's name.
    start: &'static str,
    /// The end of the operation's name.
    end: &'static str,
    secret: &'static str,
    /// Whether it must occur in each build.
    always: bool,
}

/// For each exception in the list, whether it occurred.
pub struct Exceptions([bool; EXCEPTIONS.len()]);

impl Exceptions {
    /// The state before any exception occurred.
    pub fn new() -> Self {
        Self([false; EXCEPTIONS.len()])
    }

    /// Whether the operation is known to leave this secret. If so, records that it occurred.
    pub fn excuse(&mut self, operation: &str, secret: &str) -> bool {
        let known = EXCEPTIONS.iter().position(|exception| {
            operation.starts_with(exception.start)
                && operation.ends_with(exception.end)
                && secret == exception.secret
        });
        if let Some(known) = known {
            self.0[known] = true;
        }
        known.is_some()
    }

    /// The exceptions that did not occur, although the CPU can run their base.
    pub fn stale(&self) -> Vec<String> {
        let graviola_runs = Base::all().any(|base| GRAVIOLA.contains(base.name));
        let stale = EXCEPTIONS
            .iter()
            .zip(self.0)
            .filter(|(exception, occurred)| {
                !occurred
                    && exception.always
                    && (!exception.start.starts_with(GRAVIOLA) || graviola_runs)
            });
        let stale = stale.map(|(exception, _)| {
            let Exception {
                start, end, secret, ..
            } = exception;
            format!("{start}...{end}: {secret}")
        });
        stale.collect()
    }
}

const fn exception(start: &'static str, end: &'static str, secret: &'static str) -> Exception {
    Exception {
        start,
        end,
        secret,
        always: true,
    }
}

/// An exception that the compiler causes only in some builds.
const fn in_some_builds(start: &'static str, end: &'static str, secret: &'static str) -> Exception {
    Exception {
        always: false,
        ..exception(start, end, secret)
    }
}

const EXCEPTIONS: &[Exception] = &[
    // The bases' own groups, alone and as halves of hybrid groups.
    exception(GRAVIOLA, " start_and_complete", CLASSICAL_SECRET),
    exception(GRAVIOLA, " complete", CLASSICAL_SECRET),
    exception(GRAVIOLA, " complete_hybrid_component", CLASSICAL_SECRET),
    exception(RING, " start_and_complete", CLASSICAL_SECRET),
    exception(RING, " complete", CLASSICAL_SECRET),
    exception(RING, " complete_hybrid_component", CLASSICAL_SECRET),
    // ring's ECDSA.
    exception(RING, "ECDSA P-256 load_private_key", CLASSICAL_KEY),
    // rustls's AEADs take their `AeadKey` by value.
    exception(GRAVIOLA, "Tickets encrypt", TICKET_KEY),
    exception(GRAVIOLA, "Tickets decrypt", TICKET_KEY),
    exception(RING, "Tickets encrypt", TICKET_KEY),
    exception(RING, "Tickets decrypt", TICKET_KEY),
    // rustls's traits return its `OkmBlock` and its `Tag` by value.
    exception("rustls-pq over ", " expand_block, dropped", "the output"),
    exception("rustls-pq over ", " hmac_sign", "the tag"),
    // The round keys of RustCrypto's `aes`, while they are made and used.
    exception(GRAVIOLA_AES, " header_protection_key", QUIC_KEY),
    in_some_builds(GRAVIOLA_AES, " headers", QUIC_KEY),
    // The state of RustCrypto's `chacha20`: seen since pq-cms, pq-hpke and pq-ssh are in the same build.
    in_some_builds(GRAVIOLA_CHACHA20, " headers", QUIC_KEY),
    // graviola's AES-GCM and ChaCha20 take their key by value.
    exception(GRAVIOLA_AES, " packet_key", QUIC_KEY),
    in_some_builds(GRAVIOLA_CHACHA20, " packet_key", QUIC_KEY),
    exception(GRAVIOLA, " packets", QUIC_KEY),
    // The HKDF of AWS-LC and of ring; over graviola, the HKDF is this workspace's.
    exception(AWS_LC, " expander_for_okm", "the key"),
    exception(RING, " expander_for_okm", "HMAC's key block"),
    exception(RING, " extract_from_secret", "the secret"),
    exception(RING, " extract_from_secret", "the extracted key"),
    exception(RING, " extract_from_secret", "HMAC's key block"),
    exception(RING, " extract_from_zero_ikm", "the extracted key"),
    exception(RING, " extract_from_zero_ikm", "HMAC's key block"),
    exception(RING, " expand_slice", "the output"),
];

const GRAVIOLA_AES: &str = "rustls-pq over graviola: TLS13_AES_";
const GRAVIOLA_CHACHA20: &str = "rustls-pq over graviola: TLS13_CHACHA20_";
const GRAVIOLA: &str = "rustls-pq over graviola: ";
const AWS_LC: &str = "rustls-pq over AWS-LC: ";
const RING: &str = "rustls-pq over ring: ";
