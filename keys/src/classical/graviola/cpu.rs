//! Whether the CPU can run graviola, which would panic otherwise.

/// The CPU features that graviola needs and this CPU lacks, as `std::arch` names them.
pub fn missing_cpu_features() -> Vec<&'static str> {
    missing(&cpu_features())
}

fn missing(features: &[(&'static str, bool)]) -> Vec<&'static str> {
    features
        .iter()
        .filter(|(_, present)| !present)
        .map(|(name, _)| *name)
        .collect()
}

/// The features that graviola lists in its README and asserts at its entry points, each with whether
/// the CPU has it.
#[cfg(target_arch = "x86_64")]
fn cpu_features() -> [(&'static str, bool); 8] {
    macro_rules! detected {
        ($($feature:tt),*) => {
            [$(($feature, std::arch::is_x86_feature_detected!($feature))),*]
        };
    }
    detected!(
        "aes",
        "pclmulqdq",
        "ssse3",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "adx"
    )
}

/// The features that graviola lists in its README and asserts at its entry points, each with whether
/// the CPU has it.
#[cfg(target_arch = "aarch64")]
fn cpu_features() -> [(&'static str, bool); 4] {
    macro_rules! detected {
        ($($feature:tt),*) => {
            [$(($feature, std::arch::is_aarch64_feature_detected!($feature))),*]
        };
    }
    detected!("neon", "aes", "pmull", "sha2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_missing() {
        let features = [
            ("aes", true),
            ("avx2", false),
            ("bmi2", true),
            ("adx", false),
        ];
        assert_eq!(missing(&features), ["avx2", "adx"]);
        assert!(missing(&features[..1]).is_empty());
    }
}
