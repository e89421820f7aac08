//! Finds the certificates that an argument names, by serial number or file, and says so if the ledger has another
//! certificate under this number.

use alloc::collections::BTreeSet;
use core::fmt;
use std::ffi::OsString;
use std::path::Path;

use pq_ca::folder::FolderError;
use pq_ca::ledger::{Ledger, SerialNumber};
use pq_x509::certificate::Certificate;

use super::opened::CaFolder;
use crate::documents;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;

/// A certificate of the CA, or several: the serial number of one, or a file that they are in.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Which(OsString);

impl From<OsString> for Which {
    fn from(argument: OsString) -> Self {
        Self(argument)
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string_lossy())
    }
}

impl Which {
    /// The serial number, if that is what names it.
    pub(super) fn number(&self) -> Option<SerialNumber> {
        self.0.to_string_lossy().parse().ok()
    }

    /// The file, if it names one.
    pub(in crate::commands) fn file(&self) -> Option<Source> {
        match self.number() {
            Some(_) => None,
            None => Some(Source::from(self.0.clone())),
        }
    }

    /// The serial number of the only certificate that is meant.
    pub(super) fn serial_number(
        &self,
        folder: &CaFolder,
        ledger: &impl Ledger,
    ) -> Result<SerialNumber, Failure> {
        let numbers = self.serial_numbers(folder, ledger)?;
        match *numbers.as_slice() {
            [number] => Ok(number),
            _ => Err(self.several(numbers)),
        }
    }

    /// The serial numbers: for a file those of all end entities. The CAs of their chains are not meant; only in a file
    /// without end entities, it is the CA that this one certified. A certificate in a file has to be the one that the
    /// ledger has under its number: another CA may have given the same number.
    pub(super) fn serial_numbers(
        &self,
        folder: &CaFolder,
        ledger: &impl Ledger,
    ) -> Result<Vec<SerialNumber>, Failure> {
        let text = self.0.to_string_lossy();
        match (text.parse(), Path::new(&self.0).is_file()) {
            (Ok(_), true) => return Err(Failure::NumberOrFile { name: text.into() }),
            (Ok(number), false) => return Ok(vec![number]),
            (Err(_), _) => {}
        }
        if text != "-" && !Path::new(&self.0).exists() {
            return Err(Failure::NotACertificate(text.into()));
        }
        let file = Source::from(self.0.clone());
        let certificates = documents::certificates(&file)?;
        let meant = documents::end_entities(&certificates);
        let has_several = meant.len() > 1;
        // for a command line
        let from = if text == "-" { "FILE" } else { &*text };
        let number_of = |place: usize| {
            let name = match has_several {
                true => format!("certificate {} of {file}", place + 1),
                false => file.to_string(),
            };
            known(folder, ledger, (&certificates, place), name, from)
        };
        if !meant.is_empty() {
            let numbers = meant.into_iter().map(number_of);
            let mut numbers = numbers.collect::<Result<Vec<_>, _>>()?;
            let mut seen = BTreeSet::new();
            numbers.retain(|number| seen.insert(*number));
            return Ok(numbers);
        }
        // Of CAs alone
        let mut known = BTreeSet::new();
        for certificate in &certificates {
            known.extend(kept_number(ledger, certificate)?);
        }
        match known.len() {
            0 => Ok(vec![number_of(0)?]),
            1 => Ok(known.into_iter().collect()),
            _ => Err(self.several(known.into_iter().collect())),
        }
    }

    fn several(&self, numbers: Vec<SerialNumber>) -> Failure {
        Failure::WhichCertificate {
            file: Source::from(self.0.clone()).to_string(),
            numbers,
        }
    }
}

/// The certificate's serial number, if the ledger has it under that.
pub(super) fn kept_number(
    ledger: &impl Ledger,
    certificate: &Certificate,
) -> Result<Option<SerialNumber>, Failure> {
    let Ok(number) = SerialNumber::of(certificate) else {
        return Ok(None);
    };
    let kept = ledger.certificate(&number)?;
    Ok(kept
        .filter(|kept| kept == certificate.der())
        .map(|_| number))
}

/// The serial number of one of a file's certificates that the ledger has. Errors call it by this name.
fn known(
    folder: &CaFolder,
    ledger: &impl Ledger,
    (certificates, place): (&[Certificate], usize),
    name: String,
    from: &str,
) -> Result<SerialNumber, Failure> {
    let certificate = &certificates[place];
    let foreign = |file, number, found| Failure::NotOfThisCa {
        file,
        number,
        found,
    };
    let signer = || folder.signer_of(certificate, certificates, other_verification());
    let number = match SerialNumber::of(certificate) {
        Ok(number) => number,
        Err(cause) => {
            return Err(match signer() {
                Ok(_) => FolderError::Unlisted {
                    subject: certificate.describe_subject(),
                    cause,
                }
                .into(),
                Err(FolderError::NotOfThisCa(_)) => {
                    let digits = base16ct::lower::encode_string(certificate.serial_number());
                    foreign(name, digits, "none")
                }
                Err(error) => error.into(),
            });
        }
    };
    match ledger.certificate(&number)? {
        Some(kept) if kept == *certificate.der() => Ok(number),
        Some(_) => Err(foreign(name, number.to_string(), "another one")),
        None => Err(match signer() {
            Ok(_) => Failure::NotInLedger {
                name,
                file: from.into(),
                number: number.to_string(),
                options: Vec::new(),
            },
            Err(FolderError::NotOfThisCa(_)) => foreign(name, number.to_string(), "none"),
            Err(error) => error.into(),
        }),
    }
}
