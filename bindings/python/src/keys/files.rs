use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use pq_x509::{PrivateKey, PublicKey};
use pyo3::prelude::*;

use super::encapsulation::DecapsulationKey;
use super::public::into_python;
use super::signing::SigningKey;
use crate::errors::{OrRaise, of_file};
use crate::input::{Text, read_document};

/// Who can read a file.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Access {
    Owner,
    All,
}

/// Writes a file that is new, or replaces one if that is asked for.
pub(super) fn write_file(
    path: &Path,
    contents: &[u8],
    access: Access,
    overwrite: bool,
) -> PyResult<()> {
    let write = || -> io::Result<()> {
        if overwrite {
            // A new file, as the old one may be for others to read.
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if access == Access::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)?.write_all(contents)
    };
    write().map_err(|error| of_file(&error, path))
}

/// Reads a private key of any algorithm from a file, PEM or DER: a SigningKey or a DecapsulationKey.
#[pyfunction]
#[pyo3(signature = (path, passphrase=None))]
pub(crate) fn load_private_key(
    py: Python<'_>,
    path: PathBuf,
    passphrase: Option<Text<'_>>,
) -> PyResult<Py<PyAny>> {
    let passphrase = passphrase.as_ref().map(Text::as_bytes);
    let key = read_document(
        py,
        path,
        |text| {
            py.detach(|| match passphrase {
                None => PrivateKey::from_pkcs8_pem(text).or_raise(),
                Some(passphrase) => {
                    PrivateKey::from_encrypted_pkcs8_pem(text, passphrase).or_raise()
                }
            })
        },
        |der| {
            py.detach(|| match passphrase {
                None => PrivateKey::from_pkcs8_der(der).or_raise(),
                Some(passphrase) => {
                    PrivateKey::from_encrypted_pkcs8_der(der, passphrase).or_raise()
                }
            })
        },
    )?;
    if let PrivateKey::Signing(key) = key {
        return Ok(Py::new(py, SigningKey::new(key))?.into_any());
    }
    let key = pq_x509::DecapsulationKey::try_from(key).or_raise()?;
    Ok(Py::new(py, DecapsulationKey::new(key))?.into_any())
}

/// Reads a public key of any algorithm from a file, PEM or DER: a VerifyingKey or an EncapsulationKey.
#[pyfunction]
pub(crate) fn load_public_key(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyAny>> {
    let key = read_document(
        py,
        path,
        |text| PublicKey::from_spki_pem(text).or_raise(),
        |der| PublicKey::from_spki_der(der).or_raise(),
    )?;
    into_python(py, key)
}
