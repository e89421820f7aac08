//! What an attestation says, for reports.

use core::fmt;

use pq_keystore::Attestation;
use serde::Serialize;

use super::moment;
use super::show::destroy_at;
use crate::failure::Failure;
use crate::keys::PublicKey;
use crate::report::{fingerprint, hex};

/// What a store says of a key.
#[derive(Debug, Serialize)]
pub(super) struct AttestationFacts {
    key: String,
    algorithm: &'static str,
    exportable: bool,
    /// The oldest first.
    versions: Vec<Line>,
    /// The number of the store.
    store: String,
    /// The last entry of the audit log then.
    log_sequence: u64,
    log_hash: String,
    time: String,
}

#[derive(Debug, Serialize)]
struct Line {
    version: u32,
    state: &'static str,
    destroy_at: Option<String>,
    created: String,
    /// Where the private key is, or was until it was destroyed: "store", where it is sealed, or "token", which doesn't give it
    /// out. Attestations of former programs don't say it, nor its origin.
    place: Option<&'static str>,
    token: Option<String>,
    origin: Option<&'static str>,
    fingerprint: String,
}

impl AttestationFacts {
    pub(super) fn of(attestation: &Attestation) -> Result<Self, Failure> {
        let line = |version: &pq_keystore::AttestedVersion| {
            // A signed attestation has keys in it.
            PublicKey::from_spki_der(&version.spki)?;
            let place = version.place.as_ref();
            Ok(Line {
                version: version.version.get(),
                state: version.state.name(),
                destroy_at: destroy_at(version.state),
                created: moment::text(version.created),
                place: place.map(|place| match place.token {
                    Some(_) => "token",
                    None => "store",
                }),
                token: place.and_then(|place| Some(place.token.as_ref()?.to_string())),
                origin: place.map(|place| place.origin.name()),
                fingerprint: fingerprint(&version.spki),
            })
        };
        let versions = attestation.versions.iter().map(line);
        Ok(Self {
            key: attestation.key.to_string(),
            algorithm: attestation.algorithm.name(),
            exportable: attestation.exportable,
            versions: versions.collect::<Result<_, Failure>>()?,
            store: hex(&attestation.store),
            log_sequence: attestation.head.sequence,
            log_hash: hex(&attestation.head.hash),
            time: moment::text(attestation.time),
        })
    }
}

impl fmt::Display for AttestationFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exportable = match self.exportable {
            true => "exportable",
            false => "not exportable",
        };
        let (key, algorithm) = (&self.key, self.algorithm);
        writeln!(f, "{key}: {algorithm}, {exportable}, at {}", self.time)?;
        for line in &self.versions {
            writeln!(
                f,
                "#{}  {}, made {}",
                line.version, line.state, line.created
            )?;
            if let Some(origin) = line.origin {
                match &line.token {
                    Some(token) => {
                        writeln!(
                            f,
                            "  {origin}, in token {token}, which gives out no private key"
                        )?;
                    }
                    None => writeln!(f, "  {origin}, sealed in the store")?,
                }
            }
            writeln!(f, "  fingerprint  {}", line.fingerprint)?;
        }
        Ok(())
    }
}
