//! The maker of the CPU.

use core::arch::x86_64::__cpuid;

pub(super) const AMD: [u8; 12] = *b"AuthenticAMD";
pub(super) const INTEL: [u8; 12] = *b"GenuineIntel";

/// The maker's name from CPUID. In a virtual machine this can take long, so callers should keep the
/// answer.
pub(super) fn vendor() -> [u8; 12] {
    // in an SGX enclave, where the CPU is Intel's, CPUID is not allowed
    if cfg!(target_env = "sgx") {
        return INTEL;
    }
    #[allow(
        unused_unsafe,
        reason = "safe in later versions of Rust than the oldest that is supported"
    )]
    // SAFETY: every 64-bit x86 CPU has the instruction, and this leaf.
    let leaf = unsafe { __cpuid(0) };
    let mut name = [0; 12];
    let parts = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    name.copy_from_slice(parts.as_flattened());
    name
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::vendor;

    /// The same name as the operating system's kernel reports, if it does.
    #[test]
    fn is_the_kernels() {
        let Ok(cpus) = std::fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        let vendor = vendor();
        let vendor = core::str::from_utf8(&vendor).unwrap();
        let lines = cpus.lines().filter_map(|line| line.split_once(':'));
        let mut vendors = lines.filter(|(key, _)| key.trim() == "vendor_id");
        assert!(vendors.all(|(_, name)| name.trim() == vendor), "{vendor}");
    }
}
