//! Many names, and sets that change while they are used.

use alloc::sync::Arc;
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::SignatureScheme as Scheme;
use rustls_pq::identity::{Identities, Identity, IdentityFiles, IdentitySet};
use rustls_pq::{Offer, Refusal};

use super::{World, assert_is, server_over, with};
use crate::peers::{Ecdsa, Identity as Pair, any_base, connect};
use crate::rotation::{self, Files, OFTEN};

const NAMES: usize = 100_000;
const DISTINCT: usize = 2_000;

/// Choosing among 100,000 names takes less than ten times as long as among ten. It takes longer because
/// of cache misses, which other programs on the machine increase. Looking at all names would take
/// thousands of times as long. The benchmarks have the exact times.
#[test]
fn choosing_does_not_look_through_all() {
    let tenants = Tenants::new();
    let few = tenants.set(10, 10);
    let many = tenants.set(NAMES, DISTINCT);
    assert_eq!(many.identities().count(), DISTINCT + 1);
    let [few, many] = [few, many].map(Identities::new);
    let offer = |name: String| {
        with(Offer::default(), |offer| {
            offer.server_name = Some(name);
            offer.signature_schemes = vec![Scheme::ML_DSA_65, Scheme::ECDSA_NISTP256_SHA256];
            offer.cipher_suites = vec![0x1301.into()];
            offer.versions = Some(vec![rustls::ProtocolVersion::TLSv1_3]);
        })
    };
    // 1,000 names each, spread over all, so that no more of them are in the caches than of others.
    const CHOICES: usize = 1_000;
    let time = |identities: &Identities, name: fn(usize) -> usize| {
        let offers: Vec<_> = (0..CHOICES).map(|at| offer(self::name(name(at)))).collect();
        fastest(50, || {
            for offer in &offers {
                assert!(black_box(identities.choose_offered(offer)).is_some());
            }
        })
    };
    let among_few = time(&few, |at| at % 10);
    let own = time(&many, |at| at * (DISTINCT / CHOICES));
    let common = time(&many, |at| at * (NAMES / CHOICES));
    println!("{CHOICES} choices: {among_few:?} among 10, {own:?} and {common:?} among {NAMES}");
    assert!(own.max(common) < 10 * among_few);

    // An unknown name costs no more, nor does the message about it.
    let nobody = offer("nobody.example.com".into());
    assert!(many.choose_offered(&nobody).is_none());
    let refused = with(offer(name(1)), |offer| {
        offer.signature_schemes = vec![Scheme::ED25519];
    });
    let set = many.current();
    let error = rustls::Error::from(rustls::PeerIncompatible::NoSignatureSchemesInCommon);
    let server = server_over(Identities::new(IdentitySet::new()));
    let Refusal::NoSharedSignatureScheme { server, .. } =
        Refusal::by_server(&error, &refused, &server, Some(&set))
    else {
        panic!("another refusal");
    };
    assert_eq!(server, [rustls_pq::KeyAlgorithm::EcdsaP256]);
}

/// Replacing, adding or removing one of 100,000 doesn't look at the others.
#[test]
fn changing_does_not_look_through_all() {
    let tenants = Tenants::new();
    let [few, many] = [tenants.set(10, 10), tenants.set(NAMES, DISTINCT)].map(Identities::new);
    let [old, new, added] = [3, 3, NAMES].map(|at| Arc::new(tenants.identity(at)));
    let time = |identities: &Identities| {
        let turns = (0..20).map(|_| {
            // The test's identity is the only one with this name.
            identities.update(|set| {
                let all: Vec<_> = set.named(&name(3)).cloned().collect();
                let set = all.iter().fold(set, |set, one| set.without(one));
                set.with(old.clone())
            });
            let replacing = cpu_time(|| {
                identities.update(|set| set.with_replaced(&old, new.clone()));
            });
            let set = identities.current();
            assert!(is(set.named(&name(3)), &[&new]));

            let adding = cpu_time(|| identities.update(|set| set.with(added.clone())));
            assert!(is(identities.current().named(&name(NAMES)), &[&added]));
            // So that dropping earlier sets isn't timed.
            drop(set);
            let removing = cpu_time(|| identities.update(|set| set.without(&added)));
            assert!(!identities.current().contains(&added));
            [replacing, adding, removing]
        });
        let fastest = |mut all: [Duration; 3], turn: [Duration; 3]| {
            (all.iter_mut().zip(turn)).for_each(|(all, one)| *all = one.min(*all));
            all
        };
        turns.fold([Duration::MAX; 3], fastest)
    };
    let [among_few, among_many] = [time(&few), time(&many)];
    println!("changes: {among_few:?} among 10, {among_many:?} among {NAMES}");
    for (few, many) in among_few.into_iter().zip(among_many) {
        assert!(many < 20 * few + Duration::from_micros(200));
    }
}

/// Building a set with ten times as many names from existing identities takes less than fifty times as
/// long. Looking at all names for each one would take a hundred times as long. The benchmarks have the
/// times in seconds, which other programs on the machine change.
#[test]
fn building_does_not_look_through_all() {
    let tenants = Tenants::new();
    let identities: Vec<_> = (0..DISTINCT)
        .map(|at| Arc::new(tenants.identity(at)))
        .collect();
    let time = |names| {
        let names: Vec<_> = (0..names).map(name).collect();
        fastest(3, || {
            let named = names.iter().zip(identities.iter().cycle());
            let set = named.fold(IdentitySet::new(), |set, (name, identity)| {
                set.with_name(name, identity.clone())
            });
            black_box(set);
        })
    };
    let tenth = time(NAMES / 10);
    let all = time(NAMES);
    println!("{} names in {tenth:?}, {NAMES} in {all:?}", NAMES / 10);
    assert!(all < 50 * tenth);
}

/// The time of the fastest turn.
fn fastest(turns: usize, mut turn: impl FnMut()) -> Duration {
    (0..turns).map(|_| cpu_time(&mut turn)).min().unwrap()
}

/// The CPU time of a function, which other programs on the machine change little.
fn cpu_time(run: impl FnOnce()) -> Duration {
    let start = clock();
    run();
    clock() - start
}

#[cfg(unix)]
fn clock() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

#[cfg(not(unix))]
fn clock() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

    START.elapsed()
}

#[test]
fn replaced_added_and_removed() {
    let tenants = Tenants::new();
    let [a, b, c, renewed] = [0, 1, 2, 0].map(|at| Arc::new(tenants.identity(at)));
    let set = IdentitySet::new()
        .with(b.clone())
        .with(a.clone())
        .with_default(a.clone())
        .with_name("By.Hand", a.clone())
        .with_name("by.hand", b.clone());
    let before = set.clone();
    assert!(is(set.identities(), &[&b, &a]));
    assert!(is(set.named("by.HAND."), &[&a, &b]));

    // In the same place, for the same names.
    let set = set.with_replaced(&a, renewed.clone());
    assert!(is(set.identities(), &[&b, &renewed]));
    assert!(is(set.named(&name(0)), &[&renewed, &renewed]));
    assert!(is(set.named("by.hand"), &[&renewed, &b]));
    assert!(set.contains(&renewed) && !set.contains(&a));
    // As the default as well.
    let all = [Scheme::ECDSA_NISTP256_SHA256];
    let choose =
        |set: &IdentitySet, name| Identities::new(set.clone()).choose_for(name, &all, &all);
    assert!(Arc::ptr_eq(&choose(&set, None).unwrap().identity, &renewed));
    // Replacing or removing an identity that isn't in the set changes nothing.
    let set = set.with_replaced(&a, c.clone()).without(&a);
    assert!(is(set.identities(), &[&b, &renewed]));

    let set = set.without(&renewed).with(c.clone());
    assert!(is(set.identities(), &[&b, &c]));
    assert!(is(set.named("by.hand"), &[&b]));
    assert!(is(set.named(&name(0)), &[]));
    assert!(choose(&set, None).is_none());
    assert!(choose(&set, Some(&name(0))).is_none());
    let set = set.without(&b).without(&c);
    assert!(set.is_empty() && !before.is_empty());
    // The copy hasn't changed.
    assert!(is(before.identities(), &[&b, &a]));
    assert!(is(before.named("by.hand"), &[&a, &b]));
}

/// A renewed certificate may be for other names.
#[test]
fn replaced_with_other_names() {
    let tenants = Tenants::new();
    let [old, new] = [0, 1].map(|at| Arc::new(tenants.identity(at)));
    let set = IdentitySet::new()
        .with(old.clone())
        .with_name("by.hand", old.clone());
    let set = set.with_replaced(&old, new.clone());
    assert!(is(set.named(&name(0)), &[]));
    assert!(is(set.named(&name(1)), &[&new]));
    assert!(is(set.named("by.hand"), &[&new]));
}

/// A wildcard is a name of its own.
#[test]
fn wildcards_are_named() {
    let tenants = Tenants::new();
    let [wildcard, exact] = [0, 1].map(|at| Arc::new(tenants.identity(at)));
    let set = IdentitySet::new()
        .with_name("*.Example.org", wildcard.clone())
        .with_name("a.example.org", exact.clone());
    assert!(is(set.named("a.example.org"), &[&exact]));
    assert!(is(set.named("*.example.org"), &[&wildcard]));
    assert!(is(set.named("b.example.org"), &[]));
    let set = set.without(&wildcard);
    assert!(is(set.named("*.example.org"), &[]));
}

/// A name that starts with a dot matches nothing, and is not a wildcard.
#[test]
fn names_that_start_with_a_dot() {
    let tenants = Tenants::new();
    let [by_hand, wildcard] = [0, 1].map(|at| Arc::new(tenants.identity(at)));
    let set = IdentitySet::new().with_name(".example.org", by_hand.clone());
    let all = [Scheme::ECDSA_NISTP256_SHA256];
    let choose = |set: &IdentitySet| {
        Identities::new(set.clone()).choose_for(Some("b.example.org"), &all, &all)
    };
    assert!(choose(&set).is_none());
    let set = set.with_name("*.example.org", wildcard.clone());
    assert!(Arc::ptr_eq(&choose(&set).unwrap().identity, &wildcard));
    let set = set.without(&by_hand);
    assert!(Arc::ptr_eq(&choose(&set).unwrap().identity, &wildcard));
}

/// Concurrent updates don't undo each other's changes.
#[test]
fn updates_add_up() {
    let tenants = Tenants::new();
    let identity = Arc::new(tenants.identity(0));
    let identities = Identities::new(IdentitySet::new());
    thread::scope(|scope| {
        for thread in 0..4 {
            let (identities, identity) = (&identities, &identity);
            scope.spawn(move || {
                for at in 0..100 {
                    let name = format!("{thread}-{at}.example.org");
                    identities.update(|set| set.with_name(&name, identity.clone()));
                }
            });
        }
    });
    let set = identities.current();
    for thread in 0..4 {
        for at in 0..100 {
            assert!(is(
                set.named(&format!("{thread}-{at}.example.org")),
                &[&identity]
            ));
        }
    }
}

/// A copy of an earlier set lacks later changes from files. It is served until the files change, and
/// then the files are.
#[test]
fn an_earlier_set_beside_files() {
    let pki = rotation::Pki::new();
    let files = Files::new("earlier set");
    let [first, second, third, last] = [(); 4].map(|()| pki.issue());
    files.put(&first);
    let watch = IdentityFiles::new(rotation::provider()).with_default(&files.chain, &files.key);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();
    let earlier = identities.current();
    files.put(&second);
    second.wait_until_served_by(&identities);
    identities.replace((*earlier).clone());
    assert!(first.is_served_by(&identities));
    files.put(&third);
    third.wait_until_served_by(&identities);

    // A set made from the current one keeps its other identities when files change.
    let tenant = Arc::new(Tenants::new().identity(0));
    let changed = (*identities.current()).clone();
    identities.replace(changed.with(tenant.clone()).strongest_first());
    files.put(&last);
    last.wait_until_served_by(&identities);
    assert!(identities.current().contains(&tenant));
}

/// An update that panics changes nothing, and doesn't disturb the next one.
#[test]
fn an_update_that_panics() {
    let tenants = Tenants::new();
    let identities = Identities::new(IdentitySet::new().with(tenants.identity(0)));
    let update = || identities.update(|_| panic!("on purpose"));
    std::panic::catch_unwind(core::panic::AssertUnwindSafe(update)).unwrap_err();
    assert_eq!(identities.current().identities().count(), 1);
    identities.update(|set| set.with(tenants.identity(1)));
    assert_eq!(identities.current().identities().count(), 2);
}

/// Handshakes don't wait while a set changes, however long that takes.
#[test]
fn handshakes_do_not_wait() {
    let world = World::new();
    let set = IdentitySet::new().with_default(world.ecdsa.checked());
    let identities = Arc::new(Identities::new(set));
    let server = server_over(identities.clone());
    let is_changing = AtomicBool::new(false);
    let has_connected = AtomicBool::new(false);
    let new = Arc::new(world.ml_dsa_65.checked());
    thread::scope(|scope| {
        scope.spawn(|| {
            identities.update(|set| {
                is_changing.store(true, Ordering::SeqCst);
                let start = Instant::now();
                while !has_connected.load(Ordering::SeqCst) {
                    assert!(start.elapsed() < Duration::from_secs(60));
                    thread::yield_now();
                }
                set.with_default(new.clone())
            });
        });
        while !is_changing.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        let outcome = connect(&world.client(None), &server);
        assert_eq!(outcome.client.result, Ok(()));
        has_connected.store(true, Ordering::SeqCst);
    });
    let choice = identities.choose_for(None, &[Scheme::ML_DSA_65], &[Scheme::ML_DSA_65]);
    assert_is(&choice.unwrap(), &world.ml_dsa_65);
}

/// A root that issues certificates for one tenant after another, all with one key, so that thousands
/// are possible.
struct Tenants {
    root: Issuer<SigningKey>,
    key: Ecdsa,
    provider: rustls::crypto::CryptoProvider,
}

impl Tenants {
    fn new() -> Self {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        Self {
            root: Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap(),
            key: Ecdsa::generate(),
            provider: any_base(),
        }
    }

    fn identity(&self, at: usize) -> Identity {
        let leaf = CertificateBuilder::server().dns_name(name(at));
        let Pair { chain, key } = Pair::issued_by(&self.root, leaf, &self.key);
        Identity::new(chain, key, &self.provider).unwrap()
    }

    /// A set with this number of names, of which the first `distinct` have certificates of their own.
    fn set(&self, names: usize, distinct: usize) -> IdentitySet {
        let common = Arc::new(self.identity(distinct));
        let set = (0..distinct).fold(IdentitySet::new(), |set, at| set.with(self.identity(at)));
        (distinct..names.max(distinct + 1))
            .fold(set, |set, at| set.with_name(&name(at), common.clone()))
    }
}

fn name(at: usize) -> String {
    format!("tenant-{at}.example.org")
}

fn is<'a>(
    identities: impl Iterator<Item = &'a Arc<Identity>>,
    expected: &[&Arc<Identity>],
) -> bool {
    let identities: Vec<_> = identities.collect();
    identities.len() == expected.len()
        && (identities.iter().zip(expected)).all(|(one, other)| Arc::ptr_eq(one, other))
}
