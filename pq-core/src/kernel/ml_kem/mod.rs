//! The kernels of ML-KEM other than its transform.

pub(crate) mod addition;
pub(crate) mod compression;
pub(crate) mod multiplication;
pub(crate) mod sampling;
