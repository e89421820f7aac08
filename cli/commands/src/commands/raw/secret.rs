//! Where shared secrets are written, and the ciphertexts that carry them.

use super::format::Format;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, OutputError};
use crate::report::Report;

/// Where a ciphertext and its secret are written.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct EncapsulationOptions {
    /// Where to write the shared secret; "-" is standard output
    #[arg(long, value_name = "FILE")]
    pub(in crate::commands) secret: Destination,

    /// How to write both
    #[arg(long, value_enum, default_value = "raw", value_name = "FORMAT")]
    pub(in crate::commands) format: Format,

    #[command(flatten)]
    pub(in crate::commands) output: OutputOptions,
}

impl EncapsulationOptions {
    /// Refuses what could not be written, before time is spent on making it.
    pub(in crate::commands) fn check(&self, json: bool) -> Result<Delivery, Failure> {
        let OutputOptions { out, force } = &self.output;
        let delivery = Delivery::to(&[out, &self.secret], *force, json)?;
        for to in [out, &self.secret] {
            self.format.check(to)?;
        }
        if *out == self.secret {
            return Err(OutputError::Twice(self.secret.to_string()).into());
        }
        Ok(delivery)
    }

    /// Writes both files, or none.
    pub(in crate::commands) fn deliver(
        &self,
        delivery: &Delivery,
        (ciphertext, secret): (&[u8], &[u8]),
        report: &impl Report,
    ) -> Result<ExitStatus, Failure> {
        let format = self.format;
        let (ciphertext, secret) = (format.encode(ciphertext), format.encode(secret));
        let outputs = [
            format.output(&self.output.out, &ciphertext, Access::Public),
            format.output(&self.secret, &secret, Access::Private),
        ];
        delivery.deliver(&outputs, report)
    }
}

/// Where a secret is written.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct SecretOptions {
    /// How to write the secret
    #[arg(long, value_enum, default_value = "raw", value_name = "FORMAT")]
    pub(in crate::commands) format: Format,

    #[command(flatten)]
    pub(in crate::commands) output: OutputOptions,
}

impl SecretOptions {
    /// Refuses what could not be written.
    pub(in crate::commands) fn check(&self, json: bool) -> Result<Delivery, Failure> {
        let OutputOptions { out, force } = &self.output;
        let delivery = Delivery::to(&[out], *force, json)?;
        self.format.check(out)?;
        Ok(delivery)
    }

    /// Writes the secret.
    pub(in crate::commands) fn deliver(
        &self,
        delivery: &Delivery,
        secret: &[u8],
        report: &impl Report,
    ) -> Result<ExitStatus, Failure> {
        let secret = self.format.encode(secret);
        let output = self
            .format
            .output(&self.output.out, &secret, Access::Private);
        delivery.deliver(&[output], report)
    }
}
