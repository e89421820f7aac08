//! Which of many revocation lists counts: our order of evidence beside OpenSSL's choice, over generated times, numbers,
//! keys, scopes and orders.
//!
//! Both have to agree, or the difference has to be of a kind that is named here: see `Case::kind`. We never call a
//! certificate valid that OpenSSL calls revoked.
//!
//! Each world has one CA with two keys, leaves below both, and some lists. OpenSSL judges all leaves of a world
//! in one run.

use alloc::collections::BTreeMap;
use core::time::Duration;
use std::time::SystemTime;

use interop::openssl::Workdir;
use interop::pki::generate;
use interop::process::Output;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::crl::CertificateList;
use pq_x509::x509_cert::der::asn1::{BitString, Ia5String, OctetString};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};

#[test]
fn some_hundred_cases() {
    compare(100);
}

/// 10,000 cases.
#[test]
#[ignore = "takes long; run in CI"]
fn ten_thousand_cases() {
    compare(10_000_usize.div_ceil(LEAVES));
}

fn compare(worlds: usize) {
    let Some(work) = Workdir::new() else { return };
    let place = Place::new(&work);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for world in 0..worlds {
        let lists = random.lists();
        let made: Vec<_> = lists.iter().map(|list| place.make(list)).collect();
        let theirs = place.theirs(&work, &made);
        let ours = place.ours(&made);
        for leaf in 0..LEAVES {
            let case = Case {
                lists: &lists,
                leaf,
            };
            let kind = case.kind(ours[leaf], theirs[leaf]).unwrap_or_else(|| {
                panic!(
                    "world {world}, {:?}: we say {:?}, OpenSSL {:?}\n{lists:#?}",
                    LEAF[leaf], ours[leaf], theirs[leaf]
                )
            });
            *kinds.entry(kind).or_default() += 1;
        }
    }
    println!("{kinds:#?}");
    for kind in ["both say valid", "both say revoked", "both refuse"] {
        assert!(
            kinds.get(kind).is_some_and(|count| *count >= worlds / 4),
            "{kinds:#?}"
        );
    }
}

/// What either says about a leaf.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Verdict {
    Valid,
    Revoked,
    /// No list says good.
    Refused,
}

/// One leaf beside the lists of its world.
struct Case<'a> {
    lists: &'a [List],
    leaf: usize,
}

impl Case<'_> {
    /// What kind of agreement or difference this is; `None` if it is of none.
    fn kind(&self, ours: Verdict, theirs: Verdict) -> Option<&'static str> {
        use Verdict::{Refused, Revoked, Valid};
        match (ours, theirs) {
            (Valid, Valid) => Some("both say valid"),
            (Revoked, Revoked) => Some("both say revoked"),
            (Refused, Refused) => Some("both refuse"),
            (Valid, Refused) => self.more_lenient(),
            (Revoked, Valid | Refused) => self.stricter(),
            (Refused, Revoked) => {
                let is_current = self.picked().is_some_and(List::is_current);
                (!is_current).then_some("OpenSSL says what a list has that is not valid now")
            }
            // Nobody may be valid here who is revoked there, nor refused who is valid.
            (Valid, Revoked) | (Refused, Valid) => None,
        }
    }

    /// Why we may know that a certificate is good where OpenSSL doesn't.
    fn more_lenient(&self) -> Option<&'static str> {
        let good = self
            .ours()
            .find(|list| list.is_current() && !list.revokes(self.leaf))?;
        match (good.names_another(self.key()), self.picked()) {
            (true, _) => Some("a list by this key counts though it names another"),
            (false, Some(picked)) if picked.key != self.key() => {
                Some("a list by another key does not hide the CA's own")
            }
            _ => None,
        }
    }

    /// Why we may call a certificate revoked where OpenSSL doesn't.
    fn stricter(&self) -> Option<&'static str> {
        let picked = self.picked();
        let mut kinds = self.ours().filter_map(|list| {
            let entry = list.entry(self.leaf)?;
            let Some(picked) = picked.filter(|picked| picked.key == self.key()) else {
                return Some("what is known counts though OpenSSL finds no list of this key");
            };
            if list.names_another(self.key()) {
                let counts = list.this_update <= 0 || entry.date <= 0;
                return counts.then_some("a list by this key revokes though it names another");
            }
            if entry.reason == Some(REMOVE_FROM_CRL) {
                return Some("removeFromCRL revokes, if a complete list has it");
            }
            if !picked.is_current() {
                return Some("what has expired or is not yet valid can revoke");
            }
            match list.this_update {
                1.. if entry.date <= 0 => Some("a list that is not yet valid revokes"),
                1.. => None,
                this if this == picked.this_update => {
                    Some("of two lists of one time either revokes")
                }
                this if this > picked.this_update => {
                    Some("an expired list is newer than the current one")
                }
                _ if list.scope == picked.scope
                    && picked.number.zip(list.number).is_some_and(|(a, b)| a <= b) =>
                {
                    Some("a later list has no greater number")
                }
                _ if list.scope != picked.scope && list.is_current() => {
                    Some("a list of another scope revokes")
                }
                _ => None,
            }
        });
        kinds.next()
    }

    fn key(&self) -> Who {
        LEAF[self.leaf].0
    }

    /// The lists about the leaf that its issuer's key signed.
    fn ours(&self) -> impl Iterator<Item = &List> {
        self.about().filter(|list| list.key == self.key())
    }

    fn about(&self) -> impl Iterator<Item = &List> {
        self.lists
            .iter()
            .filter(|list| list.scope.has(LEAF[self.leaf].1))
    }

    /// The list that OpenSSL takes: of those that do not name another key, a current one if there is one, of
    /// these the latest, of these the first.
    fn picked(&self) -> Option<&List> {
        let candidates = self.about().filter(|list| !list.names_another(self.key()));
        candidates.rev_max_by_key(|list| (list.is_current(), list.this_update))
    }
}

/// The first of the greatest.
trait FirstMax: Iterator + Sized {
    fn rev_max_by_key<K: Ord>(self, key: impl Fn(&Self::Item) -> K) -> Option<Self::Item> {
        self.reduce(|first, next| match key(&next) > key(&first) {
            true => next,
            false => first,
        })
    }
}

impl<I: Iterator> FirstMax for I {}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Who {
    Old,
    New,
    Stranger,
}

/// The leaves: the key of their issuer, and the URL of their list.
const LEAF: [(Who, Option<&str>); LEAVES] = [
    (Who::Old, None),
    (Who::Old, Some(URLS[0])),
    (Who::Old, Some(URLS[1])),
    (Who::New, None),
    (Who::New, Some(URLS[0])),
    (Who::New, Some(URLS[1])),
];
const LEAVES: usize = 6;
const URLS: [&str; 2] = ["http://ca.example/1.crl", "http://ca.example/2.crl"];

/// A list as it is to be made. Times are days from the time validated for.
#[derive(Clone, Debug)]
struct List {
    key: Who,
    /// Whose identifier the list has.
    names: Option<Who>,
    number: Option<u8>,
    this_update: i64,
    next_update: i64,
    scope: Scope,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    leaf: usize,
    date: i64,
    reason: Option<u8>,
}

const REMOVE_FROM_CRL: u8 = 8;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    All,
    EndEntities,
    Cas,
    At(&'static str),
    CasAt(&'static str),
}

impl Scope {
    fn has(self, url: Option<&str>) -> bool {
        match self {
            Self::All | Self::EndEntities => true,
            Self::Cas | Self::CasAt(_) => false,
            Self::At(at) => url == Some(at),
        }
    }

    fn point(self) -> Option<IssuingDistributionPoint> {
        let url = match self {
            Self::All => return None,
            Self::EndEntities | Self::Cas => None,
            Self::At(url) | Self::CasAt(url) => Some(url),
        };
        Some(IssuingDistributionPoint {
            distribution_point: url.map(|url| {
                let url = Ia5String::new(url).expect("a URL is ASCII");
                DistributionPointName::FullName(vec![GeneralName::UniformResourceIdentifier(url)])
            }),
            only_contains_user_certs: self == Self::EndEntities,
            only_contains_ca_certs: matches!(self, Self::Cas | Self::CasAt(_)),
            only_some_reasons: None,
            indirect_crl: false,
            only_contains_attribute_certs: false,
        })
    }
}

impl List {
    fn is_current(&self) -> bool {
        self.this_update <= 0 && self.next_update > 0
    }

    fn names_another(&self, key: Who) -> bool {
        self.names.is_some_and(|named| named != key)
    }

    fn entry(&self, leaf: usize) -> Option<Entry> {
        self.entries
            .iter()
            .find(|entry| entry.leaf == leaf)
            .copied()
    }

    fn revokes(&self, leaf: usize) -> bool {
        self.entry(leaf).is_some()
    }
}

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn lists(&mut self) -> Vec<List> {
        (0..=self.below(7)).map(|_| self.list()).collect()
    }

    fn list(&mut self) -> List {
        use Who::{New, Old, Stranger};
        let key = self.one_of(&[Old, Old, Old, New, New, New, Stranger]);
        let names = match self.below(6) {
            0 | 1 => None,
            2 => Some(self.one_of(&[Old, New, Stranger])),
            _ => Some(key),
        };
        let this_update = self.one_of(&[-5, -4, -3, -2, -2, -1, -1, 0, 1]);
        let entries = (0..LEAVES).filter_map(|leaf| {
            let entry = Entry {
                leaf,
                date: self.one_of(&[-9, -2, 0, 1, 3]),
                reason: self.one_of(&[
                    None,
                    None,
                    Some(1),
                    Some(6),
                    Some(7),
                    Some(REMOVE_FROM_CRL),
                ]),
            };
            (self.below(4) == 0).then_some(entry)
        });
        let entries = entries.collect();
        List {
            key,
            names,
            number: self.one_of(&[None, Some(1), Some(2), Some(3), Some(4)]),
            this_update,
            next_update: this_update + self.one_of(&[1, 3, 5, 7, 9]),
            scope: self.one_of(&[
                Scope::All,
                Scope::All,
                Scope::All,
                Scope::All,
                Scope::All,
                Scope::EndEntities,
                Scope::Cas,
                Scope::At(URLS[0]),
                Scope::At(URLS[1]),
                Scope::CasAt(URLS[0]),
            ]),
            entries,
        }
    }
}

/// The time validated for.
const TIME: u64 = 1_800_000_000;

fn day(days: i64) -> SystemTime {
    let seconds = TIME.saturating_add_signed(days * 24 * 60 * 60);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The certificates of all worlds.
struct Place {
    old: Issuer<SigningKey>,
    new: Issuer<SigningKey>,
    stranger: Issuer<SigningKey>,
    leaves: Vec<Certificate>,
    validator: ChainValidator,
}

impl Place {
    fn new(work: &Workdir) -> Self {
        let key = || generate(SignatureAlgorithm::MlDsa44);
        let long = Validity::new(day(-30), day(30));
        let ca = |name| CertificateBuilder::ca(name).validity(long);
        let root = Issuer::self_signed(ca("Root"), key()).expect("a root can be issued");
        let issue_ca = || root.issue_ca(ca("CA"), key()).expect("a CA can be issued");
        let (old, new) = (issue_ca(), issue_ca());
        let stranger = Issuer::self_signed(ca("CA"), key()).expect("a stranger can have a name");
        let leaf_key = key();
        let leaves: Vec<_> = LEAF
            .iter()
            .map(|(who, url)| {
                let leaf = CertificateBuilder::server()
                    .dns_name("example.org")
                    .validity(long);
                let leaf = match url {
                    None => leaf,
                    Some(url) => leaf.revocation_list_url(*url),
                };
                let ca = if *who == Who::Old { &old } else { &new };
                ca.issue(leaf, &leaf_key).expect("a leaf can be issued")
            })
            .collect();
        work.write("root.pem", root.certificate().to_pem());
        let cas = [&old, &new].map(|ca| ca.certificate().clone());
        work.write("cas.pem", Certificate::chain_to_pem(&cas));
        for (number, leaf) in leaves.iter().enumerate() {
            work.write(&format!("leaf{number}.pem"), leaf.to_pem());
        }
        let validator = ChainValidator::new([root.certificate().clone()]).expect("it is a root");
        Self {
            old,
            new,
            stranger,
            leaves,
            validator,
        }
    }

    fn who(&self, who: Who) -> &Issuer<SigningKey> {
        match who {
            Who::Old => &self.old,
            Who::New => &self.new,
            Who::Stranger => &self.stranger,
        }
    }

    fn make(&self, list: &List) -> CertificateRevocationList {
        let builder = CertificateRevocationListBuilder::new(&[list.number.unwrap_or(1)])
            .validity(Validity::new(day(list.this_update), day(list.next_update)));
        let builder = list.entries.iter().fold(builder, |builder, entry| {
            let number = self.leaves[entry.leaf].serial_number();
            let reason = match entry.reason {
                None => CrlReason::Unspecified,
                // The code is put in below.
                Some(_) => CrlReason::KeyCompromise,
            };
            builder.revoke(number, day(entry.date), reason)
        });
        let named = self.who(list.names.unwrap_or(list.key));
        let named = named
            .issue_revocation_list(builder)
            .expect("a list can be issued");
        let mut made: CertificateList = parse(&named);
        let body = &mut made.tbs_cert_list;
        let extensions = body.crl_extensions.get_or_insert_default();
        extensions.retain(|extension| match extension.extn_id {
            AUTHORITY_KEY_ID => list.names.is_some(),
            _ => list.number.is_some(),
        });
        if let Some(point) = list.scope.point() {
            let point = point.to_der().expect("a distribution point can be encoded");
            extensions.push(Extension {
                extn_id: ISSUING_DISTRIBUTION_POINT,
                critical: true,
                extn_value: OctetString::new(point).expect("it is short"),
            });
        }
        if extensions.is_empty() {
            body.crl_extensions = None;
        }
        let entries = body.revoked_certificates.iter_mut().flatten();
        for (made, entry) in entries.zip(&list.entries) {
            if let (Some(code), Some([reason])) =
                (entry.reason, made.crl_entry_extensions.as_deref_mut())
            {
                reason.extn_value = OctetString::new([0x0a, 1, code]).expect("it is short");
            }
        }
        let body = made.tbs_cert_list.to_der().expect("a list can be encoded");
        let signature = Signer::sign(self.who(list.key).signer(), &body).expect("a key signs");
        made.signature = BitString::from_bytes(&signature).expect("a signature is short");
        let made = made.to_der().expect("a list can be encoded");
        CertificateRevocationList::from_der(&made).expect("a list can be read")
    }

    fn ours(&self, lists: &[CertificateRevocationList]) -> Vec<Verdict> {
        let policy = RevocationPolicy::new(lists.iter().cloned()).expect("the lists can be used");
        let validator = self.validator.clone();
        let validator = validator.with_revocation(policy.end_entity_only());
        let time = UnixTime::since_unix_epoch(Duration::from_secs(TIME));
        let judge = |leaf: &Certificate| {
            let cas = [&self.old, &self.new].map(|ca| ca.certificate().clone());
            let chain: Vec<_> = [leaf.clone()].into_iter().chain(cas).collect();
            match validator.validate(&chain, Purpose::ServerAuth, None, time) {
                Ok(_) => Verdict::Valid,
                Err(ValidationError::Revoked { .. }) => Verdict::Revoked,
                Err(
                    ValidationError::RevocationListExpired { .. }
                    | ValidationError::RevocationListNotYetValid { .. }
                    | ValidationError::RevocationListSignature(_)
                    | ValidationError::UnknownRevocationStatus { .. },
                ) => Verdict::Refused,
                Err(error) => panic!("{error}"),
            }
        };
        self.leaves.iter().map(judge).collect()
    }

    fn theirs(&self, work: &Workdir, lists: &[CertificateRevocationList]) -> Vec<Verdict> {
        let lists: String = lists
            .iter()
            .map(CertificateRevocationList::to_pem)
            .collect();
        work.write("lists.pem", lists);
        let leaves: Vec<_> = (0..LEAVES)
            .map(|number| format!("leaf{number}.pem"))
            .collect();
        let output = work.attempt(&format!(
            "verify -attime {TIME} -crl_check -CAfile root.pem -untrusted cas.pem -CRLfile lists.pem {}",
            leaves.join(" ")
        ));
        leaves.iter().map(|leaf| verdict(&output, leaf)).collect()
    }
}

fn parse(list: &CertificateRevocationList) -> CertificateList {
    CertificateList::from_der(list.der()).expect("x509-cert reads our lists")
}

const AUTHORITY_KEY_ID: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.35");
const ISSUING_DISTRIBUTION_POINT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.28");

/// What `openssl verify` says about a file among others: "OK" on standard output, or errors on the other one, which
/// end with a line that has the file's name.
fn verdict(output: &Output, file: &str) -> Verdict {
    if output
        .stdout()
        .lines()
        .any(|line| line == format!("{file}: OK"))
    {
        return Verdict::Valid;
    }
    let end = format!("error {file}: verification failed");
    let mut errors = Vec::new();
    for line in output.stderr().lines() {
        if line == end {
            return match errors.contains(&"23") {
                true => Verdict::Revoked,
                false => Verdict::Refused,
            };
        }
        if line.ends_with(": verification failed") {
            errors.clear();
        }
        if let Some((code, _)) = line
            .strip_prefix("error ")
            .and_then(|rest| rest.split_once(" at "))
        {
            errors.push(code);
        }
    }
    panic!("no word about {file}: {output}");
}
