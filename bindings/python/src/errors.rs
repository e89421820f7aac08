//! The exceptions of `_errors.py`, and which of them each error of pq-x509 becomes. The text is the error's.

use std::path::Path;

use pq_keys::protection::ProtectionError;
use pq_keys::{KeyError, UnknownAlgorithm};
use pq_x509::certificate::{CertificateError, SignatureError};
use pq_x509::issuing::IssueError;
use pq_x509::request::RequestError;
use pq_x509::revocation::RevocationListError;
use pq_x509::validation::ValidationError;
use pyo3::exceptions::PyOSError;
use pyo3::{PyErr, PyResult};

/// The exceptions by their names in Python, which are also the names of the errors.
pub(crate) mod exceptions {
    use pyo3::exceptions::PyException;
    use pyo3::prelude::*;
    use pyo3::sync::PyOnceLock;
    use pyo3::types::PyType;

    /// A class that the module fetches when it is imported. Later an import can fail: the interpreter may be ending, or
    /// somebody may have removed `_errors`.
    struct Class {
        name: &'static str,
        class: PyOnceLock<Py<PyType>>,
    }

    impl Class {
        const fn new(name: &'static str) -> Self {
            Self {
                name,
                class: PyOnceLock::new(),
            }
        }

        fn fetch(&self, errors: &Bound<'_, PyModule>) -> PyResult<()> {
            let class = errors.getattr(self.name)?.cast_into::<PyType>()?;
            // If it is there already, it is the same class.
            let _ = self.class.set(errors.py(), class.unbind());
            Ok(())
        }

        /// The exception; if there is no interpreter to get it from, Python's `Exception` with the same words.
        fn raise(&self, words: String) -> PyErr {
            let found = Python::try_attach(|py| {
                let class = self.class.get(py)?.bind(py).clone();
                Some(PyErr::from_type(class, (words.clone(),)))
            });
            let found = found.flatten();
            found.unwrap_or_else(|| PyException::new_err(format!("{}: {words}", self.name)))
        }
    }

    macro_rules! exceptions {
        ($($name:ident),+ $(,)?) => {
            $(
                pub(crate) struct $name;

                impl $name {
                    const CLASS: &Class = {
                        static CLASS: Class = Class::new(stringify!($name));
                        &CLASS
                    };

                    pub(crate) fn new_err(words: impl Into<String>) -> PyErr {
                        Self::CLASS.raise(words.into())
                    }
                }
            )+

            /// Fetches the classes from `_errors` of the package that `module` is in, whatever its name.
            pub(crate) fn fetch(module: &Bound<'_, PyModule>) -> PyResult<()> {
                let name = module.name()?;
                let errors = match name.to_str()?.rsplit_once('.') {
                    Some((package, _)) => format!("{package}._errors"),
                    None => "_errors".to_owned(),
                };
                let errors = module.py().import(errors)?;
                $($name::CLASS.fetch(&errors)?;)+
                Ok(())
            }
        };
    }

    exceptions!(
        CertificateError,
        InvalidKey,
        InvalidSignature,
        IssueError,
        OperationError,
        ProtectionError,
        RandomnessError,
        RequestError,
        RevocationListError,
        UnknownAlgorithm,
        ValidationError,
    );
}

/// An error that Python has an exception for.
pub(crate) trait Raise {
    fn raise(self) -> PyErr;
}

/// `?` for errors of other crates.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(Raise::raise)
    }
}

impl Raise for KeyError {
    fn raise(self) -> PyErr {
        let words = self.to_string();
        match self {
            Self::InvalidSignature(_) => exceptions::InvalidSignature::new_err(words),
            Self::Randomness(_) => exceptions::RandomnessError::new_err(words),
            Self::CannotStream(_)
            | Self::FormUnavailable { .. }
            | Self::NoMu(_)
            | Self::NoSeed(_)
            | Self::Operation { .. }
            | Self::OtherPreHash { .. }
            | Self::WeakPreHash { .. } => exceptions::OperationError::new_err(words),
            _ => exceptions::InvalidKey::new_err(words),
        }
    }
}

impl Raise for ProtectionError {
    fn raise(self) -> PyErr {
        match self {
            Self::Key(error) => error.raise(),
            Self::Randomness(_) => exceptions::RandomnessError::new_err(self.to_string()),
            _ => exceptions::ProtectionError::new_err(self.to_string()),
        }
    }
}

impl Raise for SignatureError {
    fn raise(self) -> PyErr {
        exceptions::InvalidSignature::new_err(self.to_string())
    }
}

impl Raise for IssueError {
    fn raise(self) -> PyErr {
        match self {
            Self::Randomness(_) => exceptions::RandomnessError::new_err(self.to_string()),
            _ => exceptions::IssueError::new_err(self.to_string()),
        }
    }
}

/// Errors that always become the same exception.
macro_rules! one_exception {
    ($($error:ident),+) => {$(
        impl Raise for $error {
            fn raise(self) -> PyErr {
                exceptions::$error::new_err(self.to_string())
            }
        }
    )+};
}

one_exception!(
    CertificateError,
    RequestError,
    RevocationListError,
    UnknownAlgorithm,
    ValidationError
);

/// The subclass of OSError that belongs to the error, with the file's name as Python has it.
pub(crate) fn of_file(error: &std::io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{error}: {}", path.display()));
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    PyOSError::new_err((number, words.to_owned(), path.as_os_str().to_owned()))
}
