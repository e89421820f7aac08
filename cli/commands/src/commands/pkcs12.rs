//! Opens PKCS#12 files for the commands that take something out of them.

use pq_x509::pkcs12::Pkcs12;

use crate::documents;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report;

/// What is in a file, after a warning if its MAC is out of date.
pub(super) fn opened(file: &Source, passphrase: &PassphraseOptions) -> Result<Pkcs12, Failure> {
    let store = documents::pkcs12(file, passphrase)?;
    if store.has_mac_by_sha1() {
        report::warn(format_args!(
            "the MAC of {file} is by SHA-1, which is out of date; have the file made again with one by SHA-256"
        ));
    }
    Ok(store)
}
