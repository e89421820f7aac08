//! The kernels of ML-DSA other than its transform.

pub(crate) mod challenge;
pub(crate) mod encoding;
pub(crate) mod multiplication;
pub(crate) mod rounding;
pub(crate) mod sampling;
