//! The extension module `pqtls._pqtls`: pq-x509 for Python. `python/pqtls/__init__.py` re-exports its names.
#![deny(unsafe_code)]

extern crate alloc;

mod batch;
#[cfg(feature = "bench")]
mod bench;
mod certificates;
mod errors;
mod input;
mod issuing;
mod keys;
mod lanes;
mod names;
mod validation;

use pyo3::prelude::*;

/// ML-KEM, ML-DSA and SLH-DSA, and their certificates.
#[pymodule(gil_used = false)]
mod _pqtls {
    #[pymodule_export]
    use crate::batch::verify_many;
    #[cfg(feature = "bench")]
    #[pymodule_export]
    use crate::bench::in_rust;
    #[pymodule_export]
    use crate::certificates::{
        Certificate, CertificateRevocationList, Extension, Finding, RevokedCertificate,
    };
    #[pymodule_export]
    use crate::issuing::{
        CertificateBuilder, CertificateRequest, CertificateRevocationListBuilder, Issuer,
        RequestBuilder, VerifiedRequest,
    };
    #[pymodule_export]
    use crate::keys::{
        DecapsulationKey, EncapsulationKey, HashedMessage, MessageHasher, SigningKey, VerifyingKey,
        load_private_key, load_public_key,
    };
    #[pymodule_export]
    use crate::validation::ChainValidator;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::errors::exceptions::fetch(module)?;
        crate::input::warm(module.py())
    }
}
