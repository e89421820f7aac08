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

/// What everybody may ask, as clients do when they start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    Health,
    SealStatus,
    Initialized,
    Leader,
}

#[derive(Serialize)]
struct SealStatus {
    r#type: &'static str,
    initialized: bool,
    sealed: bool,
    t: u32,
    n: u32,
    progress: u32,
    nonce: &'static str,
    version: &'static str,
    migration: bool,
    recovery_seal: bool,
    storage_type: &'static str,
    cluster_name: &'static str,
    cluster_id: &'static str,
}

#[derive(Serialize)]
struct Initialized {
    initialized: bool,
}

/// That of a server which knows of no others.
#[derive(Serialize)]
struct Leader {
    ha_enabled: bool,
    is_self: bool,
    leader_address: &'static str,
    leader_cluster_address: &'static str,
    performance_standby: bool,
    performance_standby_last_remote_wal: u32,
}

const VERSION: &str = concat!("pq-keystore ", env!("CARGO_PKG_VERSION"));

impl Asked {
    /// What is asked at a path under `/v1/`.
    pub(super) fn at(path: &str) -> Option<Self> {
        match path {
            "sys/health" => Some(Self::Health),
            "sys/seal-status" => Some(Self::SealStatus),
            "sys/init" => Some(Self::Initialized),
            "sys/leader" => Some(Self::Leader),
            _ => None,
        }
    }

    /// Says whether the server answers, and can.
    pub(super) fn answer(
        self,
        method: &str,
        now: SystemTime,
        is_well: bool,
    ) -> Result<Response, Refusal> {
        match (method, self) {
            ("GET", _) | ("HEAD", Self::Health) => {}
            _ => return Err(Refusal::unsupported()),
        }
        if !is_well {
            return Err(Refusal::new(503, "the store can't be used"));
        }
        match self {
            Self::Health => health(now),
            // A store that is served was opened, so nothing is sealed.
            Self::SealStatus => Response::plain(&SealStatus {
                r#type: "pq-keystore",
                initialized: true,
                sealed: false,
                t: 0,
                n: 0,
                progress: 0,
                nonce: "",
                version: VERSION,
                migration: false,
                recovery_seal: false,
                storage_type: "pq-keystore",
                cluster_name: "",
                cluster_id: "",
            }),
            Self::Initialized => Response::plain(&Initialized { initialized: true }),
            Self::Leader => Response::plain(&Leader {
                ha_enabled: false,
                is_self: false,
                leader_address: "",
                leader_cluster_address: "",
                performance_standby: false,
                performance_standby_last_remote_wal: 0,
            }),
        }
    }
}

fn health(now: SystemTime) -> Result<Response, Refusal> {
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
        version: VERSION,
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
    let token = Token {
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
    };
    Response::data_of("token", &token, &[])
}

/// A time in milliseconds since 1970, as RFC 3339 has it.
pub(super) fn time(milliseconds: u64) -> String {
    rfc3339(UnixTime::since_unix_epoch(Duration::from_millis(
        milliseconds,
    )))
}
