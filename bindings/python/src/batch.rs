//! Many signatures in one call, verified on several threads.

use alloc::sync::Arc;
use core::num::NonZero;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use pq_keys::KeyError;
use pq_keys::signing::SignatureOptions;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::Raise;
use crate::errors::exceptions::OperationError;
use crate::input::{Bytes, buffer, contents, filled, kept, no_memory};
use crate::keys::{Prepared, VerifyingKey, options};
use crate::lanes::{Signed, side_by_side};

/// Verifies many signatures, on as many threads as there are cores, or on `threads` threads. Other Python threads run
/// meanwhile.
///
/// `keys` is one VerifyingKey for all, or one for each signature. Messages and signatures are sequences of bytes-like
/// objects, or two-dimensional arrays of bytes with a row for each, such as NumPy arrays of `uint8`.
///
/// It returns a list with True for each valid signature, and False for each invalid one. If the context is too long, or
/// a key is for another pre-hash, the whole call raises an error.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> messages = [b"one", b"two"]
/// >>> signatures = [key.sign(b"one"), key.sign(b"three")]
/// >>> pqtls.verify_many(key.verifying_key, messages, signatures)
/// [True, False]
#[pyfunction]
#[pyo3(signature = (keys, messages, signatures, *, context=None, pre_hash=None, threads=None))]
pub(crate) fn verify_many(
    py: Python<'_>,
    keys: &Bound<'_, PyAny>,
    messages: &Bound<'_, PyAny>,
    signatures: &Bound<'_, PyAny>,
    context: Option<Bytes<'_>>,
    pre_hash: Option<&str>,
    threads: Option<NonZero<usize>>,
) -> PyResult<Vec<bool>> {
    let options = options(&context, pre_hash)?;
    let messages = Rows::read("messages", messages)?;
    let signatures = Rows::read("signatures", signatures)?;
    let keys = Keys::read(keys)?;
    let count = signatures.len();
    for (what, found) in [("messages", Some(messages.len())), ("keys", keys.len())] {
        if let Some(found) = found.filter(|found| *found != count) {
            return Err(PyValueError::new_err(format!(
                "there are {found} {what} and {count} signatures; give the same number of both"
            )));
        }
    }
    let context = context.as_deref().unwrap_or_default();
    if context.len() > MAX_CONTEXT_LEN {
        return Err(OperationError::new_err(format!(
            "the context has {} bytes; it may have at most 255 bytes",
            context.len()
        )));
    }
    let results = filled(count, false).map_err(no_memory)?;
    let batch = Batch {
        keys,
        messages,
        signatures,
        context,
        options,
    };
    // The lanes don't do pre-hashes. Few signatures are verified before a key for the lanes would be prepared.
    let singly = pre_hash.is_some() || count < SHARE;
    match py.detach(|| batch.verify(results, threads, singly)) {
        Ok(results) => Ok(results),
        Err(Stopped::By(error)) => Err(error.raise()),
        Err(Stopped::BySignal(error)) => Err(error),
    }
}

struct Batch<'a> {
    keys: Keys,
    messages: Rows,
    signatures: Rows,
    context: &'a [u8],
    options: SignatureOptions<'a>,
}

/// The longest context (FIPS 204, algorithm 2).
const MAX_CONTEXT_LEN: usize = 255;

/// How often the calling thread checks for signals, such as that of Ctrl-C: each check takes the interpreter's lock.
const SIGNALS: Duration = Duration::from_millis(50);

/// Why a batch was not verified to its end.
enum Stopped {
    By(KeyError),
    BySignal(PyErr),
}

/// How many signatures a thread takes at a time: as many as fill the lanes twice.
const SHARE: usize = 16;

impl Batch<'_> {
    fn verify(
        &self,
        mut results: Vec<bool>,
        threads: Option<NonZero<usize>>,
        singly: bool,
    ) -> Result<Vec<bool>, Stopped> {
        let key = match &self.keys {
            Keys::One(key) if !singly => side_by_side(key.key()),
            _ => None,
        };
        let threads = threads.unwrap_or_else(cores).get();
        let threads = threads.min(results.len().div_ceil(SHARE));
        let shares = Mutex::new(results.chunks_mut(SHARE).enumerate());
        // The lock is for taking a share, not for working on it.
        let next = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
        let stop = AtomicBool::new(false);
        let work = |signals: &mut dyn FnMut() -> PyResult<()>| -> Result<(), Stopped> {
            while !stop.load(Ordering::Relaxed)
                && let Some((share, results)) = next()
            {
                signals().map_err(Stopped::BySignal)?;
                let start = share * SHARE;
                match &key {
                    Some(key) => {
                        let items = start..start + results.len();
                        let mut items = items.map(|i| Signed {
                            message: self.messages.get(i),
                            signature: self.signatures.get(i),
                        });
                        results.copy_from_slice(&key.verify(self.context, &mut items));
                    }
                    None => {
                        for (i, result) in results.iter_mut().enumerate() {
                            *result = self.verify_one(start + i).map_err(Stopped::By)?;
                        }
                    }
                }
            }
            Ok(())
        };
        let work = |signals: &mut dyn FnMut() -> PyResult<()>| {
            work(signals).inspect_err(|_| stop.store(true, Ordering::Relaxed))
        };
        // Python handles signals on one thread, which may be the one that calls.
        let mut looked = Instant::now();
        let mut signals = || {
            if looked.elapsed() < SIGNALS {
                return Ok(());
            }
            looked = Instant::now();
            Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()))
        };
        thread::scope(|scope| {
            // If a thread can't be started, the others do its work.
            let others: Vec<_> = (1..threads)
                .filter_map(|_| {
                    thread::Builder::new()
                        .spawn_scoped(scope, || work(&mut || Ok(())))
                        .ok()
                })
                .collect();
            let mut done = work(&mut signals);
            for other in others {
                let of_other = other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                done = done.and(of_other);
            }
            done
        })?;
        Ok(results)
    }

    fn verify_one(&self, i: usize) -> Result<bool, KeyError> {
        let key = match &self.keys {
            Keys::One(key) => key.for_many(),
            Keys::Each(keys) => keys[i].for_one(),
        };
        match key.verify_with(self.messages.get(i), self.signatures.get(i), &self.options) {
            Ok(()) => Ok(true),
            Err(KeyError::InvalidSignature(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

enum Keys {
    One(Arc<Prepared>),
    Each(Vec<Arc<Prepared>>),
}

impl Keys {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(key) = object.cast::<VerifyingKey>() {
            return Ok(Self::One(key.get().prepared().clone()));
        }
        let keys = object.try_iter()?.map(|key| {
            let key = key?;
            let key = key.cast::<VerifyingKey>()?;
            Ok(key.get().prepared().clone())
        });
        Ok(Self::Each(keys.collect::<PyResult<_>>()?))
    }

    /// `None` if there is one for all.
    fn len(&self) -> Option<usize> {
        match self {
            Self::One(_) => None,
            Self::Each(keys) => Some(keys.len()),
        }
    }
}

/// Byte strings that nobody changes or takes away while they are read.
enum Rows {
    Items(Vec<PyBackedBytes>),
    Array {
        bytes: Vec<u8>,
        rows: usize,
        width: usize,
    },
}

impl Rows {
    fn read(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(buffer) = buffer(object.as_borrowed())? {
            let [rows, width] = *buffer.shape() else {
                return Err(PyTypeError::new_err(format!(
                    "{what} has {} dimensions; give an array with two, or a list of bytes",
                    buffer.dimensions()
                )));
            };
            return Ok(Self::Array {
                bytes: contents(object.py(), &buffer)?,
                rows,
                width,
            });
        }
        let items = object.try_iter()?.map(|item| kept(item?.as_borrowed()));
        Ok(Self::Items(items.collect::<PyResult<_>>()?))
    }

    fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Array { rows, .. } => *rows,
        }
    }

    fn get(&self, i: usize) -> &[u8] {
        match self {
            Self::Items(items) => &items[i],
            Self::Array { bytes, width, .. } => &bytes[i * width..][..*width],
        }
    }
}

fn cores() -> NonZero<usize> {
    // Zero until it is known. Several threads may compute it at once: none waits, as a forked child would wait forever.
    static CORES: AtomicUsize = AtomicUsize::new(0);
    NonZero::new(CORES.load(Ordering::Relaxed)).unwrap_or_else(|| {
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        CORES.store(cores.get(), Ordering::Relaxed);
        cores
    })
}
