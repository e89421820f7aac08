//! What functions take: bytes in any object that has a buffer, texts, times, files.

use core::hash::Hasher;
use core::ops::Deref;
use std::hash::DefaultHasher;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pq_x509::pki_types::UnixTime;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDateTime, PyInt, PyString};
use zeroize::Zeroizing;

use crate::errors::of_file;

/// The bytes of an argument. `bytes` can't change and are read where they are; others could be changed by another
/// thread while they are read, so that they are copied.
pub(crate) enum Bytes<'a> {
    InPlace(&'a [u8]),
    Copied(Zeroizing<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::InPlace(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bytes<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(Self::InPlace(object.extract()?));
        }
        Ok(Self::Copied(Zeroizing::new(copied(object)?)))
    }
}

/// The same for what is kept while other threads run, and could be taken out of its list.
pub(crate) fn kept(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBackedBytes> {
    if object.is_instance_of::<PyBytes>() {
        return Ok(object.extract()?);
    }
    let bytes = PyBytes::new(object.py(), &copied(object)?);
    Ok(bytes.into())
}

fn copied(object: Borrowed<'_, '_, PyAny>) -> PyResult<Vec<u8>> {
    let py = object.py();
    let Ok(buffer) = PyBuffer::<u8>::get(&object) else {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a bytes-like object is required, not '{name}'"
        )));
    };
    buffer.to_vec(py)
}

/// A `str`, or the bytes of a text, as PEM files have it.
pub(crate) enum Text<'a> {
    Str(&'a str),
    Bytes(Bytes<'a>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return Ok(Self::Str(object.extract()?));
        }
        Ok(Self::Bytes(object.extract()?))
    }
}

impl Text<'_> {
    pub(crate) fn as_str(&self) -> PyResult<&str> {
        match self {
            Self::Str(text) => Ok(text),
            Self::Bytes(bytes) => core::str::from_utf8(bytes)
                .map_err(|error| PyValueError::new_err(format!("the text is not UTF-8: {error}"))),
        }
    }

    /// As a passphrase is used: UTF-8, if it is a `str`.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// A `datetime` with a timezone.
#[derive(Clone, Copy)]
pub(crate) struct Time(SystemTime);

impl<'a, 'py> FromPyObject<'a, 'py> for Time {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let time = object.cast::<PyDateTime>()?;
        if time.call_method0("utcoffset")?.is_none() {
            return Err(PyTypeError::new_err(
                "the time has no timezone; give it one, such as datetime.UTC",
            ));
        }
        match time.extract() {
            Ok(time) => Ok(Self(time)),
            Err(error) if error.is_instance_of::<PyValueError>(py) => {
                Err(PyValueError::new_err("a time is before the year 1970"))
            }
            Err(error) => Err(error),
        }
    }
}

impl Time {
    pub(crate) fn system(self) -> SystemTime {
        self.0
    }
}

/// A time of Python's, or now.
pub(crate) fn unix_time(time: Option<Time>) -> UnixTime {
    let time = time.map_or_else(SystemTime::now, Time::system);
    // None is before that, as the time was read.
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    UnixTime::since_unix_epoch(since.unwrap_or_default())
}

/// A time as Python is to have it.
pub(crate) fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + core::time::Duration::from_secs(time.as_secs())
}

/// What a file holds, wiped afterwards.
pub(crate) fn read_file(py: Python<'_>, path: &Path) -> PyResult<Zeroizing<Vec<u8>>> {
    let read = py.detach(|| std::fs::read(path));
    let bytes = read.map_err(|error| of_file(&error, path))?;
    Ok(Zeroizing::new(bytes))
}

/// What a file holds, as PEM if it has a line that begins a block.
pub(crate) fn read_document<T>(
    py: Python<'_>,
    path: PathBuf,
    from_pem: impl FnOnce(&str) -> PyResult<T>,
    from_der: impl FnOnce(&[u8]) -> PyResult<T>,
) -> PyResult<T> {
    let bytes = read_file(py, &path)?;
    match core::str::from_utf8(&bytes) {
        Ok(text) if text.contains("-----BEGIN ") => from_pem(text),
        _ => from_der(&bytes),
    }
}

/// What `hash()` gives for an object that is these bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A number of big-endian bytes as Python's.
pub(crate) fn integer<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyInt>> {
    let number = py
        .get_type::<PyInt>()
        .call_method1("from_bytes", (bytes, "big"))?;
    Ok(number.cast_into()?)
}

/// The reverse, with as few bytes as will do.
pub(crate) fn big_endian(number: &Bound<'_, PyInt>) -> PyResult<Vec<u8>> {
    let bits: usize = number.call_method0("bit_length")?.extract()?;
    let bytes = number.call_method1("to_bytes", (bits.div_ceil(8).max(1), "big"));
    let bytes = bytes.map_err(|_| PyValueError::new_err("the number is negative"))?;
    bytes.extract()
}
