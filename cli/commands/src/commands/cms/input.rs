//! The output of `pqtls cms sign` and `pqtls cms encrypt`: a file that grows while the message is made, with PEM
//! around it or without.

use std::io::{self, Write};

use pq_cms::{EncodingError, PemWriter};

use crate::files::Growing;

/// Where a message is written, in PEM or DER.
pub(super) enum MessageWriter<'d> {
    Pem(PemWriter<Growing<'d>>),
    Der(Growing<'d>),
}

impl<'d> MessageWriter<'d> {
    pub(super) fn new(to: Growing<'d>, pem: bool) -> Result<Self, EncodingError> {
        Ok(match pem {
            true => Self::Pem(PemWriter::new(to).map_err(EncodingError::Write)?),
            false => Self::Der(to),
        })
    }

    /// The file, complete.
    pub(super) fn finish(self) -> Result<Growing<'d>, EncodingError> {
        match self {
            Self::Pem(pem) => pem.finish().map_err(EncodingError::Write),
            Self::Der(der) => Ok(der),
        }
    }
}

impl Write for MessageWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pem(pem) => pem.write(bytes),
            Self::Der(der) => der.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Pem(pem) => pem.flush(),
            Self::Der(der) => der.flush(),
        }
    }
}
