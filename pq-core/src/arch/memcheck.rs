//! Secrets in valgrind's memcheck: they are marked as memory that is not initialised.
//!
//! memcheck follows uninitialised bits through registers and memory, and reports each branch and
//! each address that depends on one. A test that [`poison`]s the secrets of an operation learns
//! where it is not constant time; values that the standards make public are [`declassify`]ed where
//! they are computed.
//!
//! Requests to valgrind are instructions that do nothing on a processor. Without valgrind, and on
//! architectures other than x86-64, every answer is 0 or `false`.

/// Marks all bits of a value as secret.
pub fn poison<T: ?Sized>(value: &mut T) {
    request(MAKE_MEM_UNDEFINED, [address(value), size_of_val(value), 0]);
}

/// Marks a value as public, whatever it was computed from.
#[inline(always)]
pub fn declassify<T: ?Sized>(value: &mut T) {
    request(MAKE_MEM_DEFINED, [address(value), size_of_val(value), 0]);
}

/// How many bytes have a bit that depends on a secret.
pub fn secret_bytes(bytes: &[u8]) -> usize {
    let mut count = 0;
    for bytes in bytes.chunks(64) {
        let mut secret_bits = [0u8; 64];
        let bytes_address = bytes.as_ptr().expose_provenance();
        request(
            GET_VBITS,
            [bytes_address, address(&mut secret_bits), bytes.len()],
        );
        count += secret_bits.iter().filter(|bits| **bits != 0).count();
    }
    count
}

/// How many errors there were so far, including repeated ones that are not printed again.
pub fn errors() -> usize {
    request(COUNT_ERRORS, [0; 3])
}

/// Whether valgrind runs this program.
pub fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, [0; 3]) != 0
}

// valgrind.h and memcheck.h: requests of the tool begin with its initials.
const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
const GET_VBITS: usize = MEMCHECK + 8;
const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;

fn address<T: ?Sized>(value: &mut T) -> usize {
    (&raw mut *value).expose_provenance()
}

/// Asks valgrind for something, with as many arguments as the request takes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let request = [code, a, b, c, 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations, by 128 bits in total, leave rdi unchanged, and the exchange does
    // nothing. valgrind recognises this sequence, reads the request from rax and answers in rdx. Of
    // this file's requests only `GET_VBITS` writes to memory: as many bytes as its third argument
    // says, within the array that the second points to.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const request,
            inout("rdx") answer,
            out("rdi") _,
            options(nostack),
        );
    }
    answer
}

/// Does nothing: requests are implemented for x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize, _: [usize; 3]) -> usize {
    0
}
