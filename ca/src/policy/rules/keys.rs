//! The table `[keys]` of a policy: the permitted algorithms and the least length of RSA keys. Unknown algorithms and
//! RSA keys of fewer than 2048 bits are forbidden whatever the file says.

use serde::Deserialize;

use crate::policy::file::{List, Number, Setting};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::KeyAlgorithm;
use crate::policy::wanted::Wanted;

/// Which keys may be certified.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Keys {
    algorithms: Setting<List<KeyAlgorithm>>,
    rsa_min_bits: Setting<Number<LEAST_BITS, 16_384>>,
}

/// The shortest RSA keys that a policy may permit (NIST SP 800-57 part 1, table 2).
const LEAST_BITS: u32 = 2048;

impl Keys {
    pub(crate) fn check(&self, wanted: &Wanted, findings: &mut Findings) {
        let Some(algorithm) = KeyAlgorithm::among(wanted.key) else {
            findings.add_always(Reason::UnknownKeyAlgorithm(wanted.key.oid()));
            return;
        };
        if let pq_keys::KeyAlgorithm::Rsa { bits } = wanted.key {
            self.check_bits(bits, findings);
        }
        let permitted = self.algorithms.items();
        if !permitted.contains(&algorithm) {
            let reason = Reason::KeyAlgorithm {
                algorithm,
                permitted: permitted.to_vec(),
            };
            findings.add(self.algorithms.offset(), reason);
        }
    }

    fn check_bits(&self, bits: usize, findings: &mut Findings) {
        let min = self.rsa_min_bits();
        if bits < LEAST_BITS as usize {
            findings.add_always(Reason::WeakRsaKey(bits));
        } else if bits < min {
            findings.add(self.rsa_min_bits.offset(), Reason::RsaBits { bits, min });
        }
    }

    fn rsa_min_bits(&self) -> usize {
        self.rsa_min_bits.get().map_or(3072, |bits| bits.get())
    }
}
