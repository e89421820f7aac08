//! Planted mistakes, which must be found.

use core::hint::black_box;

use crate::Outcome;

pub(crate) fn leak() -> Outcome {
    branch(&crate::secret()?);
    index(&crate::secret()?);
    Ok(())
}

#[inline(never)]
fn branch(secret: &[u8; 32]) {
    if black_box(secret)[5] & 4 == 0 {
        black_box(secret);
    }
}

#[inline(never)]
fn index(secret: &[u8; 32]) {
    static TABLE: [u8; 256] = [1; 256];
    black_box(black_box(&TABLE)[usize::from(black_box(secret)[31])]);
}
