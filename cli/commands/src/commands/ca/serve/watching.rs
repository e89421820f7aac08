//! The policy and the CA's keys, which are taken over when they change.

use core::convert::Infallible;
use core::time::Duration;

use pq_ca_server::Doors;

use super::keys::{Keys, Stamp};

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(10);

/// Takes over what has changed. What can't be used changes nothing, and the log says so once.
pub(super) async fn keep_watching(keys: Keys, stamp: Stamp, doors: Doors) -> Infallible {
    let mut watched = Some((keys, stamp));
    let mut failed = None;
    loop {
        tokio::time::sleep(EVERY).await;
        let Some((mut keys, before)) = watched.take() else {
            continue;
        };
        let doors = doors.clone();
        let look = tokio::task::spawn_blocking(move || {
            let now = keys.stamp();
            let taken = match now {
                Ok(now) if now == before => Ok(None),
                Ok(now) => keys.published().map(|ca| {
                    doors.replace(ca);
                    Some(now)
                }),
                Err(failure) => Err(failure),
            };
            let taken = taken.map_err(|failure| failure.to_string());
            (keys, before, taken)
        });
        match look.await {
            Ok((keys, before, Ok(taken))) => {
                if taken.is_some() {
                    tracing::info!("the policy and the CA's keys are in use as they are now");
                }
                failed = None;
                watched = Some((keys, taken.unwrap_or(before)));
            }
            Ok((keys, before, Err(error))) => {
                if failed.as_ref() != Some(&error) {
                    tracing::error!(
                        error,
                        "the policy and the CA's keys stay in use as they were"
                    );
                    failed = Some(error);
                }
                watched = Some((keys, before));
            }
            Err(error) => {
                tracing::error!(%error, "the CA's files are no longer looked at; start the server anew")
            }
        }
    }
}
