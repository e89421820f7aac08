//! The macro that turns a key of any kind into the one kind of post-quantum key that a command takes, or says why not.

/// Conversions for commands that take only keys of one post-quantum algorithm.
macro_rules! post_quantum_only {
    ($from:ident: $($narrow:ident),+) => {$(
        impl TryFrom<$from> for pq_x509::$narrow {
            type Error = KeyError;

            fn try_from(key: $from) -> Result<Self, KeyError> {
                match key {
                    $from::PostQuantum(key) => Ok(key.try_into()?),
                    $from::XWing(_) => Err(KeyError::OnlyForFiles),
                    $from::Composite(key) => Err(KeyError::NotOfOneAlgorithm(key.algorithm())),
                    $from::Classical(key) => Err(KeyError::NotPostQuantum(key.algorithm())),
                }
            }
        }
    )+};
}
pub(super) use post_quantum_only;
