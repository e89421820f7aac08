//! Reads an input ahead and shows its progress, for `pqtls encrypt`, `pqtls decrypt` and the commands on CMS messages.

use std::io::{self, BufRead, Read};

use crate::files::{InputError, Source};
use crate::progress::Progress;

/// A file that is read piece by piece, with a progress bar.
pub(crate) struct Watched {
    from: Box<dyn BufRead + Send>,
    progress: Progress,
}

impl Watched {
    pub(crate) fn open(source: &Source) -> Result<Self, InputError> {
        Ok(Self {
            from: source.read_ahead()?,
            progress: Progress::of(source.len()),
        })
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.from.read(buffer)?;
        self.progress.add(len);
        Ok(len)
    }
}

impl BufRead for Watched {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.from.consume(len);
        self.progress.add(len);
    }
}
