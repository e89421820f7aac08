/// Keeps the crate's traits to the crate's types.
///
/// Public so that public traits can ask for it, in a private module so that nobody
/// else can implement it.
pub trait Sealed {}
