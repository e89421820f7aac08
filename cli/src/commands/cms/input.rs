use std::io::{self, Read, Write};

use pq_cms::{EncodingError, PemWriter, decode_if_pem};

use crate::files::{Growing, InputError, Source};
use crate::progress::Progress;

/// A file that is read piece by piece, and says how far it is.
pub(super) struct Watched {
    from: Box<dyn Read + Send>,
    progress: Progress,
}

impl Watched {
    pub(super) fn open(source: &Source) -> Result<Self, InputError> {
        Ok(Self {
            from: source.open()?,
            progress: Progress::of(source.len()),
        })
    }

    /// The message in it, be it in PEM or not.
    pub(super) fn message(self) -> Result<impl Read, EncodingError> {
        decode_if_pem(self)
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.from.read(buffer)?;
        self.progress.add(len);
        Ok(len)
    }
}

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
