//! The CPU's model, as far as the widths and ports of its execution units affect the time.

use core::arch::x86_64::__cpuid;

use crate::arch::asked_once::AskedOnce;
use crate::arch::vendor::{AMD, INTEL, vendor};

/// CPUs with AVX-512. The model only affects the time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum Model {
    /// Has two units of 512 bits, or three of 256.
    Intel = 1,
    /// Executes an instruction on 512 bits as two on 256. Instructions that read three registers
    /// are delayed by other reads.
    Zen4,
    /// Any other model.
    Other,
}

impl Model {
    #[inline]
    pub(super) fn of_this_cpu() -> Self {
        const OF_INTEL: u8 = Model::Intel as u8;
        const ZEN_4: u8 = Model::Zen4 as u8;
        static MODEL: AskedOnce = AskedOnce::new();
        match MODEL.get(|| ask() as u8) {
            OF_INTEL => Self::Intel,
            ZEN_4 => Self::Zen4,
            _ => Self::Other,
        }
    }
}

fn ask() -> Model {
    // in an SGX enclave, where the CPU is Intel's, CPUID is not allowed
    if cfg!(target_env = "sgx") {
        Model::Intel
    } else {
        from_cpuid()
    }
}

/// The model of this CPU, which has AVX-512.
fn from_cpuid() -> Model {
    #[allow(
        unused_unsafe,
        reason = "safe in later versions of Rust than the oldest that is supported"
    )]
    // SAFETY: CPUs with AVX-512 have the instruction.
    let version = unsafe { __cpuid(1) }.eax;
    let (family, extended_family) = (version >> 8 & 0xf, version >> 20 & 0xff);
    match vendor() {
        AMD if family + extended_family == 0x19 => Model::Zen4,
        INTEL => Model::Intel,
        _ => Model::Other,
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    extern crate std;

    use alloc::string::String;
    use std::fs;

    use super::Model;

    /// The same model as the operating system's kernel reports, if it does.
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
            Model::Zen4
        } else if has("vendor_id: GenuineIntel") {
            Model::Intel
        } else {
            Model::Other
        };
        assert_eq!(Model::of_this_cpu(), expected);
        assert_eq!(Model::of_this_cpu(), expected, "asked again");
    }
}
