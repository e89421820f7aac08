//! Clears the upper halves of vector registers after graviola has wiped keys and shared secrets.

/// Clears the upper halves of vector registers when dropped, if zeros in them slow the CPU. So that it
/// is dropped last, it must be the last field of a struct and the first variable of a function.
///
/// graviola wipes with registers of 256 bits, and leaves their upper halves in use (0.4.4:
/// `_zero_bytes` ends without `vzeroupper`). On some Intel CPUs that slows SSE instructions, those for
/// SHA-2 and most others of a program, until some code clears the halves: on Emerald Rapids the next
/// AES-GCM key takes 3.8 µs instead of 0.2, and a handshake takes a twelfth longer.
///
/// On most AMD CPUs nothing is cleared. graviola leaves zeros in the upper halves, and AMD says that
/// only other values slow its CPUs; on Zen 3 and Zen 5 XGETBV reports such halves as not in use. On
/// Zen 4, where XGETBV reports them as in use, and on all other CPUs they are cleared, slowed or not:
/// the instruction takes a few cycles. Whether it is needed is asked once, in many readings of which all
/// have to say no. On AArch64 there is nothing to clear.
///
/// It can't clear within one call of graviola: ECDSA hashes after it has wiped.
pub struct Clearing;

impl Drop for Clearing {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = pq_core::arch::Avx2::detect()
            && cpu.slowed_by_zero_halves()
        {
            cpu.clear_upper_halves();
        }
    }
}
