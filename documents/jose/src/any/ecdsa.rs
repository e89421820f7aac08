//! Signatures of ECDSA as JOSE has them (RFC 7518, section 3.4: two numbers of the same length) and as certificates have
//! them (a SEQUENCE of two INTEGERs).

use pq_keys::der::asn1::{AnyRef, UintRef};
use pq_keys::der::{self, Decode, Encode};

/// The DER of a signature whose numbers have `len` bytes each.
pub(super) fn to_der(raw: &[u8], len: usize) -> Option<Vec<u8>> {
    if raw.len() != 2 * len {
        return None;
    }
    let (r, s) = raw.split_at(len);
    let numbers = [UintRef::new(r).ok()?, UintRef::new(s).ok()?];
    numbers.to_der().ok()
}

/// The two numbers of a signature in DER, `len` bytes each.
pub(super) fn from_der(signature: &[u8], len: usize) -> der::Result<Vec<u8>> {
    AnyRef::from_der(signature)?.sequence(|reader: &mut der::SliceReader<'_>| {
        let mut raw = vec![0; 2 * len];
        for half in raw.chunks_exact_mut(len) {
            let number = UintRef::decode(reader)?;
            let number = number.as_bytes();
            let start = len
                .checked_sub(number.len())
                .ok_or_else(|| der::Tag::Integer.length_error())?;
            half[start..].copy_from_slice(number);
        }
        Ok(raw)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_the_same_numbers() {
        for (r, s) in [([0; 4], [1, 2, 3, 4]), ([0x80, 0, 0, 1], [0, 0, 0xff, 7])] {
            let raw = [r, s].concat();
            let der = to_der(&raw, 4).unwrap();
            assert_eq!(from_der(&der, 4).unwrap(), raw);
        }
        assert_eq!(to_der(&[0; 7], 4), None);
        assert_eq!(to_der(&[0; 9], 4), None);
        let long = to_der(&[1; 10], 5).unwrap();
        assert!(from_der(&long, 4).is_err());
        assert!(from_der(&[&long[..], &[0]].concat(), 5).is_err());
    }
}
