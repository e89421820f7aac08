//! The operations that are measured, for every parameter set of ML-KEM, ML-DSA and SLH-DSA. Each makes its keys and
//! inputs before the clock runs.

use core::hint::black_box;

use pq_keys::{Algorithm, DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};
use serde::Serialize;

use super::measure::Call;
use crate::failure::Failure;

/// What is done with keys of an algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(super) enum Operation {
    #[serde(rename = "key generation")]
    KeyGeneration,
    #[serde(rename = "encapsulation")]
    Encapsulation,
    #[serde(rename = "decapsulation")]
    Decapsulation,
    #[serde(rename = "signing")]
    Signing,
    #[serde(rename = "verification")]
    Verification,
}

impl Operation {
    const OF_KEMS: [Self; 3] = [
        Self::KeyGeneration,
        Self::Encapsulation,
        Self::Decapsulation,
    ];
    const OF_SIGNATURES: [Self; 3] = [Self::KeyGeneration, Self::Signing, Self::Verification];

    fn name(self) -> &'static str {
        match self {
            Self::KeyGeneration => "key generation",
            Self::Encapsulation => "encapsulation",
            Self::Decapsulation => "decapsulation",
            Self::Signing => "signing",
            Self::Verification => "verification",
        }
    }
}

/// A row: an operation of an algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Row {
    pub(super) algorithm: Algorithm,
    pub(super) operation: Operation,
}

impl Row {
    /// Every row.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let kems = KemAlgorithm::ALL.iter().map(|set| (*set).into());
        let signatures = SignatureAlgorithm::ML_DSA.iter();
        let signatures = signatures.chain(SignatureAlgorithm::SLH_DSA);
        let signatures = signatures.map(|set| (*set).into());
        let of = |operations: [Operation; 3]| {
            move |algorithm: Algorithm| {
                operations.map(|operation| Self {
                    algorithm,
                    operation,
                })
            }
        };
        kems.flat_map(of(Operation::OF_KEMS))
            .chain(signatures.flat_map(of(Operation::OF_SIGNATURES)))
    }

    /// Whether it is of an SLH-DSA set with small signatures, which takes some hundred times as long as the
    /// corresponding fast set to make keys and to sign.
    pub(super) fn is_slow(&self) -> bool {
        self.family() == "SLH-DSA" && self.algorithm.name().ends_with('s')
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.algorithm, self.operation.name())
    }

    /// Such as `ML-DSA`.
    pub(super) fn family(&self) -> &'static str {
        let name = self.algorithm.name();
        let second_hyphen = name.match_indices('-').nth(1);
        second_hyphen.map_or(name, |(at, _)| &name[..at])
    }

    /// All operations of the algorithm, in the order in which `openssl speed` has them, too.
    pub(super) fn siblings(&self) -> [Operation; 3] {
        match self.algorithm {
            Algorithm::Kem(_) => Operation::OF_KEMS,
            _ => Operation::OF_SIGNATURES,
        }
    }

    /// Makes keys and whatever else the operation takes.
    pub(super) fn prepare(&self) -> Result<Call, Failure> {
        match self.algorithm {
            Algorithm::Kem(algorithm) => of_kem(algorithm, self.operation),
            Algorithm::Signature(algorithm) => of_signature(algorithm, self.operation),
            other => Err(Failure::Unsupported(other)),
        }
    }
}

fn of_kem(algorithm: KemAlgorithm, operation: Operation) -> Result<Call, Failure> {
    if operation == Operation::KeyGeneration {
        return Ok(Box::new(move || {
            black_box(DecapsulationKey::generate(black_box(algorithm))?);
            Ok(())
        }));
    }
    let key = DecapsulationKey::generate(algorithm)?;
    if operation == Operation::Encapsulation {
        let key = key.encapsulation_key().clone();
        return Ok(Box::new(move || {
            black_box(black_box(&key).encapsulate()?);
            Ok(())
        }));
    }
    let (ciphertext, _) = key.encapsulation_key().encapsulate()?;
    Ok(Box::new(move || {
        black_box(key.decapsulate(black_box(&ciphertext))?);
        Ok(())
    }))
}

fn of_signature(algorithm: SignatureAlgorithm, operation: Operation) -> Result<Call, Failure> {
    if operation == Operation::KeyGeneration {
        return Ok(Box::new(move || {
            black_box(SigningKey::generate(black_box(algorithm))?);
            Ok(())
        }));
    }
    let key = SigningKey::generate(algorithm)?;
    if operation == Operation::Signing {
        return Ok(Box::new(move || {
            black_box(key.sign(black_box(&MESSAGE))?);
            Ok(())
        }));
    }
    let signatures = (0..SIGNATURES).map(|_| key.sign(&MESSAGE));
    let signatures = signatures.collect::<Result<Vec<_>, _>>()?;
    let mut next = (0..signatures.len()).cycle();
    let key = key.verifying_key().clone();
    Ok(Box::new(move || {
        let signature = &signatures[next.next().unwrap_or_default()];
        Ok(key.verify(black_box(&MESSAGE), black_box(signature))?)
    }))
}

/// As long as what `openssl speed` signs.
const MESSAGE: [u8; 32] = [7; 32];

/// How many signatures are verified in turn, since some take longer to verify than others.
const SIGNATURES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_every_set_is_a_row() {
        let count = |family| Row::all().filter(|row| row.family() == family).count();
        assert_eq!(["ML-KEM", "ML-DSA", "SLH-DSA"].map(count), [9, 9, 36]);
        assert_eq!(Row::all().filter(Row::is_slow).count(), 18);
        assert!(
            Row::all()
                .filter(Row::is_slow)
                .all(|row| row.family() == "SLH-DSA")
        );
    }

    #[test]
    fn every_call_succeeds() {
        for row in Row::all() {
            let name = row.name();
            if ["ML-KEM-768", "ML-DSA-65", "SLH-DSA-SHA2-128f"].contains(&row.algorithm.name()) {
                let mut call = row.prepare().unwrap();
                for _ in 0..=SIGNATURES {
                    call().unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
        }
    }
}
