//! How much a test does: a little by default, and as much as a variable of the environment says.

/// The number in a variable, or the default.
pub(crate) fn amount(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(number) => number
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is a number: {number:?}")),
        Err(_) => default,
    }
}

/// How many signatures are made and verified under rotation, by all threads together: `PQ_KEYSTORE_SIGNATURES`.
pub(crate) fn signatures() -> u64 {
    amount("PQ_KEYSTORE_SIGNATURES", 2_000)
}
