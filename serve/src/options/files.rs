//! Certificates in the file that an option names.

use std::error::Error;
use std::fs;
use std::path::Path;

use pq_x509::certificate::Certificate;

use super::error::OptionError;

pub(super) fn certificates_in(file: &Path) -> Result<Vec<Certificate>, OptionError> {
    let read = || -> Result<_, Box<dyn Error + Send + Sync>> {
        Ok(Certificate::chain_in(&fs::read(file)?)?)
    };
    read().map_err(|source| OptionError::Certificates {
        file: file.to_owned(),
        source,
    })
}
