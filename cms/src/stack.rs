/// As many bytes of the stack are wiped after what handled secrets: as much as it takes for
/// `tests/stack-secrets` to find none.
pub(crate) const STACK: usize = 32 * 1024;
