//! Whether the CPU executes instructions on 512 bits as two on 256, as Zen 4 does.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Asked once: in a virtual machine CPUID can take as long as a key generation.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether it does, as far as is known. Only time hangs on it.
#[inline]
pub(super) fn get() -> bool {
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        answer => answer == YES,
    }
}

#[cold]
fn ask() -> bool {
    // in an enclave CPUID is no instruction
    let answer = !cfg!(target_env = "sgx") && is_zen_4();
    ANSWER.store(if answer { YES } else { NO }, Ordering::Relaxed);
    answer
}

/// Whether this CPU, which has AVX-512, is of the family of Zen 3 and Zen 4.
fn is_zen_4() -> bool {
    #[allow(
        unused_unsafe,
        reason = "safe in later versions of Rust than the oldest that is supported"
    )]
    // SAFETY: CPUs with AVX-512 have the instruction.
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
    let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let (family, extended_family) = (version >> 8 & 0xf, version >> 20 & 0xff);
    vendor.as_flattened() == b"AuthenticAMD" && family + extended_family == 0x19
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
    fn zen_4_is_known() {
        let Ok(cpus) = fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        let has = |line: &str| {
            let squeezed = |line: &str| line.split_whitespace().collect::<String>();
            cpus.lines().any(|other| squeezed(other) == squeezed(line))
        };
        let amd = has("vendor_id: AuthenticAMD");
        assert_eq!(get(), amd && has("cpu family: 25"));
        assert_eq!(get(), amd && has("cpu family: 25"), "asked again");
    }
}
