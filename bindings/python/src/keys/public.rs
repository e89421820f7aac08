//! What both types of public keys have in common.

/// Implements a type of public keys: its own methods, and reading and writing.
macro_rules! public_key {
    ($key:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $key {
            $($own)*

            /// Reads the first public key (SubjectPublicKeyInfo) in a PEM text, a `str` or bytes.
            #[staticmethod]
            fn from_pem(py: Python<'_>, data: Text<'_>) -> PyResult<Self> {
                let text = data.as_bytes();
                let key = py.detach(|| pq_x509::keys::$key::from_spki_pem(text));
                Ok(Self::new(key.or_raise()?))
            }

            /// Reads the DER of a SubjectPublicKeyInfo.
            #[staticmethod]
            fn from_der(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
                let key = py.detach(|| pq_x509::keys::$key::from_spki_der(&data));
                Ok(Self::new(key.or_raise()?))
            }

            /// Reads a public key from a file, PEM or DER.
            #[staticmethod]
            fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
                let key = read_document(
                    py,
                    path,
                    |text| py.detach(|| pq_x509::keys::$key::from_spki_pem(text)).or_raise(),
                    |der| py.detach(|| pq_x509::keys::$key::from_spki_der(der)).or_raise(),
                );
                key.map(Self::new)
            }

            /// Reads the raw key of FIPS 203, FIPS 204 or FIPS 205.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, algorithm: &str, data: Bytes<'_>) -> PyResult<Self> {
                let algorithm = names::algorithm(algorithm)?;
                let key = py.detach(|| pq_x509::keys::$key::from_bytes(algorithm, &data));
                Ok(Self::new(key.or_raise()?))
            }

            /// The key as the PEM of a SubjectPublicKeyInfo.
            fn to_pem(&self) -> String {
                self.key().to_spki_pem()
            }

            /// The key as the DER of a SubjectPublicKeyInfo.
            fn to_der<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, self.key().to_spki_der())
            }

            /// The raw key of FIPS 203, FIPS 204 or FIPS 205.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, self.key().as_bytes())
            }

            /// Writes the key to a new file, as PEM. With `overwrite`, it replaces an existing file.
            #[pyo3(signature = (path, *, overwrite=false))]
            fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
                let text = self.to_pem();
                py.detach(|| write_file(&path, text.as_bytes(), Access::Public, overwrite))
            }

            /// The parameter set, such as `"ML-DSA-65"`.
            #[getter]
            fn algorithm(&self) -> &'static str {
                self.key().algorithm().name()
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                self.to_bytes(py)
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                equality(other, |other: &Self| self.key() == other.key())
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                hash_of(py, self.key().to_spki_der())
            }

            fn __repr__(&self) -> String {
                format!(concat!("<pqtls.", stringify!($key), " of {}>"), self.key().algorithm())
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
                Ok((py.get_type::<Self>().getattr("from_der")?, (self.to_der(py),)))
            }

            fn __copy__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                slf
            }
        }
    };
}

pub(super) use public_key;
