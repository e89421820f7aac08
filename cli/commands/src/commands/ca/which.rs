use std::ffi::OsString;
use std::path::Path;

use pq_ca::{Ledger, SerialNumber};

use crate::documents;
use crate::failure::Failure;
use crate::files::Source;

/// A certificate of the CA: its serial number, or a file that it is in.
#[derive(Clone, Debug)]
pub(super) struct Which(OsString);

impl From<OsString> for Which {
    fn from(argument: OsString) -> Self {
        Self(argument)
    }
}

impl Which {
    /// The serial number. A certificate in a file has to be the one that the ledger has under this number:
    /// another CA may have given the same number.
    pub(super) fn serial_number(&self, ledger: &impl Ledger) -> Result<SerialNumber, Failure> {
        let text = self.0.to_string_lossy();
        if let Ok(number) = text.parse() {
            return Ok(number);
        }
        if text != "-" && !Path::new(&self.0).exists() {
            return Err(Failure::NotACertificate(text.into()));
        }
        let file = Source::from(self.0.clone());
        let certificate = documents::first_certificate(&file)?;
        let foreign = |number: String, found| Failure::NotOfThisCa {
            file: file.to_string(),
            number,
            found,
        };
        let Ok(number) = SerialNumber::from_bytes(certificate.serial_number()) else {
            let digits = base16ct::lower::encode_string(certificate.serial_number());
            return Err(foreign(digits, "none"));
        };
        match ledger.certificate(&number)? {
            Some(kept) if kept == *certificate.der() => Ok(number),
            Some(_) => Err(foreign(number.to_string(), "another one")),
            None => Err(foreign(number.to_string(), "none")),
        }
    }
}
