//! How often passwords may be tried.

use alloc::collections::BTreeMap;
use core::net::IpAddr;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::network::network;

/// For how long wrong passwords count.
const WINDOW: Duration = Duration::from_secs(60);
/// How many there may be of a user from one network.
const OF_BOTH: u32 = 5;
/// How many from one network: an address, or 64 bits of one of version 6.
const OF_NETWORK: u32 = 30;
/// How many of a user. Those who have the name of one can keep that user away for a minute.
const OF_USER: u32 = 100;
/// How many counts are kept. The oldest give way.
const KEPT: usize = 10_000;

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Counted {
    Both(String, Option<IpAddr>),
    Network(Option<IpAddr>),
    User(String),
}

/// Counts wrong passwords, in this process alone.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<BTreeMap<Counted, (Instant, u32)>>);

impl Attempts {
    /// Counts an attempt before its password is looked at: several at once are not more than one after another. The error is
    /// how long to wait.
    pub(super) fn begin(
        &self,
        user: &str,
        from: Option<IpAddr>,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (counted, most) in counted(user, from) {
            if let Some((since, count)) = all.get(&counted)
                && *count >= most
                && let Some(left) = WINDOW.checked_sub(now.saturating_duration_since(*since))
                && !left.is_zero()
            {
                return Err(left);
            }
        }
        make_room(&mut all);
        for (counted, _) in counted(user, from) {
            let (since, count) = all.entry(counted).or_insert((now, 0));
            if now.saturating_duration_since(*since) >= WINDOW {
                (*since, *count) = (now, 0);
            }
            *count = count.saturating_add(1);
        }
        Ok(())
    }

    /// The password was right, so the attempt does not count.
    pub(super) fn succeeded(&self, user: &str, from: Option<IpAddr>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (counted, _) in counted(user, from) {
            if let Some((_, count)) = all.get_mut(&counted) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// Drops the older half of the counts, if there may be no more.
fn make_room(all: &mut BTreeMap<Counted, (Instant, u32)>) {
    if all.len() + 3 > KEPT {
        let mut times: Vec<Instant> = all.values().map(|(since, _)| *since).collect();
        let (_, middle, _) = times.select_nth_unstable(KEPT / 2);
        let middle = *middle;
        all.retain(|_, (since, _)| *since > middle);
    }
}

fn counted(user: &str, from: Option<IpAddr>) -> [(Counted, u32); 3] {
    let network = from.map(network);
    [
        (Counted::Both(user.into(), network), OF_BOTH),
        (Counted::Network(network), OF_NETWORK),
        (Counted::User(user.into()), OF_USER),
    ]
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use super::*;

    fn from(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn wrong_passwords_count_for_a_minute() {
        let (attempts, begin) = (Attempts::default(), Instant::now());
        for _ in 0..OF_BOTH {
            attempts.begin("a", from(1), begin).unwrap();
        }
        let later = begin + Duration::from_secs(20);
        let wait = attempts.begin("a", from(1), later).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
        // Neither others nor the same from elsewhere have to wait.
        attempts.begin("b", from(1), later).unwrap();
        attempts.begin("a", from(2), later).unwrap();
        attempts.begin("a", from(1), begin + WINDOW).unwrap();
    }

    #[test]
    fn addresses_of_version_4_are_those_also_where_version_6_listens() {
        let as_v6 = |last| Some(Ipv4Addr::new(192, 0, 2, last).to_ipv6_mapped().into());
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..OF_BOTH {
            attempts.begin("a", as_v6(1), now).unwrap();
        }
        assert!(attempts.begin("a", from(1), now).is_err());
        attempts.begin("a", as_v6(2), now).unwrap();
    }

    #[test]
    fn right_passwords_do_not_count() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..200 {
            attempts.begin("a", from(1), now).unwrap();
            attempts.succeeded("a", from(1));
        }
    }

    #[test]
    fn a_network_can_not_try_many_users_nor_many_networks_one() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        let tried = (0..100).filter(|user| {
            let address: IpAddr = format!("2001:db8::{user}").parse().unwrap();
            attempts
                .begin(&user.to_string(), Some(address), now)
                .is_ok()
        });
        assert_eq!(tried.count(), OF_NETWORK as usize);
        let tried = (0..200).filter(|last| attempts.begin("x", from(*last), now).is_ok());
        assert_eq!(tried.count(), OF_USER as usize);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for user in 0..20_000_u32 {
            let _ = attempts.begin(
                &user.to_string(),
                Some(IpAddr::from(user.to_be_bytes())),
                now,
            );
        }
        assert!(attempts.0.lock().unwrap().len() <= KEPT);
    }
}
