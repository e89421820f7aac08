//! The operating system's randomness.

use zeroize::Zeroizing;

/// This many fresh random bytes, wiped when dropped.
pub(crate) fn secret(len: usize) -> Result<Zeroizing<Vec<u8>>, getrandom::Error> {
    let mut bytes = Zeroizing::new(vec![0; len]);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// An array of fresh random bytes, wiped when dropped.
pub(crate) fn array<const N: usize>() -> Result<Zeroizing<[u8; N]>, getrandom::Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut_slice())?;
    Ok(bytes)
}
