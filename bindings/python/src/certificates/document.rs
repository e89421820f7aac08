//! The macro `document!`, which gives Python's certificates, requests and revocation lists the same methods: all are
//! read, written, linted, compared, hashed, pickled and copied alike.

/// Implements a signed document: its own methods, and reading, writing and comparing.
macro_rules! document {
    ($module:ident::$document:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $document {
            $($own)*

            /// Reads it from DER. Nothing may follow.
            #[staticmethod]
            fn from_der(py: Python<'_>, data: $crate::input::Bytes<'_>) -> PyResult<Self> {
                $crate::errors::OrRaise::or_raise(py.detach(|| pq_x509::$module::$document::from_der(&data))).map(Self)
            }

            /// Reads it from a PEM or DER file; if a PEM file has several, the first.
            #[staticmethod]
            fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
                $crate::input::read_document(
                    py,
                    path,
                    |text| py.detach(|| Self::read_pem(text)),
                    |der| py.detach(|| {
                        $crate::errors::OrRaise::or_raise(pq_x509::$module::$document::from_der(der)).map(Self)
                    }),
                )
            }

            /// Reads the first one in a PEM text, a `str` or bytes.
            #[staticmethod]
            fn from_pem(py: Python<'_>, data: $crate::input::Text<'_>) -> PyResult<Self> {
                let text = data.as_bytes();
                py.detach(|| Self::read_pem(text))
            }

            /// The document as PEM.
            fn to_pem(&self, py: Python<'_>) -> String {
                py.detach(|| self.0.to_pem())
            }

            /// The document's DER.
            fn to_der<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
                pyo3::types::PyBytes::new(py, self.der())
            }

            /// What in it does not follow the standards, the worst first.
            fn lint(&self, py: Python<'_>) -> Vec<$crate::certificates::Finding> {
                py.detach(|| $crate::certificates::findings(Self::KIND, self.der()))
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                $crate::input::equality(other, |other: &Self| self.der() == other.der())
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                $crate::input::hash_of(py, self.der())
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, pyo3::types::PyBytes>,))> {
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

pub(crate) use document;
