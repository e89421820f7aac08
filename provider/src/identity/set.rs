//! `IdentitySet`: the order of preference, and the index of names with which a server finds a client's candidates among
//! 100,000 names.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::cmp::{Ordering, Reverse};
use core::{fmt, ptr};

use super::Identity;
use super::few::Few;
use super::sharded::Sharded;
use crate::algorithms::{KeyAlgorithm, Strength};

/// The identities of a server, or of a client, in order of preference.
///
/// The identity that is added first comes first. For a name, the identities that are
/// [tied](Self::with_name) to it come before the rest. A server chooses by name; a client doesn't use
/// names and chooses among all. [The module](crate::identity) says which one a peer gets.
///
/// # Many names
///
/// Names are found by their hash, and copying a set costs nothing: a copy shares with the original
/// everything that doesn't change. So a handshake costs the same with 100,000 names as with ten, except
/// for more CPU cache misses. One identity is added, replaced or removed in a few microseconds, without
/// a look at the others. Beside the [`Identity`] itself, whose [memory](Identity#memory) is documented
/// there, each name takes 200 to 400 bytes. Many identities for one name, or many
/// [default](Self::with_default) ones, do cost more: they are searched in their order.
#[derive(Clone)]
pub struct IdentitySet {
    order: Order,
    /// By the [`key`] of a name.
    by_name: Sharded<Arc<str>, Ranking>,
    /// Each identity may have been added several times.
    by_identity: Sharded<Address, Few<Entry>>,
    defaults: Ranking,
    /// How many additions there were.
    added: u64,
    origin: Origin,
    /// Identifies the current set of some [`Identities`](super::Identities) that this set is, or was made
    /// from.
    revision: Option<Arc<()>>,
}

/// Identifies the [`IdentitySet::new`] that a set was made from: copies share it, however they differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin(Arc<()>);

#[derive(Clone, Copy, Debug)]
enum Order {
    AsAdded,
    StrongestFirst,
}

/// One addition.
#[derive(Clone, Debug)]
struct Entry {
    ranked: Ranked,
    serves: Serves,
}

/// An identity and its position.
#[derive(Clone, Debug)]
struct Ranked {
    identity: Arc<Identity>,
    /// How many additions came before it.
    added: u64,
    /// Whether the operator has tied it to the name that it stands for here.
    is_tied: bool,
}

/// Identities for one name, the most preferred first.
#[derive(Clone, Debug, Default)]
struct Ranking(Few<Ranked>);

/// Which clients an identity is for.
#[derive(Clone, Debug)]
pub(super) enum Serves {
    /// The names in the certificate.
    ItsNames,
    /// Also clients that ask for no name, or for one that isn't in the set.
    Everybody,
    /// This name only.
    Name(Arc<str>),
}

impl Serves {
    pub(super) fn for_name(name: &str) -> Self {
        Self::Name(normalized(name).into())
    }
}

/// The address of an [`Identity`] that the set holds, so no other identity has it.
type Address = usize;

impl IdentitySet {
    /// A set with nothing in it.
    pub fn new() -> Self {
        Self {
            order: Order::AsAdded,
            by_name: Sharded::new(),
            by_identity: Sharded::new(),
            defaults: Ranking::default(),
            added: 0,
            origin: Origin::default(),
            revision: None,
        }
    }

    /// Puts the strongest identity first, whatever the order in which they are added.
    ///
    /// The weakest link of the chain counts: post-quantum comes before classical, and a higher security
    /// category before a lower one. Among equals, an identity with the client's name comes before one
    /// with a wildcard for it, and then a smaller one before a larger one, by the bytes of the
    /// certificates and of the signature in the handshake.
    ///
    /// This is for closed environments, where every client that lists ML-DSA in `signature_algorithms`
    /// also trusts the root of the ML-DSA chain. On the internet it **refuses service** to most
    /// clients: Chromium 156, Go 1.27, Node 26, curl with OpenSSL 3.6, NSS, s2n, wolfSSL and clients
    /// with this crate list ML-DSA by default and have no ML-DSA root. They fail at a server that
    /// gives them an ML-DSA chain, even if it has a P-256 chain that they would accept.
    pub fn strongest_first(self) -> Self {
        let mut set = Self {
            order: Order::StrongestFirst,
            origin: self.origin.clone(),
            revision: self.revision.clone(),
            ..Self::new()
        };
        for entry in self.entries() {
            set.insert(entry.clone());
        }
        set.added = self.added;
        set
    }

    /// Adds an identity for the names in its certificate.
    pub fn with(self, identity: impl Into<Arc<Identity>>) -> Self {
        self.serving(identity, Serves::ItsNames)
    }

    /// Adds an identity for the names in its certificate, and for clients that ask for no
    /// name or for one that isn't in the set. There can be several such default identities.
    pub fn with_default(self, identity: impl Into<Arc<Identity>>) -> Self {
        self.serving(identity, Serves::Everybody)
    }

    /// Adds an identity for one name, whatever its certificate says: a DNS name, or a
    /// wildcard such as `*.example.org`. No client gets it for a name that starts with a dot, which
    /// isn't a DNS name.
    ///
    /// This ties a DNS name to the identity: clients that ask for the name get this identity,
    /// wherever it stands in the order, before those that have the name or a wildcard for it in their
    /// certificates. So an ML-DSA chain can have a name of its own, `pq.example.org`, even if an ECDSA
    /// chain for `*.example.org` covers this name as well. A wildcard isn't tied.
    pub fn with_name(self, name: &str, identity: impl Into<Arc<Identity>>) -> Self {
        self.serving(identity, Serves::for_name(name))
    }

    /// Replaces `old` with `new`, for example with a renewed certificate.
    ///
    /// `new` gets the same position in the order. It serves the same name if `old` was added
    /// [for one](Self::with_name), and otherwise the names in its own certificate. If `old` isn't in
    /// the set, nothing changes.
    pub fn with_replaced(mut self, old: &Arc<Identity>, new: impl Into<Arc<Identity>>) -> Self {
        let new = new.into();
        for entry in self.remove(old).as_slice() {
            let mut entry = entry.clone();
            entry.ranked.identity = new.clone();
            self.insert(entry);
        }
        self
    }

    /// Removes an identity from all names and from the default ones. If it isn't in the set,
    /// nothing changes.
    pub fn without(mut self, identity: &Arc<Identity>) -> Self {
        self.remove(identity);
        self
    }

    /// Whether there is nothing in the set.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    /// Whether this identity is in the set: the same `Arc`, not an equal identity.
    pub fn contains(&self, identity: &Arc<Identity>) -> bool {
        self.by_identity.get(&address(identity)).is_some()
    }

    /// The identities for this name, the most preferred first. The name is a DNS name or a wildcard; a
    /// wildcard is a name of its own.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Identity>> + Clone {
        let ranked = self.ranked_for(key(&normalized(name)));
        ranked.iter().map(|ranked| &ranked.identity)
    }

    /// All identities, the most preferred first. This sorts them: on a server with many identities,
    /// use [`named`](Self::named).
    pub fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> + Clone {
        let entries = self.by_identity.values();
        let firsts = entries.filter_map(|of_one| {
            of_one
                .as_slice()
                .iter()
                .map(|entry| &entry.ranked)
                .min_by_key(|ranked| ranked.added)
        });
        let mut firsts = firsts.collect::<Vec<_>>();
        firsts.sort_unstable_by(|a, b| self.order.compare(a, b));
        firsts.into_iter().map(|ranked| &ranked.identity)
    }

    /// Each identity once, in no order.
    pub(super) fn each(&self) -> impl Iterator<Item = &Arc<Identity>> {
        let entries = self.by_identity.values();
        entries.filter_map(|of_one| Some(&of_one.as_slice().first()?.ranked.identity))
    }

    /// The identities for a client that asks for this name, the most preferred first. An identity that
    /// matches by its name and by a wildcard comes twice.
    pub(super) fn candidates(
        &self,
        name: Option<&str>,
    ) -> impl Iterator<Item = &Arc<Identity>> + Clone {
        let mut exact = [].as_slice();
        let mut wildcard = [].as_slice();
        if let Some(name) = name.map(normalized) {
            exact = self.ranked_for(key(&name));
            // The key of the wildcard, which has no asterisk: see `key`.
            if let Some(dot) = name.find('.') {
                wildcard = self.ranked_for(&name[dot..]);
            }
        }
        if exact.is_empty() && wildcard.is_empty() {
            exact = self.defaults.as_slice();
        }
        Candidates {
            order: self.order,
            exact,
            wildcard,
        }
    }

    /// The algorithms of the keys for a client that asks for this name, for a message: of at most 100
    /// identities.
    pub(crate) fn keys_for(&self, name: Option<&str>) -> Vec<KeyAlgorithm> {
        let mut keys = Vec::new();
        for identity in self.candidates(name).take(100) {
            let key = identity.key_algorithm();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// An empty set that counts as a copy.
    pub(super) fn from_origin(origin: &Origin) -> Self {
        Self {
            origin: origin.clone(),
            ..Self::new()
        }
    }

    pub(super) fn is_from(&self, origin: &Origin) -> bool {
        Arc::ptr_eq(&self.origin.0, &origin.0)
    }

    /// Makes this the current set, in place of `before`.
    ///
    /// If it was made from a set that was current earlier, it lacks the changes since then, and so
    /// doesn't count as a copy any more.
    pub(super) fn replaces(&mut self, before: Option<&Self>) {
        let current = before.and_then(|before| before.revision.as_ref());
        if let Some(revision) = &self.revision
            && !current.is_some_and(|current| Arc::ptr_eq(revision, current))
        {
            self.origin = Origin::default();
        }
        self.revision = Some(Arc::default());
    }

    pub(super) fn serving(mut self, identity: impl Into<Arc<Identity>>, serves: Serves) -> Self {
        let ranked = Ranked {
            identity: identity.into(),
            added: self.added,
            is_tied: matches!(&serves, Serves::Name(name) if !name.starts_with('*')),
        };
        self.added += 1;
        self.insert(Entry { ranked, serves });
        self
    }

    fn insert(&mut self, entry: Entry) {
        let order = self.order;
        for name in entry.names() {
            self.by_name
                .get_or_default(name)
                .insert(&entry.ranked, order);
        }
        if let Serves::Everybody = entry.serves {
            self.defaults.insert(&entry.ranked, order);
        }
        let of_one = address(&entry.ranked.identity);
        self.by_identity.get_or_default(of_one).push(entry);
    }

    /// Removes an identity, and returns its additions.
    fn remove(&mut self, identity: &Arc<Identity>) -> Few<Entry> {
        if !self.contains(identity) {
            // So that nothing is copied in vain.
            return Few::None;
        }
        let removed = self.by_identity.remove(&address(identity));
        let removed = removed.unwrap_or_default();
        for entry in removed.as_slice() {
            for name in entry.names() {
                let named = self.by_name.get_or_default(name.clone());
                named.remove(identity);
                if named.as_slice().is_empty() {
                    self.by_name.remove(&name);
                }
            }
            if let Serves::Everybody = entry.serves {
                self.defaults.remove(identity);
            }
        }
        removed
    }

    /// All additions, in no order.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.by_identity.values().flat_map(Few::as_slice)
    }

    fn ranked_for(&self, key: &str) -> &[Ranked] {
        self.by_name.get(key).map_or(&[], Ranking::as_slice)
    }
}

impl Default for IdentitySet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for IdentitySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentitySet")
            .field("order", &self.order)
            .field("identities", &self.by_identity.values().count())
            .field("names", &self.by_name.values().count())
            .field("defaults", &self.defaults.as_slice().len())
            .finish_non_exhaustive()
    }
}

/// The identities for a name and those for its wildcard, merged in one order.
///
/// A name doesn't come before a wildcard: otherwise a chain that is added for the name would take
/// clients away from a wildcard chain that they trust.
#[derive(Clone)]
struct Candidates<'a> {
    order: Order,
    exact: &'a [Ranked],
    wildcard: &'a [Ranked],
}

impl<'a> Iterator for Candidates<'a> {
    type Item = &'a Arc<Identity>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match (self.exact, self.wildcard) {
            ([exact, ..], [wildcard, ..]) if self.order.is_wildcard_first(exact, wildcard) => {
                &mut self.wildcard
            }
            ([], _) => &mut self.wildcard,
            _ => &mut self.exact,
        };
        Some(&next.split_off_first()?.identity)
    }
}

impl Order {
    /// Compares among all identities.
    fn compare(self, a: &Ranked, b: &Ranked) -> Ordering {
        let rank = |ranked: &Ranked| (strength(ranked), ranked.identity.weight());
        match self {
            Self::AsAdded => a.added.cmp(&b.added),
            Self::StrongestFirst => rank(a).cmp(&rank(b)).then(a.added.cmp(&b.added)),
        }
    }

    /// Compares among the identities for one name.
    fn compare_for_name(self, a: &Ranked, b: &Ranked) -> Ordering {
        let by_tie = match self {
            Self::AsAdded => b.is_tied.cmp(&a.is_tied),
            Self::StrongestFirst => Ordering::Equal,
        };
        by_tie.then(self.compare(a, b))
    }

    fn is_wildcard_first(self, exact: &Ranked, wildcard: &Ranked) -> bool {
        match self {
            Self::AsAdded => self.compare_for_name(wildcard, exact).is_lt(),
            Self::StrongestFirst => strength(wildcard) < strength(exact),
        }
    }
}

/// The strongest first.
fn strength(ranked: &Ranked) -> Reverse<Strength> {
    Reverse(ranked.identity.strength())
}

impl Ranking {
    fn as_slice(&self) -> &[Ranked] {
        self.0.as_slice()
    }

    fn insert(&mut self, new: &Ranked, order: Order) {
        let is_before = |before: &Ranked| order.compare_for_name(before, new).is_le();
        self.0
            .insert(self.as_slice().partition_point(is_before), new.clone());
    }

    /// Removes an identity from every position that it has.
    fn remove(&mut self, identity: &Arc<Identity>) {
        self.0
            .retain(|ranked| !Arc::ptr_eq(&ranked.identity, identity));
    }
}

impl Entry {
    /// The keys of its names. A name that starts with a dot isn't a DNS name, and is left out: its key
    /// would be that of a wildcard.
    fn names(&self) -> impl Iterator<Item = Arc<str>> {
        let (one, several) = match &self.serves {
            Serves::Name(name) => (Some(&**name), &[][..]),
            Serves::ItsNames | Serves::Everybody => (None, self.ranked.identity.dns_names()),
        };
        let names = one.into_iter().chain(several.iter().map(String::as_str));
        let names = names.filter(|name| !name.starts_with('.'));
        names.map(|name| key(name).into())
    }
}

fn address(identity: &Arc<Identity>) -> Address {
    ptr::from_ref(&**identity).addr()
}

/// The key of a name. For a wildcard it is the part after the asterisk, with which every name that the
/// wildcard covers ends. Other names don't start with a dot: see [`Entry::names`].
fn key(name: &str) -> &str {
    match name.strip_prefix('*') {
        Some(parent) if parent.starts_with('.') => parent,
        _ => name,
    }
}

/// In lower case, without a dot at the end.
fn normalized(name: &str) -> Cow<'_, str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}
