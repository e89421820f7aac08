//! What both types of private keys have in common.

/// Implements a type of private keys: its own methods, and reading and writing.
macro_rules! private_key {
    ($key:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $key {
            $($own)*

            /// Reads the first PKCS#8 private key in a PEM text, a `str` or bytes, in any of the forms of RFC 9881, RFC
            /// 9935 and RFC 9909. With a passphrase, a `str` or bytes, it reads the first encrypted one.
            #[staticmethod]
            #[pyo3(signature = (data, passphrase=None))]
            fn from_pem(
                py: Python<'_>,
                data: Text<'_>,
                passphrase: Option<Text<'_>>,
            ) -> PyResult<Self> {
                let text = data.as_bytes();
                py.detach(|| Self::read_pem(text, passphrase.as_ref()))
            }

            /// Reads a PKCS#8 private key from DER; with a passphrase, an encrypted one.
            #[staticmethod]
            #[pyo3(signature = (data, passphrase=None))]
            fn from_der(
                py: Python<'_>,
                data: Bytes<'_>,
                passphrase: Option<Text<'_>>,
            ) -> PyResult<Self> {
                py.detach(|| Self::read_der(&data, passphrase.as_ref()))
            }

            /// Reads a private key from a file, PEM or DER.
            #[staticmethod]
            #[pyo3(signature = (path, passphrase=None))]
            fn load(py: Python<'_>, path: PathBuf, passphrase: Option<Text<'_>>) -> PyResult<Self> {
                let passphrase = passphrase.as_ref();
                read_document(
                    py,
                    path,
                    |text| py.detach(|| Self::read_pem(text, passphrase)),
                    |der| py.detach(|| Self::read_der(der, passphrase)),
                )
            }

            /// Expands a key from its seed: 32 bytes for ML-DSA (ξ of FIPS 204), 64 for ML-KEM (d ‖ z of FIPS 203), three
            /// times n for SLH-DSA (SK.seed ‖ SK.prf ‖ PK.seed of FIPS 205).
            #[staticmethod]
            fn from_seed(py: Python<'_>, algorithm: &str, seed: Bytes<'_>) -> PyResult<Self> {
                let algorithm = names::algorithm(algorithm)?;
                let key = py.detach(|| pq_x509::keys::$key::from_seed(algorithm, &seed));
                Ok(Self::new(key.or_raise()?))
            }

            /// Reads a key from its expanded form, as `to_expanded` gives it.
            #[staticmethod]
            fn from_expanded(py: Python<'_>, algorithm: &str, data: Bytes<'_>) -> PyResult<Self> {
                let algorithm = names::algorithm(algorithm)?;
                let key = py.detach(|| pq_x509::keys::$key::from_expanded(algorithm, &data));
                Ok(Self::new(key.or_raise()?))
            }

            /// Writes the key as PKCS#8 PEM: its seed, or the one form of SLH-DSA, unless `form` asks for `"seed"`,
            /// `"expanded"` or `"both"`. With a passphrase, a `str` or bytes, the key is encrypted with AES-256 under a
            /// key that PBKDF2 derives from it, and any change of the text is noticed. Most programs read the seed; Java without
            /// BouncyCastle reads `form="expanded"` alone.
            #[pyo3(signature = (*, form=None, passphrase=None))]
            fn to_pem<'py>(
                &self,
                py: Python<'py>,
                form: Option<&str>,
                passphrase: Option<Text<'_>>,
            ) -> PyResult<Bound<'py, PyString>> {
                Ok(PyString::new(py, &self.write_pem(py, form, passphrase)?))
            }

            /// Writes the key as PKCS#8 DER, as `to_pem` does.
            #[pyo3(signature = (*, form=None, passphrase=None))]
            fn to_der<'py>(
                &self,
                py: Python<'py>,
                form: Option<&str>,
                passphrase: Option<Text<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let der = match passphrase {
                    Some(passphrase) => {
                        let key = py.detach(|| self.encrypt(form, passphrase.as_bytes()))?;
                        Zeroizing::new(key.as_der().to_vec())
                    }
                    None => py.detach(|| self.pkcs8(form))?,
                };
                Ok(PyBytes::new(py, &der))
            }

            /// Writes the key as PEM to a new file that only its owner can read. With `overwrite`, it replaces an
            /// existing file.
            #[pyo3(signature = (path, *, form=None, passphrase=None, overwrite=false))]
            fn save(
                &self,
                py: Python<'_>,
                path: PathBuf,
                form: Option<&str>,
                passphrase: Option<Text<'_>>,
                overwrite: bool,
            ) -> PyResult<()> {
                let text = self.write_pem(py, form, passphrase)?;
                py.detach(|| write_file(&path, text.as_bytes(), Access::Private, overwrite))
            }

            /// The seed, or None if the key was read from its expanded form. Whoever has it has the key.
            fn to_seed<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
                Some(PyBytes::new(py, self.key.seed()?))
            }

            /// The expanded key in the encoding of FIPS 203, FIPS 204 or FIPS 205. Whoever has it has the key.
            fn to_expanded<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                let expanded = py.detach(|| self.key.to_expanded());
                PyBytes::new(py, &expanded)
            }

            /// The parameter set, such as `"ML-DSA-65"`.
            #[getter]
            fn algorithm(&self) -> &'static str {
                self.key.algorithm().name()
            }

            /// In constant time.
            fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                let py = other.py();
                // The public halves first: they also have the mode of a key of SLH-DSA, which the private half lacks.
                equality(other, |other: &Self| {
                    self.key.spki() == other.key.spki()
                        && py.detach(|| self.key.to_expanded().ct_eq(&other.key.to_expanded()).into())
                })
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                hash_of(py, self.key.spki().as_ref())
            }

            fn __repr__(&self) -> String {
                format!(concat!("<pqtls.", stringify!($key), " of {}>"), self.key.algorithm())
            }

            fn __reduce__(&self) -> PyResult<()> {
                Err(PyTypeError::new_err(concat!(
                    "a ", stringify!($key), " is not pickled, as that would copy a secret; use to_der() to copy it"
                )))
            }

            fn __copy__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                slf
            }
        }

        impl $key {
            fn read_pem(text: &[u8], passphrase: Option<&Text<'_>>) -> PyResult<Self> {
                let key = match passphrase {
                    None => pq_x509::keys::$key::from_pkcs8_pem(text).map_err(encrypted::of_pem),
                    Some(passphrase) => {
                        pq_x509::keys::$key::from_encrypted_pkcs8_pem(text, passphrase.as_bytes()).or_raise()
                    }
                };
                key.map(Self::new)
            }

            fn read_der(der: &[u8], passphrase: Option<&Text<'_>>) -> PyResult<Self> {
                let key = match passphrase {
                    None => {
                        pq_x509::keys::$key::from_pkcs8_der(der).map_err(|error| encrypted::of_der(der, error))
                    }
                    Some(passphrase) => {
                        pq_x509::keys::$key::from_encrypted_pkcs8_der(der, passphrase.as_bytes()).or_raise()
                    }
                };
                key.map(Self::new)
            }

            fn write_pem(
                &self,
                py: Python<'_>,
                form: Option<&str>,
                passphrase: Option<Text<'_>>,
            ) -> PyResult<Zeroizing<String>> {
                py.detach(|| match passphrase {
                    Some(passphrase) => {
                        Ok(Zeroizing::new(self.encrypt(form, passphrase.as_bytes())?.to_pem()))
                    }
                    None => match form {
                        Some(form) => self.key.to_pkcs8_pem_as(names::form(form)?).or_raise(),
                        None => self.key.to_pkcs8_pem().or_raise(),
                    },
                })
            }

            fn pkcs8(&self, form: Option<&str>) -> PyResult<Zeroizing<Vec<u8>>> {
                match form {
                    Some(form) => self.key.to_pkcs8_der_as(names::form(form)?).or_raise(),
                    None => self.key.to_pkcs8_der().or_raise(),
                }
            }

            fn encrypt(
                &self,
                form: Option<&str>,
                passphrase: &[u8],
            ) -> PyResult<EncryptedPrivateKey> {
                let pkcs8 = self.pkcs8(form)?;
                EncryptedPrivateKey::encrypt(&pkcs8, passphrase, &Protection::default()).or_raise()
            }
        }
    };
}

pub(super) use private_key;
