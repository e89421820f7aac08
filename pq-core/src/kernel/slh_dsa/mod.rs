//! The chains of SLH-DSA (FIPS 205, section 5), a step of every lane at once.

pub(crate) mod sha2;
pub(crate) mod shake;
