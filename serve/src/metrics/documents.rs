//! The times of the certificates and revocation lists that are in use when somebody asks.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use rustls_pq::identity::Identities;

use crate::revocation::ListsInUse;

#[derive(Debug)]
pub(super) struct Documents {
    /// None without TLS.
    pub(super) identities: Option<Arc<Identities>>,
    pub(super) lists: Option<ListsInUse>,
}

impl Collector for Documents {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let set = self.identities.as_ref().map(|one| one.current());
        let identities = set.iter().flat_map(|set| set.identities());
        let ends = identities.map(|one| one.not_after().as_secs());
        numbered(
            &mut encoder,
            "certificate_expiry_timestamp_seconds",
            "When a chain that is served expires, in seconds since 1970; chains are numbered in their order",
            ("chain", ends),
        )?;
        let Some(lists) = &self.lists else {
            return Ok(());
        };
        let begins = lists.issued().into_iter();
        let times = begins.map(|begin| begin.as_secs());
        numbered(
            &mut encoder,
            "revocation_list_issued_timestamp_seconds",
            "When a revocation list that is in use was issued (thisUpdate), in seconds since 1970, the newest first",
            ("list", times),
        )
    }
}

/// A gauge for each of several documents, whose number is its label.
fn numbered(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    (label, values): (&str, impl Iterator<Item = u64>),
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (number, value) in values.enumerate() {
        let labels = [(label, number.to_string())];
        let value = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
        value.encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}
