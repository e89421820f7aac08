//! The backends of pq-core that this machine can run.

/// Evaluates `$body` once for each backend, with `$backend` bound to its token.
///
/// Backends are types, and a closure can't be generic over them, hence a macro. A
/// backend that the machine may lack joins as
/// `if let Some($backend) = Token::detect() { $body }`.
macro_rules! on_each_backend {
    ($backend:ident => $body:expr) => {{
        let $backend = ::pq_core::arch::Portable;
        $body
    }};
}
