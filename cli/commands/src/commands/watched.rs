use std::io::{self, Read};

use crate::files::{InputError, Source};
use crate::progress::Progress;

/// A file that is read piece by piece, and says how far it is.
pub(crate) struct Watched {
    from: Box<dyn Read + Send>,
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
