//! A file with secrets that the server reads again when it changes.

use core::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{LOOK_EVERY, serving};
use crate::failure::Failure;

/// The most bytes of such a file.
const MAX_LEN: usize = 1024 * 1024;

/// A file, as it was read last.
pub(super) struct KeptFile<T> {
    path: PathBuf,
    /// What it is, for the log.
    what: &'static str,
    parse: fn(&str) -> Result<T, String>,
    text: Zeroizing<String>,
}

impl<T: Send + 'static> KeptFile<T> {
    /// Reads a file that others may not read, and whose text `parse` understands.
    pub(super) fn read(
        path: &Path,
        what: &'static str,
        parse: fn(&str) -> Result<T, String>,
    ) -> Result<Self, Failure> {
        let text = pq_keys::files::read_private(path, MAX_LEN);
        let text = text.map_err(|error| about(path, &error))?;
        let text = core::str::from_utf8(&text).map_err(|error| about(path, &error))?;
        let text = Zeroizing::new(text.to_owned());
        let file = Self {
            path: path.into(),
            what,
            parse,
            text,
        };
        file.parsed()?;
        Ok(file)
    }

    pub(super) fn parsed(&self) -> Result<T, Failure> {
        (self.parse)(&self.text).map_err(|error| about(&self.path, &error))
    }

    /// Takes it over when it changes. One that can't be used changes nothing, and the log says so.
    pub(super) async fn keep(mut self, replace: impl Fn(T) + Send + 'static) -> Infallible {
        let mut said = None;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (path, what, parse) = (self.path.clone(), self.what, self.parse);
            let read = tokio::task::spawn_blocking(move || Self::read(&path, what, parse)).await;
            match read {
                Ok(Ok(now)) if now.text == self.text && said.is_none() => {}
                Ok(Ok(now)) => {
                    if let Ok(parsed) = now.parsed() {
                        replace(parsed);
                        tracing::info!("{what} is in use as it is now");
                    }
                    (self, said) = (now, None);
                }
                Ok(Err(failure)) => {
                    let error = failure.to_string();
                    if said.as_ref() != Some(&error) {
                        tracing::error!("{error}. What {what} had before still counts");
                    }
                    said = Some(error);
                }
                Err(error) => tracing::error!(%error, "looking at {what} was broken off"),
            }
        }
    }
}

fn about(path: &Path, error: &dyn core::fmt::Display) -> Failure {
    serving(io::Error::other(format!("{}: {error}", path.display())))
}
