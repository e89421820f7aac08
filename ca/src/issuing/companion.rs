//! What goes with a certificate and has to be there before it.

/// What goes with a certificate and has to be there before the ledger has it, such as the file of a new private key: a
/// certificate without its key is of no use, and neither is a key without its certificate.
///
/// Until [`keep`](Self::keep) it is there for the time being. Dropping it takes it back, as the end of the process
/// should. `()` is nothing.
pub trait Companion {
    /// What stays, from the moment on when the ledger may have the certificate.
    type Kept;

    /// Called when the certificate is signed, just before the ledger gets it. From here on it stays, whatever ends the
    /// process.
    fn keep(self) -> Self::Kept;

    /// Called if the ledger certainly does not have the certificate: takes it back.
    fn withdraw(kept: Self::Kept);
}

impl Companion for () {
    type Kept = ();

    fn keep(self) {}

    fn withdraw((): ()) {}
}
