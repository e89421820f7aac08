//! Keys in storage of the caller.

use core::ffi::c_void;
use core::mem::{align_of, size_of};
use core::ptr::addr_of_mut;

use zeroize::Zeroize;

use super::memory::{Region, apart, finish};
use super::random::{Random, draw};
use crate::error::{
    Code, PQTLS_ERROR_MISALIGNED, PQTLS_ERROR_NO_KEY, PQTLS_ERROR_NULL, PQTLS_ERROR_TOO_SMALL,
};
use crate::sizes::PQTLS_KEY_ALIGNMENT;

/// The kinds of keys.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Decapsulation = 1,
    Encapsulation = 2,
    Signing = 3,
    Verifying = 4,
}

/// Marks storage that has a key. No other memory contains it by chance.
const MAGIC: u64 = 0x9c5f_3a71_e2d8_0000;

fn tag(kind: Kind, algorithm: i32) -> u64 {
    MAGIC | (kind as u64) << 8 | u64::from(algorithm as u8)
}

/// A storage. `tag` says what is in it, and is 0 while a key is being made.
#[repr(C)]
struct Stored<K> {
    tag: u64,
    key: Option<K>,
}

/// Whether `bytes` are enough for a key, and its alignment is what the header says.
pub(super) const fn fits<K>(bytes: usize) -> bool {
    size_of::<Stored<K>>() <= bytes && align_of::<Stored<K>>() <= PQTLS_KEY_ALIGNMENT
}

/// A place for a key, checked.
pub(super) fn place(storage: *mut c_void, bytes: usize) -> Result<Region, Code> {
    let region = Region::output(storage.cast(), bytes)?;
    if !storage.addr().is_multiple_of(PQTLS_KEY_ALIGNMENT) {
        return Err(PQTLS_ERROR_MISALIGNED);
    }
    Ok(region)
}

/// Makes a key in `storage`. If `fill` fails, the storage is wiped.
///
/// # Safety
///
/// [`place`] accepted the storage, which is writable, and nobody else uses it meanwhile.
pub(super) unsafe fn make<K>(
    storage: *mut c_void,
    bytes: usize,
    (kind, algorithm): (Kind, i32),
    fill: impl FnOnce(&mut Option<K>) -> Result<(), Code>,
) -> Result<(), Code> {
    if !fits::<K>(bytes) {
        return Err(PQTLS_ERROR_TOO_SMALL);
    }
    let stored = storage.cast::<Stored<K>>();
    // SAFETY: the storage is large enough and aligned, and nobody else uses it. What was in it is plain bytes for
    // us, so nothing has to be dropped. Both fields are written before there is a reference to one.
    let made = unsafe {
        addr_of_mut!((*stored).tag).write(0);
        let key = addr_of_mut!((*stored).key);
        key.write(None);
        fill(&mut *key)
    };
    match made {
        // SAFETY: as above; the reference is gone
        Ok(()) => unsafe { addr_of_mut!((*stored).tag).write(tag(kind, algorithm)) },
        // SAFETY: as above; neither a key of zeros nor one that was dropped needs a drop
        Err(_) => unsafe { wipe(storage, bytes) },
    }
    made
}

/// Draws the seed of a key, before there is a reference to the key's storage, which the callback might
/// reach. If that fails, the storage is wiped.
///
/// # Safety
///
/// As for [`make`] and [`draw`].
pub(super) unsafe fn draw_for(
    storage: *mut c_void,
    bytes: usize,
    (random, context): (Random, *mut c_void),
    seed: &mut [u8],
) -> Result<(), Code> {
    place(storage, bytes)?;
    // SAFETY: what this function asks for
    unsafe { draw(random, context, seed).inspect_err(|_| wipe(storage, bytes)) }
}

/// Makes a key from bytes of the caller.
///
/// # Safety
///
/// The caller of the library answers for the input being readable and for the storage, as [`make`] asks.
pub(super) unsafe fn make_of<K>(
    (input, input_len): (*const u8, usize),
    (storage, bytes): (*mut c_void, usize),
    what: (Kind, i32),
    fill: impl FnOnce(&[u8], &mut Option<K>) -> Result<(), Code>,
) -> Result<(), Code> {
    let input = Region::input(input, input_len)?;
    apart(&[place(storage, bytes)?], &[input])?;
    // SAFETY: the input is readable, and the storage is elsewhere, accepted and writable.
    unsafe {
        let input = input.as_slice();
        make(storage, bytes, what, |place| fill(input, place))
    }
}

/// Lets `write` write to an output what it makes with a key.
///
/// # Safety
///
/// As for [`key`], and the caller of the library answers for the output being writable.
pub(super) unsafe fn export<K: 'static>(
    storage: *const c_void,
    (output, output_len): (*mut u8, usize),
    write: impl FnOnce(&K, &mut [u8]) -> Result<(), Code>,
) -> Result<(), Code> {
    let output = Region::output(output, output_len)?;
    apart(&[output], &[region::<K>(storage)?])?;
    // SAFETY: the output is writable and apart from the key.
    let (key, output) = unsafe { (key::<K>(storage)?, output.as_mut_slice()) };
    let result = write(key, output);
    finish(result, &mut [output])
}

/// The number of the algorithm whose key is in the storage.
///
/// # Safety
///
/// If `storage` is neither null nor misaligned, its first 8 bytes are readable.
pub(super) unsafe fn algorithm_of(storage: *const c_void, kind: Kind) -> Result<i32, Code> {
    if storage.is_null() {
        return Err(PQTLS_ERROR_NULL);
    }
    if !storage.addr().is_multiple_of(PQTLS_KEY_ALIGNMENT) {
        return Err(PQTLS_ERROR_MISALIGNED);
    }
    // SAFETY: it is readable, and aligned to more than 8.
    let found = unsafe { storage.cast::<u64>().read() };
    let algorithm = i32::from(found as u8);
    if found == tag(kind, algorithm) {
        Ok(algorithm)
    } else {
        Err(PQTLS_ERROR_NO_KEY)
    }
}

/// The key in the storage.
///
/// # Safety
///
/// [`algorithm_of`] found the algorithm and kind that `K` is for, and nobody writes to the storage while the
/// reference lives.
pub(super) unsafe fn key<'a, K>(storage: *const c_void) -> Result<&'a K, Code> {
    // SAFETY: `make` put a key of this type there, or its bytes were copied from such a place.
    unsafe { &(*storage.cast::<Stored<K>>()).key }
        .as_ref()
        .ok_or(PQTLS_ERROR_NO_KEY)
}

/// Where a key is, for [`apart`](super::memory::apart).
pub(super) fn region<K>(storage: *const c_void) -> Result<Region, Code> {
    Region::input(storage.cast(), size_of::<Stored<K>>())
}

/// Overwrites `bytes` bytes with zeros: storage of keys, seeds and shared secrets. No compiler leaves this out,
/// as it may leave out a memset. Nothing happens if `memory` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_wipe(memory: *mut c_void, bytes: usize) {
    // SAFETY: what this function asks for
    unsafe { wipe(memory, bytes) }
}

unsafe fn wipe(memory: *mut c_void, bytes: usize) {
    if let Ok(region) = Region::output(memory.cast(), bytes) {
        // SAFETY: whoever calls has seen to it that the memory is writable and nobody else's.
        let bytes = unsafe { region.as_mut_slice() };
        // SAFETY: any eight bytes are a u64.
        let (head, words, tail) = unsafe { bytes.align_to_mut::<u64>() };
        head.zeroize();
        words.zeroize();
        tail.zeroize();
    }
}
