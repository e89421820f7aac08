//! `dns-01`, by a program that changes the zone, or by telling the name server.

use alloc::sync::Arc;

use pq_acme_client::DnsRecord;

use crate::failure::Failure;
use crate::files;
use crate::report;

/// A record that goes again when this is dropped.
struct Added(Arc<DnsRecord>);

/// Adds the record. It goes again when what this returns is dropped, and when a signal ends this process.
pub(super) fn show(record: DnsRecord) -> Result<impl Send + use<>, Failure> {
    let record = Arc::new(record);
    let at_signal = record.clone();
    let stop = files::stopped_by_signals(move || remove(&at_signal)).map_err(Failure::Signals)?;
    record.add()?;
    Ok((Added(record), stop))
}

fn remove(record: &DnsRecord) {
    if let Err(failure) = record.remove() {
        report::warn(failure);
    }
}

impl Drop for Added {
    fn drop(&mut self) {
        remove(&self.0);
    }
}
