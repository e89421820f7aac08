//! Where randomness comes from.

use core::ffi::{c_int, c_void};

use crate::error::{Code, PQTLS_ERROR_RANDOMNESS};

/// Fills `out` with `len` bytes that nobody can guess, and returns 0; anything else is a failure. `context`
/// is the random_context that the library got together with this function.
///
/// It must return: no exception and no longjmp may leave it. It may call the library, but it must not change the
/// outputs or the key of the call that it serves.
pub type Random =
    Option<unsafe extern "C" fn(context: *mut c_void, out: *mut u8, len: usize) -> c_int>;

/// Fills `output`.
///
/// # Safety
///
/// `random` does what [`Random`] says, with this context.
pub(super) unsafe fn draw(
    random: Random,
    context: *mut c_void,
    output: &mut [u8],
) -> Result<(), Code> {
    let Some(random) = random else {
        return pq_keys::random::fill(output).map_err(|_| PQTLS_ERROR_RANDOMNESS);
    };
    // SAFETY: the function is as this one asks, and the output has as many bytes.
    match unsafe { random(context, output.as_mut_ptr(), output.len()) } {
        0 => Ok(()),
        _ => Err(PQTLS_ERROR_RANDOMNESS),
    }
}
