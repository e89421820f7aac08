//! The same calls without Python, for `bench`.

use core::hint::black_box;
use std::time::Instant;

use pq_keys::signing::{SignatureOptions, SigningVariant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::input::Bytes;
use crate::keys::{DecapsulationKey, SigningKey};

/// How many nanoseconds an operation takes in Rust: the mean of `times` calls. An ML-DSA key is prepared before it
/// verifies, and signs deterministically.
#[pyfunction]
pub(crate) fn in_rust(
    operation: &str,
    key: &Bound<'_, PyAny>,
    input: Bytes<'_>,
    times: u32,
) -> PyResult<f64> {
    if let Ok(key) = key.cast::<SigningKey>() {
        let key = &key.get().key;
        let sign = || {
            let options = SignatureOptions::new();
            key.sign_with(black_box(&input), &options, SigningVariant::Deterministic)
        };
        return match operation {
            "generate" => mean(times, || pq_keys::SigningKey::generate(key.algorithm())),
            "sign" => mean(times, sign),
            "verify" => {
                let signature = sign().or_raise()?;
                let public = key.verifying_key().expand();
                mean(times, || {
                    public.verify(black_box(&input), black_box(&signature))
                })
            }
            _ => Err(unknown(operation)),
        };
    }
    let key = key.cast::<DecapsulationKey>()?;
    let key = &key.get().key;
    let public = key.encapsulation_key();
    match operation {
        "generate" => mean(times, || {
            pq_keys::DecapsulationKey::generate(key.algorithm())
        }),
        "encapsulate" => mean(times, || public.encapsulate()),
        "decapsulate" => mean(times, || key.decapsulate(black_box(&input))),
        _ => Err(unknown(operation)),
    }
}

fn unknown(operation: &str) -> PyErr {
    PyValueError::new_err(format!("no operation is called {operation:?}"))
}

fn mean<T>(times: u32, operation: impl Fn() -> Result<T, pq_keys::KeyError>) -> PyResult<f64> {
    let start = Instant::now();
    for _ in 0..times {
        black_box(operation().or_raise()?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(times))
}
