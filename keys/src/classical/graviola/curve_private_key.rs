//! How Ed25519 and X25519 keys are read from and written to PKCS#8: both have the same encoding (RFC 8410, section 7).

use graviola::Error;
use zeroize::Zeroizing;

/// The 32 bytes of a CurvePrivateKey (RFC 8410, section 7).
pub(super) fn read(curve_private_key: &[u8]) -> Result<&[u8; 32], Error> {
    let (header, key) = curve_private_key
        .split_first_chunk()
        .ok_or(Error::WrongLength)?;
    match *header == OCTET_STRING {
        true => key.try_into().map_err(|_| Error::WrongLength),
        false => Err(Error::WrongLength),
    }
}

/// PKCS#8 of version 1, without the public key, since not all programs read version 2. `algorithm` is
/// the last arc of the algorithm's identifier, below 1.3.101.
pub(super) fn pkcs8(algorithm: u8, key: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    // Version, algorithm, and the head of an OCTET STRING.
    let head = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, algorithm, 4, 0x22,
    ];
    [&head[..], &OCTET_STRING, key].concat().into()
}

/// The head of a CurvePrivateKey, an OCTET STRING of 32 bytes.
const OCTET_STRING: [u8; 2] = [4, 32];
