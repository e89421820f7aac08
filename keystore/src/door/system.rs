//! What clients ask that is not about keys: whether the server is there, and who they are.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use pq_keys::encoding::rfc3339;
use pq_keys::pki_types::UnixTime;
use serde::Serialize;

use super::access::Authenticated;
use super::refusal::Refusal;
use super::response::Response;

#[derive(Serialize)]
struct Health {
    initialized: bool,
    sealed: bool,
    standby: bool,
    performance_standby: bool,
    replication_performance_mode: &'static str,
    replication_dr_mode: &'static str,
    server_time_utc: u64,
    version: &'static str,
    cluster_name: &'static str,
    cluster_id: &'static str,
}

/// Says to everybody whether the server answers, and can.
pub(super) fn health(method: &str, now: SystemTime, is_well: bool) -> Result<Response, Refusal> {
    if !["GET", "HEAD"].contains(&method) {
        return Err(Refusal::unsupported());
    }
    if !is_well {
        return Err(Refusal::new(503, "the store can't be used"));
    }
    let now = now.duration_since(UNIX_EPOCH);
    let now = now.map_err(|_| Refusal::internal("the clock is before 1970"))?;
    Response::plain(&Health {
        initialized: true,
        sealed: false,
        standby: false,
        performance_standby: false,
        replication_performance_mode: "disabled",
        replication_dr_mode: "disabled",
        server_time_utc: now.as_secs(),
        version: concat!("pq-keystore ", env!("CARGO_PKG_VERSION")),
        cluster_name: "",
        cluster_id: "",
    })
}

#[derive(Serialize)]
struct Token<'a> {
    accessor: &'static str,
    creation_time: u64,
    creation_ttl: u64,
    display_name: &'a str,
    entity_id: &'static str,
    explicit_max_ttl: u64,
    /// Vault repeats the token here.
    id: &'static str,
    num_uses: u64,
    orphan: bool,
    path: &'static str,
    policies: [&'a str; 1],
    renewable: bool,
    ttl: u64,
    r#type: &'static str,
}

/// Says to somebody who they are.
pub(super) fn lookup_self(authenticated: &Authenticated) -> Result<Response, Refusal> {
    let name = authenticated.principal.as_str();
    Response::data(&Token {
        accessor: "",
        creation_time: 0,
        creation_ttl: 0,
        display_name: name,
        entity_id: "",
        explicit_max_ttl: 0,
        id: "",
        num_uses: 0,
        orphan: true,
        path: "auth/token/create",
        policies: [name],
        renewable: false,
        // With Vault, 0 is a token that never expires.
        ttl: authenticated.seconds.unwrap_or(0),
        r#type: "service",
    })
}

/// A time in milliseconds since 1970, as RFC 3339 has it.
pub(super) fn time(milliseconds: u64) -> String {
    rfc3339(UnixTime::since_unix_epoch(Duration::from_millis(
        milliseconds,
    )))
}
