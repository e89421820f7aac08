//! Arguments of functions: bytes in any object that has a buffer, texts, times, files.

use alloc::collections::TryReserveError;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Deref;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pq_x509::keys::encoding::pem;
use pq_x509::pki_types::UnixTime;
use pyo3::PyClass;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyBytes, PyDateTime, PyInt, PyList, PySequence, PyString};
use zeroize::Zeroizing;

use crate::errors::of_file;

/// The bytes of an argument. `bytes` can't change and are read in place. Another thread could change other objects
/// while they are read, so they are copied.
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
        Self::of(object)?.ok_or_else(|| not_bytes_like(object))
    }
}

impl<'a> Bytes<'a> {
    /// The bytes of an object, or `None` if it is not bytes-like.
    pub(crate) fn of(object: Borrowed<'a, '_, PyAny>) -> PyResult<Option<Self>> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(Some(Self::InPlace(object.extract()?)));
        }
        let Some(buffer) = buffer(object)? else {
            return Ok(None);
        };
        let bytes = contents(object.py(), &buffer)?;
        Ok(Some(Self::Copied(Zeroizing::new(bytes))))
    }
}

/// The same for an object that is kept while other threads run, which could remove it from its list.
pub(crate) fn kept(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBackedBytes> {
    if object.is_instance_of::<PyBytes>() {
        return Ok(object.extract()?);
    }
    let py = object.py();
    let buffer = buffer(object)?.ok_or_else(|| not_bytes_like(object))?;
    let bytes = PyBytes::new_with(py, buffer.item_count(), |copy| {
        buffer.copy_to_slice(py, copy)
    })?;
    Ok(bytes.into())
}

/// A copy of what a buffer holds. It may be more than there is memory for: NumPy has views of any size.
pub(crate) fn contents(py: Python<'_>, buffer: &PyBuffer<u8>) -> PyResult<Vec<u8>> {
    let mut bytes = filled(buffer.item_count(), 0).map_err(no_memory)?;
    buffer.copy_to_slice(py, &mut bytes)?;
    Ok(bytes)
}

/// A vector of `len` equal items, if there is memory for it.
pub(crate) fn filled<T: Clone>(len: usize, item: T) -> Result<Vec<T>, TryReserveError> {
    let mut items = Vec::new();
    items.try_reserve_exact(len)?;
    items.resize(len, item);
    Ok(items)
}

/// MemoryError.
pub(crate) fn no_memory(_: TryReserveError) -> PyErr {
    PyMemoryError::new_err(())
}

/// The buffer of an object, or `None` if the object has none, or one of other items than bytes. If the object has one
/// and can't give it, the error is the object's own: a closed `mmap` raises ValueError.
pub(crate) fn buffer(object: Borrowed<'_, '_, PyAny>) -> PyResult<Option<PyBuffer<u8>>> {
    match PyBuffer::get(&object) {
        Ok(buffer) => Ok(Some(buffer)),
        Err(error) if is_mismatch(object.py(), &error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that there is no buffer of bytes.
fn is_mismatch(py: Python<'_>, error: &PyErr) -> bool {
    let kind = error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyBufferError>(py);
    kind && !is_of_python_code(py, error)
}

/// Whether an error was raised by code in Python, such as the caller's `__buffer__`. Only such errors have a traceback
/// by the time they arrive here.
fn is_of_python_code(py: Python<'_>, error: &PyErr) -> bool {
    error.traceback(py).is_some()
}

fn not_bytes_like(object: Borrowed<'_, '_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("a bytes-like object is required, not '{name}'")),
        Err(error) => error,
    }
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
    /// The bytes of a text or a passphrase: UTF-8, if it is a `str`.
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
            Err(error)
                if error.is_instance_of::<PyValueError>(py) && !is_of_python_code(py, &error) =>
            {
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

/// A time from Python, or now.
pub(crate) fn unix_time(time: Option<Time>) -> UnixTime {
    let time = time.map_or_else(SystemTime::now, Time::system);
    // `Time` refuses times before 1970.
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    UnixTime::since_unix_epoch(since.unwrap_or_default())
}

/// A time for Python.
pub(crate) fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + core::time::Duration::from_secs(time.as_secs())
}

/// The contents of a file, wiped afterwards.
pub(crate) fn read_file(py: Python<'_>, path: &Path) -> PyResult<Zeroizing<Vec<u8>>> {
    py.detach(|| read_wiped(path))
        .map_err(|error| of_file(&error, path))
}

/// Reads into memory that is wiped, also when a buffer became too small.
fn read_wiped(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut file = File::open(path)?;
    // Files that are not regular have no length.
    let expected = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Zeroizing::new(filled(expected.saturating_add(1), 0)?);
    let mut len = 0;
    loop {
        if len == bytes.len() {
            let mut larger = Zeroizing::new(filled(len.saturating_mul(2).max(4096), 0)?);
            larger[..len].copy_from_slice(&bytes);
            bytes = larger;
        }
        match file.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(len);
    Ok(bytes)
}

/// Reads the contents of a file, as PEM if it has PEM in it, and otherwise as DER.
pub(crate) fn read_document<T>(
    py: Python<'_>,
    path: PathBuf,
    from_pem: impl FnOnce(&[u8]) -> PyResult<T>,
    from_der: impl FnOnce(&[u8]) -> PyResult<T>,
) -> PyResult<T> {
    let bytes = read_file(py, &path)?;
    match pem::is_in(&bytes) {
        true => from_pem(&bytes),
        false => from_der(&bytes),
    }
}

/// The result of `hash()` for an object with these bytes, which are not secret. It is Python's own hash, with the key
/// that each process draws, so that nobody can choose bytes that collide.
pub(crate) fn hash_of(py: Python<'_>, bytes: &[u8]) -> PyResult<isize> {
    PyBytes::new(py, bytes).hash()
}

/// The result of `==` between an object and any other. `same` compares objects of the same class.
pub(crate) fn equality<T: PyClass<Frozen = True> + Sync>(
    other: &Bound<'_, PyAny>,
    same: impl FnOnce(&T) -> bool,
) -> PyResult<Py<PyAny>> {
    let py = other.py();
    let Ok(other) = other.cast::<T>() else {
        return Ok(py.NotImplemented());
    };
    Ok(same(other.get())
        .into_pyobject(py)?
        .to_owned()
        .into_any()
        .unbind())
}

/// Makes PyO3 import now what it would import on its first use. A child that was forked while another thread imported
/// would wait for that forever.
pub(crate) fn warm(py: Python<'_>) -> PyResult<()> {
    PyList::empty(py).try_iter()?.size_hint();
    // Only an object that is no list or tuple is compared with the abstract class.
    let _ = PyBytes::new(py, &[]).cast::<PySequence>();
    let time = SystemTime::UNIX_EPOCH.into_pyobject(py)?;
    time.extract::<SystemTime>()?;
    let _ = time.cast::<PyDateTime>();
    for address in [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ] {
        address.into_pyobject(py)?.extract::<IpAddr>()?;
    }
    integer(py, &[1])?.extract::<usize>()?;
    Ok(())
}

/// A Python number from big-endian bytes.
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
