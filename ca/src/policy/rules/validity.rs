//! The table `[validity]` of a policy: the default and the longest validity. It also decides when a certificate begins
//! and ends, within the validity of its CA.

use core::time::Duration;

use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Deserialize;

use crate::policy::file::{PolicyError, Setting, Source};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::Period;

/// How long certificates may be valid.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Validity {
    default: Setting<Period>,
    max: Setting<Period>,
}

impl Validity {
    /// Checks that the settings don't contradict each other.
    pub(crate) fn check_settings(&self, source: &Source) -> Result<(), PolicyError> {
        let max = self.max();
        match (self.default.get(), self.default.offset()) {
            (Some(default), Some(offset)) if *default > max => Err(PolicyError::new(
                source,
                offset,
                format_args!(
                    "validity.default is {default}, but validity.max is only {max}; write a \
                     shorter default, or max = \"{default}\" below [validity]"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The first and the last second of a certificate for which this validity is asked, which are within the CA's validity.
    pub(crate) fn check(
        &self,
        asked: Option<Duration>,
        ca: &Certificate,
        now: UnixTime,
        findings: &mut Findings,
    ) -> (UnixTime, UnixTime) {
        let (ca_start, ca_end) = (ca.not_before(), ca.not_after());
        // This machine's clock may be behind the clock of the machine that made the CA.
        let now = now.max(ca_start);
        if now >= ca_end {
            findings.add_always(Reason::CaEnded);
            return (ca_start, ca_end);
        }
        let left = seconds(ca_end) - seconds(now);
        if let Some(asked) = asked {
            let Period(max) = self.max();
            if asked > max {
                findings.add(self.max.offset(), Reason::Validity { asked, max });
            }
            if asked > left {
                findings.add_always(Reason::EndsAfterCa { asked, left });
            }
        }
        let Period(default) = self.default_period();
        let duration = asked.unwrap_or(default).min(left);
        let start = UnixTime::since_unix_epoch(seconds(now).saturating_sub(EARLIER));
        let end = UnixTime::since_unix_epoch(seconds(now) + duration);
        (start.max(ca_start), end)
    }

    fn max(&self) -> Period {
        self.max.get().copied().unwrap_or(Period::days(90))
    }

    fn default_period(&self) -> Period {
        let default = self.default.get().copied().unwrap_or(Period::days(90));
        default.min(self.max())
    }
}

/// Certificates begin this much earlier, for peers whose clocks are slow.
const EARLIER: Duration = Duration::from_secs(60 * 60);

fn seconds(time: UnixTime) -> Duration {
    Duration::from_secs(time.as_secs())
}
