//! Texts that a store takes and gives: policies, grants and heads.

use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::report::Report;

/// Reads a text of at most this many bytes.
pub(super) fn read(file: &Source, limit: usize) -> Result<String, Failure> {
    let bytes = file.read(limit)?;
    let text = core::str::from_utf8(&bytes).map_err(|_| Failure::NotText(file.to_string()))?;
    Ok(text.into())
}

/// Writes the text that `make` gets from the store. The report is about the file.
pub(super) fn write<R: Report>(
    OutputOptions { out, force }: &OutputOptions,
    json: bool,
    make: impl FnOnce() -> Result<String, Failure>,
    report: impl FnOnce(String) -> R,
) -> Result<ExitStatus, Failure> {
    let delivery = Delivery::to(&[out], *force, json)?;
    let text = make()?;
    let output = Output {
        to: out,
        content: text.as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    delivery.deliver(&[output], &report(out.to_string()))
}
