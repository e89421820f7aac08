//! Pointers from the caller, and the checks on them.

use core::ffi::c_int;
use core::slice;

use zeroize::Zeroize;

use crate::error::{
    Code, PQTLS_ERROR_NULL, PQTLS_ERROR_OVERLAP, PQTLS_ERROR_WRONG_LENGTH, PQTLS_OK,
};

/// Bytes of the caller that were not accessed yet.
#[derive(Clone, Copy)]
pub(super) struct Region {
    start: *mut u8,
    len: usize,
}

impl Region {
    /// Where an output goes, or a key is made.
    pub(super) fn output(start: *mut u8, len: usize) -> Result<Self, Code> {
        if start.is_null() {
            return Err(PQTLS_ERROR_NULL);
        }
        Self::checked(start, len)
    }

    /// An input, which may be null if it is empty.
    pub(super) fn input(start: *const u8, len: usize) -> Result<Self, Code> {
        if start.is_null() && len != 0 {
            return Err(PQTLS_ERROR_NULL);
        }
        Self::checked(start.cast_mut(), len)
    }

    fn checked(start: *mut u8, len: usize) -> Result<Self, Code> {
        // No object is larger, and none wraps around.
        if len > isize::MAX as usize || start.addr().checked_add(len).is_none() {
            return Err(PQTLS_ERROR_WRONG_LENGTH);
        }
        Ok(Self { start, len })
    }

    fn overlaps(self, other: Self) -> bool {
        self.len != 0
            && other.len != 0
            && self.start.addr() < other.start.addr() + other.len
            && other.start.addr() < self.start.addr() + self.len
    }

    /// # Safety
    ///
    /// The caller of the library answers for the region being readable, and nobody writes to it while
    /// the slice lives.
    pub(super) unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: it is not null and not too large, as `checked` and `input` saw, and bytes need no alignment;
        // the rest is what this function asks for.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }

    /// # Safety
    ///
    /// The caller of the library answers for the region being writable, and [`apart`] found that no other
    /// slice has part of it.
    pub(super) unsafe fn as_mut_slice<'a>(self) -> &'a mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as for `as_slice`
        unsafe { slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// What is signed, as the caller says it: its kind, the message and the context.
pub(super) type Given = (i32, (*const u8, usize), (*const u8, usize));

/// Refuses outputs that overlap each other or an input.
pub(super) fn apart(outputs: &[Region], inputs: &[Region]) -> Result<(), Code> {
    for (i, output) in outputs.iter().enumerate() {
        let others = outputs[i + 1..].iter().chain(inputs);
        if others.into_iter().any(|other| output.overlaps(*other)) {
            return Err(PQTLS_ERROR_OVERLAP);
        }
    }
    Ok(())
}

/// Writes zeros to all outputs after an error.
pub(super) fn finish(result: Result<(), Code>, outputs: &mut [&mut [u8]]) -> Result<(), Code> {
    if result.is_err() {
        for output in outputs {
            output.zeroize();
        }
    }
    result
}

/// What a function returns.
pub(super) fn status(work: impl FnOnce() -> Result<(), Code>) -> c_int {
    match work() {
        Ok(()) => PQTLS_OK,
        Err(code) => code,
    }
}

/// A reference to as many bytes as an array has.
pub(super) fn fixed<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Code> {
    bytes.try_into().map_err(|_| PQTLS_ERROR_WRONG_LENGTH)
}

/// A reference to as many bytes as an array has, to be written.
pub(super) fn fixed_mut<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], Code> {
    bytes.try_into().map_err(|_| PQTLS_ERROR_WRONG_LENGTH)
}

/// Copies `bytes` to an output of the same length.
pub(super) fn copy(bytes: &[u8], output: &mut [u8]) -> Result<(), Code> {
    if bytes.len() != output.len() {
        return Err(PQTLS_ERROR_WRONG_LENGTH);
    }
    output.copy_from_slice(bytes);
    Ok(())
}
