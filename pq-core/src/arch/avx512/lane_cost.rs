//! What a step of all lanes costs: it hangs on the widths of the CPU's execution units.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;

/// Asked once: in a virtual machine CPUID can take as long as a key generation.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

/// See [`Backend::cost_of_all_lanes`](crate::arch::Backend::cost_of_all_lanes); as far as is known.
/// Only time hangs on it.
#[inline]
pub(super) fn get() -> usize {
    let answer = ANSWER.load(Ordering::Relaxed);
    usize::from(if answer == UNKNOWN { ask() } else { answer })
}

#[cold]
fn ask() -> u8 {
    // in an enclave, which is Intel's, CPUID is no instruction
    let answer = if cfg!(target_env = "sgx") {
        INTEL
    } else {
        of_this_cpu()
    };
    ANSWER.store(answer, Ordering::Relaxed);
    answer
}

/// Two units of 512 bits, or three of 256.
const INTEL: u8 = 3;

/// That of this CPU, which has AVX-512.
fn of_this_cpu() -> u8 {
    #[allow(
        unused_unsafe,
        reason = "safe in later versions of Rust than the oldest that is supported"
    )]
    // SAFETY: CPUs with AVX-512 have the instruction.
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
    let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let (family, extended_family) = (version >> 8 & 0xf, version >> 20 & 0xff);
    match vendor.as_flattened() {
        // Zen 4 executes instructions on 512 bits as two on 256.
        b"AuthenticAMD" if family + extended_family == 0x19 => 4,
        b"GenuineIntel" => INTEL,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    extern crate std;

    use alloc::string::String;
    use std::fs;

    use super::get;

    /// The same as the kernel says, where it does.
    #[test]
    fn zen_4_and_intel_are_known() {
        let Ok(cpus) = fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        let has = |line: &str| {
            let squeezed = |line: &str| line.split_whitespace().collect::<String>();
            cpus.lines().any(|other| squeezed(other) == squeezed(line))
        };
        let expected = if has("vendor_id: AuthenticAMD") && has("cpu family: 25") {
            4
        } else if has("vendor_id: GenuineIntel") {
            3
        } else {
            2
        };
        assert_eq!(get(), expected);
        assert_eq!(get(), expected, "asked again");
    }
}
