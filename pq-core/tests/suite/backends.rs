//! The backends of pq-core that this machine can run.

/// Evaluates `$body` once for each backend, with `$backend` bound to its token.
///
/// Backends are types, and a closure can't be generic over them, hence a macro.
macro_rules! on_each_backend {
    ($backend:ident => $body:expr) => {{
        {
            let $backend = ::pq_core::arch::Portable;
            $body
        }
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($backend) = ::pq_core::arch::Avx2::detect() {
                $body
            }
            if let Some($backend) = ::pq_core::arch::Avx512::detect() {
                $body
            }
        }
        #[cfg(all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little"
        ))]
        {
            if let Some($backend) = ::pq_core::arch::Neon::detect() {
                $body
            }
            if let Some($backend) = ::pq_core::arch::NeonSha3::detect() {
                $body
            }
        }
    }};
}
