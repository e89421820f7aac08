//! What is counted of clients, by the policy's table `[acme.limits]`.

use alloc::collections::BTreeSet;
use core::net::IpAddr;

use pq_acme::identifier::Identifier;
use pq_acme::server::{Registration, Wish};
use pq_acme::store::{Limit, Most};
use pq_ca::policy::{AcmeLimits, Rate};
use sha2::{Digest, Sha256};

/// A limit of this many of something, unless there is none.
fn limit(rate: Option<Rate>, of: impl FnOnce() -> String) -> Option<Limit> {
    rate.map(|rate| Limit {
        of: of(),
        most: rate.most,
        window: rate.window,
    })
}

/// Those of a new account.
pub(super) fn of_registration(set: &AcmeLimits, registration: &Registration<'_>) -> Vec<Limit> {
    let from = registration.from.map(network);
    let by_address = from.and_then(|from| {
        limit(set.accounts_per_address, || {
            format!("new accounts from {from}")
        })
    });
    by_address.into_iter().collect()
}

/// Those of a new order.
pub(super) fn of_order(set: &AcmeLimits, wish: &Wish<'_>) -> Vec<Limit> {
    let from = wish.from.map(network);
    let by_address =
        from.and_then(|from| limit(set.orders_per_address, || format!("new orders from {from}")));
    let account = &wish.account.id;
    let by_account = limit(set.orders_per_account, || {
        format!("new orders of the account {account}")
    });
    let mut all: Vec<Limit> = by_address.into_iter().chain(by_account).collect();
    // A certificate is replaced once, so renewals are bounded by what was counted before.
    if wish.replaces.is_none() {
        let domains: BTreeSet<String> = wish.identifiers.iter().map(domain).collect();
        let by_domain = domains.into_iter().filter_map(|domain| {
            limit(set.orders_per_domain, || {
                format!("new orders for {domain} and names below it")
            })
        });
        all.extend(by_domain);
        all.extend(limit(set.orders_per_names, || of_names(wish.identifiers)));
    }
    all
}

/// Those of validations that fail.
pub(super) fn of_failures(set: &AcmeLimits, account: &str, identifier: &Identifier) -> Vec<Limit> {
    let of = || {
        let name = identifier.value();
        format!("failed validations of {name} for the account {account}")
    };
    limit(set.failed_validations, of).into_iter().collect()
}

/// How much an account may have that is not decided.
pub(super) fn of_undecided(set: &AcmeLimits) -> Most {
    let number = |most: u32| usize::try_from(most).unwrap_or(usize::MAX);
    Most {
        orders: number(set.pending_orders),
        authorizations: number(set.pending_authorizations),
    }
}

/// What stands for all addresses of one client, as its count is called.
fn network(address: IpAddr) -> String {
    match crate::network::network(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

/// The last two labels of a name. A list of what is registered where is not asked.
fn domain(identifier: &Identifier) -> String {
    match identifier {
        Identifier::Ip(address) => network(*address),
        Identifier::Dns(name) => {
            let mut dots = name.rmatch_indices('.').map(|(at, _)| at + 1);
            let from = dots.nth(1).unwrap_or_default();
            name[from..].trim_start_matches("*.").into()
        }
    }
}

/// New orders for exactly these names, which are sorted. A digest stands for what is too long.
fn of_names(identifiers: &[Identifier]) -> String {
    const OF: &str = "new orders for exactly the names";
    if let [one] = identifiers {
        return format!("{OF} {}", one.value());
    }
    let mut hash = Sha256::new();
    for one in identifiers {
        hash.update(one.value().as_bytes());
        hash.update([0]);
    }
    let first = identifiers.first().map(Identifier::value);
    let others = identifiers.len().saturating_sub(1);
    let digest = base16ct::lower::encode_string(&hash.finalize()[..16]);
    format!(
        "{OF} {} and {others} more ({digest})",
        first.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_stand_for_those_near_them() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ] {
            assert_eq!(network(address.parse().unwrap()), expected);
        }
        for (name, expected) in [
            ("a.b.example.org", "example.org"),
            ("*.example.org", "example.org"),
            ("*.b.example.org", "example.org"),
            ("example.org", "example.org"),
            ("localhost", "localhost"),
            ("*.lan", "lan"),
        ] {
            assert_eq!(domain(&Identifier::Dns(name.into())), expected);
        }
    }

    #[test]
    fn other_names_are_counted_apart() {
        let names = |all: &[&str]| {
            let all = all.iter().map(|name| Identifier::Dns((*name).into()));
            of_names(&all.collect::<Vec<_>>())
        };
        let sets: [&[&str]; 4] = [&["a"], &["a", "b"], &["a", "c"], &["a", "b", "c"]];
        let counted: BTreeSet<String> = sets.iter().map(|all| names(all)).collect();
        assert_eq!(counted.len(), sets.len());
        assert_eq!(names(&["a"]), "new orders for exactly the names a");
    }
}
