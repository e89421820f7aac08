//! The options `--out` and `--force`, and the order that commands with a result keep: check that it can be written,
//! make it, write it, and print the report only if standard output is free.

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Destination, Growing, Output, OutputError};
use crate::report::{self, Report};

/// Where a command writes its result.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OutputOptions {
    /// Where to write; "-" is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: Destination,

    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

/// How to write results and print the report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    force: bool,
    json: bool,
}

impl Delivery {
    /// Refuses a result that could not be written, before time is spent on making it. Whether it is the end of a key is
    /// known when it is there.
    pub(crate) fn to(
        destinations: &[&Destination],
        force: bool,
        json: bool,
    ) -> Result<Self, Failure> {
        Self::checked(destinations, force, json, files::check)
    }

    /// The same for results without a secret: nothing that is known before they are there is found out afterwards, when
    /// something was issued, or a use of a key is over.
    pub(crate) fn to_public(
        destinations: &[&Destination],
        force: bool,
        json: bool,
    ) -> Result<Self, Failure> {
        Self::checked(destinations, force, json, files::check_public)
    }

    fn checked<P>(
        destinations: &[&Destination],
        force: bool,
        json: bool,
        check: impl Fn(&Destination, bool) -> Result<P, OutputError>,
    ) -> Result<Self, Failure> {
        for destination in destinations {
            if json && **destination == Destination::StandardOutput {
                return Err(Failure::JsonBesideResult);
            }
            check(destination, force)?;
        }
        Ok(Self { force, json })
    }

    /// Writes a result that came piece by piece, and then prints the report, unless the result is on standard
    /// output.
    pub(crate) fn deliver_grown<R: Report>(
        self,
        grown: Growing<'_>,
        to: &Destination,
        report: &R,
    ) -> Result<ExitStatus, Failure> {
        grown.commit()?;
        if *to != Destination::StandardOutput {
            report::print(report, self.json)?;
        }
        Ok(ExitStatus::Done)
    }

    /// Writes the results, all or none, and then prints the report, unless a result is on standard output.
    pub(crate) fn deliver<R: Report>(
        self,
        outputs: &[Output<'_>],
        report: &R,
    ) -> Result<ExitStatus, Failure> {
        self.deliver_if(outputs, report, || Ok(()))
    }

    /// The same, if `check` allows it once all is ready to take its place.
    pub(crate) fn deliver_if<R: Report>(
        self,
        outputs: &[Output<'_>],
        report: &R,
        check: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<ExitStatus, Failure> {
        files::write_if(outputs, self.force, check)?;
        let is_standard_output = |output: &Output<'_>| *output.to == Destination::StandardOutput;
        if !outputs.iter().any(is_standard_output) {
            report::print(report, self.json)?;
        }
        Ok(ExitStatus::Done)
    }
}
