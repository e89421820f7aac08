//! How long the numbers of an RSA key are.

use der::Decode;
use der::asn1::{AnyRef, UintRef};

/// The length of the modulus of an RSAPublicKey (RFC 8017, appendix A.1.1), in bits.
///
/// # Errors
///
/// If it is malformed.
pub fn rsa_bits(key: &[u8]) -> der::Result<usize> {
    AnyRef::from_der(key)?.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        UintRef::decode(reader)?;
        Ok(bit_len(modulus))
    })
}

/// The length of a number in bits, without leading zeros.
pub(crate) fn bit_len(number: UintRef<'_>) -> usize {
    let bytes = number.as_bytes();
    let first = bytes.first().copied().unwrap_or_default();
    (bytes.len() * 8).saturating_sub(first.leading_zeros() as usize)
}
