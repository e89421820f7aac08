//! Planted copies, which the test must find: keys that are moved, and a copy of each secret
//! that the test looks for.

use alloc::collections::BTreeMap;
use core::hint::black_box;

use pq_core::ml_dsa::{self, MlDsa65};
use pq_core::ml_kem::{self, MlKem768};
use pq_core::slh_dsa::{self, SlhDsaShake192f};

use crate::operation::{Operation, fresh};
use crate::stack::left_by;
use crate::{ml_dsa as of_ml_dsa, ml_kem as of_ml_kem, slh_dsa as of_slh_dsa};

/// Operations that leave a copy, with the name of the copied secret.
pub fn operations() -> Vec<(Operation, &'static str)> {
    vec![
        (
            Operation::new(
                "an ML-KEM key, returned by value",
                fresh::<64>,
                |seed| {
                    let make = || ml_kem::DecapsulationKey::<MlKem768>::from_seed(seed);
                    Box::new(by_value(make))
                },
                |_, key| of_ml_kem::secrets_of(key),
            ),
            "the decapsulation key in memory",
        ),
        (
            Operation::new(
                "an ML-DSA key, returned by value",
                fresh::<32>,
                |seed| Box::new(by_value(|| ml_dsa::SigningKey::<MlDsa65>::from_seed(seed))),
                |_, key| of_ml_dsa::secrets_of(key),
            ),
            "the signing key in memory",
        ),
        (
            Operation::new(
                "an SLH-DSA key, returned by value",
                fresh::<72>,
                |seed| Box::new(by_value(|| SlhDsaKey::from_seed(seed))),
                |_, key| of_slh_dsa::secrets_of(key),
            ),
            "SK.prf",
        ),
        (
            Operation::new(
                "a seed, in the topmost frame",
                fresh::<64>,
                |seed| {
                    leave(&seed[..]);
                    ml_kem::DecapsulationKey::<MlKem768>::boxed_from_seed(seed)
                },
                |_, key| of_ml_kem::secrets_of(key),
            ),
            "the seed",
        ),
    ]
}

type SlhDsaKey = slh_dsa::SigningKey<SlhDsaShake192f>;

/// Makes a value in one place and moves it to another.
#[inline(never)]
fn by_value<T>(make: impl FnOnce() -> T) -> T {
    let mut value = make();
    black_box(&mut value);
    value
}

/// The name of each secret that some operation looks for, and whether a planted copy of it is found.
pub fn copies() -> BTreeMap<&'static str, bool> {
    let mut copies = BTreeMap::new();
    for operation in crate::operations()
        .iter()
        .chain(&crate::operations_over_bases())
        .chain(&crate::operations_on_documents())
    {
        let sought = operation.sought();
        let left = |run: &(dyn Fn() + Sync)| sought.in_stack(&left_by(run).stack);
        assert_eq!(
            left(&|| ()),
            [],
            "{}: nothing was copied yet",
            operation.name
        );
        for (what, bytes) in sought.examples() {
            copies.entry(what).or_insert_with(|| {
                let found = left(&|| leave(&bytes[..bytes.len().min(COPIED)]));
                found.iter().any(|found| found.what == what)
            });
        }
    }
    copies
}

const COPIED: usize = 256;

#[inline(never)]
fn leave(bytes: &[u8]) {
    let mut copy = [0; COPIED];
    copy[..bytes.len()].copy_from_slice(bytes);
    black_box(&mut copy);
}
